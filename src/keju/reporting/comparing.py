"""Two models of a run side by side: by how much they differ on each task, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.errors import UsageError
from keju.items import Protocol, Score
from keju.reporting.labels import NOTHING, metric_label
from keju.reporting.terminal import plain_table
from keju.runs import RunFolder, file_name
from keju.scoring import TaskComparison, compare_models, read_scores


def comparison_of(
    run: RunFolder, names: tuple[str, str] | None, protocol: Protocol
) -> tuple[tuple[str, str], list[TaskComparison]]:
    """Compare two models of a run, or two settings of one.

    Args:
        run: the run; it must have been scored.
        names: two models, each as ``MODEL`` or ``MODEL (SETTING)``; None where the run has two.
        protocol: whose main metrics are compared.

    Returns:
        The two names, and the comparison task by task.

    Raises:
        UsageError: a model is not in the run or has no scores, or it must be said which two.
    """
    known = list(run.manifest().models)
    names = names or _only_two(run, known)
    first, second = (_scores(run, name, known) for name in names)
    found = compare_models(first, second, protocol)
    if not found:
        raise UsageError(
            f"{run.path}: no task has an item that {names[0]} and {names[1]} both have a "
            f"{protocol} score for"
        )
    return names, found


def comparison_table(
    names: tuple[str, str], found: Sequence[TaskComparison], protocol: Protocol
) -> Table:
    """A row a task: both values in percent, the difference with its interval, p, and a verdict."""
    table = plain_table(
        "task", "", *names, "difference", "95 % interval", "p", "p (Holm)", "can tell", "better",
        right=[2, 3, 4, 5, 6, 7, 8],
    )  # fmt: skip
    for each in found:
        interval = NOTHING
        if each.low is not None and each.high is not None:
            interval = f"{100 * each.low:+.1f} to {100 * each.high:+.1f}"
        table.add_row(
            f"{each.task}/{each.query}" if each.query else each.task,
            metric_label(each.task, each.query, protocol, each.metric),
            f"{100 * each.first:.1f}",
            f"{100 * each.second:.1f}",
            f"{100 * each.difference:+.1f}",
            interval,
            _p(each.p),
            _p(each.p_holm),
            NOTHING if each.detectable is None else f"{100 * each.detectable:.1f}",
            {"first": names[0], "second": names[1]}.get(each.better, "not sure"),
        )
    return table


def comparison_lines(found: Sequence[TaskComparison]) -> Iterator[str]:
    """What the table's columns mean, and what could not be tested."""
    yield (
        "Both over the same items; groups (books, plates) are swapped and drawn whole. p: paired "
        "randomisation, adjusted over the tasks (Holm). can tell: the difference that so many "
        "groups tell four times in five"
    )
    for each in found:
        if each.p is None:
            name = f"{each.task}/{each.query}" if each.query else each.task
            why = "one group alone" if each.groups < 2 else f"{each.metric} is no ratio of sums"
            yield f"{name} could not be tested: {why}"


def _only_two(run: RunFolder, known: Sequence[str]) -> tuple[str, str]:
    if len(known) == 2:
        return known[0], known[1]
    raise UsageError(
        f"{run.path}: has {len(known)} models; say which two: --models A B ({', '.join(known)})"
    )


def _scores(run: RunFolder, name: str, known: Sequence[str]) -> list[Score]:
    model, setting = _parted(name, known, run)
    file = run.scores_dir / f"{file_name(model)}.parquet"
    scores = [each for each in read_scores(file) if setting in (None, each.setting)]
    settings = sorted({each.setting for each in scores})
    if len(settings) > 1:
        choices = ", ".join(f"'{model} ({each})'" for each in settings)
        raise UsageError(f"{run.path}: {model} answered in several settings; name one: {choices}")
    return scores


def _parted(name: str, known: Sequence[str], run: RunFolder) -> tuple[str, str | None]:
    if name in known:
        return name, None
    model, _, setting = name.removesuffix(")").rpartition(" (")
    if model in known and name.endswith(")"):
        return model, setting
    raise UsageError(f"{run.path}: no model {name!r}; it has {', '.join(known)}")


def _p(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
