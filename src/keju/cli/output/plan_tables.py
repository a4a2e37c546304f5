"""Terminal output of a plan: requests, cost, and unknown parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table, translate
from keju.running import Plan
from keju.texts import _

_UNKNOWN = "?"


def plan_table(plan: Plan) -> Table:
    """The requests of a run, one row per model and task, with stored ones if there are any."""
    there = any(row.stored for row in plan.rows)
    columns = [
        *name_columns("model", "task", "calls"),
        *(name_columns("stored") if there else ()),
        *name_columns("images", "not asked"),
    ]
    table = plain_table(*columns, right=range(2, len(columns) - 1))
    for row in plan.rows:
        cells = [row.model, row.task, f"{row.calls:,}", f"{row.images:,}"]
        if there:
            cells.insert(3, f"{row.stored:,}")
        skipped = "; ".join(f"{count}: {translate(why)}" for why, count in row.declined.items())
        table.add_row(*cells, skipped)
    return table


def sums_table(plan: Plan) -> Table:
    """The requests of a run, one row per model: the sums of its tasks."""
    stored = name_columns("stored") if any(row.stored for row in plan.rows) else []
    columns = [
        *name_columns("model", "tasks", "calls"),
        *stored,
        *name_columns("images", "not asked"),
    ]
    table = plain_table(*columns, right=range(1, len(columns)))
    for model in dict.fromkeys(row.model for row in plan.rows):
        rows = [row for row in plan.rows if row.model == model]
        counts = [len(rows), sum(row.calls for row in rows)]
        counts += [sum(row.stored for row in rows)] if stored else []
        counts += [sum(row.images for row in rows)]
        counts += [sum(sum(row.declined.values()) for row in rows)]
        table.add_row(model, *(f"{count:,}" for count in counts))
    return table


def totals_table(plan: Plan) -> Table:
    """The total of each model; money only with prices, hours only at a rate."""
    columns = name_columns("model", "calls", "tokens in", "of images", "tokens out")
    timed = any(total.hours is not None for total in plan.totals)
    columns += [plan.currency] * bool(plan.currency) + name_columns("hours") * timed
    table = plain_table(*columns, right=range(1, len(columns)))
    for total in plan.totals:
        cells = [
            total.model,
            f"{total.calls:,}",
            _format_count(total.input_tokens),
            _format_count(total.image_tokens),
            _format_count(total.output_tokens),
        ]
        cells += [_format_money(total.money)] * bool(plan.currency)
        cells += ["" if total.hours is None else f"{total.hours:,.2f}"] * timed
        table.add_row(*cells)
    return table


def plan_notes(plan: Plan) -> Iterator[str]:
    """How tokens were counted, the date of the prices, and what the sums do not include."""
    if not any(row.input_tokens or row.input_tokens is None for row in plan.rows):
        return
    yield _("Estimates: {}; {}", translate(plan.text_rule), translate(plan.output_rule))
    for total in plan.totals:
        if total.counted_by and total.image_tokens:
            rule = translate(total.counted_by)
            yield _("Images of {}: {}", total.model, rule)
    for model in dict.fromkeys(row.model for row in plan.rows):
        unknown: Counter[str] = Counter()
        for row in plan.rows:
            if row.model == model:
                unknown.update(row.unknown)
        for what, times in unknown.items():
            yield _("Not counted for {}: {:,} {}", model, times, translate(what))
    if plan.currency and plan.prices_seen:
        yield _("The prices are of {}. Check them", plan.prices_seen)
    elif plan.currency:
        yield _("The price file does not state the date of its prices. Check them")


def _format_count(tokens: int | None) -> str:
    return _UNKNOWN if tokens is None else f"{tokens:,}"


def _format_money(money: float | None) -> str:
    if money is None:
        return _UNKNOWN
    return f"{money:,.2f}" if money >= 1 or not money else f"{money:.4f}"
