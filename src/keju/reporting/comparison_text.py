"""The result of a comparison in sentences, for the terminal and the Python API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.analysis.comparison import Comparison, Unscored
from keju.analysis.labels import task_name
from keju.formatting import format_p
from keju.messages import Message, message
from keju.reporting.cells import bounds_text
from keju.scoring import Difference, OverallComparison, TaskComparison
from keju.statistics import FEWEST_GROUPS
from keju.texts import join_clauses, join_sentences, listed, recognised

_MOST_NAMED = 8
"""Maximum number of tasks that one line of the comparison names."""

_Named = tuple[str, Difference]
"""A difference with the name of its task or mean."""


def verdict_of(compared: Comparison) -> str:
    """Which side is better overall, then in which tasks, or what is needed to decide it."""
    means = [_conclude(compared, [(_name(mean), mean)]) for mean in compared.overall]
    return " ".join(filter(None, [*means, verdict_of_tasks(compared)]))


def verdict_of_tasks(compared: Comparison) -> str:
    """Which side is better in which tasks; empty where the verdict on the means covers them."""
    tasks = [(task_name(each.task, each.query), each) for each in compared.tasks]
    means = {mean.tasks for mean in compared.overall if len(mean.tasks) == 1}
    if all((name,) in means for name, _ in tasks):
        return ""
    return _conclude(compared, tasks)


def overall_lines(compared: Comparison) -> Iterator[str]:
    """The overall difference of each benchmark: values, interval, test, verdict, and items."""
    for mean in compared.overall:
        yield message(
            "reporting.overall-difference", benchmark=mean.benchmark, protocol=compared.protocol,
            name=message("reporting.mean-of-tasks", tasks=len(mean.tasks))
            if len(mean.tasks) > 1 else mean.tasks[0],
            first=compared.first, value=f"{100 * mean.first:.1f}",
            second=compared.second, other=f"{100 * mean.second:.1f}",
            points=f"{100 * mean.difference:+.1f}", bounds=describe_interval(mean),
            test=describe_test(mean),
        )  # fmt: skip
        yield _conclude(compared, [(_name(mean), mean)])
        yield join_clauses(_describe_items(compared, mean))
        if mean.low is None and mean.p is not None:
            yield message("reporting.mean-without-interval", name=_name(mean), fewest=FEWEST_GROUPS)


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """The meaning of the table's columns, the null hypothesis, and untested tasks."""
    yield message("reporting.compared-over-items")
    yield message("reporting.null-of-the-test")
    if compared.models > 2:
        models = compared.models
        yield message(
            "reporting.table-of-all-models", models=models, tests=models * (models - 1) // 2
        )
    if compared.errors:
        yield message("reporting.errors-are-exploratory")
    if compared.shared:
        yield message("reporting.both-sides", shared=recognised(compared.shared))
    if compared.dropped:
        count, side = compared.dropped, compared.first
        yield message("reporting.items-not-the-same", count=count, side=side)
    unscored: dict[str, list[Unscored]] = {}
    for lacking in compared.unscored:
        unscored.setdefault(lacking.reason, []).append(lacking)
    for reason, its in unscored.items():
        yield message(
            "reporting.items-not-compared", count=sum(each.items for each in its),
            tasks=_list_names([task_name(each.task, each.query) for each in its]),
            metrics=listed(dict.fromkeys(each.metric for each in its)), reason=recognised(reason),
        )  # fmt: skip
    untested: dict[str, list[TaskComparison]] = {}
    for each in compared.tasks:
        if each.needed is None:
            untested.setdefault(each.metric, []).append(each)
    for metric, of_metric in untested.items():
        names = [task_name(each.task, each.query) for each in of_metric]
        why = message("reporting.not-a-ratio", metric=metric)
        yield message("reporting.could-not-be-tested", tasks=_list_names(names), why=why)


def _name(mean: OverallComparison) -> str:
    if len(mean.tasks) == 1:
        return mean.tasks[0]
    return message("reporting.overall-mean-of", benchmark=mean.benchmark)


def describe_interval(mean: Difference) -> Message:
    """The 95 % interval of a difference in percent points."""
    if mean.low is None or mean.high is None:
        return message("reporting.without-interval")
    bounds = bounds_text(f"{100 * mean.low:+.1f}", f"{100 * mean.high:+.1f}")
    return message("reporting.interval-of-95", bounds=bounds)


def describe_test(mean: Difference) -> Message:
    """The adjusted p of a difference."""
    if mean.p_holm is None:
        return message("reporting.test-not-possible")
    return message("reporting.test-with-p", p=format_p(mean.p_holm))


def _describe_items(compared: Comparison, mean: OverallComparison) -> Iterator[Message]:
    yield message(
        "reporting.shared-items", items=mean.items, groups=mean.groups,
        share=f"{100 * mean.largest:.0f}",
    )  # fmt: skip
    if mean.only_first or mean.only_second:
        yield message(
            "reporting.items-of-one-side", one=mean.only_first, other=mean.only_second,
            first=compared.first, second=compared.second,
        )  # fmt: skip


def _conclude(compared: Comparison, found: Sequence[_Named]) -> str:
    """Sentences about tasks or means: which side is better, equal, or what is needed to decide."""
    parts = [*_describe_better(compared, found), *_describe_equal(compared, found)]
    few = [
        (name, each)
        for name, each in found
        if each.needed is not None and each.groups < each.needed and not each.equal
    ]
    undecided = [
        name for name, each in found
        if each.p is not None and not each.better and not each.equal and (name, each) not in few
    ]  # fmt: skip
    if undecided:
        one, other, tasks = compared.first, compared.second, _list_names(undecided)
        if compared.margin is None:
            parts.append(
                message("reporting.no-significant-difference", one=one, other=other, tasks=tasks)
            )
        else:
            parts.append(
                message(
                    "reporting.not-shown-to-be-equal", one=one, other=other, tasks=tasks,
                    margin=f"{compared.margin:g}",
                )
            )  # fmt: skip
    if few:
        more = max((each.needed or 0) - each.groups for _, each in few)
        tasks = _list_names([name for name, _ in few])
        parts.append(message("reporting.too-few-groups-in", tasks=tasks, more=more))
    if untested := [name for name, each in found if each.needed is None]:
        parts.append(message("reporting.not-tested", tasks=_list_names(untested)))
    return message("reporting.end-of-sentence", sentences=join_sentences(parts)) if parts else ""


def _describe_better(compared: Comparison, found: Sequence[_Named]) -> Iterator[Message]:
    """The tasks or means in which a side is significantly better."""
    one, other = compared.first, compared.second
    for side, better, worse in (("first", one, other), ("second", other, one)):
        ahead = [
            message(
                "reporting.task-and-points", task=name, points=f"{100 * abs(each.difference):.1f}"
            )
            for name, each in found
            if each.better == side
        ]
        if ahead:
            yield message(
                "reporting.significantly-better",
                better=better,
                worse=worse,
                tasks=_list_names(ahead),
            )


def _describe_equal(compared: Comparison, found: Sequence[_Named]) -> Iterator[Message]:
    """The tasks or means whose whole interval is inside the margin."""
    if equal := [name for name, each in found if each.equal]:
        yield message(
            "reporting.equal-within", one=compared.first, other=compared.second,
            tasks=_list_names(equal), margin=f"{compared.margin:g}",
        )  # fmt: skip


def _list_names(names: Sequence[str]) -> str:
    shown = listed(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return message("reporting.tasks-and-more", tasks=shown, count=more) if more > 0 else shown
