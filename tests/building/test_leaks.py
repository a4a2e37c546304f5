"""Leaks: what of a set stands in others, or in both of its splits."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from keju.building.releasing.leaks import compare_datasets, compare_splits, find_leaks
from keju.building.releasing.release import write_release
from keju.cli import app
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import ImageRef, Item
from tests.support.making import make_dataset, page_item, picture

TEXT = (
    "北冥有魚其名為鯤鯤之大不知其幾千里也化而為鳥其名為鵬鵬之背不知其幾千里也怒而飛其翼若垂天之雲"
)
OTHER = "庖丁為文惠君解牛手之所觸肩之所倚足之所履膝之所踦砉然嚮然奏刀騞然莫不中音合於桑林之舞"


def item(name: str, answer: str = "", group: str = "", **fields: object) -> Item:
    return Item(id=name, benchmark="MCS-Bench", task="T1", answer=answer,
                group=group or name, **fields)  # fmt: skip


def shares(ours: list[Item], theirs: list[Item]) -> dict[str, float]:
    return {leak.item: leak.share for leak in find_leaks(ours, {"x": theirs}).leaks}


def test_the_same_text_is_found_through_punctuation_and_script() -> None:
    simplified = (
        "北冥有鱼，其名为鲲。鲲之大，不知其几千里也；化而为鸟，其名为鹏。"
        "鹏之背，不知其几千里也；怒而飞，其翼若垂天之云。"
    )
    assert shares([item("a", TEXT)], [item("b", simplified)]) == {"a": 1.0}


def test_a_text_inside_a_longer_one_is_found_and_the_item_named() -> None:
    found = find_leaks([item("a", TEXT)], {"x": [item("b", OTHER), item("c", OTHER + TEXT)]})
    assert [(leak.item, leak.other, leak.kind) for leak in found.leaks] == [("a", "c", "text")]


def test_one_altered_character_in_forty_still_leaks_and_another_text_does_not() -> None:
    altered = TEXT[:20] + "某" + TEXT[21:]
    found = shares([item("a", altered), item("b", OTHER)], [item("c", TEXT)])
    assert set(found) == {"a"}
    assert found["a"] == round(1 - 13 / (len(TEXT) - 12), 4)


def test_short_texts_and_wording_are_not_judged() -> None:
    asked = "請在下列選項中選出與圖中文字相符的一項並只寫字母"
    ours = [item(f"a{n}", "天地", question=asked) for n in range(2)]
    found = find_leaks(ours, {"x": [item("b", "天地", question=asked)]})
    assert (found.leaks, found.texts, found.short) == ([], 0, 4)
    formula = [item(f"f{n}", TEXT) for n in range(11)]
    assert find_leaks(formula, {"x": [item("b", TEXT)]}).leaks == []
    assert len(find_leaks(formula[:10], {"x": [item("b", TEXT)]}).leaks) == 10


def test_questions_about_one_page_do_not_make_its_text_a_formula() -> None:
    ours = [item(f"a{n}", TEXT, group="book") for n in range(30)]
    assert len(shares(ours, [item("b", TEXT)])) == 30


def test_the_same_picture_is_found_whatever_the_item() -> None:
    refs = [ImageRef(path=f"images/{n}.png", sha256=n, width=1, height=1, size=1) for n in "pq"]
    found = find_leaks(
        [item("a", images=(refs[0],)), item("b", images=(refs[1],))],
        {"x": [item("c", images=(refs[1],))]},
    )
    assert [(leak.kind, leak.item, leak.other) for leak in found.leaks] == [("image", "b", "c")]


def test_the_splits_of_one_set_are_held_against_each_other() -> None:
    found = compare_splits([item("a", TEXT), item("b", TEXT, split="reference"), item("c", OTHER)])
    assert [(leak.item, leak.against, leak.other) for leak in found.leaks] == [
        ("a", "reference", "b")
    ]


@settings(max_examples=60)
@given(st.text("天地玄黃宇宙洪荒", min_size=13, max_size=80), st.integers(0, 40))
def test_the_share_is_that_of_runs_as_counted_one_by_one(text: str, cut: int) -> None:
    theirs = text[cut : cut + 30]
    runs = {text[n : n + 13] for n in range(len(text) - 12)}
    held = {run for run in runs if run in theirs}
    share = round(len(held) / len(runs), 4)
    found = shares([item("a", text)], [item("b", theirs)])
    assert found == ({"a": share} if len(held) / len(runs) >= 0.5 else {})


def test_a_page_that_was_encoded_anew_is_found_in_a_release_too(tmp_path: Path) -> None:
    bundled = Dataset.open(mini.path())
    pages = [each for each in bundled.items() if each.task == "T1"][:3]
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "s"}
    with DatasetWriter(tmp_path / "ours", **about) as writer:
        for page in pages[:2]:
            data = bundled.image_bytes(page.images[0])
            writer.add(page_item(page.id, images=(writer.add_image(data, "p"),)))
    with DatasetWriter(tmp_path / "theirs", **about) as writer:
        for page in pages[1:]:
            image = Image.open(io.BytesIO(bundled.image_bytes(page.images[0]))).convert("RGB")
            small = io.BytesIO()
            image.resize((image.width * 2 // 3, image.height * 2 // 3)).save(small, "JPEG")
            ref = writer.add_image(small.getvalue(), "p")
            writer.add(page_item(f"their {page.id}", images=(ref,)))
    write_release(Dataset.open(tmp_path / "theirs"), tmp_path / "release")
    for other in ("theirs", "release"):
        found = compare_datasets(tmp_path / "ours", [tmp_path / other])
        assert [(leak.kind, leak.item, leak.other) for leak in found.leaks] == [
            ("picture", pages[1].id, f"their {pages[1].id}")
        ]
    assert compare_datasets(tmp_path / "ours", [tmp_path / "theirs"], pictures=False).leaks == []


def test_the_command_writes_a_table_and_ends_with_status_1(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "a", name="n", version="1", licence="CC0", source="s") as writer:
        writer.add(page_item("p", images=(writer.add_image(picture(1), "p"),), answer=TEXT))
    clean = make_dataset(tmp_path / "clean", pages=1, first=50)
    run = CliRunner().invoke
    fine = run(app, ["build", "leaks", str(tmp_path / "a"), "--against", str(clean)])
    assert (fine.exit_code, "0 leaks; compared 1 image" in fine.output) == (0, True)
    sheet = tmp_path / "leaks.csv"
    same = run(app, ["build", "leaks", str(tmp_path / "a"), "--against", str(tmp_path / "a"),
                     "--csv", str(sheet)])  # fmt: skip
    assert same.exit_code == 1
    rows = list(csv.DictReader(sheet.open(encoding="utf-8-sig")))
    assert [(row["kind"], row["item"], row["share"]) for row in rows] == [
        ("image", "p", "1.0"), ("text", "p", "1.0")
    ]  # fmt: skip


def test_a_path_without_a_dataset_is_one_line(tmp_path: Path) -> None:
    ours = make_dataset(tmp_path / "d", pages=1)
    done = CliRunner().invoke(app, ["build", "leaks", str(ours), "--against", str(tmp_path / "no")])
    assert isinstance(done.exception, Exception)
    assert "dataset directory" in str(done.exception)
    with pytest.raises(Exception, match="dataset directory"):
        raise done.exception
