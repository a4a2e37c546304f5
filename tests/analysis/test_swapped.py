"""Swapped and moved texts are found from readings, and sound pages are not suspected."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from keju.analysis.asked_items import item_name
from keju.analysis.run_set import load_runs
from keju.analysis.swapped import (
    SwapCheck,
    SwapFinder,
    SwappedPage,
    swap_lines,
    swapped_in,
    swapped_of,
)
from keju.datasets import mini
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import ImageRef, Item
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.needing import needs
from tests.support.scored_runs import picture

TEXTS = [
    "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏",
    "閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡",
    "劍號巨闕珠稱夜光果珍李柰菜重芥薑海鹹河淡鱗潛羽翔",
    "龍師火帝鳥官人皇始制文字乃服衣裳推位讓國有虞陶唐",
    "弔民伐罪周發殷湯坐朝問道垂拱平章愛育黎首臣伏戎羌",
    "遐邇一體率賓歸王鳴鳳在竹白駒食場化被草木賴及萬方",
]
"""What each page shows."""


def page(place: int, text: str) -> Item:
    image = ImageRef(path="x", sha256=str(place), width=9, height=9, size=9)
    return Item(id=f"p{place}", benchmark="MCS-Bench", task="T1", images=(image,), answer=text)


def found(filed: Sequence[int], readings: Mapping[str, Sequence[str]]) -> list[SwappedPage]:
    """What is found where page n has the text ``filed[n]``, and each model read `readings`."""
    finder = SwapFinder(page(at, TEXTS[text]) for at, text in enumerate(filed))
    for model, texts in readings.items():
        for place, text in enumerate(texts):
            finder.add(model, ("T1", "", f"p{place}"), text)
    return finder.found()


def names(found: Sequence[SwappedPage]) -> list[tuple[str, str]]:
    """The pages, and the pages whose texts their transcriptions match."""
    return [(each.page[2], each.text_of[2]) for each in found]


SWAP = [("p0", "p1"), ("p1", "p0")]


def misread(text: str, share: float, seed: int = 0) -> str:
    rng = random.Random(seed)
    others = "".join(TEXTS)
    return "".join(rng.choice(others) if rng.random() < share else char for char in text)


def test_two_texts_that_changed_places_are_two_swapped_pages() -> None:
    swapped = found([1, 0, 2, 3, 4, 5], {"m": TEXTS})
    assert names(swapped) == SWAP
    assert {(each.models, each.others) for each in swapped} == {(("m",), ())}


def test_of_three_texts_in_a_ring_each_is_named() -> None:
    # The reading of p0 is the text of p2.
    swapped = found([1, 2, 0, 3, 4, 5], {"m": TEXTS})
    assert names(swapped) == [("p0", "p2"), ("p1", "p0"), ("p2", "p1")]


def test_texts_that_moved_by_one_page_are_found() -> None:
    foreign = "道可道非常道名可名非常名無名天地之始有名萬物之母"
    finder = SwapFinder(page(at, text) for at, text in enumerate([foreign, *TEXTS[:-1]]))
    for place, text in enumerate(TEXTS):
        finder.add("m", ("T1", "", f"p{place}"), text)
    assert names(finder.found()) == [(f"p{n}", f"p{n + 1}") for n in range(5)]


def test_engines_that_agree_are_named_together() -> None:
    poor = [misread(text, 0.2) for text in TEXTS]
    swapped = found([1, 0, 2, 3, 4, 5], {"one": TEXTS, "two": poor})
    assert {each.models for each in swapped} == {("one", "two")}


def test_an_engine_that_reads_the_pages_as_their_own_shows_that_the_readings_are_swapped() -> None:
    other = [TEXTS[1], TEXTS[0], *TEXTS[2:]]
    swapped = found(range(6), {"sound": TEXTS, "mixed": other})
    assert {(each.models, each.others) for each in swapped} == {(("mixed",), ("sound",))}
    assert next(swap_lines(SwapCheck(swapped))).startswith("Readings swapped? p0 was read as")


@pytest.mark.parametrize(
    "readings",
    [
        TEXTS,
        [misread(text, 0.9) for text in TEXTS],
        [TEXTS[0]] * 6,  # one text for every page
        [TEXTS[1], *TEXTS[1:]],  # one page read as another that is read as itself
        [TEXTS[1], "", *TEXTS[2:]],
        ["".join(TEXTS)] * 6,
        [text[::-1] for text in TEXTS],
    ],
)
def test_nothing_is_swapped_where_readings_are_sound_poor_or_recited(readings: list[str]) -> None:
    assert found(range(6), {"m": readings}) == []


def test_two_items_on_one_image_are_not_swapped() -> None:
    items = [page(0, TEXTS[1]), msgspec.structs.replace(page(0, TEXTS[0]), id="p1")]
    finder = SwapFinder(items)
    for place, text in enumerate(TEXTS[:2]):
        finder.add("m", ("T1", "", f"p{place}"), text)
    assert finder.found() == []


def test_the_index_stays_bounded_and_still_finds_a_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keju.analysis.swapped.MOST_TRIGRAMS", 20)
    rng = random.Random(3)
    texts = ["".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(400)) for _ in range(6)]
    filed = [texts[1], texts[0], *texts[2:]]
    finder = SwapFinder(page(at, text) for at, text in enumerate(filed))
    for place, text in enumerate(texts):
        finder.add("m", ("T1", "", f"p{place}"), text)
    assert names(finder.found()) == SWAP


def swapped_run(tmp_path: Path) -> Path:
    """A scored run in which p0 and p1 have each other's text, and one model read what is shown."""
    data = tmp_path / "data"
    filed = [TEXTS[1], TEXTS[0], *TEXTS[2:]]
    with DatasetWriter(data, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for place, text in enumerate(filed):
            image = writer.add_image(picture(60 + place), f"p{place}")
            writer.add(msgspec.structs.replace(page(place, text), images=(image,)))
    file = tmp_path / "m.jsonl"
    lines = [{"item": f"p{place}", "text": text} for place, text in enumerate(TEXTS)]
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
    run(data, [f"replay:{file}", "baseline:copy"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    return tmp_path / "run"


def test_swapped_pages_are_named_in_terminal_and_report(tmp_path: Path) -> None:
    path = swapped_run(tmp_path)
    assert names(swapped_in(RunFolder.open(path)).found) == SWAP
    run_set = load_runs([path])
    assert names(swapped_of(run_set).found) == SWAP
    write_report([path], tmp_path / "r.html")
    assert "Texts swapped?" in (tmp_path / "r.html").read_text("utf-8")
    write_report([path], tmp_path / "zh.html", language="zh")
    assert "转录文本与页面不对应？" in (tmp_path / "zh.html").read_text("utf-8")


@needs("rapidocr", "pip install 'keju[ocr]'")
def test_an_engine_finds_the_swapped_texts_of_two_bundled_pages(tmp_path: Path) -> None:
    dataset = Dataset.open(mini.path())
    pages = {each.id: each for each in dataset.items()}
    one, other = pages["qianziwen-t1"], pages["lanting-page-level-ocr"]
    (tmp_path / "src").mkdir()
    for item, text in ((one, other.answer), (other, one.answer)):
        (tmp_path / f"src/{item.id}.png").write_bytes(dataset.image_bytes(item.images[0]))
        (tmp_path / f"src/{item.id}.txt").write_text(text, "utf-8")
    about = {"name": "d", "version": "1", "licence": "CC0", "source": "tests"}
    import_dataset("pages", tmp_path / "src", tmp_path / "data", **about)
    run(tmp_path / "data", ["ppocr"], tmp_path / "run")
    swapped = swapped_in(RunFolder.open(tmp_path / "run")).found
    assert {each.page[2] for each in swapped} == {one.id, other.id}
    assert {each.models for each in swapped} == {("ppocr",)}


def checked(readings: Mapping[str, Sequence[str]]) -> SwapCheck:
    finder = SwapFinder(page(at, text) for at, text in enumerate(TEXTS))
    for model, texts in readings.items():
        for place, text in enumerate(texts):
            finder.add(model, ("T1", "", f"p{place}"), text)
    return finder.check()


def in_rows(text: str) -> str:
    return "".join(text[place::6] for place in range(6))


def test_pages_that_no_reading_matches_are_counted_as_unchecked():
    rows = [in_rows(text) for text in TEXTS]
    assert checked({"rows": rows}) == SwapCheck([], 6, 6)
    assert checked({"rows": rows, "right": TEXTS}) == SwapCheck([], 0, 6)
    assert checked({"rows": rows, "right": TEXTS[:2]}) == SwapCheck([], 4, 6)
    # Two pages that were swapped are settled, the four others are not.
    found = checked({"rows": [TEXTS[1], TEXTS[0], *rows[2:]]})
    assert (names(found.found), found.unchecked) == (SWAP, 4)


def test_a_reading_with_most_characters_wrong_says_nothing_and_it_is_printed():
    wrong = [misread(text, 0.8, seed) for seed, text in enumerate(TEXTS)]
    (line,) = swap_lines(checked({"wrong": wrong}))
    assert line.startswith("6 of 6 pages cannot be checked for swapped texts")
    assert list(swap_lines(checked({"right": TEXTS}))) == []


def test_short_texts_of_own_pages_are_unchecked_and_those_of_tasks_are_not_counted():
    items = [page(place, text[:6]) for place, text in enumerate(TEXTS)]
    own = [replace(item, benchmark="pages", task="page_ocr") for item in items]
    for kind, expected in ((items, SwapCheck([])), (own, SwapCheck([], 6, 6))):
        finder = SwapFinder(kind)
        for item in kind:
            finder.add("right", item_name(item), item.answer)
        assert finder.check() == expected
