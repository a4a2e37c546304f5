"""What the command line prints of a plan: what would be asked, what it takes, what is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from keju.reporting.terminal import plain_table
from keju.running import Plan, PlanRow

_UNKNOWN = "?"


def plan_table(plan: Plan) -> Table:
    """What a run would take, one row a model and task, and a sum for each model.

    Columns that would be empty throughout are left out: what is there already, tokens where
    nothing leaves this machine, money without prices, hours without a rate.
    """
    shown = {
        "there": any(row.stored for row in plan.rows),
        "tokens": any(row.input_tokens or row.input_tokens is None for row in plan.rows),
        "money": bool(plan.currency),
        "hours": any(total.hours is not None for total in plan.totals),
    }
    columns = {
        "model": "", "task": "", "calls": "", "there already": "there", "images": "",
        "image MB": "", "MB sent": "", "tokens in": "tokens", "of images": "tokens",
        "tokens out": "tokens", plan.currency or "money": "money", "hours": "hours",
        "not asked": "",
    }  # fmt: skip
    kept = [name for name, needs in columns.items() if not needs or shown[needs]]
    right = [place for place, name in enumerate(kept) if name not in {"model", "task", "not asked"}]
    table = plain_table(*kept, right=right)
    for row in plan.rows:
        cells = dict(zip(columns, _row_cells(row), strict=True))
        table.add_row(*(cells[name] for name in kept))
    table.add_section()
    for total in plan.totals:
        of_model = [row for row in plan.rows if row.model == total.model]
        images = [row.image_tokens for row in of_model]
        cells = dict(
            zip(
                columns,
                [
                    total.model, "all", f"{total.calls:,}", f"{total.stored:,}",
                    f"{sum(row.images for row in of_model):,}",
                    _megabytes(sum(row.image_bytes for row in of_model)),
                    _megabytes(total.wire_bytes), _count(total.input_tokens),
                    _count(None if None in images else sum(each or 0 for each in images)),
                    _count(total.output_tokens), _money(total.money, total.calls),
                    "" if total.hours is None else f"{total.hours:.1f}", "",
                ],
                strict=True,
            )
        )  # fmt: skip
        table.add_row(*(cells[name] for name in kept))
    return table


def plan_notes(plan: Plan) -> Iterator[str]:
    """How tokens were counted, what a price is worth, and what is not in the sums."""
    if not any(row.input_tokens or row.input_tokens is None for row in plan.rows):
        return
    yield f"Estimates: {plan.text_rule}; {plan.output_rule}"
    for total in plan.totals:
        if total.counted_by:
            yield f"Images of {total.model}: {total.counted_by}"
    for model in dict.fromkeys(row.model for row in plan.rows):
        unknown: Counter[str] = Counter()
        for row in plan.rows:
            if row.model == model:
                unknown.update(row.unknown)
        for what, times in unknown.items():
            yield f"Not counted for {model}: {times:,} {what}"
    if plan.currency:
        yield f"Prices as of {plan.prices_seen or 'a day that the file does not say'}: check them"


def _row_cells(row: PlanRow) -> list[str]:
    declined = "; ".join(f"{count}: {why}" for why, count in row.declined.items())
    return [
        row.model,
        row.task,
        f"{row.calls:,}",
        f"{row.stored:,}",
        f"{row.images:,}",
        _megabytes(row.image_bytes),
        _megabytes(row.wire_bytes),
        _count(row.input_tokens),
        _count(row.image_tokens),
        _count(row.output_tokens),
        _money(row.money, row.calls),
        "",
        declined,
    ]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"


def _count(tokens: int | None) -> str:
    return _UNKNOWN if tokens is None else f"{tokens:,}"


def _money(money: float | None, calls: int) -> str:
    if money is None:
        return _UNKNOWN if calls else ""
    return f"{money:,.2f}" if money >= 1 or not money else f"{money:.4f}"
