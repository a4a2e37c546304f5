"""Each general check: what it lets pass, and what it must not."""

from fractions import Fraction
from math import comb

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.errors import DataError
from keju.published.checks import AnyCheck
from keju.published.checks.grids import at_most
from keju.published.printed_tables import PrintedTables, load_printed_tables
from keju.published.tables import PrintedTable, printed_cell

ROWS = ["Claude-3.5-Sonnet", "GPT-4o", "InternVL2-8B", "QVQ-72B-Preview"]
WORDS = {"id": "x", "holds": "", "says": "", "consequence": "", "severity": "error"}


def paper(*tables, benchmark="MCS-Bench"):
    """A paper's tables, given as (name, {column: [cells by row]})."""
    made = {}
    for name, columns in tables:
        rows = {}
        for column, cells in columns.items():
            for row, text in zip(ROWS, cells, strict=False):
                rows.setdefault(row, {})[column] = printed_cell(text)
        made[name] = PrintedTable(benchmark=benchmark, name=name, rows=rows)
    return PrintedTables(benchmark=benchmark, tables=made)


def found(check, of):
    """What a declaration finds: (where, printed) of every mismatch."""
    declared = msgspec.convert({**WORDS, **check}, AnyCheck)
    return [
        (each.where, each.printed)
        for outcome in declared.examine(of)
        for each in outcome.mismatches
    ]


@given(st.lists(st.floats(0, 100), min_size=2, max_size=6))
def test_rounding_is_never_a_finding(values):
    exact = sum(values) / len(values)
    columns = {f"T{n}:Acc": [f"{value:.2f}"] for n, value in enumerate(values, 5)}
    of = paper(("Table 1", {**columns, "OverAll:mean": [f"{exact:.2f}"]}))
    check = {"kind": "mean", "tables": ["Table 1"], "column": "OverAll:mean", "parts": "T*:*"}
    assert not found(check, of)


@given(st.integers(1, 40), st.floats(0.02, 50))
def test_more_than_rounding_is(count, off):
    columns = {f"T{n}:Acc": ["40.00"] for n in range(count)}
    of = paper(("Table 1", {**columns, "OverAll:mean": [f"{40 + off:.2f}"]}))
    check = {"kind": "mean", "tables": ["Table 1"], "column": "OverAll:mean", "parts": "T*:*"}
    assert len(found(check, of)) == 1


def test_a_mean_of_one_format_takes_the_registrys_word():
    of = paper(("Table 1", {"T5:Acc": ["10"], "T6:Avg": ["90"], "MCQ:mean": ["10"]}))
    check = {"kind": "mean", "tables": ["Table 1"], "column": "MCQ:mean", "parts": "T*:*"}
    assert found(check, of)
    assert not found({**check, "format": "MCQ"}, of)


def test_the_average_row_is_of_the_models_only():
    of = paper(("Table 1", {"T5:Acc": ["10.0", "20.0", "30.0", "40.0"]}))
    rows = of.tables["Table 1"].rows
    rows["Average"] = {"T5:Acc": printed_cell("25.0")}
    rows["KanDianGuji"] = {"T5:Acc": printed_cell("99.0")}
    check = {"kind": "row_mean", "columns": ["Table 1 | *:*"], "row": "Average"}
    assert not found(check, of)
    broken = paper(("Table 1", {"T5:Acc": ["10.0", "20.0", "30.0", "41.0"]}))
    broken.tables["Table 1"].rows["Average"] = {"T5:Acc": printed_cell("25.0")}
    assert found(check, broken) == [("Average", "25.0")]


def test_a_sum_can_be_explained_otherwise():
    of = paper(("Table 1", {"T5:Acc": ["10.0"], "T7:Acc": ["30.0"], "MCQ:mean": ["30.0"]}))
    check = {
        "kind": "linear",
        "column": "Table 1 | MCQ:mean",
        "terms": [{"of": "Table 1 | T*:Acc", "times": "1/2"}],
        "instead": [{"of": "Table 1 | T7:Acc"}],
    }
    assert found(check, of) == [("Claude-3.5-Sonnet", "30.0")]
    outcome = next(iter(msgspec.convert({**WORDS, **check}, AnyCheck).examine(of)))
    assert outcome.note == "That sum fits 1 of 1 rows."
    assert outcome.instead == {"Claude-3.5-Sonnet": 20.0}


