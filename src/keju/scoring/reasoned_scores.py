"""`official` with reasoning that came in a field of its own, beside the content alone.

It is computed for benchmarks whose definition asks for it (`Definition.official_with_reasoning`),
where the authors' script says nothing about servers that return reasoning apart from the content.
`official` scores the content alone (our reading). Here the reasoning is put before the content, as
a server without a parser for reasoning would return it (`FORM`), so that both numbers can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from keju.definitions import registry
from keju.encoders import Encoders
from keju.items import Item, Score, variant_of
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample
from keju.text import add_reasoning

FORM = "<think>REASONING</think>CONTENT"
"""How the two are joined; nothing is inserted (our reading)."""

_SIGNED = "|reasoning:<think>+content"


def collect_reasoned_samples(
    samples: Iterable[ScoringSample], reasoned: list[ScoringSample]
) -> Iterator[ScoringSample]:
    """Yield the samples unchanged; add those with such reasoning to the list, joined with it."""
    for sample in samples:
        if (joined := _joined(sample)) is not None:
            reasoned.append(joined)
        yield sample


def _joined(sample: ScoringSample) -> ScoringSample | None:
    """The case with its reasoning in the content; None where it has none."""
    response = sample.response
    if not _counts_reasoning(sample.item.benchmark) or not response.thinking or response.not_text:
        return None
    if response.status in {"failed", "filtered"}:
        return None
    text = add_reasoning(response.text, response.thinking)
    return ScoringSample(sample.item, replace(response, text=text, thinking=""), sample.defect)


def reasoned_scores(
    reasoned: Sequence[ScoringSample],
    scores: Iterable[Score],
    encoders: Encoders,
    items: Sequence[Item],
) -> list[Score]:
    """The official scores of such benchmarks with the reasoning, in the order of `scores`.

    Responses without such reasoning keep their scores. Only models and prompt variants that have
    any are there.

    Args:
        reasoned: what `collect_reasoned_samples` noted.
        scores: all scores of the same cases.
        encoders: those that exist.
        items: all items, which set the floors.
    """
    made = {
        _place(score): replace(score, signature=score.signature and score.signature + _SIGNED)
        for score in score_samples(reasoned, ("official",), encoders, items)
    }
    by_model = {(score.model, variant_of(score)) for score in made.values()}
    return [
        made.get(_place(score), score)
        for score in scores
        if score.protocol == "official"
        and _counts_reasoning(score.benchmark)
        and (score.model, variant_of(score)) in by_model
    ]


def _counts_reasoning(name: str) -> bool:
    found = registry.definition(name)
    return found is not None and found.official_with_reasoning


def _place(score: Score) -> tuple[str, ...]:
    return (score.model, score.task, score.query, score.item, score.key, score.metric)
