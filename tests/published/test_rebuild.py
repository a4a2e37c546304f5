"""Printed means come out of printed tasks, through the aggregation that runs use."""

import sys
from collections import Counter

from keju.published import rebuild

(TITLE,) = rebuild()


def test_tables_15_to_20_and_table_3_come_out_cell_for_cell():
    cells = rebuild()[TITLE]
    assert Counter(cell.table for cell in cells) == {
        **{f"Table {number}": 3 * 37 for number in (15, 16, 17, 19, 20)},
        "Table 18": 2 * 37,  # oracle bones have no multiple choice
        "Table 3": 7 * 37,
    }
    assert all(cell.holds for cell in cells)
    # Both are rounded to two digits: what is left is never more than that.
    assert max(abs(cell.printed - cell.rebuilt) for cell in cells) <= 0.01 + 1e-9


def test_a_wrong_cell_would_show(monkeypatch):
    module = sys.modules["keju.benchmarks.mcs_bench.rebuilding"]
    honest = module._result
    monkeypatch.setattr(
        module, "_result", lambda task, percent: honest(task, percent + (task.id == "T13"))
    )
    wrong = {(cell.table, cell.column) for cell in rebuild()[TITLE] if not cell.holds}
    assert wrong == {
        ("Table 16", "OverAll:mean"),
        ("Table 16", "MCQ:mean"),
        ("Table 3", "Calligraphy:mean"),
        ("Table 3", "OverAll:mean"),
    }
