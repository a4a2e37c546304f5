"""The numbers of one bundle: values of tasks, and means over items with a value of metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from keju.analysis.intervals import task_intervals
from keju.analysis.resampling import overall_intervals
from keju.bundles import BundledItem
from keju.datasets.values import value_label
from keju.definitions import task
from keju.items import Protocol, Score
from keju.scoring import PROTOCOLS, MeanResult, MetricResult, Result, aggregate
from keju.site.bundle_items import ItemKey, Place
from keju.site.records import Bounds, Stratum, TaskValue

FILTERS = {"dynasty": "dynasty", "period": "dynasty", "script": "script", "category": "category"}
"""The fields of metadata by which readers can filter, with the filter of each."""

DIGITS = 8
"""Digits of the site's data: with fewer, some values would be printed otherwise than in reports."""

Mains = dict[Protocol, dict[Place, list[Score]]]
"""The scores of main metrics, by protocol, then task and query; `model` is the entry's name."""

_MOST = 40
"""Maximum number of values of a kind that is a filter: more are names of things, not classes."""


class Chosen(NamedTuple):
    """The scores of main metrics of the items with one value of metadata, by task and query."""

    kind: str
    name: str
    mains: dict[Place, list[Score]]

    @property
    def items(self) -> int:
        """The number of items."""
        return sum(len({each.item for each in scores}) for scores in self.mains.values())


def task_values(
    results: Mapping[Protocol, Result], bounds: Mapping[tuple[str, str, str], Bounds]
) -> Iterator[TaskValue]:
    """Every metric of every task, under both protocols."""
    for protocol, result in results.items():
        for found in result.tasks:
            for place, metric in enumerate(found.metrics):
                yield TaskValue(
                    protocol=protocol,
                    task=found.task,
                    query=found.query,
                    metric=metric.metric,
                    main=place == 0,
                    value=rounded(metric.value),
                    bounds=bounds.get((protocol, found.task, found.query)) if place == 0 else None,
                    items=metric.items,
                    scored=metric.scored,
                    signature=metric.signature,
                    value_if_right=other_end(metric),
                )


def task_bounds(mains: Mains) -> dict[str, dict[tuple[str, str, str], Bounds]]:
    """The interval of each task's main value by model, then protocol, task and query."""
    found: dict[str, dict[tuple[str, str, str], Bounds]] = {}
    for protocol, by_place in mains.items():
        for (name, query), scores in by_place.items():
            for model, interval in task_intervals(scores).items():
                of_model = found.setdefault(model, {})
                of_model[protocol, name, query] = bounds_of((interval.low, interval.high))
    return found


def strata(
    mains: Mains, items: Mapping[ItemKey, BundledItem], benchmark: str
) -> dict[str, list[Stratum]]:
    """The means of each model over the items of a dynasty, a script or a category of books."""
    found: dict[str, list[Stratum]] = {}
    values = {key: list(_values(item)) for key, item in items.items()}
    for protocol in PROTOCOLS:
        for chosen in _choose(mains[protocol], benchmark, values):
            for model, stratum in _stratum(chosen, protocol, benchmark):
                found.setdefault(model, []).append(stratum)
    return found


def rounded(value: float | None) -> float | None:
    """A value with the digits that the site's data have."""
    return None if value is None else round(value, DIGITS)


def other_end(value: MetricResult | MeanResult) -> float | None:
    """The value if every unclear answer were right; None where it is the value itself."""
    return None if value.value_if_right == value.value else rounded(value.value_if_right)


def bounds_of(bounds: Bounds) -> Bounds:
    """The ends of an interval with the digits that the site's data have."""
    return round(bounds[0], DIGITS), round(bounds[1], DIGITS)


def _values(item: BundledItem) -> Iterator[tuple[str, str]]:
    """The kinds and labels of an item's metadata; one value of each kind."""
    seen = set()
    for key, kind in FILTERS.items():
        if (name := getattr(item, key)) and kind not in seen:
            seen.add(kind)
            yield kind, value_label(key, name)


def _choose(
    mains: Mapping[Place, Sequence[Score]],
    benchmark: str,
    values: Mapping[ItemKey, Sequence[tuple[str, str]]],
) -> list[Chosen]:
    """The scores by value of metadata; a kind with one value or too many has no filter."""
    found: dict[tuple[str, str], Chosen] = {}
    for place, scores in mains.items():
        if task(place[0]).benchmark != benchmark:
            continue
        for score in scores:
            for key in values[(*place, score.item)]:
                chosen = found.setdefault(key, Chosen(*key, {}))
                chosen.mains.setdefault(place, []).append(score)
    kinds = [kind for kind, _ in found]
    return [found[key] for key in sorted(found) if 1 < kinds.count(key[0]) <= _MOST]


def _stratum(chosen: Chosen, protocol: Protocol, benchmark: str) -> Iterator[tuple[str, Stratum]]:
    scores = (score for of_task in chosen.mains.values() for score in of_task)
    results = {
        result.model: found
        for result in aggregate(scores)
        for found in result.benchmarks
        if found.benchmark == benchmark
    }
    intervals = overall_intervals(chosen.mains, results)
    for model, result in results.items():
        if result.overall.value is None:
            continue
        bounds = intervals.get(model)
        parts = (name for mean in result.domains.values() for name in mean.parts)
        missing = sum(len(mean.missing) for mean in result.domains.values())
        yield (
            model,
            Stratum(
                kind=chosen.kind,
                name=chosen.name,
                protocol=protocol,
                value=round(result.overall.value, DIGITS),
                bounds=bounds_of(bounds) if bounds else None,
                tasks=len(list(parts)) - missing,
                items=chosen.items,
                value_if_right=other_end(result.overall),
            ),
        )
