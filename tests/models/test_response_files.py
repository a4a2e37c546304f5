"""Folders of other programs, and rows that are named by number or prompt instead of id.

`recorded/` has small files in the form that each version writes; their texts are our own.
"""

from __future__ import annotations

import json
import zipfile
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError
from keju.items import Item
from keju.models import ModelOptions, open_model
from keju.models.other_harnesses import ReplayedAnswer
from keju.models.row_matching import item_names
from keju.running import attach_dataset, run
from keju.runs import RunFolder
from tests.models.conftest import replayed
from tests.support.making import picture

RECORDED = Path(__file__).parent / "recorded"
LMMS = RECORDED / "lmms-eval-0.7.3"
QUESTIONS = ("此書何名？", "作者何人？", "成於何代？")


def dataset(path: Path, names: tuple[str, ...] = ("q0", "q1", "q2"), *, beside: int = 0) -> Path:
    """Three questions of T11, and some pages of T1 before them."""
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for n in range(beside):
            image = writer.add_image(picture(10 + n), "p")
            writer.add(
                Item(
                    id=f"p{n}", benchmark="MCS-Bench", task="T1", images=(image,), answer="天",
                    group=f"p{n}",
                )
            )  # fmt: skip
        for n, (name, question) in enumerate(zip(names, QUESTIONS, strict=True)):
            image = writer.add_image(picture(n), name)
            writer.add(
                Item(
                    id=name, benchmark="MCS-Bench", task="T11", images=(image,), answer="史記",
                    question=question, verbatim=True, group=name,
                )
            )  # fmt: skip
    return path


def answers(data: Path, spec: Path, out: Path) -> tuple[dict[str, tuple[str, str]], str]:
    """What a replay stores, by item, and what the command prints."""
    shown = StringIO()
    run(data, [f"replay:{spec}"], out, console=Console(file=shown, width=200))
    return (
        {each.item: (each.status, each.text) for each in RunFolder.open(out).responses()},
        shown.getvalue(),
    )


def opened(data: Path, spec: Path) -> None:
    there = Dataset.open(data)
    open_model(f"replay:{spec}", attach_dataset(there, there.items(), ModelOptions()))


@pytest.mark.parametrize("beside", [0, 2])
def test_a_folder_of_lmms_eval(tmp_path: Path, beside: int):
    data = dataset(tmp_path / "d", beside=beside)
    found, shown = answers(data, LMMS, tmp_path / "run")
    assert {name: found[name] for name in ("q0", "q1", "q2")} == {
        "q0": ("answered", "《史記》"),
        "q1": ("answered", "<think>是誰</think>司馬遷"),
        "q2": ("failed", ""),
    }
    assert "1 file with responses: dummy/20261122_164236_samples_kejudummy.jsonl" in shown
    assert "20261122_164236_results.json (an aggregate or state, not responses)" in shown


def test_a_row_without_tokens_failed_where_others_have_some(tmp_path: Path):
    """A filter of lmms-eval took the A of LMMS_EVAL_REQUEST_FAILED."""
    data = dataset(tmp_path / "d")
    counted = [{"input_tokens": 12, "output_tokens": 3}]
    none = [{"input_tokens": 0, "output_tokens": 0}]
    rows = [
        {**sample(0, "B"), "token_counts": counted},
        {**sample(1, "A"), "token_counts": none},
        {**sample(2, "C"), "token_counts": [None]},
    ]
    file = lines(tmp_path / "a.jsonl", *rows)
    assert answers(data, file, tmp_path / "r")[0] == {
        "q0": ("answered", "B"), "q1": ("failed", ""), "q2": ("answered", "C"),
    }  # fmt: skip
    uncounted = lines(tmp_path / "b.jsonl", *({**row, "token_counts": none} for row in rows))
    found, _ = answers(data, uncounted, tmp_path / "r2")
    assert {status for status, _ in found.values()} == {"answered"}


def test_the_ids_of_a_dataset_may_look_like_rows(tmp_path: Path):
    """The prompts decide: row 1 is not the item 1."""
    found, _ = answers(dataset(tmp_path / "d", ("1", "2", "3")), LMMS, tmp_path / "run")
    assert (found["1"][1], found["3"][0]) == ("《史記》", "failed")


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def sample(number: int, text: object, **more: object) -> dict[str, object]:
    return {"doc_id": number, "target": "", "filtered_resps": text, **more}


