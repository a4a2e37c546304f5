"""Intervals of a benchmark's means, paired tests between its models, and their ranks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from math import comb
from typing import NamedTuple

import numpy as np

from keju.analysis.intervals import ItemsOfModel, ScoredTask, read_task
from keju.analysis.labels import task_name
from keju.analysis.marks import printed
from keju.analysis.run_set import Mains
from keju.errors import shortened
from keju.items import Protocol
from keju.scoring import BenchmarkResult
from keju.scoring.value_parts import mean_weights
from keju.statistics import (
    FEWEST_GROUPS,
    LEVEL,
    GroupShares,
    Ratio,
    group_shares,
    groups_needed,
    holm,
    intervals,
    number_names,
    paired_p,
    rank_sets,
    value_of,
    weigh_groups,
)
from keju.texts import Text, _, join_parts, listed, n_

Bounds = tuple[float, float]
Span = tuple[int, int]

_MOST_NAMED = 6


class Gap(NamedTuple):
    """The overall mean of one model minus another's, with p adjusted over all pairs (Holm).

    p is None where there are too few groups for a test.
    """

    difference: float
    p_holm: float | None

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most .05."""
        return self.p_holm is not None and self.p_holm <= LEVEL


class Basis(NamedTuple):
    """The tasks and items on which a model's mean rests: those with a value.

    Two means can be compared only if their bases are equal: `digests` has a digest of the answered
    items by task, and of those with a value. `items` is the number with a value. `extent` is the
    number of all tasks and items that the model answered, those without a value included.
    """

    digests: Mapping[str, bytes]
    items: int
    extent: tuple[int, int]

    @property
    def fullness(self) -> tuple[int, int]:
        """The number of tasks and of items, by which the fullest basis is resampled."""
        return len(self.digests), self.items


NO_BASIS = Basis({}, 0, (0, 0))
"""The basis of a model without a value."""


class LargestGroup(NamedTuple):
    """The largest group, and the possible ranks that change without it, before and after."""

    name: str
    share: float
    changes: Mapping[str, tuple[Span, Span]]


class ResampledMeans(NamedTuple):
    """The 95 % intervals of a benchmark under one protocol, and its models' ranks.

    `ranks` are the rank by printed value and the ranks that are possible after all pairwise tests
    (None where the means cannot be tested); `unranked` is the reason why a model has none. `gaps`
    compares each two ranked models, in both orders. `bases` has the basis of each mean, and
    `missing` the number of items that it lacks of the fullest one. `shares` are those of the groups
    in the fullest mean. `few_groups` says that they are too few to rank the models. `largest` is
    None where the ranks cannot be tested without it.
    """

    overall: dict[str, Bounds]
    domains: dict[tuple[str, str], Bounds]
    ranks: dict[str, tuple[int, Span | None]]
    unranked: dict[str, str]
    notes: list[str]
    few_groups: list[Text]
    gaps: dict[tuple[str, str], Gap]
    bases: dict[str, Basis]
    missing: dict[str, int]
    shares: GroupShares | None
    largest: LargestGroup | None


_Domains = Mapping[str, Sequence[str]]
"""The names of the tasks with a value, by domain."""


class _Benchmark(NamedTuple):
    """The scored tasks of a benchmark, with one numbering of their groups."""

    tasks: Mapping[str, ScoredTask]
    groups: Sequence[str]

    def items(self, name: str, model: str) -> ItemsOfModel | None:
        return self.tasks[name].items.get(model) if name in self.tasks else None

    def parts(self, domains: _Domains, models: Sequence[str]) -> list[Ratio]:
        """The parts of a mean of models with the same items; empty where a task has none."""
        parts: list[Ratio] = []
        for name, weight in mean_weights(domains).items():
            of_task = self.tasks[name].parts_of(models) if name in self.tasks else []
            if not of_task:
                return []
            parts += [part._replace(weight=part.weight * weight) for part in of_task]
        return parts

    def intervals(self, means: Mapping[str, _Domains]) -> dict[str, Bounds]:
        """The interval of a mean of each model, in one call for all models with the same items.

        A mean over one task has the interval of that task.
        """
        alike: dict[object, list[str]] = {}
        for model, domains in means.items():
            items = [
                (domain, name, of_model and of_model.digest)
                for domain, names in domains.items()
                for name in names
                for of_model in [self.items(name, model)]
            ]
            alike.setdefault(tuple(items), []).append(model)
        return {
            model: (interval.low, interval.high)
            for models in alike.values()
            if (parts := self.parts(means[models[0]], models))
            for model, interval in zip(models, intervals(parts), strict=True)
            if interval
        }


