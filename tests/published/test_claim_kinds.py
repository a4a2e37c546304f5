"""What a claim can be made of: each quantity's number, and when each statement is true."""

import msgspec
import pytest

from keju.errors import DataError
from keju.published import claims
from keju.published.claims import Claim, Quantity, Statement, amount, decide
from keju.published.printed_tables import PrintedTables
from keju.published.tables import PrintedTable, printed_cell
from tests.published.claim_numbers import numbers_in, unsupported_numbers

ROWS = ["Claude-3.5-Sonnet", "GPT-4o", "InternVL2-8B", "InternVL2-26B", "Average"]
COLUMNS = {
    "T5:Acc": ["60.0", "50.0", "40.0", "30.0", "45.0"],
    "T7:Acc": ["61.0", "49.0", "42.0", "30.0", "45.5"],
    "T8:Edit_Distance": ["20.0", "10.0", "30.0", "30.0", "22.5"],
}
A, B, D = (f"Table 1 | {name}" for name in COLUMNS)
MEAN = "Table 3 | OverAll:mean"


@pytest.fixture(scope="module")
def paper():
    rows = {
        row: {name: printed_cell(cells[place]) for name, cells in COLUMNS.items()}
        for place, row in enumerate(ROWS)
    }
    means = ["60.5", "49.5", "41.0", "30.0", "45.3"]
    tables = {
        "Table 1": rows,
        "Table 2": {"T5": {"n": printed_cell("3")}, "T7": {"n": printed_cell("1")}},
        "Table 3": {
            row: {"OverAll:mean": printed_cell(mean)} for row, mean in zip(ROWS, means, strict=True)
        },
    }
    return PrintedTables(
        benchmark="MCS-Bench",
        tables={
            name: PrintedTable(benchmark="MCS-Bench", name=name, rows=of)
            for name, of in tables.items()
        },
    )


def stated(*numbers, **more):
    return {"take": "stated", "numbers": list(numbers), **more}


@pytest.mark.parametrize(
    ("quantity", "value", "half"),
    [
        (stated("40"), 40, 0.5),
        (stated("52.0", "65.9"), 58.95, 0.05),
        (stated("10", "20", weights=[3, 1]), 12.5, 0.5),
        ({"take": "cell", "of": A, "row": "Average"}, 45, 0.05),
        ({"take": "mean", "of": A}, 45, 0.05),
        ({"take": "mean", "of": A, "rows": ["@closed"]}, 55, 0.05),
        ({"take": "mean", "of": A, "rows": ["@open"]}, 35, 0.05),
        ({"take": "mean", "of": A, "rows": ["InternVL2-*"]}, 35, 0.05),
        ({"take": "mean", "of": A, "rows": ["@size 7-8"]}, 40, 0.05),
        ({"take": "mean", "of": A, "without": ["@closed", "InternVL2-8B"]}, 30, 0.05),
        ({"take": "sum", "of": "Table 1 | T?:Acc", "rows": ["GPT-4o"]}, 99, 0.1),
        ({"take": "highest", "of": "Table 1 | T?:Acc"}, 61, 0.05),
        ({"take": "lowest", "of": A}, 30, 0.05),
        ({"take": "size", "of": "Table 1 | T?:Acc"}, 8, 0),
        ({"take": "count", "of": A, "sense": "below", "than": stated("50")}, 2, 0),
        (
            {"take": "count", "of": A, "sense": "at most", "than": stated("50"), "percent": True},
            75,
            0,
        ),
        ({"take": "count", "of": B, "sense": "above", "than_of": A}, 2, 0),
        ({"take": "on_grid", "of": A, "steps": 10}, 4, 0),
        ({"take": "on_grid", "of": A, "steps": 4}, 1, 0),
        ({"take": "on_grid", "of": A, "steps": 4, "up_to": 6}, 2, 0),
        ({"take": "row_mean", "row": "GPT-4o", "parts": [A, B]}, 49.5, 0.05),
        (
            {"take": "row_mean", "row": "GPT-4o", "parts": [A, B], "weights_of": "Table 2 | n"},
            49.75,
            0.05,
        ),
        ({"take": "place", "of": A, "row": "InternVL2-8B"}, 3, 0),
        ({"take": "place", "of": D, "row": "GPT-4o"}, 1, 0),
        ({"take": "place", "of": D, "row": "InternVL2-26B"}, 3, 0),
        ({"take": "correlation", "first": A, "second": B}, 1, 0),
        ({"take": "correlation", "first": A, "second": D, "method": "kendall"}, -0.548, 0),
        ({"take": "correlation_with_size", "of": A}, -1, 0),
        ({"take": "correlation_with_size", "of": B, "method": "pearson"}, -1, 0),
    ],
)
def test_a_quantity_is_computed_from_cells(paper, quantity, value, half):
    found = amount(paper, msgspec.convert(quantity, Quantity))
    assert found.value == pytest.approx(value, abs=0.001)
    assert found.half == pytest.approx(half)


