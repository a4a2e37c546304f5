"""The result of a comparison in sentences, for the terminal and the Python API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.analysis.comparison import Comparison
from keju.errors import number_of
from keju.scoring import TaskComparison

_MOST_NAMED = 8
"""Maximum number of tasks that one line of the comparison names."""


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
