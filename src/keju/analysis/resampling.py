"""Intervals of a benchmark's means, paired tests between its models, and their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from math import comb
from typing import NamedTuple

from keju.analysis.intervals import ItemsOfModel, ScoredTask, range_intervals, read_task
from keju.analysis.labels import task_name
from keju.analysis.marks import is_open, printed
from keju.analysis.run_set import Mains
from keju.items import Protocol
from keju.scoring import BenchmarkResult, MeanResult
from keju.scoring.value_parts import mean_weights
from keju.statistics import (
    FEWEST_GROUPS,
    LEVEL,
    GroupShares,
    Ratio,
    as_columns,
    group_shares,
    groups_needed,
    holm,
    number_names,
    paired_p,
    rank_sets,
)
from keju.texts import Text, _, listed, n_

Bounds = tuple[float, float]
Span = tuple[int, int]

_MOST_NAMED = 6


class Gap(NamedTuple):
    """The overall mean of one model minus another's, with p adjusted over all pairs (Holm).

    p is None where there are too few groups for a test. `most` is the greatest difference, with
    the first model's unclear answers as right and the other's as wrong, and `least` the other end;
    all three are equal where no answer is unclear. p is the greater one of these two ends, and 1
    where they differ in their sign: the order of the two models is not decided then.
    """

    difference: float
    p_holm: float | None
    least: float
    most: float

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


class ResampledMeans(NamedTuple):
    """The 95 % intervals of a benchmark under one protocol, and its models' ranks.

    `ranks` are the rank by printed value and the ranks that are possible after all pairwise tests
    (None where the means cannot be tested); `unranked` is the reason why a model has none. `gaps`
    compares each two ranked models, in both orders. `bases` has the basis of each mean, and
    `missing` the number of items that it lacks of the fullest one. `unclear` has the share of each
    model's answers that are unclear, and `undecided` the possible ranks of models without a
    rank because unclear answers decide it (`unranked` has the reason). `shares` are those of the
    groups in the fullest mean. `few_groups` says that they are too few to rank the models.
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
    unclear: dict[str, float]
    undecided: dict[str, Span | None]
    shares: GroupShares | None


_Domains = Mapping[str, Sequence[str]]
"""The names of the tasks with a value, by domain."""


class _Parts(NamedTuple):
    """The parts of a mean with unclear answers as wrong, and with them as right."""

    value: list[Ratio]
    if_right: list[Ratio]


class _Benchmark(NamedTuple):
    """The scored tasks of a benchmark, with one numbering of their groups."""

    tasks: Mapping[str, ScoredTask]

    def items(self, name: str, model: str) -> ItemsOfModel | None:
        return self.tasks[name].items.get(model) if name in self.tasks else None

    def unclear(self, model: str) -> float:
        """The share of a model's answers that are unclear."""
        read_by = [task.read_by.get(model, Counter()) for task in self.tasks.values()]
        counts = sum(read_by, Counter[str]())
        return counts["unclear"] / max(1, counts.total())

    def parts(self, domains: _Domains, models: Sequence[str]) -> _Parts:
        """The parts of a mean of models with the same items; empty where a task has none.

        If no answer of the models is unclear, both ends are the same list.
        """
        ends: list[list[Ratio]] = [[], []]
        for name, weight in mean_weights(domains).items():
            for parts, if_right in zip(ends, (False, True), strict=True):
                task = self.tasks.get(name)
                of_task = task.parts_of(models, if_right=if_right) if task else []
                if not of_task:
                    return _Parts([], [])
                parts += [part._replace(weight=part.weight * weight) for part in of_task]
        return _Parts(ends[0], ends[1] if any(map(self.unclear, models)) else ends[0])

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
            for ends in [self.parts(means[models[0]], models)]
            if ends.value
            for model, interval in zip(models, range_intervals(*ends), strict=True)
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
    unclear = {model: benchmark.unclear(model) for model in results}
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
        unclear=unclear,
        undecided={},
        shares=group_shares(parts.value) if parts.value else None,
    )
    for model in candidates:
        if model not in alike:
            resampled.unranked[model] = _explain_unranked(resampled, full, model)
    if len(alike) == 1 and candidates:
        resampled.unranked[fullest] = _("no other model exists to rank it against")
    if len(alike) == 1 or not full.digests:
        return resampled
    values = {model: _ends(results[model].overall) for model in alike}
    return _rank(resampled, values, parts)


