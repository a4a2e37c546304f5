"""How sure the means of a benchmark are, and the ranks that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from statistics import harmonic_mean
from typing import NamedTuple

import numpy as np

from keju.items import Score
from keju.reporting.gather import Mains
from keju.reporting.labels import task_name
from keju.scoring import BenchmarkResult, is_ratio_of_sums
from keju.statistics import GroupSums, TaskSums, interval_of, rank_intervals, resample_suite
from keju.statistics.bootstrap import Floats

Bounds = tuple[float, float]

_ENOUGH = 2
"""Groups; of fewer nothing can be said."""


class Resampled(NamedTuple):
    """The 95 % intervals of a benchmark under one protocol, by model.

    `ranks` are the rank by value and the ranks that a model holds in 95 % of the resamples (None
    where there is no other to be told from); `unranked` says why a model has none. `above` is, for
    each two ranked models, the share of resamples in which the first lies above the second.
    """

    overall: dict[str, Bounds]
    domains: dict[tuple[str, str], Bounds]
    ranks: dict[str, tuple[int, Bounds | None]]
    unranked: dict[str, str]
    notes: list[str]
    above: dict[tuple[str, str], float]


class _Resamples(NamedTuple):
    """Each part of the benchmark in every resample, resamples by models."""

    parts: dict[str, Floats]
    groups: list[int]
    unsure: list[str]


def resample_benchmark(
    mains: Mains, results: Mapping[str, BenchmarkResult], *, ranked: Collection[str]
) -> Resampled:
    """Draw the groups again and say between what the means and ranks then lie.

    Args:
        mains: the scores of main metrics under one protocol, by task and query.
        results: the benchmark's results by model.
        ranked: the models that take ranks, if they answered all that others of them did.
    """
    models = list(results)
    drawn = _drawn(mains, models)
    enough = [count for count in drawn.groups if count >= _ENOUGH]
    found = Resampled({}, {}, {}, {}, list(_notes(drawn)), {})
    if not enough:
        return _rank(found, results, ranked, None)
    size = max(_ENOUGH, round(harmonic_mean(enough)))
    width = GroupSums(np.zeros(size), np.ones(size))
    overall = np.full((len(next(iter(drawn.parts.values()))), len(models)), np.nan)
    for place, model in enumerate(models):
        means = []
        for domain, mean in results[model].domains.items():
            there = [name for name in mean.parts if name not in mean.missing]
            if there and all(name in drawn.parts for name in there):
                values = np.mean([drawn.parts[name][:, place] for name in there], axis=0)
                means.append(values)
                found.domains[model, domain] = interval_of(values, width)[:2]
        valued = [each for each in results[model].domains.values() if each.value is not None]
        if means and len(means) == len(valued):
            overall[:, place] = np.mean(means, axis=0)
            found.overall[model] = interval_of(overall[:, place], width)[:2]
    return _rank(found, results, ranked, dict(zip(models, overall.T, strict=True)))


def _drawn(mains: Mains, models: Sequence[str]) -> _Resamples:
    places = {model: place for place, model in enumerate(models)}
    known: dict[str, int] = {}
    sums: list[TaskSums] = []
    parts: dict[str, list[int]] = {}
    found = _Resamples({}, [], [])
    for (task, query), scores in mains.items():
        name = task_name(task, query)
        kept = [each for each in scores if each.model in places and each.value is not None]
        if not kept:
            continue
        ratios = list(_ratios(kept))
        if not ratios:
            found.unsure.append(f"{name} ({kept[0].metric})")
            continue
        for of_ratio in ratios:
            parts.setdefault(name, []).append(len(sums))
            sums.append(_sums(of_ratio, places, known))
        found.groups.append(len({each.group or each.item for each in kept}))
    values = resample_suite(sums, groups=max(1, len(known)))
    for place, of_task in enumerate(sums):
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = of_task.top.sum(axis=0) / of_task.bottom.sum(axis=0)
        # A draw that misses a task whole leaves it where it stands, as a mean that now and then
        # loses a task would swing for a reason that has nothing to do with the models.
        values[:, place] = np.where(np.isnan(values[:, place]), whole, values[:, place])
    for name, columns in parts.items():
        with np.errstate(invalid="ignore"):
            found.parts[name] = values[:, columns].mean(axis=1)
    return found


def _ratios(scores: Sequence[Score]) -> Iterator[list[Score]]:
    """Parts whose plain mean is the value, each a ratio of sums: for most metrics one."""
    if is_ratio_of_sums(scores[0].metric):
        yield list(scores)
    elif "positive" in scores[0].stats:
        for side in sorted({score.stats["positive"] for score in scores}):
            yield [score for score in scores if score.stats["positive"] == side]


def _sums(scores: Sequence[Score], places: Mapping[str, int], known: dict[str, int]) -> TaskSums:
    rows: dict[int, int] = {}
    cells = []
    for score in scores:
        group = known.setdefault(score.group or score.item, len(known))
        cells.append((rows.setdefault(group, len(rows)), places[score.model]))
    top, bottom = np.zeros((2, len(rows), len(places)))
    where = tuple(np.array(cells).T)
    np.add.at(top, where, [score.stats["numerator"] for score in scores])
    np.add.at(bottom, where, [score.stats["denominator"] for score in scores])
    return TaskSums(np.fromiter(rows, dtype=np.intp), top, bottom)


def _rank(
    found: Resampled,
    results: Mapping[str, BenchmarkResult],
    ranked: Collection[str],
    overall: Mapping[str, Floats] | None,
) -> Resampled:
    there = {
        model: {
            name for mean in result.domains.values() for name in mean.parts
            if name not in mean.missing
        }
        for model, result in results.items()
        if model in ranked
    }  # fmt: skip
    asked = set().union(*there.values())
    values: dict[str, float] = {}
    for model, names in there.items():
        value = results[model].overall.value
        if names == asked and value is not None:
            values[model] = value
        else:
            lacks = ", ".join(sorted(asked - names))
            found.unranked[model] = f"not ranked: lacks {lacks}"
    if len(values) == 1:
        found.unranked.update(dict.fromkeys(values, "nobody to rank it against"))
        return found
    spans = {}
    if values and overall is not None and all(m in found.overall for m in values):
        spans = rank_intervals({model: overall[model] for model in values})
        for one, other in permutations(values, 2):
            tied = float(np.mean(overall[one] == overall[other]))
            found.above[one, other] = float(np.mean(overall[one] > overall[other])) + tied / 2
    for model, value in values.items():
        above = sum(other > value for other in values.values())
        found.ranks[model] = (above + 1, spans.get(model))
    return found


def _notes(drawn: _Resamples) -> Iterator[str]:
    single = sum(count < _ENOUGH for count in drawn.groups)
    if single:
        yield (
            f"{single} of {len(drawn.groups)} tasks rest on one group each: their luck is in no "
            "interval"
        )
    if drawn.unsure:
        yield f"No interval where these enter: {', '.join(drawn.unsure)}"
