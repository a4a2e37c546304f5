"""Components of the reading errors of a model: layout, variants and script, recognition."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from keju.analysis.page_texts import LONGEST
from keju.analysis.run_set import RunSet
from keju.items import Response
from keju.runs import RecordList
from keju.scoring import MetricResult, Result, TaskResult, WrongPage
from keju.scoring.pages import compared_text, is_compared, wrong_page_errors

NO_FLOORS: Mapping[tuple[str, str], WrongPage | None] = MappingProxyType({})


_PAIRS_IN_MEMORY = 10_000
"""Pairs of texts up to which they are kept in memory; more are in a temporary file."""


class _Pair(NamedTuple):
    reference: str
    said: str


class ReadingErrors(NamedTuple):
    """The components of a model's reading errors in a task, as fractions of the characters.

    `cer` is the sum of `recognition`, `fold` (variants and script) and `layout`; `script` is the
    error without `fold`. `layers` has the error after each layer of normalisation. `floor` is the
    permutation floor: the errors of the same responses against other pages' texts.
    `with_result` are error and recognition error over the pages that have a result.
    """

    model: str
    task: str
    cer: float | None
    recognition: float
    layers: Mapping[str, float]
    with_result: tuple[float, float]
    floor: WrongPage | None = None

    @property
    def script(self) -> float:
        """The error where variants and the other script's forms count as equal."""
        return self.layers["script"]

    @property
    def layout(self) -> float:
        """The error of layout alone."""
        return self.script - self.recognition

    @property
    def fold(self) -> float:
        """The error of variants and script."""
        return max(0.0, self.layers["exact"] - self.script)


def reading_errors(
    results: Iterable[Result], floors: Mapping[tuple[str, str], WrongPage | None] = NO_FLOORS
) -> Iterator[ReadingErrors]:
    """The errors of each model in each transcription task with a complete answer.

    Args:
        results: of any models and protocols; only `strict` ones are used.
        floors: by model and task, from `wrong_pages`.
    """
    for result in results:
        for found in _collect_errors(result):
            yield found._replace(floor=floors.get((found.model, found.task)))


def wrong_pages(run_set: RunSet) -> dict[tuple[str, str], WrongPage | None]:
    """The permutation floors of both errors, by model and task."""
    pairs: RecordList[_Pair] = RecordList(_Pair, most=_PAIRS_IN_MEMORY)
    places: dict[tuple[str, str], array[int]] = {}
    for asked, text in zip(run_set.asked, run_set.page_texts, strict=True):
        for answer, said in zip(asked.answers if text.task else (), text.said, strict=True):
            places.setdefault((answer.model, text.task), array("q")).append(len(pairs))
            pairs.append(_Pair(text.truth, _compared(answer.response, said)))
    return {key: wrong_page_errors(pairs[place] for place in own) for key, own in places.items()}


def _compared(response: Response, said: str) -> str:
    """`compared_text`, where `said` is the transcription in the response's beginning."""
    if len(response.text) > LONGEST:
        return compared_text(response)
    return said if is_compared(response) else ""


def _collect_errors(result: Result) -> Iterator[ReadingErrors]:
    """The transcription tasks of a strict result with a complete answer."""
    if result.protocol != "strict":
        return
    for each in result.tasks:
        cer, recognition = _metric(each, "CER"), _metric(each, "CER_recognition")
        if cer is None or recognition is None or recognition.value is None:
            continue
        alone = cer.without_failures, recognition.without_failures
        if cer.layers and alone[0] is not None and alone[1] is not None:
            yield ReadingErrors(
                result.model, each.name, cer.value, recognition.value, cer.layers,
                (alone[0], alone[1]),
            )  # fmt: skip


def _metric(result: TaskResult, name: str) -> MetricResult | None:
    return next((each for each in result.metrics if each.metric == name), None)
