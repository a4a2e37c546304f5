"""Terminal output of a plan: requests, cost, and unknown parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from keju.cli.output.console import plain_table
from keju.definitions.pair_forms import RANKERS
from keju.running import Plan

_UNKNOWN = "?"


def plan_table(plan: Plan) -> Table:
    """The requests of a run, one row per model and task, with stored ones if there are any."""
    there = any(row.stored for row in plan.rows)
    columns = ["model", "task", "calls", "images", "image MB", "MB sent", "not asked"]
    if there:
        columns.insert(3, "there already")
    table = plain_table(*columns, right=range(2, len(columns) - 1))
    for row in plan.rows:
        cells = [row.model, row.task, f"{row.calls:,}", f"{row.images:,}"]
        if there:
            cells.insert(3, f"{row.stored:,}")
        declined = "; ".join(f"{count}: {why}" for why, count in row.declined.items())
        table.add_row(*cells, _megabytes(row.image_bytes), _megabytes(row.wire_bytes), declined)
    return table


def totals_table(plan: Plan) -> Table:
    """The total of each model; money only with prices, hours only at a rate."""
    columns = ["model", "calls", "MB sent", "tokens in", "of images", "tokens out"]
    timed = any(total.hours is not None for total in plan.totals)
    columns += [plan.currency] * bool(plan.currency) + ["hours"] * timed
    table = plain_table(*columns, right=range(1, len(columns)))
    for total in plan.totals:
        cells = [
            total.model,
            f"{total.calls:,}",
            _megabytes(total.wire_bytes),
            _count(total.input_tokens),
            _count(total.image_tokens),
            _count(total.output_tokens),
        ]
        cells += [_money(total.money)] * bool(plan.currency)
        cells += ["" if total.hours is None else f"{total.hours:,.2f}"] * timed
        table.add_row(*cells)
    return table


def forms_table(plan: Plan) -> Table:
    """Pair tasks: the full protocol and the reduced forms, one row per model and form."""
    columns = ["model", "pairs", "calls", "a round", "tokens in", "tokens out"]
    timed = any(each.hours is not None for each in plan.forms)
    columns += [plan.currency] * bool(plan.currency) + ["hours"] * timed
    table = plain_table(*columns, right=range(2, len(columns)), title="tasks of pairs")
    for each in plan.forms:
        cells = [
            each.model,
            each.form or "all (the full protocol)",
            f"{each.calls:,}",
            f"{each.a_round:,}",
            _count(each.input_tokens),
            _count(each.output_tokens),
        ]
        cells += [_money(each.money)] * bool(plan.currency)
        cells += ["" if each.hours is None else f"{each.hours:,.2f}"] * timed
        table.add_row(*cells)
    return table


def forms_notes(plan: Plan, command: str) -> Iterator[str]:
    """The command of each form, and a note on the results of reduced forms."""
    for name in dict.fromkeys(each.form for each in plan.forms):
        yield f"{command}{f' --pairs {name}' if name else ''} --out RUN"
    if any(each.form.partition("=")[0] in RANKERS for each in plan.forms):
        yield (
            "A baseline ranks the candidates when the run starts. Until then the tokens are those "
            "of the first candidates in the dataset's order"
        )
    yield (
        "Results of a reduced form are not the paper's experiment and do not enter its tables. "
        "Fewer --rounds reduce the cost of every form"
    )


def plan_notes(plan: Plan) -> Iterator[str]:
    """How tokens were counted, the date of the prices, and what the sums do not include."""
    if not any(row.input_tokens or row.input_tokens is None for row in plan.rows):
        return
    yield f"Estimates: {plan.text_rule}; {plan.output_rule}"
    for total in plan.totals:
        if total.counted_by and total.image_tokens:
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


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"


def _count(tokens: int | None) -> str:
    return _UNKNOWN if tokens is None else f"{tokens:,}"


def _money(money: float | None) -> str:
    if money is None:
        return _UNKNOWN
    return f"{money:,.2f}" if money >= 1 or not money else f"{money:.4f}"
