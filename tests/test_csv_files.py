"""CSV files open in a spreadsheet with Chinese text, and none of their cells is a formula."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from keju.csv_files import write_frame


def test_a_file_begins_with_the_mark_that_excel_needs_for_chinese(tmp_path: Path):
    file = write_frame(pl.DataFrame({"書": ["論語"], "CER": [0.5]}), tmp_path / "t.csv")
    assert file.read_bytes() == b"\xef\xbb\xbf" + "書,CER\n論語,0.5\n".encode()


def test_a_text_that_begins_like_a_formula_is_escaped_and_a_number_is_not(tmp_path: Path):
    texts = ["=1+1", "@x", "+cmd", "-3.5", "天"]
    file = write_frame(pl.DataFrame({"text": texts}), tmp_path / "t.csv")
    cells = file.read_text("utf-8-sig").splitlines()[1:]
    assert cells == ["'=1+1", "'@x", "'+cmd", "-3.5", "天"]