def resample_benchmark(
    mains: Mains, results: Mapping[str, BenchmarkResult], *, ranked: Collection[str]
) -> ResampledMeans:
    """Resample the groups for the intervals of the means, and test the models in pairs.

    Args:
        mains: the scores of main metrics under one protocol, by task and query.
        results: the benchmark's results by model.
        ranked: the models that get ranks, if their means rest on the same tasks and items as the
            fullest one of them.
    """
    benchmark = _read_benchmark(mains, results)
    means = {model: _domains_with_value(result) for model, result in results.items()}
    bases = {model: _basis(benchmark, model, domains) for model, domains in means.items()}
    candidates = [model for model in results if model in ranked]
    fullest = _find_fullest({model: bases[model] for model in candidates or results})
    full = bases[fullest]
    alike = [model for model in candidates if bases[model].digests == full.digests] or [fullest]
    parts = benchmark.parts(means[fullest], alike)
    resampled = ResampledMeans(
        overall=benchmark.intervals(
            {model: domains for model, domains in means.items() if domains}
        ),
        domains=_domain_intervals(benchmark, means),
        ranks={},
        unranked={},
        notes=list(_notes(benchmark)),
        few_groups=[],
        gaps={},
        bases=bases,
        missing={model: _count_missing(benchmark, full, fullest, model) for model in results},
        shares=group_shares(parts) if parts else None,
        largest=None,
    )
    for model in candidates:
        if model not in alike:
            resampled.unranked[model] = _explain_unranked(resampled, full, model)
    if len(alike) == 1 and candidates:
        resampled.unranked[fullest] = _("no other model exists to rank it against")
    if len(alike) == 1 or not full.digests:
        return resampled
    values = {model: results[model].overall.value or 0.0 for model in alike}
    return _rank(resampled, benchmark.groups, values, parts)


def overall_intervals(mains: Mains, results: Mapping[str, BenchmarkResult]) -> dict[str, Bounds]:
    """The 95 % interval of each model's overall mean (see `resample_benchmark`)."""
    means = {model: _domains_with_value(result) for model, result in results.items()}
    return _read_benchmark(mains, results).intervals(
        {model: domains for model, domains in means.items() if domains}
    )


def group_notes(means: Mapping[Protocol, ResampledMeans]) -> Iterator[Text]:
    """The number of groups and the share of the largest, and what the ranks are without it."""
    shares = [of_protocol.shares for of_protocol in means.values() if of_protocol.shares]
    if shares:
        yield n_(
            "{n:,} group (book, plate, bone; else the image), the largest with {:.1f} % of the "
            "weight of the mean",
            "{n:,} groups (book, plate, bone; else the image), the largest with {:.1f} % of the "
            "weight of the mean",
            shares[-1].groups,
            100 * shares[-1].largest,
        )
    for protocol, of_protocol in means.items():
        if largest := of_protocol.largest:
            yield _describe_largest(protocol, largest)


def _describe_largest(protocol: Protocol, largest: LargestGroup) -> Text:
    group, share = shortened(largest.name, 40), 100 * largest.share
    if not largest.changes:
        return _(
            "{}: without {}, the largest group ({:.1f} % of the weight), the same ranks remain "
            "possible",
            protocol,
            group,
            share,
        )
    changes = [
        _("{} {} to {} instead of {} to {}", model, now[0], now[1], was[0], was[1])
        for model, (was, now) in largest.changes.items()
    ]  # fmt: skip
    return _(
        "{}: without {}, the largest group ({:.1f} % of the weight), these possible ranks "
        "change: {}",
        protocol,
        group,
        share,
        join_parts(changes)
    )  # fmt: skip


def _read_benchmark(mains: Mains, results: Mapping[str, BenchmarkResult]) -> _Benchmark:
    """The tasks of a benchmark; the scores of one task at a time are in memory."""
    tasks = {
        task_name(task, query): read_task(scores, results)
        for (task, query), scores in mains.items()
    }
    numbers = number_names(name for task in tasks.values() for name in task.units)
    return _Benchmark(
        {name: task.renumbered(numbers) for name, task in tasks.items()}, list(numbers)
    )


def _domains_with_value(result: BenchmarkResult) -> dict[str, list[str]]:
    return {
        domain: [name for name in mean.parts if name not in mean.missing]
        for domain, mean in result.domains.items()
        if mean.value is not None
    }


def _basis(benchmark: _Benchmark, model: str, domains: _Domains) -> Basis:
    items = {
        name: of_model
        for names in domains.values()
        for name in names
        if (of_model := benchmark.items(name, model))
    }
    answered = [
        of_model.answers for name in benchmark.tasks if (of_model := benchmark.items(name, model))
    ]
    return Basis(
        {name: of_model.digest for name, of_model in items.items()},
        sum(of_model.values for of_model in items.values()),
        (len(answered), sum(answered)),
    )


def _find_fullest(bases: Mapping[str, Basis]) -> str:
    """The model with the most tasks and items; of several, one whose items most models have."""
    digests = [basis.digests for basis in bases.values()]
    return max(
        sorted(bases),
        key=lambda model: (bases[model].fullness, digests.count(bases[model].digests)),
    )


