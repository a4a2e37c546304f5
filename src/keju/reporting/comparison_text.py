"""The result of a comparison in sentences, for the terminal and the Python API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from keju.analysis.comparison import Comparison, Unscored
from keju.analysis.labels import task_name
from keju.formatting import format_p, percent_range, unclear_percent
from keju.reporting.answer_readings import decision_line
from keju.reporting.cells import bounds_text
from keju.scoring import Difference, OverallComparison, TaskComparison
from keju.statistics import FEWEST_GROUPS
from keju.texts import Text, _, join_clauses, join_sentences, listed, n_, recognised

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
        yield _(
            "{}, {}, {}: {} {}, {} {}; difference {} points ({}), {}",
            mean.benchmark,
            compared.protocol,
            n_(
                "mean over domains of {n:,} task",
                "mean over domains of {n:,} tasks",
                len(mean.tasks)
            )
            if len(mean.tasks) > 1 else mean.tasks[0],
            compared.first,
            percent_range(mean.first, mean.first_if_right),
            compared.second,
            percent_range(mean.second, mean.second_if_right),
            format_difference(mean),
            describe_interval(mean),
            describe_test(mean)
        )  # fmt: skip
        yield _conclude(compared, [(_name(mean), mean)])
        yield join_clauses(_describe_items(compared, mean))
        if mean.low is None and mean.p is not None:
            yield _(
                "{} has no interval: a task or class in it has fewer than {} groups, or the "
                "difference is the same in all groups",
                _name(mean),
                FEWEST_GROUPS,
            )


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """The meaning of the table's columns, the null hypothesis, and untested tasks."""
    yield _(
        "Over the items that both answered. p: paired randomisation test over groups (books, "
        "plates, bones), adjusted over the tasks (Holm). ▲ where p is .05 or less"
    )
    yield _(
        "Null hypothesis: within each group (book, plate, bone) the answers of both sides are "
        "exchangeable. With few groups, the test can miss a side that loses whole books"
    )
    if compared.models > 2:
        models = compared.models
        yield _(
            "The run has {} models. A table of all of them adjusts for {} tests, so its p values "
            "are larger",
            models,
            models * (models - 1) // 2,
        )
    if compared.errors:
        yield _(
            "Recognition and layout error are exploratory: they are adjusted among themselves, "
            "and no side is marked as better by them. Confirm such a difference on other pages"
        )
    yield from _describe_unclear(compared)
    if compared.shared:
        yield _("Both sides: {}", recognised(compared.shared))
    if compared.dropped:
        count, side = compared.dropped, compared.first
        yield n_(
            "{n:,} item of {} are not the same in the other run's dataset, and are not compared",
            "{n:,} items of {} are not the same in the other run's dataset, and are not compared",
            count,
            side,
        )
    unscored: dict[str, list[Unscored]] = {}
    for lacking in compared.unscored:
        unscored.setdefault(lacking.reason, []).append(lacking)
    for reason, its in unscored.items():
        yield n_(
            "{n:,} item is not compared ({}), {} unscored: {}",
            "{n:,} items are not compared ({}), {} unscored: {}",
            sum(each.items for each in its),
            _list_names([task_name(each.task, each.query) for each in its]),
            listed(dict.fromkeys(each.metric for each in its)),
            recognised(reason)
        )  # fmt: skip
    untested: dict[str, list[TaskComparison]] = {}
    for each in compared.tasks:
        if each.needed is None:
            untested.setdefault(each.metric, []).append(each)
    for metric, of_metric in untested.items():
        names = [task_name(each.task, each.query) for each in of_metric]
        why = _("{} is not a ratio of sums", metric)
        yield _("{} could not be tested: {}", _list_names(names), why)


def _describe_unclear(compared: Comparison) -> Iterator[Text]:
    """The shares of unclear answers of both sides; between two wordings also if there are none."""
    tasks = compared.tasks
    answers = max(1, sum(task.items for task in tasks))
    first = sum(task.items * task.unclear_first for task in tasks) / answers
    second = sum(task.items * task.unclear_second for task in tasks) / answers
    one, other = compared.sides
    if first or second or one.get("wording") != other.get("wording"):
        yield _(
            "Unclear answers (wrong at one end of a range, right at the other): {} {} %, {} {} %",
            compared.first,
            unclear_percent(first),
            compared.second,
            unclear_percent(second),
        )
    if any(mean.undecided for mean in (*compared.overall, *tasks)):
        for run in dict.fromkeys(side["run"] for side in compared.sides):
            yield decision_line([Path(run)])


def _name(mean: OverallComparison) -> str:
    if len(mean.tasks) == 1:
        return mean.tasks[0]
    return _("the mean of {}", mean.benchmark)