def test_same_compares_only_rows_that_both_have():
    of = paper(
        ("Table 1", {"T5:Acc": ["1.0", "2.0"]}), ("Table 2", {"T5:Acc": ["1.0", "2.5", "9.0"]})
    )
    assert found({"kind": "same", "pairs": [["Table 1 | *", "Table 2 | *"]]}, of) == [
        ("GPT-4o", "2.0")
    ]


def test_a_copied_column_is_not_a_few_equal_cells():
    names = load_printed_tables("MCS-Bench").evaluated

    def copied(rows_that_differ):
        rows = {
            row: {
                "T8:CR": printed_cell(f"{place}.0"),
                "T9:Avg": printed_cell("99.0" if place < rows_that_differ else f"{place}.0"),
            }
            for place, row in enumerate(names)
        }
        table = PrintedTable(benchmark="MCS-Bench", name="Table 1", rows=rows)
        of = PrintedTables(benchmark="MCS-Bench", tables={"Table 1": table})
        columns = ["Table 1 | T8:CR", "Table 1 | T9:Avg"]
        check = {"kind": "repeated_columns", "columns": columns}
        return len(found(check, of))

    assert copied(rows_that_differ=30) == 0
    assert copied(rows_that_differ=4) == 33


def test_a_total_is_the_rows_without_its_own():
    of = paper(("Table 1", {"pages": ["1", "2", "3", "6"]}))
    check = {"kind": "total", "column": "Table 1 | pages", "row": "QVQ-72B-Preview"}
    assert not found(check, of)
    assert found({"kind": "total", "column": "Table 1 | pages", "equals": 11}, of) == [
        ("sum", "11")
    ]


@given(st.integers(1, 3000), st.data())
def test_a_count_is_always_on_its_grid(items, data):
    right = data.draw(st.integers(0, items))
    of = paper(("Table 1", {"T5:Acc": [f"{100 * right / items:.2f}"]}))
    assert not found({"kind": "counts", "columns": ["Table 1 | T5:Acc"], "of": items}, of)


def test_what_no_count_gives_is_found_with_its_neighbours():
    of = paper(("Table 1", {"T24:Acc": ["67.29"]}))
    check = {"kind": "counts", "columns": ["Table 1 | T24:Acc"]}
    assert found(check, of) == [("Claude-3.5-Sonnet", "67.29")]
    outcome = next(iter(msgspec.convert({**WORDS, **check}, AnyCheck).examine(of)))
    assert outcome.mismatches[0].recomputed == "66.667 (64/96) or 67.708 (65/96)"
    assert not found({**check, "rounds": 110}, of)


def test_one_cell_between_shows_that_rounds_were_averaged():
    check = {"kind": "rounds", "columns": "Table 1 | T5:Acc", "of": 400, "rounds": 5}
    assert found(check, paper(("Table 1", {"T5:Acc": ["68.75", "62.50", "1.25"]})))
    assert not found(check, paper(("Table 1", {"T5:Acc": ["68.75", "62.55", "1.25"]})))


def test_below_chance_asks_for_more_than_bad_luck():
    check = {"kind": "below_chance", "columns": "Table 1 | T*:Acc", "options": {}, "default": 4}
    of = paper(("Table 1", {"T14:Acc": ["25.00", "16.10", "8.47", "0.00"]}))
    assert [row for row, _ in found(check, of)] == ["InternVL2-8B", "QVQ-72B-Preview"]