def test_rows_without_prompts_are_those_of_the_only_table_of_that_size(tmp_path: Path):
    data = dataset(tmp_path / "d", beside=2)
    file = lines(tmp_path / "a.jsonl", *(sample(n, f"第{n}") for n in range(3)))
    found, _ = answers(data, file, tmp_path / "run")
    assert {name: found[name][1] for name in ("q0", "q1", "q2")} == {
        "q0": "第0", "q1": "第1", "q2": "第2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("beside", "rows", "words"),
    [
        (3, [sample(n, "天") for n in range(3)], r"fit several tables \(T1, T11\)"),
        (0, [sample(n, "天") for n in range(2)], "row numbers of an exported table"),
        (0, [sample(n, "天", input=f"何{n}") for n in range(3)], "the prompts do not identify"),
        (0, [sample(0, ["天", "地"])], "line 1: .*2 responses to one item"),
        (0, [sample(0, {"a": 1})], "line 1: .*the response is not text"),
    ],
)
def test_an_uncertain_row_is_an_error_of_one_line(
    tmp_path: Path, beside: int, rows: list[dict[str, object]], words: str
):
    data = dataset(tmp_path / "d", beside=beside)
    with pytest.raises(DataError, match=words) as caught:
        opened(data, lines(tmp_path / "a.jsonl", *rows))
    assert str(tmp_path / "a.jsonl") in str(caught.value)


def test_a_part_of_the_rows_is_matched_by_their_prompts(tmp_path: Path):
    data = dataset(tmp_path / "d", ("x", "y", "z"), beside=3)
    rows = [sample(7, "地", input=f"{QUESTIONS[2]}\n"), sample(9, "天", input=QUESTIONS[0])]
    found, _ = answers(data, lines(tmp_path / "a.jsonl", *rows), tmp_path / "run")
    assert (found["x"][1], found["y"][0], found["z"][1]) == ("天", "failed", "地")


def test_one_prompt_of_two_items_decides_nothing(tmp_path: Path):
    there = Dataset.open(dataset(tmp_path / "d", beside=2))
    lent = attach_dataset(there, there.items(), ModelOptions()).prompts_of
    assert lent is not None
    page = lent()[0].texts[0]
    rows = [
        ReplayedAnswer(item="5", text="天", by_row=True, prompt=page),
        ReplayedAnswer(item="6", text="地", by_row=True, prompt="?"),
    ]
    with pytest.raises(DataError, match="the prompts do not identify"):
        item_names(tmp_path / "f", rows, lent())


TABLE = {"id": ["q0", "q1", "q2"], "prediction": ["天", "a,b", "地\n玄"]}


@pytest.mark.parametrize("name", ["id", "item"])
@pytest.mark.parametrize("said", ["prediction", "response", "answer", "output"])
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl", "tsv", "json"])
def test_a_table_with_an_id_and_a_response(tmp_path: Path, form: str, name: str, said: str):
    frame = pl.DataFrame({name: TABLE["id"], said: TABLE["prediction"]})
    file = tmp_path / f"d.{form}"
    {
        "parquet": frame.write_parquet,
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "json": frame.write_json,
        "tsv": lambda path: frame.write_csv(path, separator="\t"),
    }[form](file)
    assert [replayed(file, item).text for item in TABLE["id"]] == TABLE["prediction"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"id,response,output\nx,1,2\n", "needs one column id, item or index"),
        ("a.csv", b"id,item,output\nx,1,2\n", "needs one column id, item or index"),
        ("a.csv", b"name,score\nx,1\n", "found name, score"),
        ("a.jsonl", b'{"name": "x", "score": 1}\n', "need item and text"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0\x1b[31m" * 90, "old Excel format"),
        ("a.parquet", b"PAR1broken", "not readable as parquet"),
        ("a.tsv", b'index\tprediction\n1\t"a\rb\n', "not readable as a table"),
        ("a.tsv", b"index\tprediction\n1\ta\rb\n", "line 3: 1 cell, but there should be 2 columns"),
    ],
)
def test_another_table_is_an_error_that_names_the_forms(
    tmp_path: Path, name: str, data: bytes, words: str
):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=words) as caught:
        open_model(f"replay:{tmp_path / name}", ModelOptions())
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


OPEN = "application/vnd.openxmlformats"


def workbook(path: Path, sheet: str, strings: str = "") -> Path:
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
    file = workbook(
        tmp_path / "a.xlsx", f'<c r="B2" t="s"><v>{index}</v></c>', "<si><t>天</t></si>"
    )
    with pytest.raises(DataError) as caught:
        replayed(file, "x")
    assert str(file) in str(caught.value)


def test_half_a_character_in_a_cell_is_left_as_it_is_written(tmp_path: Path):
    cell = '<c r="B2" t="inlineStr"><is><t>天_xD800_地_x000D_玄</t></is></c>'
    assert replayed(workbook(tmp_path / "a.xlsx", cell), "x").text == "天_xD800_地\r玄"


def test_a_formula_is_the_text_of_the_response(tmp_path: Path):
    cell = '<c r="B2"><f>1+1</f><v>2</v></c>'
    assert replayed(workbook(tmp_path / "a.xlsx", cell), "x").text == "=1+1"
