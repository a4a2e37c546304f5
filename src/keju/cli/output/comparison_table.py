"""The table of `keju compare`."""

from __future__ import annotations

from msgspec.structs import replace
from rich.table import Table

from keju.analysis.comparison import Comparison
from keju.analysis.labels import metric_label, task_name
from keju.cli.output.console import format_interval, name_columns, plain_table, translate
from keju.cli.output.score_tables import shorten_model
from keju.formatting import format_p, percent_range
from keju.reporting.comparison_text import describe_undecided, format_difference


def comparison_table(compared: Comparison) -> Table:
    """One row per task: both values in percent, ▲ at the better, difference, interval, p."""
    table = plain_table(
        *name_columns("task"),
        *map(shorten_model, (compared.first, compared.second)),
        *name_columns("difference", "95 % interval", "p"),
        right=[1, 2, 3, 4, 5],
    )
    table.columns[0].no_wrap = False
    for task in (*compared.tasks, *compared.errors):
        label = metric_label(task.task, task.query, compared.protocol, task.metric)
        table.add_row(
            f"{task_name(task.task, task.query)} {label}",
            _format_value(task.first, task.first_if_right, better=task.better == "first"),
            _format_value(task.second, task.second_if_right, better=task.better == "second"),
            translate(format_difference(task)),
            format_interval((task.low, task.high), "+.1f", scale=100),
            translate(describe_undecided(task)) if task.undecided else format_p(task.p_holm),
        )
    return table


MOST_LINES = 30
"""Maximum number of lines of a comparison without ``--all``."""

_MOST_ROWS = 12


def first_rows(compared: Comparison) -> Comparison:
    """The comparison with the tasks of the largest differences only, significant ones first."""
    order = sorted(compared.tasks, key=lambda each: (not each.better, -abs(each.difference)))
    return replace(compared, tasks=order[:_MOST_ROWS], errors=[])


def _format_value(value: float, value_if_right: float, *, better: bool) -> str:
    shown = percent_range(value, value_if_right)
    return f"▲ {shown}" if better else shown