def test_roundings_go_through_differences_and_ratios(paper):
    first, second = ({"take": "cell", "of": A, "row": row} for row in ROWS[:2])
    made = {"first": first, "second": second}
    apart = amount(paper, msgspec.convert({"take": "difference", **made}, Quantity))
    assert apart == pytest.approx((10, 0.1))
    ratio = amount(paper, msgspec.convert({"take": "ratio", "percent": True, **made}, Quantity))
    assert ratio == pytest.approx((120, 0.22))


def cell(row, of=A):
    return {"take": "cell", "of": of, "row": row}


@pytest.mark.parametrize(
    ("statement", "is_true"),
    [
        ({"kind": "equals", "amount": {"take": "mean", "of": A}, "stated": "45"}, True),
        ({"kind": "equals", "amount": {"take": "mean", "of": A}, "stated": "45.2"}, False),
        (
            {"kind": "equals", "amount": {"take": "mean", "of": A}, "stated": "44", "within": 1},
            True,
        ),
        (
            {
                "kind": "compares",
                "first": cell("GPT-4o"),
                "sense": "at least",
                "second": stated("50"),
            },
            True,
        ),
        (
            {"kind": "compares", "first": cell("GPT-4o"), "sense": "above", "second": stated("50")},
            False,
        ),
        ({"kind": "first", "of": A, "models": ["Claude-3.5-Sonnet"]}, True),
        ({"kind": "first", "of": D, "models": ["Claude-3.5-Sonnet"]}, False),
        ({"kind": "first", "of": "Table 1 | *", "models": ["Claude-3.5-Sonnet"]}, False),
        ({"kind": "first", "of": A, "models": ["GPT-4o", "Claude-3.5-Sonnet"]}, True),
        (
            {"kind": "first", "of": A, "models": ["GPT-4o", "Claude-3.5-Sonnet"], "ordered": True},
            False,
        ),
        ({"kind": "first", "of": A, "models": ["InternVL2-8B"], "rows": ["@open"]}, True),
        ({"kind": "first", "of": A, "models": ["InternVL2-26B"], "from_worst": True}, True),
        ({"kind": "first", "of": D, "models": ["InternVL2-26B"], "from_worst": True}, True),
        ({"kind": "first", "of": A, "models": ["GPT-4o"], "from_worst": True}, False),
        (
            {"kind": "ordered", "of": D, "rows": ["GPT-4o", "Claude-3.5-Sonnet", "InternVL2-8B"]},
            True,
        ),
        ({"kind": "ordered", "of": D, "rows": ["InternVL2-8B", "InternVL2-26B"]}, False),
        ({"kind": "every", "of": A, "sense": "above", "than": stated("29.9")}, True),
        ({"kind": "every", "of": A, "sense": "above", "than": stated("30")}, False),
        ({"kind": "every", "of": B, "sense": "at least", "than_of": A, "rows": ["@open"]}, True),
        ({"kind": "every", "of": B, "sense": "at least", "than_of": A}, False),
        ({"kind": "none", "of": A, "sense": "above", "than": stated("60")}, True),
        ({"kind": "none", "of": A, "sense": "above", "than": stated("59")}, False),
        ({"kind": "highest_column", "row": "Average", "of": "Table 1 | T?:Acc", "column": B}, True),
        (
            {
                "kind": "highest_column",
                "row": "Average",
                "of": "Table 1 | *",
                "column": B,
                "lowest": True,
            },
            False,
        ),
        ({"kind": "means", "of": MEAN, "parts": ["Table 1 | T[57]:Acc"]}, True),
        ({"kind": "means", "of": MEAN, "parts": [A, B], "rows": ["*"]}, True),
        ({"kind": "means", "of": MEAN, "parts": [A, B], "weights_of": "Table 2 | n"}, False),
        ({"kind": "means", "of": MEAN, "parts": [A]}, False),
    ],
)
def test_a_statement_is_true_or_false_of_the_cells(paper, statement, is_true):
    assert claims.test(paper, msgspec.convert(statement, Statement)).is_true is is_true


