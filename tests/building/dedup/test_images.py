"""Step ``dedup-images``: which pictures are one, in a table, and what becomes of their items."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from keju.building.dedup.candidates import Candidate, find_near_vectors, verify_candidates
from keju.building.dedup.groups import CLUSTER, get_image_key
from keju.building.dedup.images import DedupImagesSettings, deduplicate_images
from keju.building.dedup.texts import DedupTextsSettings, deduplicate_texts
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError
from keju.items import Item
from tests.support.builds import bench_over
from tests.support.planted import COPIES, book_page, jpeg

TURNED, HALF = "turned by 1°", "half the size"


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """Pages 0 to 3 of one layout; copies of page 0 and 1, one of them in another task."""
    path = tmp_path_factory.mktemp("pictures") / "given"
    with DatasetWriter(
        path, name="g", version="1", licence="CC0-1.0", source="drawn by the tests"
    ) as writer:

        def add(name: str, data: bytes, task: str = "T1", answer: str = "天地玄黃") -> None:
            image = writer.add_image(data, name)
            writer.add(
                Item(id=name, benchmark="MCS-Bench", task=task, images=(image,), answer=answer)
            )

        for number in range(4):
            add(f"page{number}", jpeg(book_page(number)))
        add("page0-half", COPIES[HALF](book_page(0)))
        add("page0-turned", COPIES[TURNED](book_page(0)), answer="宇宙洪荒")
        add("page1-elsewhere", COPIES[TURNED](book_page(1)), task="T8")
    return path


def run(given: Path, out: Path, **settings: object) -> tuple[dict[str, Item], Path, list[str]]:
    context = bench_over(given, out, "dedup-images")
    deduplicate_images(context, DedupImagesSettings(**settings))
    context.writer.close()
    return {item.id: item for item in Dataset.open(out).items()}, out / "tables", context.notes


def test_copies_are_marked_and_no_item_is_lost(given, tmp_path):
    items, tables, notes = run(given, tmp_path / "out")
    assert list(items) == [item.id for item in Dataset.open(given).items()]
    marked = {name for name, item in items.items() if CLUSTER in item.metadata}
    assert marked == {"page0-half", "page0-turned"}
    assert len({get_image_key(items[name]) for name in (*marked, "page0")}) == 1
    assert items["page0-half"].provenance[-1].step == "dedup-images"
    rows = pl.read_parquet(tables / "image-groups.parquet").to_dicts()
    assert {tuple(row["items"]) for row in rows} == {("page0",), ("page0-half",), ("page0-turned",)}
    assert {row["kept"] for row in rows} == {items["page0"].images[0].path}
    assert [row["kind"] for row in rows] == ["kept", "hash", "hash"]
    assert all(row["likeness"] > 0.85 for row in rows)
    assert "2 of 7 images are copies" in notes[0]


def test_over_the_whole_dataset_other_tasks_are_compared_too(given, tmp_path):
    items, _, _ = run(given, tmp_path / "out", within="dataset")
    assert get_image_key(items["page1-elsewhere"]) == get_image_key(items["page1"])


def test_items_about_one_picture_are_left_out_only_when_told(given, tmp_path):
    items, tables, _ = run(given, tmp_path / "out", drop="items")
    assert "page0-turned" not in items
    assert "page1-elsewhere" in items
    rows = pl.read_csv(tables / "duplicates.csv").to_dicts()
    assert {(row["kept"], row["dropped"]) for row in rows} == {
        ("page0", "page0-half"), ("page0", "page0-turned"),
    }  # fmt: skip


def scans(path: Path, *named: tuple[str, bytes, dict[str, object]]) -> Path:
    """A dataset of items of those names, pictures and fields, in the order of their names."""
    with DatasetWriter(
        path, name="g", version="1", licence="CC0-1.0", source="drawn by the tests"
    ) as writer:
        for name, data, fields in sorted(named, key=lambda each: each[0]):
            image = writer.add_image(data, name)
            told = {"task": "T1", "answer": "天地玄黃"} | fields
            writer.add(Item(id=name, benchmark="MCS-Bench", images=(image,), **told))
    return path


def png(page: Image.Image) -> bytes:
    data = io.BytesIO()
    page.save(data, "PNG")
    return data.getvalue()


@pytest.mark.parametrize("drop", ["items", "copies"])
def test_the_better_scan_stays_whatever_it_is_called(drop, tmp_path):
    """Fault found by a user: 'a again', a JPEG, stayed since its name sorts before 'a'."""
    page = book_page(0)
    given = scans(
        tmp_path / "given",
        ("again", jpeg(page, 70), {}),
        ("better", jpeg(page, 90), {}),
        ("original", png(page), {}),
        ("small", png(page.resize((page.width // 2, page.height // 2))), {}),
    )
    items, tables, _ = run(given, tmp_path / "out", drop=drop)
    assert list(items) == ["original"]
    rows = pl.read_parquet(tables / "image-groups.parquet").to_dicts()
    assert {row["kept"] for row in rows} == {items["original"].images[0].path}


def test_texts_keep_the_better_scan_too(tmp_path):
    page = book_page(0)
    given = scans(tmp_path / "given", ("again", jpeg(page, 70), {}), ("original", png(page), {}))
    run(given, tmp_path / "marked")
    context = bench_over(tmp_path / "marked", tmp_path / "out", "dedup-texts")
    deduplicate_texts(context, DedupTextsSettings())
    context.writer.close()
    assert [item.id for item in Dataset.open(tmp_path / "out").items()] == ["original"]


def test_copies_go_and_different_questions_about_one_picture_stay(tmp_path):
    page, other = book_page(0), book_page(1)
    mcq = {"task": "T7", "options": ("史記", "漢書", "論語", "孟子"), "answer": "A"}
    shuffled = mcq | {"options": ("漢書", "史記", "論語", "孟子"), "answer": "B"}
    asked = mcq | {"question": "哪一部？"}
    given = scans(
        tmp_path / "given",
        ("a-original", png(page), {}),
        ("a-twin", png(page), {"answer": "宇宙洪荒"}),
        ("b-copy", jpeg(page, 70), {"answer": "天地"}),
        ("c-draft", png(other), {"draft": True}),
        ("c-reviewed", jpeg(other, 70), {}),
        ("q-original", png(page), mcq),
        ("q-shuffled-copy", jpeg(page, 70), shuffled),
        ("q-another-copy", jpeg(page, 70), asked),
        ("q-otherwise-copy", jpeg(page, 70), mcq | {"answer": "C"}),
    )
    items, tables, notes = run(given, tmp_path / "out", drop="copies")
    rows = pl.read_csv(tables / "duplicates.csv").to_dicts()
    assert {(row["kept"], row["dropped"]) for row in rows} == {
        ("a-original", "b-copy"),
        ("c-reviewed", "c-draft"),
        ("q-original", "q-shuffled-copy"),
    }
    assert len(items) == 6
    assert "3 of 9 items dropped" in notes[0]


def test_texts_then_know_that_the_picture_is_the_same(given, tmp_path):
    run(given, tmp_path / "marked")
    context = bench_over(tmp_path / "marked", tmp_path / "out", "dedup-texts")
    deduplicate_texts(context, DedupTextsSettings())
    context.writer.close()
    kept = {item.id for item in Dataset.open(tmp_path / "out").items()}
    # The same answer about other pages stays, and another answer about the same page.
    assert kept == {"page0", "page1", "page2", "page3", "page0-turned", "page1-elsewhere"}


def test_a_broken_picture_is_named(tmp_path):
    with DatasetWriter(
        tmp_path / "given", name="g", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        image = writer.add_image(jpeg(book_page(1)), "1")
        writer.add(Item(id="a", benchmark="MCS-Bench", task="T1", images=(image,), answer="天"))
    file = tmp_path / "given" / image.path
    file.write_bytes(file.read_bytes()[:3000])
    with pytest.raises(DataError, match="truncated"):
        run(tmp_path / "given", tmp_path / "out")


def test_many_copies_cost_as_many_comparisons():
    asked = []

    def compare(some: list[Candidate]) -> list[float]:
        asked.extend(some)
        return [1.0] * len(some)

    pairs = [Candidate(one, other, (0, 0, 0)) for other in range(60) for one in range(other)]
    assert len(verify_candidates(pairs, 60, compare, 0.8)) == 59
    assert len(asked) == 59


def test_a_pair_that_only_one_of_many_candidates_holds_is_found():
    pairs = [Candidate(one, 40, (0, 0, 0)) for one in range(40)]
    held = verify_candidates(pairs, 41, lambda some: [float(each.one == 31) for each in some], 0.8)
    assert [each.pair for each, _ in held] == [(31, 40)]


def test_near_vectors_are_those_of_the_whole_product(monkeypatch):
    monkeypatch.setattr("keju.building.dedup.candidates._BLOCK", 5)
    vectors = np.random.default_rng(1).normal(size=(23, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = {
        tuple(pair) for pairs, _ in find_near_vectors(vectors, 0.9) for pair in pairs.T.tolist()
    }
    whole = vectors @ vectors.T
    assert found == {(a, b) for a in range(23) for b in range(a + 1, 23) if whole[a, b] >= 0.9}
    assert found


@pytest.mark.semantic
def test_clip_brings_up_candidates_and_may_be_trusted(given, tmp_path, tiny_clip):
    """A random CLIP calls everything alike: compared, nothing joins; trusted, all does."""
    seen, tables, notes = run(given, tmp_path / "a", clip=tiny_clip, clip_cosine=0.0)
    assert {name for name, item in seen.items() if CLUSTER in item.metadata} == {
        "page0-half", "page0-turned",
    }  # fmt: skip
    assert "15 candidates" in notes[0]
    rows = pl.read_parquet(tables / "image-groups.parquet").to_dicts()
    assert all(row["kind"] == "kept" or 0 <= row["cosine"] <= 1.0001 for row in rows)
    trusted, _, _ = run(given, tmp_path / "b", clip=tiny_clip, clip_cosine=0.0, trust_clip=True)
    assert len({get_image_key(item) for item in trusted.values() if item.task == "T1"}) == 1
