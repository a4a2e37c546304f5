"""Sensitivity to wording: how scores and the order of models depend on the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from keju.analysis.labels import task_name
from keju.analysis.run_set import ModelResponses, RunSet
from keju.items import Protocol, Score
from keju.scoring import PROTOCOLS, is_ratio_of_sums
from keju.scoring.aggregate import task_value
from keju.statistics import (
    TaskSums,
    VariantSpread,
    macro_variant_spread,
    variant_spread,
)
from keju.statistics.bootstrap import Floats, number_groups

_Series = tuple[str, str, str, str]
"""Run, model, setting and script: the rows of one series differ only in the wording."""


class SpreadRow(NamedTuple):
    """The spread of one model on one task over wordings, or on the mean over several tasks.

    `found` has the values of `wordings`, in their order, as fractions; p is the permutation test's.
    `items` were answered in all wordings. Without `task` it is the mean over `tasks` tasks, which
    has no metric.
    """

    protocol: Protocol
    task: str
    metric: str
    model: str
    wordings: list[str]
    found: VariantSpread
    items: int
    tasks: int = 1


class OrderRow(NamedTuple):
    """Two models whose order changes between wordings of a task.

    `above` are the wordings in which the first scores higher, `below` those in which it scores
    lower.
    """

    protocol: Protocol
    task: str
    first: str
    second: str
    above: list[str]
    below: list[str]


class WordingSpread(NamedTuple):
    """The section of a report; empty where no model has several wordings.

    `overall` are means over tasks, of models with several tasks in the same wordings.
    """

    wordings: list[str]
    rows: list[SpreadRow]
    overall: list[SpreadRow]
    orders: list[OrderRow]
    pairs: int


_Kept = Mapping[str, list[Score]]
"""The scores of one task by wording, of the items that were answered in all of them."""


def wording_spread(run_set: RunSet) -> WordingSpread:
    """The spread of every model, task and protocol over wordings, and pairs whose order changes.

    Only items that a model answered in all wordings of the task are compared.
    """
    series = _series(run_set.by_model)
    found = WordingSpread(
        list(dict.fromkeys(word for each in series.values() for word in each)), [], [], [], 0
    )
    for protocol in PROTOCOLS:
        kept_of: dict[str, list[_Kept]] = {}
        for (task, query), scores in run_set.mains[protocol].items():
            name = task_name(task, query)
            valued: dict[str, dict[str, float]] = {}
            for place, labels in series.items():
                kept = _select_shared(scores, labels)
                if len(kept) < 2:
                    continue
                model = _model(place, series)
                row = _row(protocol, name, model, kept)
                found.rows.append(row)
                valued[model] = dict(zip(row.wordings, row.found.values, strict=True))
                kept_of.setdefault(model, []).append(kept)
            orders = list(_orders(protocol, name, valued))
            found.orders.extend(each for each in orders if each.above and each.below)
            found = found._replace(pairs=found.pairs + len(orders))
        found.overall.extend(_overall(protocol, kept_of))
    return found


def _overall(protocol: Protocol, kept_of: Mapping[str, list[_Kept]]) -> Iterator[SpreadRow]:
    """The mean over a model's tasks, in the wordings common to all of them."""
    for model, tasks in kept_of.items():
        shared = [word for word in tasks[0] if all(word in each for each in tasks)]
        if len(tasks) < 2 or len(shared) < 2:
            continue
        by_task = [[each[word] for word in shared] for each in tasks]
        items = sum(len({score.item for score in each[0]}) for each in by_task)
        yield SpreadRow(
            protocol, "", "", model, shared, _macro(by_task), items, tasks=len(tasks)
        )  # fmt: skip