def test_bounds_allow_rounding_of_all_they_are_made_of():
    check = {
        "kind": "bound",
        "columns": ["Table 1 | T8:AR"],
        "sense": "most",
        "terms": [{"of": "{table} | {task}:CR"}],
    }
    of = paper(("Table 1", {"T8:AR": ["10.01", "10.02"], "T8:CR": ["10.00", "10.00"]}))
    assert found(check, of) == [("GPT-4o", "10.02")]


def test_a_bound_can_be_for_some_rows_only():
    check = {
        "kind": "bound",
        "columns": ["Table 1 | T6:BERTScore"],
        "sense": "most",
        "constant": 50,
        "where": "{table} | {task}:ANLS",
        "where_at_most": 0.5,
    }
    of = paper(("Table 1", {"T6:BERTScore": ["70.0", "70.0"], "T6:ANLS": ["9.0", "0.1"]}))
    assert found(check, of) == [("GPT-4o", "70.0")]


@given(st.floats(0.5, 100), st.floats(0.5, 100))
def test_a_harmonic_mean_holds_through_rounding(precision, recall):
    f1 = 2 * precision * recall / (precision + recall)
    of = paper(
        (
            "Table 1",
            {"a:P": [f"{precision:.2f}"], "a:R": [f"{recall:.2f}"], "a:F1": [f"{f1:.2f}"]},
        )
    )
    check = {
        "kind": "harmonic",
        "f1": ["Table 1 | a:F1"],
        "precision": "Table 1 | a:P",
        "recall": "Table 1 | a:R",
    }
    assert not found(check, of)


def marks(cells, legible=("bold", "underline"), column="T5:Acc"):
    check = {"kind": "marks", "tables": ["Table 1"], "legible": list(legible)}
    return found(check, paper(("Table 1", {column: cells})))


def test_marks_are_best_and_second_ties_together():
    assert not marks(["**9.0**", "_8.0_", "_8.0_", "7.0"])
    assert not marks(["**9.0**", "**9.0**", "8.0", "7.0"])  # nobody need be second
    assert not marks(["**9.0**", "**9.0**", "_8.0_", "7.0"])
    assert marks(["_9.0_", "**8.0**", "7.0", "6.0"]) == [
        ("Claude-3.5-Sonnet", "9.0 second"),
        ("GPT-4o", "8.0 best"),
    ]
    assert marks(["**9.0**", "8.0", "_7.0_", "6.0"]) == [
        ("GPT-4o", "8.0 unmarked"),
        ("InternVL2-8B", "7.0 second"),
    ]


def test_a_mark_that_was_lost_is_no_finding():
    assert not marks(["9.0", "_8.0_", "7.0", "6.0"], legible=["underline"])
    assert not marks(["9.0", "8.0", "7.0", "6.0"])


def test_an_error_is_best_where_it_is_least():
    assert not marks(["**1.0**", "_2.0_", "3.0", "4.0"], column="T8:Edit_Distance")
    assert marks(["1.0", "2.0", "_3.0_", "**4.0**"], column="T8:Edit_Distance")


def test_ranks_leave_ties_in_either_order():
    check = {"kind": "rank", "column": "Table 1 | a:rank", "of": "Table 1 | OverAll:mean"}
    columns = {"OverAll:mean": ["9.0", "8.0", "8.0", "7.0"], "a:rank": ["1", "3", "2", "4"]}
    assert not found(check, paper(("Table 1", columns)))
    columns["a:rank"] = ["1", "2", "3", "5"]
    assert found(check, paper(("Table 1", columns))) == [("QVQ-72B-Preview", "5")]


def test_a_reference_to_nothing_is_an_error_not_a_pass():
    of = paper(("Table 1", {"T5:Acc": ["1.0"]}))
    with pytest.raises(DataError, match="no such column"):
        of.columns("Table 9 | T5:Acc")
    with pytest.raises(DataError, match="more than one"):
        paper(("Table 1", {"T5:Acc": ["1"], "T7:Acc": ["1"]})).column("Table 1 | T*:Acc")


