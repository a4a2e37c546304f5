"""Exporting: what comes out is read again to the same items, and what is left out is said."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from released import FORMS, picture

from keju.benchmarks import prompt_of
from keju.datasets import mini
from keju.datasets.readers import FORMATS as READERS
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.vlmevalkit import stem_of
from keju.datasets.writers import FORMATS, export_dataset
from keju.datasets.writers import parquet as parquet_writer
from keju.errors import DataError, UsageError
from keju.items import Item

ROUND_TRIPS = [
    *(("parquet", name) for name in FORMS),
    ("mcs-bench", "mcs-bench"),
    ("ancientdoc", "ancientdoc"),
    ("ancientdoc", "ancientdoc, the hub's"),
    *(
        ("vlmevalkit-tsv", name)
        for name in ("pages", "page-xml", "mcs-bench", "ancientdoc", "obi-recognition",
                     "obi-deciphering", "vlmevalkit-tsv")
    ),
]  # fmt: skip


def test_every_form_that_is_written_can_be_read() -> None:
    assert set(FORMATS) <= set(READERS)
    assert all(len(writer.layout) > 80 and writer.what for writer in FORMATS.values())


@pytest.mark.parametrize(("form", "source"), ROUND_TRIPS)
def test_what_is_exported_comes_back_the_same(read, tmp_path: Path, form: str, source: str) -> None:
    FORMS[source].build(tmp_path / "src")
    first = read(FORMS[source].name, tmp_path / "src", **FORMS[source].options)
    assert export_dataset(form, first.path, tmp_path / "out") == ()
    again = read(form, tmp_path / "out")
    by_id = {item.id: item for item in again.items}
    assert by_id == {item.id: item for item in first.items}
    for item in first.items:
        for ref in item.images:
            assert (first.path / ref.path).read_bytes() == (again.path / ref.path).read_bytes()


def test_the_bundled_set_goes_through_vlmevalkits_table(read, tmp_path: Path) -> None:
    items = {item.id: item for item in Dataset.open(mini.path()).items()}
    assert export_dataset("vlmevalkit-tsv", mini.path(), tmp_path / "out") == ()
    assert {item.id: item for item in read("vlmevalkit-tsv", tmp_path / "out").items} == items
    for item in items.values():
        table = pl.read_csv(tmp_path / f"out/{item.task}.tsv", separator="\t", infer_schema=False)
        row = table.row(by_predicate=pl.col("id") == item.id, named=True)
        (ref,) = item.images
        assert base64.b64decode(row["image"]) == (mini.path() / ref.path).read_bytes()
        assert row["answer"] == item.answer
        assert table["index"].to_list() == [str(n) for n in range(table.height)]


def test_of_multiple_choice_the_question_is_the_stem() -> None:
    item = Item(id="1", benchmark="MCS-Bench", task="T7", options=("說苑", "論語"), answer="A")
    prompt = prompt_of(item)
    assert stem_of(prompt, item.options) == "这张图片中的古籍文本内容出自哪本书？"
    verbatim = "A君问：选哪个？\n(A) 甲 (B) 乙\n要求：只输出字母。"
    assert stem_of(verbatim, ("甲", "乙")) == "A君问：选哪个？"
    assert stem_of("沒有選項", ("甲", "乙")) == "沒有選項"


def test_what_a_form_cannot_hold_is_left_out_and_said(tmp_path: Path, about) -> None:
    with DatasetWriter(tmp_path / "d", **about) as writer:
        one, two = (writer.add_image(picture(n), "p") for n in range(2))
        plain = Item(id="1", benchmark="MCS-Bench", task="T1", images=(one,), answer="天")
        writer.add(plain)
        writer.add(replace(plain, id="2", images=(), transcription="天"))
        writer.add(replace(plain, id="3", split="reference"))
        writer.add(Item(id="4", benchmark="OBI-Bench", task="rejoining", query="How",
                        images=(one, two), relevant=(1,)))  # fmt: skip
        writer.add(Item(id="5", benchmark="AncientDoc", task="reasoning_qa", images=(two,),
                        question="q", answer="a"))  # fmt: skip
    assert export_dataset("vlmevalkit-tsv", tmp_path / "d", tmp_path / "tsv") == (
        "left out 1 items of T1: without an image",
        "left out 1 items of rejoining: a task of pairs, and a row holds one question",
    )
    assert export_dataset("mcs-bench", tmp_path / "d", tmp_path / "mcs") == (
        "left out 1 items of T1: of the reference split, which the form does not know",
        "left out 1 items of T1: without an image",
        "left out 1 items of reasoning_qa: no task of MCS-Bench",
        "left out 1 items of rejoining: no task of MCS-Bench",
    )
    assert [record["ID"] for record in json.loads((tmp_path / "mcs/data.json").read_text())] == [
        "1"
    ]
    assert len(export_dataset("ancientdoc", tmp_path / "d", tmp_path / "ad")) == 2
    assert export_dataset("parquet", tmp_path / "d", tmp_path / "pq") == ()


def test_nothing_to_export_is_an_error_that_says_why(read, tmp_path: Path) -> None:
    FORMS["obi-rejoining"].build(tmp_path / "src")
    done = read("obi-rejoining", tmp_path / "src")
    with pytest.raises(DataError, match=r"can hold: left out 10 items of rejoining: a task of pai"):
        export_dataset("vlmevalkit-tsv", done.path, tmp_path / "out")


def test_wrong_use_of_export_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no format 'pdf' to export\. Formats: parquet, mcs"):
        export_dataset("pdf", mini.path(), tmp_path / "out")
    with pytest.raises(UsageError, match="no dataset"):
        export_dataset("parquet", tmp_path, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/kept.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        export_dataset("parquet", mini.path(), tmp_path / "full")


def test_images_part_into_tables_of_bounded_size(read, tmp_path: Path, monkeypatch) -> None:
    FORMS["obi-classification"].build(tmp_path / "src")
    first = read("obi-classification", tmp_path / "src")
    monkeypatch.setattr(parquet_writer, "SHARD_BYTES", 1000)
    export_dataset("parquet", first.path, tmp_path / "out")
    tables = sorted((tmp_path / "out").glob("images-*.parquet"))
    assert len(tables) > 2
    assert sum(pl.read_parquet(table).height for table in tables) == first.manifest.images
    assert read("parquet", tmp_path / "out").items == first.items
    assert json.loads((tmp_path / "out/dataset.json").read_text())["licence"] == "CC0-1.0"


def test_a_page_never_leads_out_of_the_folder(tmp_path: Path, about) -> None:
    with DatasetWriter(tmp_path / "d", **about) as writer:
        ref = writer.add_image(picture(1), "p")
        writer.add(Item(id="1", benchmark="AncientDoc", task="page_level_ocr", images=(ref,),
                        answer="天", metadata={"page": "../../evil.png"}))  # fmt: skip
    with pytest.raises(DataError, match=r"'\.\./\.\./evil\.png' leads out of the folder"):
        export_dataset("ancientdoc", tmp_path / "d", tmp_path / "out")
    assert not (tmp_path / "evil.png").exists()
