"""Tables of answers: their formats and columns, and what is refused."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import keju
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.items import Request
from keju.models import Answer, AskError, ModelOptions, open_model
from keju.models.replay import LONGEST_CELL
from keju.registry import PluginError
from keju.running import Selection, run
from keju.runs import RunFolder
from tests.models.conftest import replayed
from tests.support.making import make_dataset
from tests.support.plugged import forget_plugins
from tests.support.workbooks import write_workbook


def failure(path: Path, item: str) -> AskError:
    with pytest.raises(AskError) as caught:
        replayed(path, item)
    return caught.value


def refused(spec: str | Path, words: str, columns: str = "") -> DataError:
    with pytest.raises(DataError, match=words) as caught:
        open_model(f"replay:{spec}", ModelOptions(replay_columns=columns))
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    return caught.value


def answer(spec: str | Path, item: str, columns: str = "") -> Answer:
    model = open_model(f"replay:{spec}", ModelOptions(replay_columns=columns))
    request = Request(item=item, benchmark="b", task="t", form="text", prompt="?")
    return asyncio.run(model.answer(request, ()))


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


ROWS = [
    {"index": "0", "id": "p/1", "question": "?", "prediction": "天\n地\t<&>"},
    {"index": "1", "id": "p/2", "question": "?", "prediction": "Failed to obtain answer via API."},
    {"index": "2", "id": "p/3", "question": "", "prediction": ""},
    {"index": "3", "id": "p/4", "question": "?", "prediction": "玄" * LONGEST_CELL},
]


def tsv(path: Path, rows: list[dict[str, str]] = ROWS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return path


def json_list(path: Path) -> Path:
    path.write_text(
        json.dumps([{**row, "index": int(row["index"])} for row in ROWS]), encoding="utf-8"
    )
    return path


def workbook(path: Path, *, shared: bool) -> Path:
    """The table as a workbook, its numbers as numbers."""
    cells = [[int(cell) if cell.isdecimal() else cell for cell in each.values()] for each in ROWS]
    return write_workbook(path, [list(ROWS[0]), *cells], shared=shared)


@pytest.mark.parametrize("form", ["tsv", "json", "shared", "inline"])
def test_predictions_of_vlmevalkit(tmp_path: Path, form: str):
    file = {
        "tsv": lambda: tsv(tmp_path / "m_d.tsv"),
        "json": lambda: json_list(tmp_path / "m_d.json"),
        "shared": lambda: workbook(tmp_path / "m_d.xlsx", shared=True),
        "inline": lambda: workbook(tmp_path / "m_d.xlsx", shared=False),
    }[form]()
    assert replayed(file, "p/1").text == "天\n地\t<&>"
    assert failure(file, "p/2").kind == "failed-elsewhere"
    assert replayed(file, "p/3").status == "empty"
    # A spreadsheet cuts long answers; one that is as long as a cell may be is taken for cut.
    assert replayed(file, "p/4").status == "truncated"
    assert failure(file, "p/5").kind == "missing-answer"


def test_samples_of_lmms_eval_are_read_by_their_columns(tmp_path: Path):
    rows = [
        {"doc_id": 0, "filtered_resps": "地"},
        {"doc_id": 1, "filtered_resps": "B", "resps": "the answer is B"},
        {"doc_id": 2, "filtered_resps": "[LMMS_EVAL_REQUEST_FAILED after 5 retries] away"},
    ]
    file = lines(tmp_path / "20261121_samples_mcs.jsonl", *rows)
    columns = "doc_id,resps,filtered_resps"
    assert [answer(file, item, columns).text for item in "01"] == ["地", "the answer is B"]
    assert answer(file, "1", "doc_id,filtered_resps").text == "B"
    with pytest.raises(AskError) as caught:
        answer(file, "2", columns)
    assert caught.value.kind == "failed-elsewhere"
    error = refused(file, r"record 1: .*it has doc_id, filtered_resps")
    assert "--replay-columns" in error.hint


def test_a_row_whose_tokens_are_counted_as_none_has_failed(tmp_path: Path):
    """A filter of lmms-eval took the A of LMMS_EVAL_REQUEST_FAILED."""
    columns = "doc_id,filtered_resps"
    rows = [
        {"doc_id": 0, "filtered_resps": "A", "token_counts": tokens(0, 0)},
        {"doc_id": 1, "filtered_resps": "B", "token_counts": tokens(12, 3)},
        {"doc_id": 2, "filtered_resps": "C", "token_counts": [None]},
    ]
    file = lines(tmp_path / "a.jsonl", *rows)
    assert [answer(file, item, columns).text for item in "12"] == ["B", "C"]
    with pytest.raises(AskError, match="no tokens counted: A"):
        answer(file, "0", columns)


def tokens(sent: int, received: int) -> list[dict[str, int]]:
    return [{"input_tokens": sent, "output_tokens": received}]


TABLE = {"id": ["q0", "q1", "q2"], "prediction": ["天", "a,b", "地\n玄"]}


def written(path: Path, frame: pl.DataFrame) -> Path:
    {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
        ".json": frame.write_json,
        ".tsv": lambda path: frame.write_csv(path, separator="\t"),
    }[path.suffix](path)
    return path


@pytest.mark.parametrize("name", ["id", "item"])
@pytest.mark.parametrize("column", ["prediction", "response", "answer", "output"])
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl", "tsv", "json"])
def test_a_table_with_an_id_and_a_response(tmp_path: Path, form: str, name: str, column: str):
    frame = pl.DataFrame({name: TABLE["id"], column: TABLE["prediction"]})
    file = written(tmp_path / f"d.{form}", frame)
    assert [replayed(file, item).text for item in TABLE["id"]] == TABLE["prediction"]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_table_of_eight_megabytes_and_more_is_read_piece_by_piece(tmp_path: Path, form: str):
    texts = [f"{number}{'天' * 300}" for number in range(11_000)]
    frame = pl.DataFrame({"id": [f"q{n}" for n in range(len(texts))], "response": texts})
    file = written(tmp_path / f"d.{form}", frame)
    assert form == "parquet" or file.stat().st_size > 8 << 20
    assert [replayed(file, f"q{n}").text for n in (0, 10_999)] == [texts[0], texts[-1]]


def test_the_columns_that_the_user_names_decide(tmp_path: Path):
    row = {"index": 12, "id": "x", "prediction": "天", "output": "地", "text": "玄"}
    file = lines(tmp_path / "a.jsonl", row)
    refused(file, "one of prediction, response, output, text, answer; it has index, id, predict")
    assert answer(file, "x", "id,output").text == "地"
    assert answer(file, "12", "index,text").text == "玄"
    refused(file, "needs the columns id and words; it has index", "id,words")
    with pytest.raises(UsageError, match="--replay-columns id: needs two names or more"):
        open_model(f"replay:{file}", ModelOptions(replay_columns="id"))


def test_named_columns_are_part_of_the_identity(tmp_path: Path):
    file = lines(tmp_path / "a.jsonl", {"id": "x", "output": "天", "text": "地"})
    first, second = (
        open_model(f"replay:{file}", ModelOptions(replay_columns=columns)).identity
        for columns in ("id,output", "id,text")
    )
    assert first["sha256"] == second["sha256"]
    assert first != second


def test_named_columns_are_for_tables_and_not_for_responses_of_keju(tmp_path: Path):
    file = lines(tmp_path / "a.jsonl", {"item": "x", "text": "天"})
    assert answer(file, "x", "doc_id,filtered_resps").text == "天"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"id,response,output\nx,1,2\n", "line 2: the table needs one column id or item"),
        ("a.csv", b"id,item,output\nx,1,2\n", "the table needs one column id or item"),
        ("a.tsv", b"index\tprediction\n12\t1\n", "the table needs one column id or item"),
        ("a.csv", b"name,score\nx,1\n", "it has name, score"),
        ("a.csv", b"id,response\nx,1\n,2\n", "line 3: the column id does not have the id"),
        ("a.jsonl", b'{"name": "x", "score": 1}\n', "record 1: the table needs one column id"),
        ("a.jsonl", b'{"id": "x", "output": 1}\n', "record 1: the column output does not have one"),
        ("a.jsonl", b'{"id": "x", "output": ["a", "b"]}\n', "record 1: the column output does not"),
        ("a.json", b'[{"prediction": "x"}]', "object 1: the table needs one column id"),
        ("a.parquet", b"PAR1broken", "not readable as parquet"),
        ("a.tsv", b'id\tprediction\n1\t"a\rb\n', "not readable as a table"),
        ("a.tsv", b"id\tprediction\n1\ta\rb\n", "line 3: 1 cell, but there should be 2 columns"),
        ("a.xlsx", b"PK\x03\x04broken", r"a\.xlsx: "),
    ],
)
def test_another_table_is_an_error_of_one_line(tmp_path: Path, name: str, data: bytes, words: str):
    (tmp_path / name).write_bytes(data)
    assert refused(tmp_path / name, words).file == str(tmp_path / name)


def test_a_table_without_the_columns_is_refused_in_the_language_of_the_user(tmp_path: Path):
    error = refused(tsv(tmp_path / "a.tsv", [{"id": "12", "words": "天"}]), "it has id, words")
    assert not re.search("[a-z]+ [a-z]+ [a-z]+", error.render("zh").partition(": ")[2])


def test_a_folder_means_its_json_lines_and_a_pattern_the_files_that_fit_it(tmp_path: Path):
    (tmp_path / "out" / "m").mkdir(parents=True)
    lines(tmp_path / "out" / "m" / "a_samples_x.jsonl", {"id": "x", "response": "天"})
    lines(tmp_path / "out" / "b_samples_y.jsonl", {"id": "y", "response": "地"})
    (tmp_path / "out" / "results.json").write_text('{"results": {}}')
    tsv(tmp_path / "out" / "m" / "T1.tsv", [{"id": "z", "response": "玄"}])
    assert [answer(tmp_path / "out", item).text for item in "xy"] == ["天", "地"]
    (note,) = open_model(f"replay:{tmp_path / 'out'}", ModelOptions()).notes
    names = ("b_samples_y.jsonl", "a_samples_x.jsonl", "results.json", "T1.tsv")
    assert [name in note for name in names] == [True, True, False, False]
    pattern = tmp_path / "out" / "**" / "*.tsv"
    assert answer(pattern, "z").text == "玄"
    with pytest.raises(UsageError, match="no such file, or a folder without JSON lines"):
        open_model(f"replay:{tmp_path / 'out' / '*.csv'}", ModelOptions())


def test_two_files_with_different_answers_are_an_error_that_names_both(tmp_path: Path):
    lines(tmp_path / "a.jsonl", {"item": "x", "text": "天"}, {"item": "y", "text": "天"})
    lines(tmp_path / "b.jsonl", {"item": "y", "text": "地"}, {"item": "x", "text": "天"})
    error = refused(tmp_path, "two different answers to the same item y")
    assert (error.file, error.item) == (str(tmp_path / "b.jsonl"), "record 1")
    assert error.values[1] == f"{tmp_path / 'a.jsonl'}, record 2"


def test_responses_of_two_models_are_an_error(tmp_path: Path):
    row = {"key": "k", "item": "x", "text": "天"}
    lines(tmp_path / "a.jsonl", {**row, "model": "a"})
    lines(tmp_path / "b.jsonl", {**row, "model": "b"})
    refused(tmp_path, "two different answers to the same item x")


@pytest.mark.parametrize("form", ["pairs", "nothing of the kind"])
def test_a_reader_of_a_plug_in_reads_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
):
    forget_plugins(monkeypatch)

    @keju.responses("own")
    def read(path: Path) -> Iterator[object]:
        if path.suffix != ".own":
            raise DataError("not in this form", file=path)
        for name, text in (("x", "天"), ("y", None)):
            item = keju.Item(id=name, benchmark="b", task="t")
            yield (item, text) if form == "pairs" else path

    (tmp_path / "a.own").write_text("")
    (tmp_path / "a.txt").write_text("")
    refused(tmp_path / "a.txt", r"a\.txt: the name has none of the endings of a table")
    if form == "pairs":
        assert replayed(tmp_path / "a.own", "x").text == "天"
        assert failure(tmp_path / "a.own", "y").kind == "missing-answer"
    else:
        with pytest.raises(PluginError, match="returned PosixPath, not answers or pairs"):
            open_model(f"replay:{tmp_path / 'a.own'}", ModelOptions())


def test_what_another_harness_asked_of_an_exported_dataset_becomes_a_run(tmp_path: Path):
    dataset = Dataset.open(make_dataset(tmp_path / "d", pages=3))
    rows = [
        {"id": item.id, "index": "0", "prediction": f"of {item.id}"} for item in dataset.items()
    ]
    rows[1]["prediction"] = "Failed to obtain answer via API."
    file = tsv(tmp_path / "m.tsv", rows)
    summary = run(dataset.path, [f"replay:{file}"], tmp_path / "o", selection=Selection())
    assert summary.models[0].statuses == {"answered": 2, "failed": 1}
    assert summary.models[0].failures == {"failed-elsewhere": 1}
    texts = {r.item: r.text for r in RunFolder.open(tmp_path / "o").responses()}
    assert texts == {"i0000": "of i0000", "i0001": "", "i0002": "of i0002"}


OPEN = "application/vnd.openxmlformats"


def cells_workbook(path: Path, sheet: str, strings: str = "") -> Path:
    """A small workbook with the given cells in XML, as no library writes it."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = f"{OPEN}-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Default Extension="rels" ContentType="{OPEN}-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/s.xml" ContentType="{types}.worksheet+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{types}.sharedStrings+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/s.xml"/>'
        f'<Relationship Id="r2" Type="{office}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{main}"><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>id</t></is></c>'
        '<c r="B1" t="inlineStr"><is><t>prediction</t></is></c></row>'
        f'<row r="2"><c r="A2" t="inlineStr"><is><t>x</t></is></c>{sheet}</row></sheetData>'
        "</worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{strings}</sst>',
    }  # fmt: skip
    with zipfile.ZipFile(path, "w") as pack:
        for name, text in parts.items():
            pack.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


@pytest.mark.parametrize("index", ["7", "-1"])
def test_a_shared_string_that_does_not_exist_is_an_error(tmp_path: Path, index: str):
    file = cells_workbook(
        tmp_path / "a.xlsx", f'<c r="B2" t="s"><v>{index}</v></c>', "<si><t>天</t></si>"
    )
    with pytest.raises(DataError) as caught:
        replayed(file, "x")
    assert str(file) in str(caught.value)


def test_half_a_character_in_a_cell_is_left_as_it_is_written(tmp_path: Path):
    cell = '<c r="B2" t="inlineStr"><is><t>天_xD800_地_x000D_玄</t></is></c>'
    assert replayed(cells_workbook(tmp_path / "a.xlsx", cell), "x").text == "天_xD800_地\r玄"


def test_a_formula_is_the_text_of_the_response(tmp_path: Path):
    cell = '<c r="B2"><f>1+1</f><v>2</v></c>'
    assert replayed(cells_workbook(tmp_path / "a.xlsx", cell), "x").text == "=1+1"
