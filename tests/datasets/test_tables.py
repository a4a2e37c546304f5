"""One reader of records for JSON, CSV, parquet and XLSX files."""

from __future__ import annotations

import json
import zipfile
from datetime import date, datetime
from pathlib import Path, PurePosixPath

import polars as pl
import pytest

from keju.datasets.readers import tables, workbooks
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.tables import all_rows, find_table, lists_in, rows, sheet_lines
from keju.datasets.readers.workbooks import cell_text
from keju.errors import DataError
from keju.models.replay import answers_in
from tests.support.hanging import ends
from tests.support.released import put, table
from tests.support.workbooks import sheet_of, write_parts, write_workbook

RECORDS = [{"ID": "a1", "question": "何人？"}, {"ID": "a2", "question": "「學」,\n習"}]
CELLS = [list(RECORDS[0]), *(list(each.values()) for each in RECORDS)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines() -> str:
    return "\n".join(map(_json, RECORDS))


def _separated(path: Path, separator: str) -> Path:
    lines = [separator.join(f'"{cell}"' for cell in row) for row in CELLS]
    return put(path, "\n".join(lines) + "\n")


def _parquet(path: Path) -> Path:
    pl.DataFrame(RECORDS).write_parquet(path)
    return path


WRITERS = {
    "JSON list": lambda path: put(path / "t.json", _json(RECORDS)),
    "JSON object with a list": lambda path: put(
        path / "t.json", _json({"version": 1, "names": ["x"], "none": [], "data": RECORDS})
    ),
    "JSON lines called .json": lambda path: put(path / "t.json", _lines()),
    "JSON lines": lambda path: put(path / "t.jsonl", _lines() + "\n"),
    "JSON lines called .ndjson": lambda path: put(path / "t.ndjson", _lines()),
    "a JSON list called .jsonl": lambda path: put(path / "t.jsonl", json.dumps(RECORDS, indent=1)),
    "CSV": lambda path: table(path / "t.csv", *CELLS),
    "CSV with capitals in its suffix": lambda path: table(path / "t.CSV", *CELLS),
    "CSV with semicolons": lambda path: _separated(path / "t.csv", ";"),
    "CSV with tabs": lambda path: _separated(path / "t.csv", "\t"),
    "TSV": lambda path: _separated(path / "t.tsv", "\t"),
    "parquet": lambda path: _parquet(path / "t.parquet"),
    "XLSX": lambda path: write_workbook(path / "t.xlsx", CELLS),
    "XLSX with inline strings": lambda path: write_workbook(path / "t.xlsx", CELLS, shared=False),
}  # fmt: skip


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_gives_the_same_records(tmp_path, form):
    file = WRITERS[form](tmp_path)
    assert [row.cells for row in all_rows(file)] == RECORDS
    assert len({row.place.item for row in all_rows(file)}) == 2


@pytest.mark.parametrize("form", [each for each in WRITERS if "called" not in each])
def test_a_listing_sees_the_first_records(tmp_path, form):
    file = WRITERS[form](tmp_path)
    found = Listing(tmp_path).records(PurePosixPath(file.name), 1)
    assert found == RECORDS[:1]


def test_a_table_is_found_by_its_name_in_every_form(tmp_path):
    file = write_workbook(tmp_path / "boxes.xlsx", CELLS)
    assert find_table(tmp_path, "boxes") == file
    table(tmp_path / "boxes.csv", *CELLS)
    with pytest.raises(DataError, match=r"both boxes\.csv and boxes\.xlsx"):
        find_table(tmp_path, "boxes")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"train": RECORDS, "test": RECORDS}, "several lists of objects: train, test"),
        ({"names": ["x"]}, "expected a list of objects; found an object with names"),
        ({}, "expected a list of objects; found an object with nothing"),
        ([*RECORDS, "x"], "object 3: expected an object; found str"),
        ([], "the table has no lines"),
    ],
)
def test_json_without_one_list_of_objects_is_refused(tmp_path, content, words):
    with pytest.raises(DataError, match=words):
        all_rows(put(tmp_path / "t.json", _json(content)))


