"""Compare two sides task by task: the difference, its interval and a paired test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from rich.table import Table

from keju.definitions import tasks, without_official
from keju.errors import UsageError, number_of
from keju.items import Protocol, Record, Score
from keju.reporting.comparison_sides import (
    Side,
    Wanted,
    choose_sides,
    names_of,
    paired_scores,
    shared_variant,
)
from keju.reporting.console import plain_table
from keju.reporting.labels import NOTHING, metric_label
from keju.reporting.terminal import model_head
from keju.runs import RunFolder
from keju.scoring import TaskComparison, compare_errors, compare_models, cut_note

_MOST_NAMED = 8
"""Maximum number of tasks that one line of the comparison names."""


class Unscored(Record, frozen=True, kw_only=True):
    """A task (or one of its queries) without main metric on some items: how many items, and why."""

    task: str
    query: str
    metric: str
    items: int
    reason: str


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Two sides compared task by task.

    `first` and `second` are their names, which state their differences; `shared` is the part of the
    prompt variant that is the same and not the default. `errors` are the exploratory comparisons of
    recognition and layout error (`compare_errors`), under `strict` alone. `dropped` counts items of
    the first side that are not the same in the other run's dataset. `unscored` are tasks of both
    sides with items that one of them has no value for, and which are therefore excluded. `notes`
    are remarks on the scores of a side, by its name.
    """

    first: str
    second: str
    shared: str
    sides: tuple[dict[str, str], dict[str, str]]
    protocol: Protocol
    tasks: list[TaskComparison]
    errors: list[TaskComparison] = msgspec.field(default_factory=list)
    dropped: int = 0
    unscored: list[Unscored] = msgspec.field(default_factory=list)
    notes: dict[str, str] = msgspec.field(default_factory=dict)


def comparison_of(
    runs: Sequence[RunFolder], protocol: Protocol, wanted: Wanted | None = None
) -> Comparison:
    """Compare two models, two runs, two settings or two scripts, over the items of both.

    Args:
        runs: one run or two; they must have been scored.
        protocol: whose main metrics are compared.
        wanted: the selected sides; by default they are derived from the runs.

    Raises:
        UsageError: the sides cannot be determined (see `choose_sides`), or have no item in common.
        DataError: a run has not been scored.
    """
    if protocol == "official" and (why := without_official(runs[0].items())):
        raise UsageError(f"{runs[0].path}: {why}")
    first, second = choose_sides(runs, wanted or Wanted())
    names = names_of(first, second)
    one, other, dropped = paired_scores(first, second)
    found = compare_models(one, other, protocol)
    if not found:
        raise UsageError(_why_nothing(names, first, second, protocol, dropped))
    return Comparison(
        first=names[0],
        second=names[1],
        shared=shared_variant(first, second),
        sides=(_said(first), _said(second)),
        protocol=protocol,
        tasks=found,
        errors=compare_errors(one, other) if protocol == "strict" else [],
        dropped=dropped,
        unscored=_unscored(one, other, protocol),
        notes=_notes(names, one, other, protocol),
    )


def _notes(
    names: tuple[str, str], first: list[Score], second: list[Score], protocol: Protocol
) -> dict[str, str]:
    ours = ([score for score in side if score.protocol == protocol] for side in (first, second))
    return {name: note for name, side in zip(names, ours, strict=True) if (note := cut_note(side))}


def _unscored(first: list[Score], second: list[Score], protocol: Protocol) -> list[Unscored]:
    """The tasks of both sides in which the main metric of some item has no value."""
    found = []
    for task in tasks():
        for query in task.queries:
            metric = next(iter(getattr(query, protocol)), "")
            key = (task.id, query.name, metric, protocol)
            one, two = (
                {
                    (score.item, score.round): score
                    for score in scores
                    if (score.task, score.query, score.metric, score.protocol) == key
                }
                for scores in (first, second)
            )
            lacking = [
                score
                for place in one.keys() & two.keys()
                for score in (one[place], two[place])
                if score.value is None
            ]
            if lacking:
                found.append(
                    Unscored(
                        task=task.id,
                        query=query.name,
                        metric=metric,
                        items=len({score.item for score in lacking}),
                        reason=min(score.reason for score in lacking),
                    )
                )
    return found


def _said(side: Side) -> dict[str, str]:
    return {"run": str(side.run.path), "model": side.model, **side.variant._asdict()}


def _why_nothing(
    names: tuple[str, str], first: Side, second: Side, protocol: Protocol, dropped: int
) -> str:
    tasks = [
        ", ".join(sorted({each.task for each in side.scores if each.protocol == protocol}))
        or "none"
        for side in (first, second)
    ]
    why = f"tasks with {protocol} scores: {tasks[0]}; and {tasks[1]}"
    unscored = {each.reason for each in first.scores if each.value is None} - {""}
    if unscored:
        why = f"{why}; unscored: {'; '.join(sorted(unscored)[:3])}"
    if dropped:
        why = (
            "the runs ask different datasets, and "
            f"{number_of(dropped, 'item is', 'items are')} not the same in both"
        )
    return f"nothing to compare: {names[0]} and {names[1]} have no scored item in common ({why})"


