"""Components of the reading errors of a model: layout, variants and script, recognition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from keju.analysis.labels import NOTHING, percent, task_name
from keju.analysis.leaderboard import Results
from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.items import Item, Response
from keju.scoring import MetricResult, Result, TaskResult, WrongPage, wrong_page_errors
from keju.text import LAYERS

_BAR = 176


class Part(NamedTuple):
    """A segment of the bar of errors, in pixels."""

    kind: str
    x: float
    width: float


class ErrorRow(NamedTuple):
    """The components of a model's reading errors in a task; `cer` is the sum of both errors.

    `wrong_recognition` and `wrong_layout` are the permutation floors: the errors of the same
    responses against other pages' texts.
    """

    model: str
    task: str
    cer: str
    recognition: str
    layout: str
    wrong_recognition: str
    wrong_layout: str
    sentence: str
    layers: list[str]
    parts: list[Part]
    words: str
    with_result: tuple[str, str, str]


class _Parts(NamedTuple):
    """The CER of a task, and the recognition error in it."""

    task: str
    cer: MetricResult
    recognition: float
    with_result: tuple[float, float]


def error_rows(
    results: Results, floors: Mapping[tuple[str, str], WrongPage | None]
) -> Iterator[ErrorRow]:
    """One row for each model and transcription task with a complete answer.

    Args:
        results: of every model and protocol.
        floors: by model and task, from `wrong_pages`.
    """
    for (model, _), result in results.items():
        for parts in _parts(result):
            yield _error_row(model, parts, floors.get((model, parts.task)))


def wrong_pages(gathered: RunSet) -> dict[tuple[str, str], WrongPage | None]:
    """The permutation floors of both errors, by model and task."""
    answers: dict[tuple[str, str], list[tuple[Item, Response]]] = {}
    for asked in gathered.asked.values():
        if query_of(asked.item).form == "transcription":
            name = task_name(asked.item.task, asked.item.query)
            for answer in asked.answers:
                answers.setdefault((answer.model, name), []).append((asked.item, answer.response))
    return {key: wrong_page_errors(pairs) for key, pairs in answers.items()}


def error_sentences(results: Iterable[Result]) -> Iterator[tuple[str, str, str]]:
    """Model, task and a sentence on the shares of layout and recognition in the error."""
    for result in results:
        for parts in _parts(result):
            yield result.model, parts.task, _sentence(parts)


def _parts(result: Result) -> Iterator[_Parts]:
    """The transcription tasks of a strict result with a complete answer."""
    if result.protocol != "strict":
        return
    for each in result.tasks:
        cer, recognition = _metric(each, "CER"), _metric(each, "CER_recognition")
        if cer is None or recognition is None or recognition.value is None:
            continue
        alone = cer.without_failures, recognition.without_failures
        if cer.layers and alone[0] is not None and alone[1] is not None:
            yield _Parts(each.name, cer, recognition.value, (alone[0], alone[1]))


def _metric(result: TaskResult, name: str) -> MetricResult | None:
    return next((each for each in result.metrics if each.metric == name), None)


def _sentence(parts: _Parts) -> str:
    script = parts.cer.layers["script"]
    return (
        f"Of a strict CER of {percent(script)} % (pooled over all characters), "
        f"{percent(parts.recognition)} points are recognition error and "
        f"{percent(script - parts.recognition)} points are layout error"
    )


def _error_row(model: str, of_task: _Parts, floor: WrongPage | None) -> ErrorRow:
    cer, recognition = of_task.cer, of_task.recognition
    exact, script = cer.layers["exact"], cer.layers["script"]
    shares = {
        "layout": script - recognition,
        "fold": max(0.0, exact - script),
        "recognition": recognition,
    }
    scale = _BAR / max(1.0, exact)
    whole, alone = of_task.with_result
    parts, x = [], 0.0
    for kind, share in shares.items():
        parts.append(Part(kind, round(x, 2), round(share * scale, 2)))
        x += share * scale
    return ErrorRow(
        model=model,
        task=of_task.task,
        cer=percent(cer.value),
        recognition=percent(recognition),
        layout=percent(shares["layout"]),
        wrong_recognition=percent(floor.recognition_error) if floor else NOTHING,
        wrong_layout=percent(floor.layout_error) if floor else NOTHING,
        sentence=_sentence(of_task),
        layers=[percent(cer.layers[layer]) for layer in LAYERS],
        parts=parts,
        words=(
            f"layout {percent(shares['layout'])}, variants and script "
            f"{percent(shares['fold'])}, recognition {percent(shares['recognition'])}"
        ),
        with_result=(percent(whole), percent(alone), percent(whole - alone)),
    )