def test_joined_tables_keep_the_first_ones_row():
    of = paper(("Table 1", {"T5:Acc": ["1.0"]}), ("Table 2", {"T5:Acc": ["7.0", "2.0"]}))
    joined = of.column("Table 1 + Table 2 | T5:Acc")
    assert joined.values == {"Claude-3.5-Sonnet": 1.0, "GPT-4o": 2.0}


def test_a_ceiling_holds_only_where_a_cell_passes_it():
    check = {"kind": "ceiling", "columns": ["Table 1 | T28:BLEU"], "at": 17.78}
    assert found(check, paper(("Table 1", {"T28:BLEU": ["17.79", "3.0"]}))) == []
    at_it = paper(("Table 1", {"T28:BLEU": ["17.78", "3.0"]}))
    assert found(check, at_it) == [("Claude-3.5-Sonnet", "17.78 (the highest)")]
    below = paper(("Table 1", {"T28:BLEU": ["1.45", "3.0"]}))
    assert found(check, below) == [("GPT-4o", "3.0 (the highest)")]
    assert found({**check, "at": 100}, below) == []
    (outcome,) = msgspec.convert({**WORDS, **check}, AnyCheck).examine(below)
    assert outcome.cells == 2


def test_a_sum_may_have_a_constant_and_a_slack():
    of = paper(("Table 1", {"T28:Edit_Distance": ["99.91", "90.00"], "T28:F1": ["0.11", "9.00"]}))
    check = {
        "kind": "linear",
        "column": "Table 1 | T28:Edit_Distance",
        "constant": 100,
        "terms": [{"of": "Table 1 | T28:F1", "times": "-1"}],
    }
    assert found({**check, "slack": 0.03}, of) == [("GPT-4o", "90.00")]
    assert len(found({**check, "slack": 0.005}, of)) == 2


def test_rounds_may_have_been_rounded_before_their_mean():
    of = paper(("Table 1", {"T5:Acc": ["33.34"]}))
    check = {"kind": "counts", "columns": ["Table 1 | T5:Acc"], "of": 3}
    assert found(check, of) == [("Claude-3.5-Sonnet", "33.34")]
    assert found({**check, "rounded": True}, of) == []
    assert found({**check, "of_task": {"T5": 10000}}, of) == []


def test_best_is_asked_column_by_column():
    of = paper(("Table 1", {"T5:Acc": ["1.0", "2.0"], "T7:Acc": ["2.0", "1.0"]}))
    check = {
        "kind": "best",
        "models": ["GPT-4o"],
        "columns": ["Table 1 | T5:Acc", "Table 1 | T7:Acc"],
    }
    assert found(check, of) == [("GPT-4o", "1.0")]


def test_names_may_differ_in_capitals_spaces_and_hyphens():
    tables = load_printed_tables("AncientDoc").tables
    check = msgspec.convert(
        {**WORDS, "kind": "names", "tables": ["README's table", "Table 12"]}, AnyCheck
    )
    spelled = tables["README's table"].spelled
    assert spelled["LLaVA-Onevision-72B"] == "LLaVA-OneVision-72B"
    outcomes = list(check.examine(load_printed_tables("AncientDoc")))
    assert [each.printed for outcome in outcomes for each in outcome.mismatches] == [
        "DeepSeek-VL2-Tiny"
    ]


def test_sizes_in_names_are_held_against_the_releases():
    check = {"kind": "releases", "rows": "LLaVA-Onevision-*", "tables": ["Table 8"]}
    of = load_printed_tables("AncientDoc")
    assert found({**check, "sizes": [0.5, 72]}, of) == [("LLaVA-Onevision-5B", "5B")]
    assert found({**check, "sizes": [5, 72]}, of) == []


def test_binomial_probabilities_of_many_trials_are_finite():
    exact = sum(comb(1001, count) * 3**count * 7 ** (1001 - count) for count in range(281))
    assert at_most(280, 1001, 0.3) == pytest.approx(float(Fraction(exact, 10**1001)), rel=1e-9)
    assert at_most(24_900, 100_000, 0.25) == pytest.approx(0.234, abs=0.002)
    assert at_most(0, 100_000, 0.25) == 0
