"""Terminal output of a plan: requests, cost, and unknown parts."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table, translate
from keju.running import Plan, PlanRow
from keju.texts import _

_UNKNOWN = "?"


def plan_table(plan: Plan) -> Table:
    """The requests of a run, one row per model and task, with stored ones if there are any."""
    table = _requests_table(plan, "task")
    for row in plan.rows:
        skipped = "; ".join(f"{count}: {translate(why)}" for why, count in row.declined.items())
        table.add_row(row.model, row.task, *_counts(plan, row), skipped)
    return table


def sums_table(plan: Plan) -> Table:
    """The requests of a run, one row per model: the sums of its tasks."""
    table = _requests_table(plan, "tasks")
    for total in plan.totals:
        tasks = sum(row.model == total.model for row in plan.rows)
        skipped = sum(total.declined.values())
        table.add_row(total.model, f"{tasks:,}", *_counts(plan, total), f"{skipped:,}")
    return table


def _requests_table(plan: Plan, tasks: str) -> Table:
    stored = ["stored"] if any(row.stored for row in plan.rows) else []
    names = ["model", tasks, "calls", *stored, "images", "not asked"]
    numbers = range(2, len(names) - 1) if tasks == "task" else range(1, len(names))
    return plain_table(*name_columns(*names), right=numbers)


def _counts(plan: Plan, row: PlanRow) -> list[str]:
    stored = [row.stored] if any(row.stored for row in plan.rows) else []
    return [f"{count:,}" for count in (row.calls, *stored, row.images)]


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
        for what, count in total.unknown.items():
            yield _("Not counted for {}: {:,} {}", total.model, count, translate(what))
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
