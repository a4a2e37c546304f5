"""Exporting: what comes out is read again to the same items, and what is skipped is noted."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from msgspec.structs import astuple, replace

from keju.datasets import mini, packed
from keju.datasets.readers import FORMATS as READERS
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.datasets.writers import FORMATS, export_dataset
from keju.datasets.writers.vlmevalkit import stem_of
from keju.definitions import prompt_of, task
from keju.errors import DataError, UsageError
from keju.items import Item
from tests.support.released import FORMS, picture

ROUND_TRIPS = [
    *(("parquet", name) for name in FORMS),
    ("jsonl", "mcs-bench"),
    ("jsonl", "ancientdoc"),
    ("jsonl", "ancientdoc, OCR alone"),
    ("jsonl", "obi-deciphering"),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled set as parquet files, which the tests only read."""
    folder = tmp_path_factory.mktemp("tables") / "out"
    export_dataset("parquet", mini.path(), folder)
    return folder


def test_every_form_that_is_written_can_be_read() -> None:
    # JSON lines are read by the mapping file that is written beside them.
    assert set(FORMATS) - {"jsonl"} <= set(READERS)
    assert all(len(writer.layout) > 80 and writer.what for writer in FORMATS.values())


def read_again(read, form: str, folder: Path):
    """Import an export."""
    if form == "jsonl":
        return read("mapped", folder, map=str(folder / "mapping.toml"))
    return read(form, folder)


@pytest.mark.parametrize(("form", "source"), ROUND_TRIPS)
def test_what_is_exported_comes_back_the_same(read, tmp_path: Path, form: str, source: str) -> None:
    FORMS[source].build(tmp_path / "src")
    first = read(FORMS[source].name, tmp_path / "src", **FORMS[source].options)
    assert export_dataset(form, first.path, tmp_path / "out") == ()
    again = read_again(read, form, tmp_path / "out")
    by_id = {item.id: item for item in again.items}
    kept = {"provenance": ()} if form == "jsonl" else {}
    assert by_id == {item.id: replace(item, **kept) for item in first.items}
    for item in first.items:
        for ref in item.images:
            assert (first.path / ref.path).read_bytes() == (again.path / ref.path).read_bytes()


def test_vlmevalkits_tables_have_every_item_of_the_bundled_set(tmp_path: Path) -> None:
    bundled = Dataset.open(mini.path()).items()
    items = {item.id: item for item in bundled if not task(item.task).of_pairs}
    notes = export_dataset("vlmevalkit-tsv", mini.path(), tmp_path / "out")
    assert sum(int(note.split()[1]) for note in notes) == len(bundled) - len(items)
    seen = 0
    for file in (tmp_path / "out").iterdir():
        table = pl.read_csv(file, separator="\t", infer_schema=False)
        assert table["index"].to_list() == [str(n) for n in range(table.height)]
        for row in table.iter_rows(named=True):
            item = items[row["id"]]
            first = row["image"] if len(item.images) == 1 else json.loads(row["image"])[0]
            picture = (mini.path() / item.images[0].path).read_bytes()
            assert base64.b64decode(first) == picture
            assert row["question"] in prompt_of(item)
            seen += 1
    assert seen == len(items)


def test_the_bundled_set_goes_through_json_lines_with_its_prompts(read, tmp_path: Path) -> None:
    bundled = Dataset.open(mini.path()).items()
    items = {item.id: item for item in bundled if not task(item.task).of_pairs}
    notes = export_dataset("jsonl", mini.path(), tmp_path / "out")
    assert sum(int(note.split()[1]) for note in notes) == len(bundled) - len(items)
    again = read_again(read, "jsonl", tmp_path / "out").items
    assert {item.id for item in again} == items.keys()
    for item in again:
        whole = items[item.id]
        assert prompt_of(item) == prompt_of(whole)
        for name in ("task", "query", "answer", "answer_simplified", "also_accepted", "images",
                     "group", "split"):  # fmt: skip
            assert getattr(item, name) == getattr(whole, name), (item.id, name)
        assert [astuple(box)[:4] for box in item.boxes] == [astuple(box)[:4] for box in whole.boxes]
        assert item.metadata == {name: text for name, text in whole.metadata.items() if text}