def overall_intervals(mains: Mains, results: Mapping[str, BenchmarkResult]) -> dict[str, Bounds]:
    """The 95 % interval of each model's overall mean (see `resample_benchmark`)."""
    means = {model: _domains_with_value(result) for model, result in results.items()}
    return _read_benchmark(mains, results).intervals(
        {model: domains for model, domains in means.items() if domains}
    )


def group_notes(means: Mapping[Protocol, ResampledMeans]) -> Iterator[Text]:
    """The number of groups, and the share of the largest in the weight of the mean."""
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


def _read_benchmark(mains: Mains, results: Mapping[str, BenchmarkResult]) -> _Benchmark:
    """The tasks of a benchmark; the scores of one task at a time are in memory."""
    tasks = {
        task_name(task, query): read_task(scores, results)
        for (task, query), scores in mains.items()
    }
    numbers = number_names(name for task in tasks.values() for name in task.units)
    return _Benchmark({name: task.renumbered(numbers) for name, task in tasks.items()})


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


def _ends(mean: MeanResult) -> Bounds:
    """A mean with unclear answers as wrong, and with them as right."""
    return mean.value or 0.0, mean.value_if_right or 0.0


def _rank(
    resampled: ResampledMeans,
    values: Mapping[str, Bounds],
    parts: _Parts,
) -> ResampledMeans:
    """Rank models with the same items by their printed values, and test every two of them.

    A model has a rank only if its order with every other model is the same at both ends of both
    models' ranges.
    """
    names, exact = list(values), list(values.values())
    order = [(printed(low), printed(high)) for low, high in exact]
    adjusted = _test_pairs(parts, exact) if parts.value else {}
    spans = rank_sets([low for low, _ in order], adjusted)
    for place, name in enumerate(names):
        rivals = [
            names[other]
            for other, ends in enumerate(order)
            if other != place and is_open(order[place], ends)
        ]
        if rivals:
            resampled.undecided[name] = spans[place] if parts.value else None
            share = max(resampled.unclear[rival] for rival in (name, *rivals))
            resampled.unranked[name] = _("undecided: {} % unclear", f"{100 * share:.3g}")
        else:
            ahead = sum(low > order[place][0] for low, _ in order)
            resampled.ranks[name] = 1 + ahead, spans[place] if parts.value else None
    if not parts.value:
        return resampled
    for one, other in permutations(range(len(names)), 2):
        (low, high), (low_of_other, high_of_other) = exact[one], exact[other]
        resampled.gaps[names[one], names[other]] = Gap(
            difference=low - low_of_other,
            p_holm=adjusted.get((min(one, other), max(one, other))),
            least=low - high_of_other,
            most=high - low_of_other,
        )
    number, needed = group_shares(parts.value).groups, groups_needed(comb(len(names), 2))
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
    return resampled


def _test_pairs(parts: _Parts, values: Sequence[Bounds]) -> dict[tuple[int, int], float]:
    """The adjusted p of each pair of columns: the greater one of both ends of their difference.

    It is 1 where the ends differ in their sign.
    """
    p_values = paired_p(parts.value)
    if parts.if_right is not parts.value:
        columns = len(values)
        ends = [as_columns(both) for both in zip(*parts, strict=True)]
        at_ends = paired_p(ends)
        for one, other in p_values:
            least, most = values[one][0] - values[other][1], values[one][1] - values[other][0]
            p = max(at_ends[one, other + columns], at_ends[other, one + columns])
            p_values[one, other] = 1.0 if least < 0 < most else p
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


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
