"""The bundled set is sound, whole, and small."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from keju.benchmarks import choices_of, prompt_of, query_of, task
from keju.building.composing import READ
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.images import probe_image
from keju.items import Item
from keju.text import is_han, official_convert


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset.open(mini.path())


@pytest.fixture(scope="module")
def items(dataset: Dataset) -> list[Item]:
    return dataset.items()


def pages(items: list[Item]) -> list[Item]:
    return [item for item in items if query_of(item).form == "transcription"]


def choices(items: list[Item]) -> list[Item]:
    return [item for item in items if query_of(item).form == "letter"]


def test_it_says_that_it_is_synthetic_and_free(dataset: Dataset):
    assert dataset.manifest.synthetic
    assert dataset.manifest.licence == "CC0-1.0"
    assert "made by keju" in dataset.manifest.source


def test_it_holds_enough_to_go_the_whole_way(items: list[Item]):
    test = [item for item in items if item.split == "test"]
    reference = Counter(item.task for item in items if item.split == "reference")
    counts = Counter(item.task for item in test)
    assert counts["T1"] >= 8
    assert counts["page_level_ocr"] >= 4
    assert all(counts[name] >= 4 and reference[name] >= 2 for name in ("T5", "T7", "T13"))
    assert len(choices(test)) >= 12


def test_it_is_small(dataset: Dataset):
    sizes = [path.stat().st_size for path in dataset.path.rglob("*") if path.is_file()]
    assert sum(sizes) <= 2_000_000
    assert max(sizes) <= 120_000


def test_every_image_is_the_one_that_its_item_names(dataset: Dataset, items: list[Item]):
    refs = {ref.sha256: ref for item in items for ref in item.images}
    for ref in refs.values():
        facts = probe_image(dataset.image_bytes(ref), name=ref.path)
        assert (facts.width, facts.height) == (ref.width, ref.height)
    assert len(refs) == dataset.manifest.images == len(list(dataset.images_dir.iterdir()))


def test_ids_are_unique_and_every_item_can_be_asked_and_answered(items: list[Item]):
    assert len({item.id for item in items}) == len(items)
    for item in items:
        assert item.benchmark == task(item.task).benchmark
        assert prompt_of(item)
        assert item.answer
        assert item.answer_simplified
        assert item.group
        assert item.images


def test_the_lines_of_a_page_joined_are_its_answer(items: list[Item]):
    for item in pages(items):
        text = "\n".join(line.text for line in item.lines if line.kind in READ)
        assert text == item.answer
        assert official_convert(item.answer) == item.answer_simplified
        assert all(is_han(sign) for sign in item.answer.replace("\n", ""))
        reading = [line.kind in READ for line in item.lines]
        assert reading == sorted(reading, reverse=True), "what stands around comes last"


def test_outlines_lie_inside_the_image_and_do_not_swallow_one_another(items: list[Item]):
    for item in pages(items):
        (image,) = item.images
        assert len({line.id for line in item.lines}) == len(item.lines)
        for line in item.lines:
            assert len(line.polygon) >= 4
            assert all(0 <= x <= image.width and 0 <= y <= image.height for x, y in line.polygon)
            assert abs(area(line.polygon)) > 100, line
        middles = [middle(line.polygon) for line in item.lines if line.kind in READ]
        assert len(set(middles)) == len(middles)


def area(polygon: tuple[tuple[float, float], ...]) -> float:
    ring = zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in ring) / 2


def middle(polygon: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    return sum(x for x, _ in polygon) / len(polygon), sum(y for _, y in polygon) / len(polygon)


def test_pages_show_every_kind_of_line_and_every_form(items: list[Item]):
    kinds = {line.kind for item in pages(items) for line in item.lines}
    assert kinds == {"main", "note", "title", "author", "head", "centre", "number", "seal"}
    assert {item.metadata["form"] for item in pages(items)} == {
        "half-a", "half-b", "sheet", "opening",
    }  # fmt: skip
    assert {item.metadata["scan"] for item in pages(items)} == {"colour", "grey", "bitonal"}


def test_difficulty_spreads_over_the_dial(items: list[Item]):
    dial = sorted(float(item.metadata["difficulty"]) for item in pages(items))
    assert dial[0] <= 0.05
    assert dial[-1] >= 0.95
    assert max(high - low for low, high in itertools.pairwise(dial)) <= 0.25


def test_right_letters_are_spread_evenly(items: list[Item]):
    for name in ("T5", "T7", "T13"):
        asked = [item for item in choices(items) if item.task == name and item.split == "test"]
        letters = Counter(item.answer for item in asked)
        assert max(letters.values()) - min(letters.values()) <= 1
        assert set(letters) <= set(choices_of(asked[0]))


def test_a_word_that_is_asked_about_can_be_read_on_its_page(items: list[Item]):
    words = [item for item in items if item.task == "T5"]
    for item in words:
        assert item.transcription
        assert item.fields["term"] in official_convert(item.transcription.replace("\n", ""))


def test_no_work_stands_in_both_splits(items: list[Item]):
    groups = {
        split: {item.group for item in items if item.split == split}
        for split in ("test", "reference")
    }
    assert groups["test"].isdisjoint(groups["reference"])