def format_difference(mean: Difference) -> str:
    """A difference in percent points; its least and greatest value while answers are unclear."""
    ends = [end.difference for end in mean.ends] or [mean.difference]
    numbers = list(dict.fromkeys(f"{100 * difference:+.1f}" for difference in ends))
    return bounds_text(*numbers) if len(numbers) > 1 else numbers[0]


def _format_lead(mean: Difference) -> str:
    """The size of a significant difference in percent points, as `format_difference`."""
    ends = [abs(end.difference) for end in mean.ends] or [abs(mean.difference)] * 2
    return percent_range(*ends)


def describe_interval(mean: Difference) -> Text:
    """The 95 % interval of a difference in percent points."""
    if mean.low is None or mean.high is None:
        return _("no interval")
    bounds = bounds_text(f"{100 * mean.low:+.1f}", f"{100 * mean.high:+.1f}")
    return _("95 % interval {}", bounds)


def describe_undecided(mean: Difference) -> Text:
    """The larger share of unclear answers of the two sides."""
    share = unclear_percent(max(mean.unclear_first, mean.unclear_second))
    return _("undecided: {} % unclear", share)


def describe_test(mean: Difference) -> Text:
    """The adjusted p of a difference, or that unclear answers decide it."""
    if mean.undecided:
        return describe_undecided(mean)
    if mean.p_holm is None:
        return _("not tested")
    return _("p {}", format_p(mean.p_holm))


def _describe_items(compared: Comparison, mean: OverallComparison) -> Iterator[Text]:
    yield _(
        "Compared on {} in {} (book, plate or bone); the largest group has {} % of the weight",
        n_("{n:,} shared item", "{n:,} shared items", mean.items),
        n_("{n:,} group", "{n:,} groups", mean.groups),
        f"{100 * mean.largest:.0f}"
    )  # fmt: skip
    if mean.only_first or mean.only_second:
        yield _(
            "{:,} only in {}, {:,} only in {}",
            mean.only_first,
            compared.first,
            mean.only_second,
            compared.second
        )  # fmt: skip


def _conclude(compared: Comparison, named_tasks: Sequence[_Named]) -> str:
    """Sentences about tasks or means: which side is better, equal, or what is needed to decide."""
    parts = [*_describe_better(compared, named_tasks), *_describe_equal(compared, named_tasks)]
    few = [
        (name, each)
        for name, each in named_tasks
        if each.needed is not None
        and each.groups < each.needed
        and not each.equal
        and not each.undecided
    ]
    undecided = [
        name for name, each in named_tasks
        if each.p is not None and not each.better and not each.equal and (name, each) not in few
        and not each.undecided
    ]  # fmt: skip
    if undecided:
        one, other, tasks = compared.first, compared.second, _list_names(undecided)
        if compared.margin is None:
            parts.append(_("No significant difference between {} and {} in {}", one, other, tasks))
        else:
            parts.append(
                _(
                    "{} and {} are not shown to be equal within {} points in {}",
                    one,
                    other,
                    f"{compared.margin:g}",
                    tasks
                )
            )  # fmt: skip
    if unclear := [
        _("{} ({} %)", name, unclear_percent(max(each.unclear_first, each.unclear_second)))
        for name, each in named_tasks
        if each.undecided
    ]:
        parts.append(_("Unclear answers decide which side is better in {}", _list_names(unclear)))
    if few:
        more = max((each.needed or 0) - each.groups for _, each in few)
        tasks = _list_names([name for name, _ in few])
        parts.append(
            n_(
                "Too few groups for a verdict in {}: {n:,} more group is needed",
                "Too few groups for a verdict in {}: {n:,} more groups are needed",
                more,
                tasks,
            )
        )
    if untested := [name for name, each in named_tasks if each.needed is None]:
        parts.append(_("Not tested: {}", _list_names(untested)))
    return _("{}.", join_sentences(parts)) if parts else ""


def _describe_better(compared: Comparison, named_tasks: Sequence[_Named]) -> Iterator[Text]:
    """The tasks or means in which a side is significantly better."""
    one, other = compared.first, compared.second
    for side, better, worse in (("first", one, other), ("second", other, one)):
        ahead = [
            _("{} ({} points)", name, _format_lead(each))
            for name, each in named_tasks
            if each.better == side
        ]
        if ahead:
            yield _("{} is significantly better than {} in {}", better, worse, _list_names(ahead))


def _describe_equal(compared: Comparison, named_tasks: Sequence[_Named]) -> Iterator[Text]:
    """The tasks or means whose whole interval is inside the margin."""
    if equal := [name for name, each in named_tasks if each.equal]:
        yield _(
            "{} and {} are equal within {} points in {}",
            compared.first,
            compared.second,
            f"{compared.margin:g}",
            _list_names(equal)
        )  # fmt: skip


def _list_names(names: Sequence[str]) -> str:
    shown = listed(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return _("{} and {:,} more", shown, more) if more > 0 else shown
