"""Intervals of a benchmark's means, paired tests between its models, and their ranks."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import harmonic_mean
from typing import NamedTuple

import numpy as np

from keju.analysis.intervals import has_interval, interval_of_scores, ratios_of
from keju.analysis.labels import task_name
from keju.analysis.run_set import Mains
from keju.items import Score
from keju.messages import listed, message
from keju.scoring import BenchmarkResult
from keju.statistics import (
    FEWEST_GROUPS,
    TaskSums,
    groups_needed,
    holm,
    interval_of_values,
    pairwise_p,
    rank_sets,
    resample_suite,
)
from keju.statistics.bootstrap import Floats

Bounds = tuple[float, float]

_LEVEL = 0.05

_RESAMPLED = 2
"""Minimum number of groups of a task with which resampling changes its value."""


class Gap(NamedTuple):
    """The overall mean of one model minus another's, with p adjusted over all pairs (Holm)."""

    difference: float
    p_holm: float

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is at most .05."""
        return self.p_holm <= _LEVEL


class Basis(NamedTuple):
    """The tasks and items on which a model's mean rests: those with a value and an answer.

    Two means can be compared only if their bases are equal: `digests` has a digest of the answered
    items by task. `items` is their number. `extent` is the number of all tasks and items that the
    model answered, those without a value included.
    """

    digests: Mapping[str, bytes]
    items: int
    extent: tuple[int, int]

    @property
    def fullness(self) -> tuple[int, int]:
        """The number of tasks and of items, by which the fullest basis is found."""
        return len(self.digests), self.items


NO_BASIS = Basis({}, 0, (0, 0))
"""The basis of a model without a value."""


class ResampledMeans(NamedTuple):
    """The 95 % intervals of a benchmark under one protocol, and its models' ranks.

    `ranks` are the rank by value and the ranks that are possible after all pairwise tests (None
    where the means cannot be tested); `unranked` is the reason why a model has none. `gaps`
    compares each two ranked models, in both orders. `bases` has the basis of each mean.
    """

    overall: dict[str, Bounds]
    domains: dict[tuple[str, str], Bounds]
    ranks: dict[str, tuple[int, tuple[int, int] | None]]
    unranked: dict[str, str]
    notes: list[str]
    gaps: dict[tuple[str, str], Gap]
    bases: dict[str, Basis]


class _Part(NamedTuple):
    """One ratio of sums of a task, and the task's value in every resample by model."""

    sums: TaskSums
    values: Floats


class _Resamples(NamedTuple):
    """The parts of each task of the benchmark; `groups` is the number of groups in all."""

    parts: dict[str, list[_Part]]
    groups: int
    of_task: dict[str, int]
    unsure: list[str]
    answered: dict[str, dict[str, tuple[int, bytes]]]

    def groups_of(self, names: Collection[str]) -> int:
        """The number of different groups in these tasks."""
        rows = [part.sums.groups for name in names for part in self.parts[name]]
        return len(np.unique(np.concatenate(rows))) if rows else 0

    def width(self, names: Collection[str]) -> int:
        """The typical number of groups of these tasks, which widens the interval of their mean.

        At least `FEWEST_GROUPS`: in simulations of 3 to 20 tasks with 2 to 10 groups each, the
        intervals then contain the true mean in 90 to 98 % of cases.
        """
        counts = [self.of_task[name] for name in names if self.of_task[name] >= _RESAMPLED]
        return max(FEWEST_GROUPS, round(harmonic_mean(counts))) if counts else 0

    def values(self, name: str, model: int) -> Floats:
        """A task's value in every resample."""
        parts = np.array([part.values[:, model] for part in self.parts[name]], dtype=np.float64)
        return np.asarray(parts.mean(axis=0), dtype=np.float64)

    def contributions(self, name: str) -> Floats:
        """The contribution of each group to each model's value of a task, models by groups.

        Measured from the pooled value of all models, so that groups on which two models have equal
        results add nothing to their difference.
        """
        found = np.zeros((self.groups, self.parts[name][0].sums.top.shape[1]))
        for part in self.parts[name]:
            top, bottom = part.sums.top, part.sums.bottom
            pooled = top.sum() / bottom.sum()
            with np.errstate(divide="ignore", invalid="ignore"):
                added = (top - pooled * bottom) / bottom.sum(axis=0)
            found[part.sums.groups] += np.nan_to_num(added)
        return found.T / len(self.parts[name])


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
    models = list(results)
    drawn = _draw_resamples(mains, models)
    alone = _alone(mains, results)
    bases = {model: _basis(result, drawn.answered[model]) for model, result in results.items()}
    found = ResampledMeans({}, {}, {}, {}, list(_notes(drawn)), {}, bases)
    tested: dict[str, Floats] = {}
    for place, model in enumerate(models):
        domains = {
            domain: [name for name in mean.parts if name not in mean.missing]
            for domain, mean in results[model].domains.items()
            if mean.value is not None
        }
        known = {
            domain: names
            for domain, names in domains.items()
            if names and all(name in drawn.parts for name in names)
        }
        means = {
            domain: np.mean([drawn.values(name, place) for name in names], axis=0)
            for domain, names in known.items()
        }
        for domain, values in means.items():
            if bounds := _bounds(values, drawn, known[domain], alone.get(model, {})):
                found.domains[model, domain] = bounds
        if not known or len(known) < len(domains):
            continue
        everything = [name for names in known.values() for name in names]
        values = np.mean(list(means.values()), axis=0)
        if bounds := _bounds(values, drawn, everything, alone.get(model, {})):
            found.overall[model] = bounds
        tested[model] = np.mean(
            [
                np.mean([drawn.contributions(name)[place] for name in names], axis=0)
                for names in known.values()
            ],
            axis=0,
        )
    return _rank(found, results, ranked, tested)


