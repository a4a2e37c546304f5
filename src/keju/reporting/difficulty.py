"""What is hard for all models alike: single items, and the options of questions with letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from string import ascii_uppercase
from typing import Any, NamedTuple

from keju.benchmarks import options_of
from keju.items import Item, Protocol, Score
from keju.reporting.gather import Gathered, main_metric
from keju.reporting.labels import percent, task_name

Json = dict[str, Any]

_HARDEST = 20
_MOST_OPTIONS = 30
_TELLING = 2


class HardItem(NamedTuple):
    """An item that models fail on, against how they do on its task. `place` is the browser's."""

    place: int
    id: str
    task: str
    value: str
    of_task: str
    nothing: str
    best: str


class Spread(NamedTuple):
    """How many of a task's items all models get whole, and how many none gets anything of."""

    task: str
    items: int
    everybody: int
    nobody: int


class _Tried(NamedTuple):
    place: int
    item: Item
    values: dict[str, float]

    @property
    def mean(self) -> float:
        return fmean(self.values.values())


def hardest(gathered: Gathered) -> tuple[list[HardItem], list[Spread]]:
    """The items furthest below their tasks' means, and each task's spread; baselines left out.

    A task's mean here is over the items' own means, so that a task is not made harder by a model
    that answered more of it.
    """
    by_task: dict[str, list[_Tried]] = {}
    for tried in _tried(gathered):
        name = task_name(tried.item.task, tried.item.query)
        by_task.setdefault(name, []).append(tried)
    found = []
    spreads = []
    for name, of_task in by_task.items():
        mean = fmean(each.mean for each in of_task)
        found += [(each.mean - mean, mean, name, each) for each in of_task]
        everybody = sum(min(each.values.values()) >= 1 for each in of_task)
        nobody = sum(max(each.values.values()) <= 0 for each in of_task)
        spreads.append(Spread(name, len(of_task), everybody, nobody))
    found.sort(key=lambda each: (each[0], each[3].place))
    kept = [_hard(mean, name, tried) for gap, mean, name, tried in found[:_HARDEST] if gap < 0]
    return kept, spreads


def _tried(gathered: Gathered) -> Iterator[_Tried]:
    for place, asked in enumerate(gathered.asked.values()):
        values: dict[str, list[float]] = {}
        main = ("strict", main_metric(asked.item, "strict"))
        for answer in asked.answers:
            if gathered.voices[answer.model].role != "baseline":
                for score in answer.scores:
                    if (score.protocol, score.metric) == main and score.value is not None:
                        values.setdefault(answer.model, []).append(score.value)
        if values:
            yield _Tried(place, asked.item, {model: fmean(v) for model, v in values.items()})


def _hard(mean: float, name: str, tried: _Tried) -> HardItem:
    nothing = sum(value <= 0 for value in tried.values.values())
    top = max(tried.values, key=lambda model: tried.values[model])
    return HardItem(
        place=tried.place,
        id=tried.item.id,
        task=name,
        value=percent(tried.mean),
        of_task=percent(mean),
        nothing=f"{nothing} of {len(tried.values)}",
        best=f"{top} {percent(tried.values[top])}" if tried.values[top] > 0 else "nobody",
    )


def option_errors(gathered: Gathered, protocol: Protocol = "strict") -> list[Json]:
    """Per task with letters: how often each option is missed where it is true (MCS-Bench Fig. 16).

    A row is ``[option, times true, [error rate of each model], taken instead, times wrongly
    taken]``; the last two are known under `strict` alone, which takes one option from a response.
    Options that are true only once are not counted, nor tasks that have only such options.
    """
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for asked in gathered.asked.values():
        texts = options_of(asked.item)
        true = _text(texts, asked.item.answer)
        if true:
            name = task_name(asked.item.task, asked.item.query)
            taken = found.setdefault(name, {}).setdefault(true, [])
            taken += [
                (answer.model, _taken(score, texts, true))
                for answer in asked.answers
                for score in answer.scores
                if score.protocol == protocol and score.metric == "Acc"
            ]
    tables = [_option_table(gathered, name, by_true) for name, by_true in found.items()]
    return [table for table in tables if table["rows"]]


def _taken(score: Score, options: tuple[str, ...], true: str) -> str:
    """The option taken; under `official`, which takes none, the true one where it is right."""
    if score.protocol == "official":
        return true if score.value == 1 else ""
    return _text(options, score.extracted) if score.value is not None else ""


def _text(options: tuple[str, ...], letter: str) -> str:
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    return options[place] if 0 <= place < len(options) else ""


def _option_table(gathered: Gathered, name: str, by_true: dict[str, list[tuple[str, str]]]) -> Json:
    real = {model for model, voice in gathered.voices.items() if voice.role != "baseline"}
    wrongly = Counter(
        took
        for true, taken in by_true.items()
        for model, took in taken
        if took and took != true and model in real
    )
    rows: list[tuple[int, list[Any]]] = []
    for true, taken in by_true.items():
        tries = Counter(model for model, _ in taken)
        if not tries or max(tries.values()) < _TELLING:
            continue
        misses = Counter(model for model, took in taken if took != true)
        instead = Counter(t for m, t in taken if t not in ("", true) and m in real).most_common(1)
        rates = [
            round(misses[model] / tries[model], 4) if tries[model] else None
            for model in gathered.models
        ]
        asked = max(tries.values())
        mostly = f"{instead[0][0]} ({instead[0][1]})" if instead else ""
        rows.append((-asked, [true, asked, rates, mostly, wrongly[true]]))
    rows.sort(key=lambda row: row[0])
    return {"task": name, "rows": [row for _, row in rows[:_MOST_OPTIONS]], "of": len(by_true)}