BY_ID = {"a1": {"question": "何人？"}, "a2": {"question": "何物？"}}
STRUCTURES = {
    "a list": (RECORDS, [((), "list", "object 1")]),
    "a list under a key": (
        {"version": 1, "data": RECORDS},
        [(("data",), "list", "data, object 1")],
    ),
    "two lists": (
        {"T1": RECORDS, "T7": RECORDS},
        [(("T1",), "list", "T1, object 1"), (("T7",), "list", "T7, object 1")],
    ),
    "deeper lists": (
        {"meta": {"by": "x"}, "書法": {"T10": RECORDS, "n": 2}},
        [(("書法", "T10"), "list", "書法, T10, object 1")],
    ),
    "records by key": (BY_ID, [((), "by-key", "a1")]),
    "records by key under two keys": (
        {"T1": BY_ID, "T7": {"a3": {"question": "?"}}},
        [(("T1",), "by-key", "T1, a1"), (("T7",), "by-key", "T7, a3")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", STRUCTURES)
def test_the_lists_of_a_file_are_found_by_their_structure(tmp_path, kind):
    content, expected = STRUCTURES[kind]
    file = put(tmp_path / "t.json", _json(content))
    found = lists_in(file, 1)
    assert [(each.key, each.shape, each.rows[0].place.item) for each in found] == expected
    for key, shape, first in found:
        assert next(rows(file, key, shape)) == first[0]


def test_cells_of_each_shape_stay_as_they_are(tmp_path):
    def cells(content, key=(), shape="list"):
        file = put(tmp_path / "t.json", _json(content))
        return [row.cells for row in rows(file, key, shape)]

    assert cells({"T": BY_ID, "x": "y"}, ("T",), "by-key") == [
        {"key": "a1", "question": "何人？"},
        {"key": "a2", "question": "何物？"},
    ]
    assert cells({"一": "天", "二": ["地"]}, (), "by-key") == [
        {"key": "一", "value": "天"},
        {"key": "二", "value": ["地"]},
    ]


@pytest.mark.parametrize(
    ("content", "key", "shape", "words"),
    [
        ({"T1": RECORDS}, ("T2",), "list", "expected the key 'T2'; found an object with T1"),
        ({"T1": RECORDS}, ("T1", "x"), "list", "T1: expected the key 'x'; found something else"),
        ({"T1": BY_ID}, ("T1",), "list", "T1: expected a list of objects; found an object with a1"),
        ({"T1": [1]}, ("T1",), "list", "T1, object 1: expected an object; found int"),
        ({"T1": "x"}, ("T1",), "by-key", "T1: expected an object; found something else"),
        (RECORDS, (), "by-key", "expected an object; found something else"),
        ({}, (), "by-key", "the table has no lines"),
        ({"T1": []}, ("T1",), "list", "the table has no lines"),
    ],
)
def test_a_value_of_another_shape_is_refused(tmp_path, content, key, shape, words):
    file = put(tmp_path / "t.json", _json(content))
    with pytest.raises(DataError, match=words) as refused:
        list(rows(file, key, shape))
    assert refused.value.hint


def test_a_json_object_that_is_too_large_is_refused_with_a_command(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_TEXT", 20)
    file = put(tmp_path / "t.json", _json({"T1": RECORDS}))
    with pytest.raises(DataError, match=r"""jq -c '\.\["T1"\]\[\]' t\.json > TABLE\.jsonl"""):
        list(rows(file, ("T1",)))
    with pytest.raises(DataError, match=r"jq -c '\.\[\]' t\.json"):
        lists_in(file, 1)
    with pytest.raises(DataError, match=r"jq -c '\.\[\]' u\.json"):
        list(rows(put(tmp_path / "u.json", _json(RECORDS))))


@pytest.mark.parametrize(
    "content",
    [{**RECORDS[0], "options": ["甲", "乙"]}, {"ID": ["a1"], "question": ["?"]}, {"一": "天"}, {}],
)
def test_an_object_without_records_is_refused_with_a_command(tmp_path, content):
    with pytest.raises(DataError, match=r"expected a list of objects; .*jq -s \."):
        lists_in(put(tmp_path / "t.json", _json(content)), 1)


def test_cells_of_a_workbook_are_texts_as_in_csv(tmp_path):
    rows = [["ID", "n", "yes", "empty", "last"], [1, 0.5, True, "", "a_x000D_b"], [2]]
    first, second = all_rows(write_workbook(tmp_path / "t.xlsx", rows))
    assert first.cells == {"ID": "1", "n": "0.5", "yes": "TRUE", "empty": "", "last": "a\rb"}
    assert second.cells == {"ID": "2", "n": "", "yes": "", "empty": "", "last": ""}
    assert second.place.item == "line 3"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3.0, "3"),
        (datetime(2024, 5, 1), "2024-05-01"),  # noqa: DTZ001 - workbooks have no time zone
        (datetime(2024, 5, 1, 7, 30), "2024-05-01T07:30:00"),  # noqa: DTZ001
        (date(2024, 5, 1), "2024-05-01"),
        ("a_xD83D_b", "a_xD83D_b"),
    ],
)
def test_a_cell_becomes_text(value, text):
    assert cell_text(value) == text


def _sheet(*rows: str) -> str:
    return sheet_of("".join(f"<row>{row}</row>" for row in rows))


def _inline(*texts: str) -> str:
    return "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)


def test_sheets_with_the_same_columns_are_one_table(tmp_path):
    sheets = [_sheet(_inline("ID"), _inline(text)) for text in ("a", "b")]
    rows = all_rows(write_parts(tmp_path / "t.xlsx", [*sheets, _sheet()]))
    assert [(row.place.item, row.cells["ID"]) for row in rows] == [
        ("sheet S1, line 2", "a"),
        ("sheet S2, line 2", "b"),
    ]
    different = _sheet(_inline("other"), _inline("c"))
    with pytest.raises(DataError, match="sheets with different columns: S1, S2"):
        all_rows(write_parts(tmp_path / "u.xlsx", [sheets[0], different]))


_CORNER = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"/></row>'
_FAR = '<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'
_ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + _sheet(_inline("&b;"))


HOSTILE = {
    "a cell in the last corner": (sheet_of(_CORNER, "A1:XFD1048576"), "the table has no lines"),
    "a row far away": (sheet_of(_FAR), "has too many rows"),
    "entities": (_ENTITIES, "declares XML entities"),
    "entities in UTF-16": (_ENTITIES.encode("utf-16"), "declares XML entities"),
    "cut off": (sheet_of("<row><c"), "not readable as a workbook"),
    "a string that is missing": (_sheet('<c t="s"><v>7</v></c>'), "not readable as a workbook"),
    "a name twice": (_sheet(_inline("a", "a"), _inline("1")), "two columns are called 'a'"),
    "too many cells": (
        _sheet(_inline("a"), _inline("1", "2")),
        "2 cells, but there should be 1 column",
    ),
    "no cells": (_sheet(), "the table has no lines"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_workbook_is_refused(tmp_path, kind):
    sheet, words = HOSTILE[kind]
    file = write_parts(tmp_path / "t.xlsx", [sheet])
    with pytest.raises(DataError, match=words) as refused:
        all_rows(file)
    assert "\n" not in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("part", "number", "words"),
    [
        ("<row/>", 6_200_000, r"more than 6,000,000 XML tags"),
        (" " * 1024, 257 << 10, "unpacks to more than 256 MB"),
    ],
)
def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, part, number, words):
    file = write_parts(tmp_path / "t.xlsx", [sheet_of(part * number)])

    def refused():
        with pytest.raises(DataError, match=words):
            all_rows(file)

    ends(refused)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a workbook" * 99])
def test_a_file_that_is_not_a_workbook_is_refused(tmp_path, data):
    with pytest.raises(DataError, match=r"t\.xlsx: not readable as a workbook"):
        all_rows(put(tmp_path / "t.xlsx", data))


def test_an_archive_of_something_else_is_not_a_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as pack:
        pack.writestr("word/document.xml", "<a/>")
    with pytest.raises(DataError, match="not readable as a workbook"):
        all_rows(tmp_path / "t.xlsx")


def test_text_that_many_cells_share_is_counted_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_TEXT", 1000)
    rows = "".join('<row><c t="s"><v>0</v></c></row>' for _ in range(11))
    file = write_parts(tmp_path / "t.xlsx", [sheet_of(rows)], ["x" * 100])
    with pytest.raises(DataError, match="its cells have too much text"):
        all_rows(file)


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("MOST_BYTES", 50_000, "its cells have more than 0 MB"),
    ],
)
def test_a_parquet_file_is_bounded(tmp_path, monkeypatch, limit, most, words):
    monkeypatch.setattr(tables, limit, most)
    frame = pl.DataFrame({"image": [{"bytes": b"x" * 9_000}] * 11, "tags": [["ab"]] * 11})
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=words):
        all_rows(tmp_path / "t.parquet")