def comparison_table(compared: Comparison) -> Table:
    """One row per task: both values in percent, ▲ at the better, difference, interval, p."""
    table = plain_table(
        "task",
        *map(model_head, (compared.first, compared.second)),
        "difference",
        "95 % interval",
        "p",
        right=[1, 2, 3, 4, 5],
    )
    table.columns[0].no_wrap = False
    for each in (*compared.tasks, *compared.errors):
        label = metric_label(each.task, each.query, compared.protocol, each.metric)
        name = f"{each.task}/{each.query}" if each.query else each.task
        interval = NOTHING
        if each.low is not None and each.high is not None:
            interval = f"{100 * each.low:+.1f} to {100 * each.high:+.1f}"
        table.add_row(
            f"{name} {label}",
            _value(each.first, better=each.better == "first"),
            _value(each.second, better=each.better == "second"),
            f"{100 * each.difference:+.1f}",
            interval,
            _p(each.p_holm),
        )
    return table


def verdict_of(compared: Comparison) -> str:
    """Which side is better in which tasks, or what is needed to decide it, in a sentence or two."""
    one, other = compared.first, compared.second
    found = compared.tasks
    parts = []
    for side, name, rival in (("first", one, other), ("second", other, one)):
        if ahead := [each for each in found if each.better == side]:
            named = [f"{_place(each)} ({100 * abs(each.difference):.1f} points)" for each in ahead]
            parts.append(f"{name} is significantly better than {rival} in {_listed(named)}.")
    few = [each for each in found if each.needed is not None and each.groups < each.needed]
    open_ = [each for each in found if not each.better and each.p is not None and each not in few]
    if open_:
        named = [_place(each) for each in open_]
        parts.append(f"No significant difference between {one} and {other} in {_listed(named)}.")
    if few:
        more = max((each.needed or 0) - each.groups for each in few)
        parts.append(
            f"Too few groups for a verdict in {_listed([_place(each) for each in few])}: "
            f"{number_of(more, 'more group is', 'more groups are')} needed."
        )
    if untested := [_place(each) for each in found if each.p is None and each not in few]:
        parts.append(f"Not tested: {_listed(untested)}.")
    return " ".join(parts)


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """The meaning of the table's columns, the detectable differences, and untested tasks."""
    yield (
        "Over the items that both answered. p: paired randomisation test over groups (books, "
        "plates, bones), adjusted over the tasks (Holm). ▲ where p is .05 or less"
    )
    if compared.errors:
        yield (
            "Recognition and layout error are exploratory: they are adjusted among themselves, and "
            "no side is marked as better by them. Confirm such a difference on other pages"
        )
    found = compared.tasks
    if compared.shared:
        yield f"Both sides: {compared.shared}"
    if compared.dropped:
        yield (
            f"{number_of(compared.dropped, 'item')} of {compared.first} are not the same "
            "in the other run's "
            "dataset, and are not compared"
        )
    yield from (f"{name}: {note}" for name, note in compared.notes.items())
    for lacking in compared.unscored:
        name = f"{lacking.task}/{lacking.query}" if lacking.query else lacking.task
        yield f"{name}: {lacking.items:,} not compared, {lacking.metric} unscored: {lacking.reason}"
    yield from _power_lines(found)
    for each in found:
        if each.p is None:
            why = (
                "there is one group only"
                if each.groups < 2
                else f"{each.metric} is not a ratio of sums"
            )
            yield f"{_place(each)} could not be tested: {why}"


def _power_lines(found: Sequence[TaskComparison]) -> Iterator[str]:
    """The differences that the groups can detect, and how many more groups the other tasks need."""
    tested = [each for each in found if each.p is not None and each.needed is not None]
    few: dict[int, list[str]] = {}
    for each in tested:
        if each.groups < (each.needed or 0):
            few.setdefault(each.groups, []).append(_place(each))
    for groups, names in sorted(few.items()):
        needed = next(each.needed for each in tested) or 0
        over = f", adjusted over {number_of(len(tested), 'task')}" if len(tested) > 1 else ""
        yield (
            f"{_listed(names)}: no difference can be significant with "
            f"{number_of(groups, 'group')}{over}. "
            f"At least {needed} groups are needed, {needed - groups} more"
        )
    sizes = sorted(each.detectable for each in found if each.detectable is not None)
    if sizes:
        low, high = (_points(size) for size in (sizes[0], sizes[-1]))
        span = low if low == high else f"{low} to {high}"
        yield (
            f"A true difference of {span} points would be found four times in five "
            "(--json has each task's)"
            if sizes[-1] <= 1
            else f"In some tasks even a difference of 100 points might be missed: the groups "
            f"differ too much (--json has each task's; the smallest is {low} points)"
        )


def _points(size: float) -> str:
    return "less than 1" if size < 0.005 else f"{100 * size:.0f}"


def _place(each: TaskComparison) -> str:
    return f"{each.task}/{each.query}" if each.query else each.task


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _value(value: float, *, better: bool) -> str:
    return f"▲ {100 * value:.1f}" if better else f"{100 * value:.1f}"


def _p(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
