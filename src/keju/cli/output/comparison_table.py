"""The table of `keju compare`."""

from __future__ import annotations

from rich.table import Table

from keju.analysis.comparison import Comparison
from keju.analysis.labels import metric_label
from keju.cli.output.console import plain_table
from keju.cli.output.score_tables import model_head
from keju.formatting import NOTHING


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


def _value(value: float, *, better: bool) -> str:
    return f"▲ {100 * value:.1f}" if better else f"{100 * value:.1f}"


def _p(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
