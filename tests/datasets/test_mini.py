"""The bundled set is sound, whole, and small."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.definitions import Task, paper_tasks, query_of, task
from keju.images import probe_image
from keju.items import Item
from keju.text import is_han
from keju.text.scripts import simplified_reference
from tests.support.bundled import PAPERS

READ = {"main", "note", "title", "author"}
"""The kinds of lines that belong to the text of a page; the others stand around it."""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset.open(mini.path())


@pytest.fixture(scope="module")
def items(dataset: Dataset) -> list[Item]:
    return dataset.items()


@pytest.fixture(scope="module")
def pages(items: list[Item]) -> list[Item]:
    """The items about printed or handwritten pages."""
    return [item for item in items if "made" in item.metadata]


@pytest.fixture(scope="module")
def read(pages: list[Item]) -> list[Item]:
    return [item for item in pages if query_of(item).form == "transcription"]


def test_it_says_that_it_is_synthetic_and_free(dataset: Dataset):
    assert dataset.manifest.synthetic
    assert dataset.manifest.licence == "CC0-1.0"
    assert "made by keju" in dataset.manifest.source


def tasks_of(items: list[Item]) -> list[Task]:
    """All tasks of the benchmarks of papers of which the set has items."""
    benchmarks = {item.benchmark for item in items}
    assert set(PAPERS) <= benchmarks
    return [each for each in paper_tasks() if each.benchmark in benchmarks]


def test_every_published_task_and_query_has_three_items_or_more(items: list[Item]):
    counts = Counter((item.task, item.query) for item in items if item.split == "test")
    for task_ in tasks_of(items):
        assert sum(counts[task_.id, query.name] for query in task_.queries) >= 3, task_.id
        for query in task_.queries:
            assert counts[task_.id, query.name] >= 1, (task_.id, query.name)


def test_a_majority_can_be_learnt_wherever_answers_are_few(items: list[Item]):
    learnt = {(item.task, item.query) for item in items if item.split == "reference"}
    for task_ in tasks_of(items):
        for query in task_.queries:
            if query.form in {"letter", "yes-no", "number", "short"} and not task_.of_pairs:
                assert (task_.id, query.name) in learnt


def test_nothing_is_found_wrong_with_it(dataset: Dataset):
    assert [str(finding) for finding in validate(dataset.path)] == []


def test_it_is_small(dataset: Dataset):
    sizes = [path.stat().st_size for path in dataset.path.rglob("*") if path.is_file()]
    assert sum(sizes) <= 6_000_000
    assert max(sizes) <= 1_000_000


def test_every_image_is_the_one_that_its_item_names(dataset: Dataset, items: list[Item]):
    refs = {ref.sha256: ref for item in items for ref in item.images}
    for ref in refs.values():
        facts = probe_image(dataset.image_bytes(ref), name=ref.path)
        assert (facts.width, facts.height) == (ref.width, ref.height)
    assert len(refs) == dataset.manifest.images == len(list(dataset.images_dir.iterdir()))


def test_ids_are_unique_and_lower_case(items: list[Item]):
    assert len({item.id for item in items}) == len(items)
    for item in items:
        assert item.id.isascii()
        assert item.id == item.id.lower()
        assert item.group


def test_the_lines_of_a_page_joined_are_its_answer(read: list[Item]):
    for item in read:
        text = "\n".join(line.text for line in item.lines if line.kind in READ)
        assert text == item.answer
        assert simplified_reference(item.answer) == item.answer_simplified
        assert all(is_han(sign) for sign in item.answer.replace("\n", ""))


def test_outlines_lie_inside_their_picture_and_do_not_swallow_one_another(read: list[Item]):
    for item in read:
        assert len({line.id for line in item.lines}) == len(item.lines)
        for number, image in enumerate(item.images, start=1):
            front = f"{number}-" if len(item.images) > 1 else ""
            lines = [line for line in item.lines if line.id.startswith(front)]
            reading = [line.kind in READ for line in lines]
            assert reading == sorted(reading, reverse=True), "what stands around comes last"
            for line in lines:
                assert len(line.polygon) >= 4
                assert all(
                    0 <= x <= image.width and 0 <= y <= image.height for x, y in line.polygon
                )
                assert abs(area(line.polygon)) > 100, line
            middles = [middle(line.polygon) for line in lines if line.kind in READ]
            assert len(set(middles)) == len(middles)


def area(polygon: tuple[tuple[float, float], ...]) -> float:
    ring = zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in ring) / 2


def middle(polygon: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    return sum(x for x, _ in polygon) / len(polygon), sum(y for _, y in polygon) / len(polygon)


def test_pages_show_every_kind_of_line_and_every_form(pages: list[Item], read: list[Item]):
    kinds = {line.kind for item in read for line in item.lines}
    assert kinds == {"main", "note", "title", "author", "head", "centre", "number", "seal"}
    shown = {name: {item.metadata[name] for item in pages} for name in ("form", "scan", "made")}
    assert shown == {
        "form": {"half-a", "half-b", "sheet", "opening"},
        "scan": {"colour", "grey", "bitonal"},
        "made": {"print", "manuscript"},
    }
    assert {len(item.images) for item in pages} == {1, 2}


def test_pages_stand_for_every_kind_of_book_of_ancientdoc(pages: list[Item], shared: Path):
    registry = json.loads((shared / "published/ancientdoc_registry.json").read_text("utf-8"))
    asked = [item for item in pages if item.benchmark == "AncientDoc"]
    assert {item.metadata["category"] for item in asked} == set(registry["category_pages"])
    assert {item.metadata["dynasty"] for item in asked} <= set(registry["dynasty_pages"])
    assert {item.metadata["script"] for item in asked} == set(registry["script_style"])


def test_difficulty_spreads_over_the_dial(read: list[Item]):
    dial = sorted(float(item.metadata["difficulty"]) for item in read)
    assert dial[0] <= 0.05
    assert dial[-1] >= 0.95
    assert max(high - low for low, high in itertools.pairwise(dial)) <= 0.25


def test_right_letters_are_spread_evenly(items: list[Item]):
    asked: dict[str, list[Item]] = {}
    for item in items:
        if item.options and item.split == "test":
            asked.setdefault(item.task, []).append(item)
    assert len(asked) == 22
    for name, found in asked.items():
        letters = Counter(item.answer for item in found)
        if len({item.options for item in found}) > 1:
            assert max(letters.values()) - min(letters.values()) <= 1, name
            assert len(letters) >= min(4, len(found)), name


def test_a_word_that_is_asked_about_can_be_read_on_its_page(items: list[Item]):
    words = [item for item in items if item.task == "T5"]
    for item in words:
        assert item.transcription
        assert item.fields["term"] in simplified_reference(item.transcription.replace("\n", ""))


def test_no_work_stands_in_both_splits(items: list[Item]):
    # Classification's references are labelled signs of the classes that are asked about.
    groups = {
        split: {(item.benchmark, item.group) for item in items
                if item.split == split and not task(item.task).of_pairs}
        for split in ("test", "reference")
    }  # fmt: skip
    assert groups["test"].isdisjoint(groups["reference"])