def _basis(result: BenchmarkResult, answered: Mapping[str, tuple[int, bytes]]) -> Basis:
    names = [
        name for mean in result.domains.values() for name in mean.parts if name not in mean.missing
    ]
    its = {name: answered[name] for name in names if name in answered}
    return Basis(
        {name: digest for name, (_, digest) in its.items()},
        sum(count for count, _ in its.values()),
        (len(answered), sum(count for count, _ in answered.values())),
    )


def _alone(
    mains: Mains, results: Mapping[str, BenchmarkResult]
) -> dict[str, dict[str, list[Score]]]:
    """The scores with an interval of their own of tasks that are alone in a mean, by model."""
    wanted = {
        (model, names[0])
        for model, result in results.items()
        for mean in result.domains.values()
        if len(names := [name for name in mean.parts if name not in mean.missing]) == 1
    }
    found: dict[str, dict[str, list[Score]]] = {}
    for (task, query), scores in mains.items() if wanted else ():
        name = task_name(task, query)
        for score in scores:
            if (score.model, name) in wanted and score.value is not None and has_interval(score):
                found.setdefault(score.model, {}).setdefault(name, []).append(score)
    return found


def _bounds(
    values: Floats,
    drawn: _Resamples,
    names: Collection[str],
    alone: Mapping[str, Sequence[Score]],
) -> Bounds | None:
    """The interval of a mean over tasks; None where they have too few groups in total.

    The mean over one task is that task's value and has its interval, as in the tables of tasks.
    """
    if len(names) == 1 and (scores := alone.get(next(iter(names)))):
        its = interval_of_scores(scores)
        return (its.low, its.high) if its else None
    if drawn.groups_of(names) < FEWEST_GROUPS or not drawn.width(names):
        return None
    found = interval_of_values(values, drawn.width(names))
    return (found.low, found.high) if found else None


def _draw_resamples(mains: Mains, models: Sequence[str]) -> _Resamples:
    places = {model: place for place, model in enumerate(models)}
    known: dict[str, int] = {}
    sums: dict[str, list[TaskSums]] = {}
    unsure: list[str] = []
    answered: dict[str, dict[str, tuple[int, bytes]]] = {model: {} for model in models}
    for (task, query), scores in mains.items():
        name = task_name(task, query)
        for model, count_and_digest in _answered_items(scores, models):
            answered[model][name] = count_and_digest
        kept = [each for each in scores if each.model in places and each.value is not None]
        ratios = list(ratios_of(kept)) if kept else []
        if kept and not ratios:
            unsure.append(f"{name} ({kept[0].metric})")
        for of_ratio in ratios:
            sums.setdefault(name, []).append(_sums(of_ratio, places, known))
    flat = [each for of_task in sums.values() for each in of_task]
    values = resample_suite(flat, groups=max(1, len(known)))
    for place, of_part in enumerate(flat):
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = of_part.top.sum(axis=0) / of_part.bottom.sum(axis=0)
        # A resample without any group of a task keeps the task's own value. Otherwise a mean that
        # sometimes loses a task would vary for a reason that is independent of the models.
        values[:, place] = np.where(np.isnan(values[:, place]), whole, values[:, place])
    columns = iter(range(len(flat)))
    parts = {
        name: [_Part(each, values[:, next(columns)]) for each in of_task]
        for name, of_task in sums.items()
    }
    of_task = {
        name: len(np.unique(np.concatenate([each.groups for each in each_task])))
        for name, each_task in sums.items()
    }
    return _Resamples(parts, len(known), of_task, unsure, answered)