def test_more_columns_than_a_table_has_are_refused(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(",".join(f"c{n}" for n in range(10_001)) + "\n")
    with pytest.raises(DataError, match="it has more than 10,000 columns"):
        all_rows(file)


ANSWERS = "id,response\n甲,天地\n乙,玄黃\n"
SEMICOLONS = ANSWERS.replace(",", ";")
TABS = ANSWERS.replace(",", "\t")
SPREADSHEETS = {
    "byte-order mark": ANSWERS.encode("utf-8-sig"),
    "UTF-16": ANSWERS.encode("utf-16"),
    "tabs in UTF-16": TABS.encode("utf-16"),
    "CR": ANSWERS.replace("\n", "\r").encode(),
    "CR and LF": ANSWERS.replace("\n", "\r\n").encode(),
    "semicolons": SEMICOLONS.encode(),
    "sep=;": f"sep=;\n{SEMICOLONS}".encode("utf-8-sig"),
    "sep=; CR": f"sep=;\n{SEMICOLONS}".replace("\n", "\r").encode(),
    'quoted "sep=;"': f'"sep=;"\n{SEMICOLONS}'.encode(),
    "sep= and a tab": f"sep=\t\n{TABS}".encode("utf-16"),
    "sep= and \\t": f"sep=\\t\n{TABS}".encode(),
    "SEP=|": f"SEP=|\n{ANSWERS.replace(',', '|')}".encode(),
    "sep=,": f"sep=,\r\n{ANSWERS}".encode(),
    "empty columns": ANSWERS.replace("\n", ",,,\n").encode(),
    "one empty column": ANSWERS.replace("\n", ",\n").encode(),
    "empty columns and rows": f"{ANSWERS}\n".replace("\n", ",,\n").encode() + b",,\n ,,\n",
    "empty cells of some rows": ANSWERS.replace("天地", "天地,, ").encode(),
    "empty first lines": f"\n,\n{ANSWERS}".encode(),
}


@pytest.mark.parametrize("form", SPREADSHEETS)
def test_a_table_of_a_spreadsheet_is_the_same_for_every_reader(tmp_path, form):
    file = tmp_path / "table.csv"
    file.write_bytes(SPREADSHEETS[form])
    expected = [["甲", "天地"], ["乙", "玄黃"]]
    assert [list(row.cells.values()) for row in all_rows(file)] == expected
    assert [line.cells for line in sheet_lines(file)] == [["id", "response"], *expected]
    answers = answers_in(file)
    assert [[answer.item, answer.text] for _, answer in answers] == expected
    seen = Listing(tmp_path).records(PurePosixPath("table.csv"))
    assert [[each["id"], each["response"]] for each in seen if each["id"].strip()] == expected


def test_the_places_of_rows_are_those_of_the_file_with_a_line_for_the_separator(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(f"sep=;\n{SEMICOLONS}丙;a;b\n", "utf-8")
    with pytest.raises(DataError, match="line 5: 3 cells, but there should be 2"):
        all_rows(file)


@pytest.mark.parametrize("rows", ["甲,天地,,\n乙,玄黃,x,\n", "甲,天,地\n"])
def test_a_cell_without_a_column_name_is_refused(tmp_path, rows):
    file = tmp_path / "table.csv"
    file.write_text(f"id,response,,\n{rows}", "utf-8")
    with pytest.raises(DataError, match="3 cells, but there should be 2"):
        all_rows(file)


def test_empty_columns_and_rows_of_a_workbook_are_skipped(tmp_path):
    rows = [["id", "response", " ", ""], ["甲", "天地", " ", ""], ["", " ", "", ""], ["乙", "玄黃"]]
    write_workbook(tmp_path / "table.xlsx", rows)
    found = [list(row.cells.values()) for row in all_rows(tmp_path / "table.xlsx")]
    assert found == [["甲", "天地"], ["乙", "玄黃"]]


PANDAS = '{"id": "甲", "response": "NaN, \\"Infinity"}', '{"id": "乙", "response": NaN}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", f"[{','.join(PANDAS)}]"),
        ("t.json", f'{{"rows": [{",".join(PANDAS)}]}}'),
        ("t.jsonl", "\n".join(PANDAS)),
        ("t.jsonl", "\ufeff" + "\n".join(PANDAS)),
    ],
)
def test_nan_in_json_is_a_missing_cell_as_pandas_means_it(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    expected = [["甲", 'NaN, "Infinity'], ["乙", None]]
    assert [list(row.cells.values()) for row in all_rows(file)] == expected
    if '"rows"' not in text:
        answers = answers_in(file)
        assert [[answer.item, answer.text or None] for _, answer in answers] == expected


def test_nan_of_a_parquet_column_is_a_missing_cell(tmp_path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"id": ["甲", "乙"], "year": [1.0, float("nan")]}).write_parquet(file)
    assert [row.cells["year"] for row in all_rows(file)] == [1.0, None]
    assert [row.cells["year"] for row in rows(file)] == [1.0, None]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("t.json", '[{"id": 1},\n {"id": Infinity}]', "line 2: Infinity is not a number of JSON"),
        ("t.json", '[{"id": -Infinity}]', "-Infinity is not a number of JSON"),
        ("t.jsonl", '{"id": 1}\n{"id": -Infinity}', "line 2: not readable: -Infinity is not"),
    ],
)
def test_an_infinite_number_in_json_is_refused_with_its_line(tmp_path, name, text, place):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    with pytest.raises(DataError, match=place):
        all_rows(file)
