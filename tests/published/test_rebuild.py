"""Printed means come out of printed tasks, through the aggregation that runs use."""

from collections import Counter

from tests.support import rebuilt_means as means
from tests.support.rebuilt_means import ROUNDED, Rebuilt, rebuilt_means


def holds(cell: Rebuilt) -> bool:
    """Whether rounding explains the difference: two digits, of the parts and of their mean."""
    return abs(cell.printed - cell.rebuilt) <= ROUNDED + 1e-9


def test_tables_15_to_20_and_table_3_come_out_cell_for_cell():
    cells = rebuilt_means()
    assert Counter(cell.table for cell in cells) == {
        **{f"Table {number}": 3 * 37 for number in (15, 16, 17, 19, 20)},
        "Table 18": 2 * 37,  # oracle bones have no multiple choice
        "Table 3": 7 * 37,
    }
    assert all(map(holds, cells))


def test_a_wrong_cell_would_show(monkeypatch):
    honest = means._result
    monkeypatch.setattr(
        means, "_result", lambda task, percent: honest(task, percent + (task.id == "T13"))
    )
    wrong = {(cell.table, cell.column) for cell in rebuilt_means() if not holds(cell)}
    assert wrong == {
        ("Table 16", "OverAll:mean"),
        ("Table 16", "MCQ:mean"),
        ("Table 3", "Calligraphy:mean"),
        ("Table 3", "OverAll:mean"),
    }