def test_of_multiple_choice_the_question_is_the_stem() -> None:
    item = Item(id="1", benchmark="MCS-Bench", task="T7", options=("說苑", "論語"), answer="A")
    prompt = prompt_of(item)
    assert stem_of(prompt, item.options) == "这张图片中的古籍文本内容出自哪本书？"
    verbatim = "A君问：选哪个？\n(A) 甲 (B) 乙\n要求：只输出字母。"
    assert stem_of(verbatim, ("甲", "乙")) == "A君问：选哪个？"
    assert stem_of("沒有選項", ("甲", "乙")) == "沒有選項"


def test_what_a_format_does_not_support_is_skipped_and_noted(tmp_path: Path, about) -> None:
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
        "skipped 1 item of T1: without an image",
        "skipped 1 item of rejoining: a task of pairs, but a row has one question",
    )
    assert len(export_dataset("jsonl", tmp_path / "d", tmp_path / "lines")) == 2
    lines = (tmp_path / "lines/items.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1", "3", "5"]
    assert export_dataset("parquet", tmp_path / "d", tmp_path / "pq") == ()


def test_nothing_to_export_is_an_error_that_says_why(read, tmp_path: Path) -> None:
    FORMS["obi-rejoining"].build(tmp_path / "src")
    done = read("obi-rejoining", tmp_path / "src")
    with pytest.raises(
        DataError, match=r"exported as .*: skipped 10 items of rejoining: a task of pai"
    ):
        export_dataset("vlmevalkit-tsv", done.path, tmp_path / "out")


def test_wrong_use_of_export_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"format to export 'Parket'\. Did you mean 'parquet'\?"):
        export_dataset("Parket", tmp_path, tmp_path / "out")
    with pytest.raises(UsageError, match=r"no format to export 'pdf'\. Choose from: parquet, json"):
        export_dataset("pdf", mini.path(), tmp_path / "out")
    with pytest.raises(UsageError, match="dataset directory"):
        export_dataset("parquet", tmp_path, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/kept.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        export_dataset("parquet", mini.path(), tmp_path / "full")


def test_images_part_into_tables_of_bounded_size(read, tmp_path: Path, monkeypatch) -> None:
    FORMS["obi-classification"].build(tmp_path / "src")
    first = read("obi-classification", tmp_path / "src")
    monkeypatch.setattr(packed, "SHARD_BYTES", 1000)
    export_dataset("parquet", first.path, tmp_path / "out")
    tables = sorted((tmp_path / "out").glob("images-*.parquet"))
    assert len(tables) > 2
    assert sum(pl.read_parquet(table).height for table in tables) == first.manifest.images
    assert read("parquet", tmp_path / "out").items == first.items
    assert json.loads((tmp_path / "out/dataset.json").read_text())["licence"] == "CC0-1.0"


def test_a_folder_of_tables_is_itself_a_dataset(tables: Path) -> None:
    ours, theirs = Dataset.open(mini.path()), Dataset.open(tables)
    items = ours.items()
    assert theirs.items() == items
    for item in items[::17]:
        for ref in item.images:
            assert theirs.image_bytes(ref) == ours.image_bytes(ref)
    assert list(validate(tables)) == []


def test_images_lie_in_small_groups_uncompressed_and_known_as_pictures(tables: Path) -> None:
    table = pq.ParquetFile(tables / "images-00000.parquet")
    sizes = {
        table.metadata.row_group(group).column(1).path_in_schema: None
        for group in range(table.num_row_groups)
    }
    assert set(sizes) == {"image.bytes"}
    for group in range(table.num_row_groups):
        found = table.metadata.row_group(group)
        assert found.num_rows <= packed.ROWS
        assert [found.column(n).compression for n in range(3)] == ["ZSTD", "UNCOMPRESSED", "ZSTD"]
        assert found.column(1).total_compressed_size < packed.GROUP_BYTES + 1000
    assert b'"_type":"Image"' in table.schema_arrow.metadata[b"huggingface"]


def test_a_damaged_table_of_images_is_named(tables: Path, tmp_path: Path) -> None:
    shutil.copytree(tables, tmp_path / "out")
    path = tmp_path / "out/images-00000.parquet"
    data = path.read_bytes()
    other = bytearray(data)
    place = data.index(b"\xff\xd8\xff", len(data) // 2)
    other[place + 200] ^= 255
    path.write_bytes(bytes(other))
    (finding,) = [each for each in validate(tmp_path / "out") if each.severity == "error"]
    assert "the image is not the one that was imported" in finding.problem
    path.write_bytes(data[: len(data) // 2])
    (finding,) = [each for each in validate(tmp_path / "out") if each.severity == "error"]
    assert finding.item.endswith("images-00000.parquet")
    assert "not readable as parquet" in finding.problem
