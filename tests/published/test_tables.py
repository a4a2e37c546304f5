"""The tables that ship are the transcription, cell by cell."""

import csv
from pathlib import Path

import pytest

from keju.errors import DataError, UsageError
from keju.published import papers, published_model, published_tables
from keju.published.tables import printed_cell
from tools import make_published

ROOT = Path(__file__).resolve().parents[2]
FILES = {"MCS-Bench": "mcs", "AncientDoc": "ancientdoc", "OBI-Bench": "obi"}


@pytest.mark.parametrize("benchmark", papers())
def test_every_transcribed_cell_is_there(shared, benchmark):
    columns = {
        "mcs": make_published.mcs_column,
        "ancientdoc": make_published.ancientdoc_column,
        "obi": make_published.obi_column,
    }
    name = FILES[benchmark]
    tables = published_tables(benchmark)
    seen = 0
    with (shared / "published" / f"{name}_results_long.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            table = "README's table" if row["table"].startswith("README") else row["table"]
            known = published_model(benchmark, row["model"])
            cell = tables[table].rows[known.name if known else row["model"]][columns[name](row)]
            assert cell.text == row["value"]
            bold_in_the_image = row["note"].startswith("bold, not underlined")
            mark = row.get("mark_in_text", row.get("mark_in_image"))
            assert cell.mark == ("bold" if bold_in_the_image else mark)
            seen += 1
    assert seen == {"MCS-Bench": 4106, "AncientDoc": 696, "OBI-Bench": 771}[benchmark]


def test_the_tool_makes_the_files_that_ship(shared, tmp_path, monkeypatch):
    shipped = make_published.FOLDERS
    monkeypatch.setattr(make_published, "FOLDERS", tmp_path)
    for folder in ("mcs_bench", "ancientdoc", "obi_bench"):
        (tmp_path / folder / "published" / "tables").mkdir(parents=True)
    make_published.results()
    make_published.facts()
    make_published.model_tables()
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv"))
    assert len(made) == 43 + 3
    for path in made:
        assert (tmp_path / path).read_bytes() == (shipped / path).read_bytes(), path


def test_a_cell_is_read_as_printed():
    bold = printed_cell("**0.6114**")
    assert (bold.value, bold.decimals, bold.mark) == (0.6114, 4, "bold")
    assert printed_cell("_-1.40_").value == -1.4
    assert printed_cell("<10e-4").value is None
    assert printed_cell("100").decimals == 0


def test_every_column_of_results_knows_its_metric():
    for benchmark in papers():
        for table in published_tables(benchmark).values():
            for column in table.columns.values():
                if ":" in column.name:
                    assert column.how.scale in {1, 10, 100}
                    assert column.metric


def test_rounding_is_half_a_unit_of_the_last_digit():
    tables = published_tables("MCS-Bench")
    assert tables["Table 16"].columns["T8:CR"].half == 0.005
    assert tables["Table 3"].columns["OverAll:rank"].half == 0.5


def test_an_unknown_paper_is_wrong_use():
    with pytest.raises(UsageError, match="there are MCS-Bench"):
        published_tables("OCRBench")


def test_a_column_of_no_results_has_no_metric():
    with pytest.raises(DataError, match="no metric"):
        _ = published_tables("OBI-Bench")["Table 1"].columns["images"].how


def test_a_table_or_column_that_does_not_exist_is_an_error_with_the_known_ones():
    tables = published_tables("OBI-Bench")
    with pytest.raises(DataError, match=r"no table 'Table 99'.*Table 2"):
        tables["Table 99"]
    with pytest.raises(DataError, match=r"OBI-Bench, Table 2.*no column 'x:Acc'"):
        tables["Table 2"].columns["x:Acc"]
    assert tables.get("Table 99") is None
