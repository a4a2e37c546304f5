"""Lines of `keju score` below its table: recognition and layout error of each transcription."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from keju.analysis.reading_errors import reading_errors
from keju.analysis.reading_patterns import PatternCounts
from keju.analysis.roles import model_role
from keju.cli.output.console import translate
from keju.definitions import query_of
from keju.items import PromptVariant, variant_of
from keju.reporting.error_rows import error_sentence
from keju.runs import RunFolder, StoredItems
from keju.scoring import Result
from keju.texts import _, join_clauses, n_

_MOST = 20
"""Maximum number of lines; the report has all of them."""


def reading_lines(results: Sequence[Result], run: RunFolder | None) -> Iterator[str]:
    """A sentence for each model and transcription task; baselines have none.

    Args:
        results: of the scores that were just computed.
        run: the run that was scored, for the reading patterns; None for a file of responses.
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
    models = {result.model for result in shown}
    counts = PatternCounts() if run is None or not sentences else _counted(run, models, variants)
    for label, task, sentence in sentences:
        found = counts.of(label, task)
        clauses = [sentence, *found.clauses]
        yield _("{}, {}: {}", label, task, translate(join_clauses(clauses)))


def _counted(
    run: RunFolder, models: Collection[str], variants: Sequence[PromptVariant]
) -> PatternCounts:
    counts = PatternCounts()
    items = StoredItems(run.iter_items())
    for response in run.responses():
        item = items.item_of(response)
        if item is None or query_of(item).form != "transcription":
            continue
        if response.text and response.model in models:
            counts.add(_label(response.model, variant_of(response), variants), item, response)
    return counts


def _label(model: str, variant: PromptVariant, variants: Sequence[PromptVariant]) -> str:
    name = variant.label(list(variants))
    return f"{model} ({name})" if name else model