def _answered_items(
    scores: Sequence[Score], models: Sequence[str]
) -> Iterator[tuple[str, tuple[int, bytes]]]:
    """For each model with scores of a task, the number of its items and a digest of them."""
    places = {model: place for place, model in enumerate(models)}
    columns: dict[str, int] = {}
    row_of, column_of = array("q"), array("q")
    for score in scores:
        if score.model in places:
            row_of.append(places[score.model])
            column_of.append(columns.setdefault(score.item, len(columns)))
    has_item = np.zeros((len(models), len(columns)), dtype=bool)
    has_item[row_of, column_of] = True
    for model, row in zip(models, has_item, strict=True):
        if count := int(row.sum()):
            yield model, (count, sha256(np.packbits(row).tobytes()).digest())


def _sums(scores: Sequence[Score], places: Mapping[str, int], known: dict[str, int]) -> TaskSums:
    rows: dict[int, int] = {}
    row_of, column_of, above, below = array("q"), array("q"), array("d"), array("d")
    for score in scores:
        group = known.setdefault(score.group or score.item, len(known))
        row_of.append(rows.setdefault(group, len(rows)))
        column_of.append(places[score.model])
        above.append(score.stats["numerator"])
        below.append(score.stats["denominator"])
    top, bottom = np.zeros((2, len(rows), len(places)))
    np.add.at(top, (row_of, column_of), above)
    np.add.at(bottom, (row_of, column_of), below)
    return TaskSums(np.fromiter(rows, dtype=np.intp), top, bottom)


def _rank(
    found: ResampledMeans,
    results: Mapping[str, BenchmarkResult],
    ranked: Collection[str],
    tested: Mapping[str, Floats],
) -> ResampledMeans:
    bases = {model: found.bases[model] for model in results if model in ranked}
    fullest = max(bases.values(), key=lambda basis: basis.fullness, default=NO_BASIS)
    values: dict[str, float] = {}
    for model, basis in bases.items():
        value = results[model].overall.value
        if basis.digests == fullest.digests and value is not None:
            values[model] = value
        else:
            found.unranked[model] = _explain_unranked(basis, fullest)
    if len(values) == 1:
        found.unranked.update(dict.fromkeys(values, message("analysis.there-no-other-model")))
        return found
    spans: dict[str, tuple[int, int]] = {}
    if values and all(model in tested for model in values):
        spans = _test_pairs(found, values, np.array([tested[model] for model in values]))
    for model, value in values.items():
        above = sum(other > value for other in values.values())
        found.ranks[model] = (above + 1, spans.get(model))
    return found


def _explain_unranked(basis: Basis, fullest: Basis) -> str:
    """Why a mean is not ranked beside those that rest on the fullest basis."""
    if lacks := sorted(fullest.digests.keys() - basis.digests.keys()):
        return message("analysis.not-ranked-lacks", lacks=listed(lacks))
    if not basis.digests:
        return message("analysis.not-ranked")
    if basis.items < fullest.items:
        return message("analysis.not-ranked-fewer-items", count=basis.items, total=fullest.items)
    return message("analysis.not-ranked-other-items")


def _test_pairs(
    found: ResampledMeans, values: Mapping[str, float], contributions: Floats
) -> dict[str, tuple[int, int]]:
    """Test every two models, fill `gaps` and `notes`, and return the possible ranks of each."""
    names = list(values)
    plain = pairwise_p(contributions)
    adjusted = dict(zip(plain, holm(list(plain.values())), strict=True))
    for (one, other), p in adjusted.items():
        gap = values[names[one]] - values[names[other]]
        found.gaps[names[one], names[other]] = Gap(gap, p)
        found.gaps[names[other], names[one]] = Gap(-gap, p)
    groups, needed = contributions.shape[1], groups_needed(len(plain))
    if groups < needed:
        found.notes.append(
            message(
                "analysis.too-few-groups-to-rank",
                groups=groups,
                models=len(names),
                needed=needed,
                more=needed - groups,
            )
        )
    return dict(zip(names, rank_sets(list(values.values()), adjusted), strict=True))


def _notes(drawn: _Resamples) -> Iterator[str]:
    single = sum(count < _RESAMPLED for count in drawn.of_task.values())
    if single:
        total = len(drawn.of_task)
        yield message("analysis.tasks-with-one-group", count=single, total=total)
    if 0 < drawn.groups < FEWEST_GROUPS:
        yield message("analysis.no-intervals", groups=drawn.groups, fewest=FEWEST_GROUPS)
    if drawn.unsure:
        yield message("analysis.no-interval-where-these-enter", names=listed(drawn.unsure))
