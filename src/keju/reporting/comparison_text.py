"""The result of a comparison in sentences, for the terminal and the Python API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.analysis.comparison import Comparison, Unscored
from keju.analysis.labels import task_name
from keju.messages import Message, join_sentences, listed, message, recognised
from keju.reporting.cells import bounds_text
from keju.scoring import TaskComparison

_MOST_NAMED = 8
"""Maximum number of tasks that one line of the comparison names."""


def verdict_of(compared: Comparison) -> str:
    """Which side is better in which tasks, or what is needed to decide it, in a sentence or two."""
    found = compared.tasks
    parts = list(_describe_better(compared))
    few = [each for each in found if each.needed is not None and each.groups < each.needed]
    open_ = [each for each in found if not each.better and each.p is not None and each not in few]
    if open_:
        one, other, tasks = compared.first, compared.second, _list_places(open_)
        parts.append(
            message("reporting.no-significant-difference", one=one, other=other, tasks=tasks)
        )
    if few:
        more = max((each.needed or 0) - each.groups for each in few)
        parts.append(message("reporting.too-few-groups-in", tasks=_list_places(few), more=more))
    if untested := [each for each in found if each.p is None and each not in few]:
        parts.append(message("reporting.not-tested", tasks=_list_places(untested)))
    if not parts:
        return ""
    return message("reporting.end-of-sentence", sentences=join_sentences(parts))


def _describe_better(compared: Comparison) -> Iterator[Message]:
    """The tasks in which a side is significantly better."""
    one, other = compared.first, compared.second
    for side, better, worse in (("first", one, other), ("second", other, one)):
        if ahead := [each for each in compared.tasks if each.better == side]:
            tasks = [
                message(
                    "reporting.task-and-points",
                    task=task_name(each.task, each.query),
                    points=f"{100 * abs(each.difference):.1f}",
                )
                for each in ahead
            ]
            yield message(
                "reporting.significantly-better",
                better=better,
                worse=worse,
                tasks=_list_tasks(tasks),
            )


def mean_lines(compared: Comparison) -> Iterator[str]:
    """The overall means of both sides, a line for each benchmark with several compared tasks."""
    for each in compared.means:
        yield message(
            "reporting.compared-means", benchmark=each.benchmark, protocol=compared.protocol,
            first=compared.first, value=f"{100 * each.first:.1f}", second=compared.second,
            other=f"{100 * each.second:.1f}", points=f"{100 * each.difference:+.1f}",
            tasks=each.tasks,
        )  # fmt: skip


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """The meaning of the table's columns, the detectable differences, and untested tasks."""
    yield message("reporting.compared-over-items")
    if compared.errors:
        yield message("reporting.errors-are-exploratory")
    found = compared.tasks
    if compared.shared:
        yield message("reporting.both-sides", shared=recognised(compared.shared))
    if compared.dropped:
        count, side = compared.dropped, compared.first
        yield message("reporting.items-not-the-same", count=count, side=side)
    for side, note in compared.notes.items():
        yield message("reporting.side-and-note", side=side, note=recognised(note))
    unscored: dict[str, list[Unscored]] = {}
    for lacking in compared.unscored:
        unscored.setdefault(lacking.reason, []).append(lacking)
    for reason, its in unscored.items():
        yield message(
            "reporting.items-not-compared", count=sum(each.items for each in its),
            tasks=_list_tasks([task_name(each.task, each.query) for each in its]),
            metrics=listed(dict.fromkeys(each.metric for each in its)), reason=recognised(reason),
        )  # fmt: skip
    yield from _power_lines(found)
    untested: dict[str, list[TaskComparison]] = {}
    for each in found:
        if each.p is None:
            why: str = (
                message("reporting.one-group-only")
                if each.groups < 2
                else message("reporting.not-a-ratio", metric=each.metric)
            )
            untested.setdefault(why, []).append(each)
    for reason, of_reason in untested.items():
        yield message("reporting.could-not-be-tested", tasks=_list_places(of_reason), why=reason)


def _power_lines(found: Sequence[TaskComparison]) -> Iterator[Message]:
    """The differences that the groups can detect, and how many more groups the other tasks need."""
    tested = [each for each in found if each.p is not None and each.needed is not None]
    few = sorted(
        (each for each in tested if each.groups < (each.needed or 0)), key=lambda each: each.groups
    )
    if few:
        least, most, needed = few[0].groups, few[-1].groups, few[0].needed or 0
        name, adjusted = "reporting.cannot-be-significant", {}
        if len(tested) > 1:
            name, adjusted = f"{name}-adjusted", {"adjusted": len(tested)}
        yield message(
            name, tasks=_list_places(few), needed=needed, groups=_count_groups(least, most),
            more=str(needed - least) if least == most
            else bounds_text(str(needed - most), str(needed - least)),
            **adjusted,
        )  # fmt: skip
    sizes = sorted(each.detectable for each in found if each.detectable is not None)
    if not sizes:
        return
    low, high = (_points(size) for size in (sizes[0], sizes[-1]))
    if sizes[-1] <= 1:
        span = low if low == high else bounds_text(low, high)
        yield message("reporting.detectable", span=span)
    else:
        yield message("reporting.hardly-detectable", low=low)


def _count_groups(least: int, most: int) -> Message:
    if least == most:
        return message("reporting.count-of-groups", count=least)
    return message("reporting.range-of-groups", least=least, most=most)


def _points(size: float) -> str:
    return message("reporting.less-than-one") if size < 0.005 else f"{100 * size:.0f}"


def _list_places(tasks: Sequence[TaskComparison]) -> str:
    return _list_tasks([task_name(each.task, each.query) for each in tasks])


def _list_tasks(names: Sequence[str]) -> str:
    shown = listed(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return message("reporting.tasks-and-more", tasks=shown, count=more) if more > 0 else shown
