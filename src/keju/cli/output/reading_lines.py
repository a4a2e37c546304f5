"""Lines of `keju score` below its table: recognition and layout error of each transcription."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.analysis.reading_errors import reading_errors
from keju.analysis.roles import model_role
from keju.cli.output.console import translate
from keju.items import PromptVariant
from keju.reporting.error_rows import error_sentence
from keju.runs import RunFolder
from keju.scoring import Result
from keju.texts import _, n_

_MOST = 20
"""Maximum number of lines; the report has all of them."""


def reading_lines(results: Sequence[Result], run: RunFolder | None) -> Iterator[str]:
    """A sentence for each model and transcription task; baselines have none.

    Reading patterns are in the report alone: they need every page again.

    Args:
        results: of the scores that were just computed.
        run: the run that was scored, for the roles of its models; None for a file of responses.
    """
    manifest = run.manifest() if run else None
    shown = [each for each in results if model_role(manifest, each.model) != "baseline"]
    variants = list(dict.fromkeys(each.variant for each in shown))
    sentences = [
        (_label(result.model, result.variant, variants), found.task, error_sentence(found))
        for result in shown
        for found in reading_errors([result])
    ]
    if len(sentences) > _MOST:
        yield n_(
            "Recognition and layout error of {n:,} transcription (one for each model and task) "
            "are in the report: keju report RUN",
            "Recognition and layout error of {n:,} transcriptions (one for each model and task) "
            "are in the report: keju report RUN",
            len(sentences),
        )
        return
    for label, task, sentence in sentences:
        yield _("{}, {}: {}", label, task, translate(sentence))


def _label(model: str, variant: PromptVariant, variants: Sequence[PromptVariant]) -> str:
    name = variant.label(list(variants))
    return f"{model} ({name})" if name else model