def _macro(by_task: Sequence[Sequence[Sequence[Score]]]) -> VariantSpread:
    """The spread of the mean over tasks; no interval and p where a task is not a ratio of sums."""
    names = [score.group or f"{score.task} {score.item}" for task in by_task for score in task[0]]
    places, count = number_groups(names)
    if not all(is_ratio_of_sums(task[0][0]) for task in by_task):
        values = np.mean([[task_value(each) or 0.0 for each in task] for task in by_task], axis=0)
        return _plain(values.tolist(), count)
    sums, start = [], 0
    for task in by_task:
        mine = places[start : start + len(task[0])]
        start += len(task[0])
        groups, rows = np.unique(mine, return_inverse=True)
        sums.append(TaskSums(groups, *_sums(task, rows, len(groups))))
    return macro_variant_spread(sums, groups=count)


def _series(by_model: Mapping[str, ModelResponses]) -> dict[_Series, dict[str, str]]:
    """The names of the report by wording, for each series with at least two wordings."""
    found: dict[_Series, dict[str, str]] = {}
    for label, model_responses in by_model.items():
        place = (
            model_responses.run,
            model_responses.model,
            model_responses.variant.setting,
            model_responses.variant.script,
        )
        found.setdefault(place, {})[model_responses.variant.wording] = label
    return {place: labels for place, labels in found.items() if len(labels) > 1}


def _model(place: _Series, series: Mapping[_Series, object]) -> str:
    """A model's name without its wording, with its other distinguishing parts in the section."""
    run, model, *variant = place
    same = [each for each in series if each[1] == model]
    others = [part for part, usual in zip(variant, ("image", "released"), strict=True)
              if part != usual]  # fmt: skip
    several = len({each[0] for each in same}) > 1
    return " · ".join([model, *([run] if several else []), *others])


def _select_shared(scores: Sequence[Score], labels: Mapping[str, str]) -> dict[str, list[Score]]:
    """The scores by wording, of the items and rounds that have a value in all of them."""
    found: dict[str, dict[tuple[str, int], Score]] = {}
    for wording, label in labels.items():
        mine = {(s.item, s.round): s for s in scores if s.model == label and s.value is not None}
        if mine:
            found[wording] = mine
    if not found:
        return {}
    both = set.intersection(*(set(each) for each in found.values()))
    return {w: [each[key] for key in sorted(both)] for w, each in found.items()} if both else {}


def _row(protocol: Protocol, task: str, model: str, kept: _Kept) -> SpreadRow:
    first = next(iter(kept.values()))
    names = [score.group or score.item for score in first]
    if is_ratio_of_sums(first[0]):
        found = variant_spread(*_sums(list(kept.values()), *number_groups(names)))
    else:
        values = [task_value(scores) or 0.0 for scores in kept.values()]
        found = _plain(values, len(set(names)))
    return SpreadRow(
        protocol, task, first[0].metric, model, list(kept), found,
        len({score.item for score in first}),
    )  # fmt: skip


def _plain(values: list[float], groups: int) -> VariantSpread:
    """Only the spread of values that cannot be resampled."""
    deviation = float(np.std(values, ddof=1))
    return VariantSpread(values, max(values) - min(values), deviation, None, None, None, groups)


def _sums(
    by_wording: Sequence[Sequence[Score]], places: npt.NDArray[np.intp], count: int
) -> tuple[Floats, Floats]:
    """The numerators and denominators, one row per group, one column per wording."""
    top, bottom = (
        np.stack([
            np.bincount(places, [score.stats[part] for score in scores], minlength=count)
            for scores in by_wording
        ], axis=1).astype(np.float64)
        for part in ("numerator", "denominator")
    )  # fmt: skip
    return top, bottom


def _orders(
    protocol: Protocol, task: str, valued: Mapping[str, Mapping[str, float]]
) -> Iterator[OrderRow]:
    """Every two models with two common wordings, and the wordings in which each is above."""
    for (one, first), (other, second) in combinations(valued.items(), 2):
        shared = [wording for wording in first if wording in second]
        if len(shared) > 1:
            yield OrderRow(
                protocol, task, one, other,
                [word for word in shared if first[word] > second[word]],
                [word for word in shared if first[word] < second[word]],
            )  # fmt: skip