def _domain_intervals(
    benchmark: _Benchmark, means: Mapping[str, _Domains]
) -> dict[tuple[str, str], Bounds]:
    domains = dict.fromkeys(domain for of_model in means.values() for domain in of_model)
    return {
        (model, domain): bounds
        for domain in domains
        for model, bounds in benchmark.intervals(
            {model: {domain: names[domain]} for model, names in means.items() if domain in names}
        ).items()
    }


def _count_missing(benchmark: _Benchmark, full: Basis, fullest: str, model: str) -> int:
    return sum(
        items.count_lacking(benchmark.items(name, model))
        for name in full.digests
        if (items := benchmark.items(name, fullest))
    )


def _explain_unranked(resampled: ResampledMeans, full: Basis, model: str) -> Text:
    """Why a mean is not ranked beside those that rest on the fullest basis."""
    missing = resampled.missing[model]
    if not missing:
        return _("not ranked: answered other items, or some more often than others")
    if tasks := sorted(full.digests.keys() - resampled.bases[model].digests.keys()):
        return n_(
            "not ranked: lacks {:,} of {n:,} item, among them all of {}",
            "not ranked: lacks {:,} of {n:,} items, among them all of {}",
            full.items,
            missing,
            _names(tasks),
        )
    return n_(
        "not ranked: lacks {:,} of {n:,} item",
        "not ranked: lacks {:,} of {n:,} items",
        full.items,
        missing,
    )


def _rank(
    resampled: ResampledMeans,
    groups: Sequence[str],
    values: Mapping[str, float],
    parts: Sequence[Ratio],
) -> ResampledMeans:
    """Rank models with the same items by their printed values, and test every two of them."""
    names, exact = list(values), list(values.values())
    order = [printed(value) for value in exact]
    places = [1 + sum(other > value for other in order) for value in order]
    if not parts:
        resampled.ranks.update(
            {name: (place, None) for name, place in zip(names, places, strict=True)}
        )
        return resampled
    adjusted = _test_pairs(parts)
    spans = rank_sets(order, adjusted)
    resampled.ranks.update(zip(names, zip(places, spans, strict=True), strict=True))
    for one, other in permutations(range(len(names)), 2):
        p = adjusted.get((min(one, other), max(one, other)))
        resampled.gaps[names[one], names[other]] = Gap(exact[one] - exact[other], p)
    number, needed = group_shares(parts).groups, groups_needed(comb(len(names), 2))
    if number < needed:
        resampled.few_groups.append(
            _(
                "{} groups (books, plates, bones) cannot rank {} models: no difference is "
                "significant with fewer than {} groups, {} more",
                number,
                len(names),
                needed,
                needed - number,
            )
        )
    if number <= needed:
        return resampled
    return resampled._replace(
        largest=_drop_largest(groups, dict(zip(names, spans, strict=True)), parts)
    )


def _test_pairs(parts: Sequence[Ratio]) -> dict[tuple[int, int], float]:
    """The adjusted p of each pair of columns."""
    p_values = paired_p(parts)
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def _drop_largest(
    groups: Sequence[str], spans: Mapping[str, Span], parts: Sequence[Ratio]
) -> LargestGroup:
    """Test every two models again without the group with the largest share."""
    numbers, shares = weigh_groups(parts)
    place = int(np.argmax(shares.round(9)))
    fewer = []
    for part in parts:
        rows = part.groups != numbers[place]
        if rows.any():
            top, bottom = part.top[rows], part.bottom[rows]
            fewer.append(Ratio(part.groups[rows], top, bottom, part.weight))
    values = [printed(value) for value in np.nan_to_num(value_of(fewer))]
    now = rank_sets(values, _test_pairs(fewer))
    return LargestGroup(
        groups[numbers[place]],
        float(shares[place]),
        {
            model: (was, after)
            for (model, was), after in zip(spans.items(), now, strict=True)
            if was != after
        },
    )


def _notes(benchmark: _Benchmark) -> Iterator[Text]:
    few, untested = [], []
    for name, task in benchmark.tasks.items():
        valued = [
            columns
            for columns in task.columns
            if any(task.items[model].values for model in columns.models)
        ]
        groups = [
            (min(len(part.groups) for part in columns.parts), columns.models)
            for columns in valued
            if columns.parts
        ]
        for count, models in groups:
            if count < FEWEST_GROUPS:
                whose = f", {', '.join(models)}" if len(groups) > 1 else ""
                few.append(f"{name} ({count}{whose})")
        if valued and not groups:
            untested.append(f"{name} ({task.metric})")
    if few:
        yield _(
            "No interval for values that include a task with fewer than {} groups: {}",
            FEWEST_GROUPS,
            _names(few),
        )
    if untested:
        yield _(
            "No interval for values that include one of these tasks, and no test of ranks: {}",
            _names(untested),
        )


def _names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = listed(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return _("{} and {:,} more", shown, more) if more > 0 else shown