@pytest.mark.parametrize(
    "statement",
    [
        {"kind": "equals", "amount": cell("GPT-5"), "stated": "1"},
        {"kind": "equals", "amount": {"take": "mean", "of": "Table 9 | *"}, "stated": "1"},
        {"kind": "equals", "amount": {"take": "mean", "of": A, "rows": ["@best"]}, "stated": "1"},
        {"kind": "equals", "amount": {"take": "mean", "of": A, "rows": ["Yi-*"]}, "stated": "1"},
        {"kind": "first", "of": A, "models": ["GPT-5"]},
        {"kind": "every", "of": A, "sense": "above"},
        {"kind": "ordered", "of": A, "rows": ["GPT-4o", "GPT-5"]},
        {"kind": "means", "of": MEAN, "parts": [A, D], "weights_of": "Table 2 | n"},
    ],
)
def test_what_does_not_exist_is_an_error_and_not_a_verdict(paper, statement):
    with pytest.raises(DataError):
        claims.test(paper, msgspec.convert(statement, Statement))


TRUE = {"kind": "first", "of": A, "models": ["Claude-3.5-Sonnet"]}
FALSE = {"kind": "first", "of": A, "models": ["GPT-4o"]}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"checks": [TRUE]}, "holds"),
        ({"checks": [TRUE], "facts": [TRUE]}, "holds with a qualification"),
        ({"checks": [TRUE], "text_fact": "Appendix F.6"}, "holds with a qualification"),
        ({"checks": [TRUE, FALSE], "facts": [TRUE]}, "does not hold"),
        ({}, "cannot be checked"),
        ({"facts": [TRUE]}, "cannot be checked"),
    ],
)
def test_the_verdict_follows_from_the_checks(paper, given, verdict):
    words = {"id": "x", "place": "p", "states": "s", "states_zh": "s", "verdict": "holds"}
    decided = decide(paper, msgspec.convert({**words, **given}, Claim))
    assert decided.verdict == verdict


def test_numbers_of_a_sentence_are_told_from_places_and_names():
    text = "By Table 3 and Section 4.1 InternVL2.5-78B (49.32) leads Gemini-2.0-Flash by +2.77."
    assert numbers_in(text) == ["49.32", "2.77"]
    assert numbers_in("Gemini 1.5 Pro has 0.3810.") == ["0.3810"]
    assert numbers_in("表3与第 4.1 节：−25.52，1,234.5 个") == ["-25.52", "1234.5"]


def test_a_number_that_nothing_computes_is_reported(paper):
    words = {"id": "x", "place": "p", "states": "s", "states_zh": "s", "verdict": "holds"}
    decided = decide(paper, msgspec.convert({**words, "checks": [TRUE]}, Claim))
    assert unsupported_numbers(decided, "The best is 60.0, not 60.2, of 4 rows.") == ["60.2"]
