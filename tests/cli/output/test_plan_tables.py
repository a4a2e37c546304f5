"""A plan on the terminal: what it takes, and what it doesn't know."""

import io

from rich.console import Console

from keju.cli.output.plan_tables import plan_notes, plan_table, totals_table
from keju.running import Plan, PlanRow
from keju.running.plan import NO_RULE


def shown(table) -> str:
    console = Console(file=io.StringIO(), width=140)
    console.print(table)
    return console.file.getvalue()


def total(**fields) -> PlanRow:
    given = {
        "model": "openai:m", "calls": 7, "stored": 0, "image_tokens": 1234,
        "input_tokens": 2345, "output_tokens": 70, "money": None, "hours": None, "counted_by": "V",
    }  # fmt: skip
    return PlanRow(**{**given, **fields})


def plan(*totals: PlanRow, currency: str = "", **row) -> Plan:
    rows = tuple(
        PlanRow(
            model=each.model, task="T1", calls=each.calls, input_tokens=each.input_tokens, **row
        )
        for each in totals
    )
    for each in totals:
        each.unknown.update(row.get("unknown", {}))
    return Plan(items=7, rows=rows, totals=totals, currency=currency, prices_seen="2025-11")


def test_columns_that_nothing_fills_are_left_out():
    bare = shown(totals_table(plan(total())))
    assert "2,345" in bare
    assert "USD" not in bare
    assert "hours" not in bare
    full = shown(totals_table(plan(total(money=0.0123, hours=1.5), currency="USD")))
    assert "0.0123" in full
    assert "1.50" in full
    assert "stored" not in shown(plan_table(plan(total())))
    assert "stored" in shown(plan_table(plan(total(), stored=3)))


def test_what_is_not_known_is_a_question_mark_and_a_line():
    unknown = plan(
        total(input_tokens=None, image_tokens=None, counted_by=""),
        currency="USD",
        unknown={NO_RULE: 7},
    )
    assert shown(totals_table(unknown)).count("?") == 3
    lines = list(plan_notes(unknown))
    assert f"Not counted for openai:m: 7 {NO_RULE}" in lines
    assert "The prices are of 2025-11. Check them" in lines


def test_every_model_is_told_by_whose_rule():
    lines = list(plan_notes(plan(total(), total(model="openai:n", counted_by="W"))))
    assert "Images of openai:m: V" in lines
    assert "Images of openai:n: W" in lines


def test_what_stays_here_needs_no_notes():
    local = plan(total(input_tokens=0, image_tokens=0, counted_by=""))
    assert list(plan_notes(local)) == []
