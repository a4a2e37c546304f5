"""Two models of a run side by side: by how much they differ on each task, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.errors import UsageError
from keju.items import Protocol, Score
from keju.reporting.labels import NOTHING, metric_label
from keju.reporting.plain import plain_table
from keju.reporting.terminal import model_head
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
    """A row a task: both values in percent, ▲ at the better, the difference, its interval, p."""
    table = plain_table(
        "task", *map(model_head, names), "difference", "95 % interval", "p", right=[1, 2, 3, 4, 5]
    )
    table.columns[0].no_wrap = False
    for each in found:
        label = metric_label(each.task, each.query, protocol, each.metric)
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


def comparison_lines(found: Sequence[TaskComparison]) -> Iterator[str]:
    """What the table's columns mean, what could be told, and what could not be tested."""
    yield (
        "Over the items that both answered; books, plates and bones are swapped and drawn whole. "
        "p: paired randomisation, adjusted over the tasks (Holm); ▲ where it is .05 or less"
    )
    told = sorted(each.detectable for each in found if each.detectable is not None)
    if told:
        yield (
            f"So many groups tell differences of {100 * told[0]:.0f} to {100 * told[-1]:.0f} "
            "points four times in five (--json has each task's)"
        )
    for each in found:
        if each.p is None:
            name = f"{each.task}/{each.query}" if each.query else each.task
            why = "one group alone" if each.groups < 2 else f"{each.metric} is no ratio of sums"
            yield f"{name} could not be tested: {why}"


def _value(value: float, *, better: bool) -> str:
    return f"▲ {100 * value:.1f}" if better else f"{100 * value:.1f}"


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
