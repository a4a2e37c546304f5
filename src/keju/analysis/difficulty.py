"""Difficulty over all models: the hardest items, and the options of multiple choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean, median, median_high
from string import ascii_uppercase
from typing import Any, NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet, main_values
from keju.definitions import options_of, query_of
from keju.items import Item, Protocol, Score

Json = dict[str, Any]

_HARDEST = 20
_MOST_OPTIONS = 30
_TELLING = 2


class HardItem(NamedTuple):
    """An item that is harder for the models than their task is.

    `place` is its position in the browser.

    `value` is the median of the models' values on it, `below` the median of their differences from
    their own means of the task. `nothing` of `models` have the value 0; `best` is the model with
    the highest value, empty while unclear answers decide which one it is. Values are fractions.
    Numbers count unclear answers as wrong, and those `if_right` as right; `below` and
    `below_if_right` are the least and the greatest difference.
    """

    place: int
    id: str
    task: str
    value: float
    value_if_right: float
    below: float
    below_if_right: float
    nothing: int
    nothing_if_right: int
    models: int
    best: str
    best_value: float


class Spread(NamedTuple):
    """How many of a task's items all models answer completely, and how many none answers at all.

    The first numbers count unclear answers as wrong, those `if_right` as right.
    """

    task: str
    items: int
    everybody: int
    everybody_if_right: int
    no_model: int
    no_model_if_right: int


class ExcludedModels(NamedTuple):
    """Models that are excluded from the difficulty because they fail on most of the task."""

    task: str
    models: list[str]


class Difficulty(NamedTuple):
    """The hardest items, each task's spread, and the models that are excluded from both."""

    items: list[HardItem]
    spreads: list[Spread]
    left_out: list[ExcludedModels]


_Ends = tuple[float, float]
"""A value with unclear answers as wrong, and with them as right."""


class _AnsweredItem(NamedTuple):
    place: int
    id: str
    values: dict[str, _Ends]

    def end(self, place: int) -> list[float]:
        """One end of the models' values."""
        return [ends[place] for ends in self.values.values()]

    def of(self, models: Collection[str]) -> _AnsweredItem:
        """The same for only these models."""
        return self._replace(values={m: v for m, v in self.values.items() if m in models})

    def below(self, means: Mapping[str, _Ends], items: Mapping[str, int]) -> _Ends:
        """The medians of the models' least and greatest differences from their means of the task.

        A difference is least if an unclear answer to this item is wrong and those to all others
        are right, and greatest if it is the other way round. Of an even number of models the
        median is the better one of the two in the middle: of two models, one that fails does not
        make an item hard.
        """
        least, most = [], []
        for model, (wrong, right) in self.values.items():
            gain = (right - wrong) / items[model]
            least.append(wrong - (means[model][1] - gain))
            most.append(right - (means[model][0] + gain))
        return median_high(least), median_high(most)


def difficulty(run_set: RunSet, without_results: Collection[str] = ()) -> Difficulty:
    """The items that are hardest for most models, and each task's spread; without baselines.

    The difficulty of an item is the median over models of the difference from their own mean of the
    task: one model that fails on an item, or has another level, does not make it hard. A model
    whose mean is less than half of the best model's fails on most of the task; it is excluded, and
    so is one of `without_results` in a transcription. While answers are unclear, an item is hard
    and a model fails only if both ends agree.
    """
    by_task: dict[str, list[_AnsweredItem]] = {}
    forms: dict[str, str] = {}
    for item, tried in _collect_tried(run_set):
        name = task_name(item.task, item.query)
        by_task.setdefault(name, []).append(tried)
        forms[name] = query_of(item).form
    found: list[tuple[_Ends, str, _AnsweredItem]] = []
    spreads, left_out = [], []
    for name, of_task in by_task.items():
        spreads.append(_spread(name, of_task))
        means, counts = _means(of_task)
        absent = without_results if forms[name] == "transcription" else ()
        whole = {model: mean for model, mean in means.items() if model not in absent}
        best = max((wrong for wrong, _ in whole.values()), default=0.0)
        able = {model: mean for model, mean in whole.items() if 2 * mean[1] >= best}
        if dropped := [model for model in whole if model not in able]:
            left_out.append(ExcludedModels(name, dropped))
        kept = (each.of(able) for each in of_task)
        found += [(each.below(able, counts), name, each) for each in kept if each.values]
    # The harder one is the one that is surely harder: by the greatest difference.
    found.sort(key=lambda each: (each[0][1], each[2].place))
    items = [_hard(*each) for each in found[:_HARDEST] if each[0][1] < 0]
    return Difficulty(items, spreads, left_out)


def _spread(name: str, of_task: Sequence[_AnsweredItem]) -> Spread:
    everybody = [sum(min(each.end(place)) >= 1 for each in of_task) for place in (0, 1)]
    no_model = [sum(max(each.end(place)) <= 0 for each in of_task) for place in (0, 1)]
    return Spread(name, len(of_task), *everybody, *no_model)


