"""Variation between the rounds of a model, apart from that between groups of items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import stdev
from typing import NamedTuple

from keju.analysis.labels import metric_label, task_name
from keju.analysis.run_set import RunSet
from keju.definitions import task
from keju.items import Protocol, Score, better_end
from keju.scoring import PROTOCOLS
from keju.scoring.aggregate import task_value
from keju.scoring.value_parts import mean_weights, number_units, task_parts
from keju.statistics import Ratio, standard_error


class RoundSpread(NamedTuple):
    """The values of one model in its rounds, on one task or over all tasks of a benchmark.

    `deviation` is their standard deviation: the noise of decoding. `standard_error` is that of the
    value over all rounds when groups of items are drawn again; None where it has no interval.
    `items` have a value in all rounds. Without `task` it is the mean over the domains of a
    benchmark, which has no metric. These numbers count unclear answers as wrong, and those
    `if_right` as right.
    """

    protocol: Protocol
    benchmark: str
    task: str
    metric: str
    model: str
    values: list[float]
    values_if_right: list[float]
    deviation: float
    deviation_if_right: float
    standard_error: float | None
    standard_error_if_right: float | None
    items: int
    groups: int


_Rounds = list[list[Score]]
"""The scores of one model on one task, round by round."""


def round_spreads(run_set: RunSet) -> list[RoundSpread]:
    """A row for each task of each model with two or more rounds, and for its overall means."""
    spreads: list[RoundSpread] = []
    for protocol in PROTOCOLS:
        by_model: dict[str, dict[str, dict[tuple[str, str], _Rounds]]] = {}
        for place, scores in run_set.mains[protocol].items():
            scores_of: dict[str, list[Score]] = {}
            for score in scores:
                if run_set.by_model[score.model].rounds > 1 and score.value is not None:
                    scores_of.setdefault(score.model, []).append(score)
            for model, scores_of_model in scores_of.items():
                rounds = _complete_rounds(scores_of_model)
                if len(rounds) > 1:
                    by_benchmark = by_model.setdefault(model, {})
                    by_benchmark.setdefault(task(place[0]).benchmark, {})[place] = rounds
        for model, by_benchmark in by_model.items():
            for benchmark, tasks in by_benchmark.items():
                spreads += _rows(protocol, benchmark, model, tasks)
    return spreads


def _complete_rounds(scores: Sequence[Score]) -> _Rounds:
    """The scores by round, of the items that have one in all rounds of the task."""
    rounds: dict[int, dict[str, Score]] = {}
    for score in scores:
        rounds.setdefault(score.round, {})[score.item] = score
    shared = sorted(set.intersection(*map(set, rounds.values())))
    return [[rounds[number][item] for item in shared] for number in sorted(rounds) if shared]


def _rows(
    protocol: Protocol, benchmark: str, model: str, tasks: Mapping[tuple[str, str], _Rounds]
) -> Iterator[RoundSpread]:
    domains: dict[str, list[str]] = {}
    for name, query in tasks:
        domains.setdefault(task(name).domain, []).append(task_name(name, query))
    scopes = [{place: 1.0} for place in tasks]
    counts = {len(rounds) for rounds in tasks.values()}
    if len(tasks) > 1 and len(counts) == 1:
        weights = mean_weights(domains)
        scopes.append({place: weights[task_name(*place)] for place in tasks})
    for scope in scopes:
        chosen = {place: tasks[place] for place in scope}
        scores = [score for rounds in chosen.values() for each in rounds for score in each]
        numbers = number_units(scores)
        ends = [_spread(chosen, scope, model, numbers)] * 2
        if any(score.if_right for score in scores):
            if_right = {
                place: [list(map(better_end, each)) for each in rounds]
                for place, rounds in chosen.items()
            }
            ends[1] = _spread(if_right, scope, model, numbers)
        place = next(iter(scope)) if len(scope) == 1 else None
        yield RoundSpread(
            protocol=protocol,
            benchmark=benchmark,
            task=task_name(*place) if place else "",
            metric=metric_label(*place, protocol, scores[0].metric) if place else "",
            model=model,
            values=ends[0].values,
            values_if_right=ends[1].values,
            deviation=ends[0].deviation,
            deviation_if_right=ends[1].deviation,
            standard_error=ends[0].standard_error,
            standard_error_if_right=ends[1].standard_error,
            items=sum(len(rounds[0]) for rounds in chosen.values()),
            groups=len(numbers),
        )


class _End(NamedTuple):
    """One end of a spread: with unclear answers as wrong, or as right."""

    values: list[float]
    deviation: float
    standard_error: float | None


def _spread(
    chosen: Mapping[tuple[str, str], _Rounds],
    scope: Mapping[tuple[str, str], float],
    model: str,
    numbers: Mapping[str, int],
) -> _End:
    values = [
        sum(weight * (task_value(chosen[place][number]) or 0.0) for place, weight in scope.items())
        for number in range(len(next(iter(chosen.values()))))
    ]
    return _End(values, stdev(values), _standard_error(chosen, scope, model, numbers))


def _standard_error(
    chosen: Mapping[tuple[str, str], _Rounds],
    scope: Mapping[tuple[str, str], float],
    model: str,
    numbers: Mapping[str, int],
) -> float | None:
    parts: list[Ratio] = []
    for place, weight in scope.items():
        scores = [score for each in chosen[place] for score in each]
        parts_of_task = task_parts(scores, [model], numbers, weight=weight)
        if not parts_of_task:
            return None
        parts += parts_of_task
    return standard_error(parts)
