"""Result files of Inspect, lmms-eval and VLMEvalKit, in the forms in which they write them."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.models import AskError, ModelOptions, open_model
from keju.models.other_harnesses import LONGEST_CELL
from keju.running import Selection, run
from keju.runs import RunFolder
from tests.models.conftest import replayed
from tests.support.making import make_dataset
from tests.support.workbooks import MAIN, write_workbook


def failure(path: Path, item: str, **fields: object) -> AskError:
    with pytest.raises(AskError) as caught:
        replayed(path, item, **fields)
    return caught.value


def sample(name: object, content: object, *, epoch: int = 1, **fields: object) -> dict[str, object]:
    """A sample as Inspect logs it, what keju does not look at included."""
    choice = {"message": {"role": "assistant", "content": content}, "stop_reason": "stop"}
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "user", "content": [{"type": "image", "image": "data:image/png;…"}]}],
        "target": "天",
        "output": {
            "model": "m",
            "choices": [choice],
            "usage": {"input_tokens": 9, "output_tokens": 3, "reasoning_tokens": 2},
        },
        "scores": {"match": {"value": "C"}},
        **fields,
    }


def log(path: Path, *samples: dict[str, object]) -> Path:
    whole = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False), "utf-8")
    return path


def packed(path: Path, *samples: dict[str, object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("header.json", "{}")
        pack.writestr("summaries.json", "[]")
        for each in samples:
            pack.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


@pytest.mark.parametrize(("write", "name"), [(log, "a.json"), (packed, "a.eval")])
def test_an_inspect_log(tmp_path: Path, write: object, name: str):
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "天地"}]
    cut = sample("cut", "天")
    cut["output"]["choices"][0]["stop_reason"] = "max_tokens"
    silent = sample("silent", "", error={"message": "RateLimitError: slower", "traceback": "…"})
    nothing = sample("nothing", "")
    nothing["output"]["choices"] = []
    attached = sample("long", "attachment://ab12", attachments={"ab12": "玄" * 200})
    file = write(
        tmp_path / name, sample("x", parts), sample(7, "地"), cut, silent, nothing, attached,
        sample("of two\nlines", "玄"),
    )  # fmt: skip
    assert replayed(file, "of two\nlines").text == "玄"
    answer = replayed(file, "x", round=4)
    assert (answer.text, answer.thinking, answer.status) == ("天地", "hm", "answered")
    assert (answer.usage.input_tokens, answer.usage.thinking_tokens) == (9, 2)
    assert replayed(file, "7").text == "地"
    assert replayed(file, "cut").status == "truncated"
    assert replayed(file, "long").text == "玄" * 200
    assert (failure(file, "silent").kind, str(failure(file, "silent"))) == (
        "failed-elsewhere", "RateLimitError: slower",
    )  # fmt: skip
    assert failure(file, "nothing").kind == "failed-elsewhere"


@pytest.mark.parametrize(("write", "name"), [(log, "a.json"), (packed, "a.eval")])
def test_a_score_that_is_no_number(tmp_path: Path, write: object, name: str):
    """Inspect writes NaN where a sample has no score, which is no JSON."""
    file = write(tmp_path / name, sample("x", "天", scores={"s": {"value": float("nan")}}))
    assert replayed(file, "x").text == "天"


def test_a_response_of_kejus_that_is_none_is_named(tmp_path: Path):
    file = packed(tmp_path / "a.eval", sample("x", "天", metadata={"keju": {"item": 7}}))
    with pytest.raises(DataError, match=r"a\.eval: the file has the suffix of a log or table"):
        replayed(file, "x")


def test_epochs_are_rounds(tmp_path: Path):
    file = packed(tmp_path / "a.eval", sample("x", "one"), sample("x", "two", epoch=2))
    assert [replayed(file, "x", round=number).text for number in (1, 2)] == ["one", "two"]
    assert failure(file, "x", round=3).kind == "missing-answer"


def test_samples_of_lmms_eval(tmp_path: Path):
    rows = [
        {"doc_id": 0, "target": "天", "filtered_resps": ["地"], "doc_hash": "h", "input": "?"},
        {"doc_id": 1, "filtered_resps": ["B"], "resps": [["the answer is B"]], "acc": 1.0},
        {"doc_id": 2, "filtered_resps": ["x"], "doc": {"id": "m7", "question": "?"}},
        {"doc_id": 3, "filtered_resps": ["[LMMS_EVAL_REQUEST_FAILED after 5 retries] away"]},
        {"doc_id": 4, "filtered_resps": []},
    ]
    file = tmp_path / "20261121_samples_mcs.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    assert replayed(file, "0").text == "地"
    assert replayed(file, "1").text == "the answer is B"
    assert replayed(file, "m7").text == "x"
    assert failure(file, "3").kind == "failed-elsewhere"
    assert replayed(file, "4").status == "empty"


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


def test_without_ids_the_index_names_the_item(tmp_path: Path):
    file = tsv(tmp_path / "a.tsv", [{"index": "12", "prediction": "天"}])
    assert replayed(file, "12").text == "天"


def broken(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    with pytest.raises(DataError, match=words) as caught:
        open_model(f"replay:{path}", ModelOptions())
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_without_the_columns_is_refused_in_the_language_of_the_user(tmp_path: Path):
    file = tsv(tmp_path / "a.tsv", [{"id": "12", "words": "天"}])
    with pytest.raises(DataError) as caught:
        open_model(f"replay:{file}", ModelOptions())
    assert caught.value.template.startswith("a table needs one column id,")
    assert "id, words" in caught.value.values
    assert not re.search("[a-z]+ [a-z]+ [a-z]+", caught.value.render("zh"))


def test_a_bad_file_is_one_line(tmp_path: Path):
    good = packed(tmp_path / "good.eval", sample("x", "天" * 500)).read_bytes()
    broken(tmp_path / "a.eval", good[: len(good) // 2], "damaged archive")
    rotten = good.replace(b"samples/x_epoch_1.json", b"samples/x_epoch_1.txt!")
    broken(tmp_path / "b.eval", rotten, "neither an Inspect log nor a workbook")
    with zipfile.ZipFile(tmp_path / "deflated.eval", "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("samples/x_epoch_1.json", json.dumps(sample("x", "天地玄黃" * 50)))
    deflated = bytearray((tmp_path / "deflated.eval").read_bytes())
    start = deflated.index(b"x_epoch_1.json") + len("x_epoch_1.json")
    deflated[start : start + 40] = b"\xff" * 40
    broken(tmp_path / "g.eval", bytes(deflated), "damaged archive: Error -3 while decompressing")
    with zipfile.ZipFile(tmp_path / "sheet.zip", "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("xl/workbook.xml", "<workbook>" + "<sheet/>" * 50 + "</workbook>")
    sheet = bytearray((tmp_path / "sheet.zip").read_bytes())
    start = sheet.index(b"xl/workbook.xml") + len("xl/workbook.xml")
    sheet[start : start + 20] = b"\xff" * 20
    broken(tmp_path / "h.xlsx", bytes(sheet), r"h\.xlsx: ")
    broken(tmp_path / "c.tsv", b"index\tquestion\n1\t?\n", "needs one column id, item or index")
    broken(tmp_path / "d.pkl", b"\x80\x04\x95", "a pickle file can run programs")
    broken(tmp_path / "e.json", b'[{"prediction": "x"}]', "row 1: .*needs id or index")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as pack:
        bomb = '<!DOCTYPE a [<!ENTITY b "bb">]><worksheet xmlns="%s"><row><c><v>&b;</v></c></row>'
        pack.writestr("xl/workbook.xml", bomb % MAIN)
    broken(tmp_path / "f.xlsx", out.getvalue(), r"f\.xlsx: ")


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