def _means(of_task: Sequence[_AnsweredItem]) -> tuple[dict[str, _Ends], dict[str, int]]:
    """The mean of each model over its items of a task, and their number."""
    values: dict[str, list[_Ends]] = {}
    for tried in of_task:
        for model, ends in tried.values.items():
            values.setdefault(model, []).append(ends)
    means = {
        model: (fmean(wrong for wrong, _ in own), fmean(right for _, right in own))
        for model, own in values.items()
    }
    return means, {model: len(own) for model, own in values.items()}


def _collect_tried(run_set: RunSet) -> Iterator[tuple[Item, _AnsweredItem]]:
    for place, asked in enumerate(run_set.asked):
        values = {
            model: value
            for model, value in main_values(asked).items()
            if run_set.by_model[model].role != "baseline"
        }
        if values:
            yield asked.item, _AnsweredItem(place, asked.item.id, values)


def _hard(below: _Ends, name: str, tried: _AnsweredItem) -> HardItem:
    wrong, right = tried.end(0), tried.end(1)
    top = max(tried.values, key=lambda model: tried.values[model][0])
    best_value = tried.values[top][0]
    others = [ends[1] for model, ends in tried.values.items() if model != top]
    return HardItem(
        place=tried.place,
        id=tried.id,
        task=name,
        value=median(wrong),
        value_if_right=median(right),
        below=below[0],
        below_if_right=below[1],
        nothing=sum(value <= 0 for value in wrong),
        nothing_if_right=sum(value <= 0 for value in right),
        models=len(tried.values),
        best="" if max(others, default=0.0) > best_value else top,
        best_value=best_value,
    )


def option_errors(run_set: RunSet, protocol: Protocol = "strict") -> list[Json]:
    """Per task with options: the error rate of each option where it is the right one.

    A row is ``[option, times right, [error rate of each model], chosen instead, times wrongly
    chosen, [error rate of each model if unclear answers were right]]``; chosen options are known
    under `strict` alone, which extracts one option from a response. Options that are right only
    once are not counted, nor tasks that have only such options.
    """
    found: dict[str, dict[str, list[_Choice]]] = {}
    for asked in run_set.asked:
        texts = options_of(asked.item)
        true = _text(texts, asked.item.answer)
        if true:
            name = task_name(asked.item.task, asked.item.query)
            taken = found.setdefault(name, {}).setdefault(true, [])
            taken += [
                _Choice(answer.model, _extract_option(score, texts, true), bool(score.if_right))
                for answer in asked.answers
                for score in answer.scores
                if score.protocol == protocol and score.metric == "Acc"
            ]
    tables = [_option_table(run_set, name, by_true) for name, by_true in found.items()]
    return [table for table in tables if table["rows"]]


class _Choice(NamedTuple):
    """The option that a model chose; empty without one."""

    model: str
    option: str
    unclear: bool


def _extract_option(score: Score, options: tuple[str, ...], true: str) -> str:
    """Extracted option; under `official`, which extracts none, the right one where it is found."""
    if score.protocol == "official":
        return true if score.value == 1 else ""
    return _text(options, score.extracted) if score.value is not None else ""


def _text(options: tuple[str, ...], letter: str) -> str:
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    return options[place] if 0 <= place < len(options) else ""


def _option_table(run_set: RunSet, name: str, by_true: dict[str, list[_Choice]]) -> Json:
    real = {
        model
        for model, model_responses in run_set.by_model.items()
        if model_responses.role != "baseline"
    }
    wrongly = Counter(
        choice.option
        for true, taken in by_true.items()
        for choice in taken
        if choice.option not in ("", true) and choice.model in real
    )
    rows: list[tuple[int, list[Any]]] = []
    for true, taken in by_true.items():
        tries = Counter(choice.model for choice in taken)
        if not tries or max(tries.values()) < _TELLING:
            continue
        missed = [choice for choice in taken if choice.option != true]
        instead = Counter(
            choice.option for choice in missed if choice.option and choice.model in real
        ).most_common(1)
        misses = Counter(choice.model for choice in missed)
        unclear = Counter(choice.model for choice in missed if choice.unclear)
        rates, rates_if_right = (
            [
                round(count[model] / tries[model], 4) if tries[model] else None
                for model in run_set.models
            ]
            for count in (misses, misses - unclear)
        )
        asked = max(tries.values())
        mostly = f"{instead[0][0]} ({instead[0][1]})" if instead else ""
        rows.append((-asked, [true, asked, rates, mostly, wrongly[true], rates_if_right]))
    rows.sort(key=lambda row: row[0])
    return {"task": name, "rows": [row for _, row in rows[:_MOST_OPTIONS]], "of": len(by_true)}
