"""Components of the reading errors of a model: layout, variants and script, recognition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.items import Item, Response
from keju.scoring import MetricResult, Result, TaskResult, WrongPage, wrong_page_errors

NO_FLOORS: Mapping[tuple[str, str], WrongPage | None] = MappingProxyType({})


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
    answers: dict[tuple[str, str], list[tuple[Item, Response]]] = {}
    for asked in run_set.asked.values():
        if query_of(asked.item).form == "transcription":
            name = task_name(asked.item.task, asked.item.query)
            for answer in asked.answers:
                answers.setdefault((answer.model, name), []).append((asked.item, answer.response))
    return {key: wrong_page_errors(pairs) for key, pairs in answers.items()}


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
