"""What an engine read, as files of pages that other programs correct and keju reads again."""

from __future__ import annotations

import csv
import errno
import os
import re
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from lxml import etree, html
from msgspec.structs import replace
from PIL import Image
from typer.testing import CliRunner

from keju.cli.app import app
from keju.datasets.mini import path as mini
from keju.datasets.page_names import page_stems
from keju.datasets.readers.pages.page_items import PAGE_XML, PageSettings
from keju.datasets.readers.pages.page_xml import read_page
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import ImageRef, Line
from keju.page_exports import export_pages
from keju.running import Selection, run
from keju.runs import RunFolder, record_list
from keju.scoring import score_run
from tests.support.exported_pages import SIZE, column, item, made_run, response, valid
from tests.support.turned import MARK, marked, stored

FORMS = ("page-xml", "alto", "hocr", "txt")
PAGE_TASKS = ("T1", "page_level_ocr")


def index(folder: Path) -> list[dict[str, str]]:
    with (folder / "index.csv").open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def exported(run: Path, form: str, out: Path, **options: object) -> dict[str, dict[str, str]]:
    export_pages(run, form, out, **options)
    return {f"{row['item']}/{row['page']}": row for row in index(out)}


def one(folder: Path, form: str, *lines: Line, text: str = "天地") -> Path:
    """The file of a page with these lines."""
    run = made_run(folder / "run", [item("p")], [response("p", text, *lines)])
    export_pages(run, form, folder / form)
    (file,) = (path for path in (folder / form).iterdir() if path.name != "index.csv")
    return file


# What the engine in the wheel reads of the bundled set


@pytest.fixture(scope="module")
def read(tmp_path_factory) -> Path:
    """A run of ppocr on pages, paintings and signs of the bundled set."""
    pytest.importorskip("rapidocr", reason="the engine is an extra: pip install 'keju[ocr]'")
    folder = tmp_path_factory.mktemp("read") / "run"
    selection = Selection(tasks=(*PAGE_TASKS, "T26", "T28"), limit=2)
    run(mini(), ["ppocr"], folder, selection=selection)
    return folder


class ReadPage(NamedTuple):
    """One image of the run: its row of the index, its size, and the lines that were read of it."""

    row: dict[str, str]
    image: ImageRef
    lines: list[Line]


def pages(read: Path, rows: dict[str, dict[str, str]]) -> Iterator[ReadPage]:
    stored = {each.item: each for each in RunFolder(read).responses("ppocr")}
    for each in RunFolder(read).items():
        for at, ref in enumerate(each.images, start=1):
            own = f"{at}-" if len(each.images) > 1 else ""
            lines = [line for line in stored[each.id].lines if line.id.startswith(own)]
            yield ReadPage(rows[f"{each.id}/{at}"], ref, lines)


@pytest.mark.parametrize("form", ["page-xml", "alto"])
def test_files_of_real_responses_are_valid_and_read_back_alike(read, form, tmp_path):
    rows = exported(read, form, tmp_path / "out", model="ppocr", images=True)
    assert len(rows) == 9
    for row, image, lines in pages(read, rows):
        path = tmp_path / "out" / row["file"]
        valid(form, path)
        page = read_page(path)
        assert [line.text for line in page.lines] == [line.text for line in lines]
        assert [line.kind for line in page.lines] == [line.kind for line in lines]
        assert (page.width, page.height) == (image.width, image.height)
        assert page.image_name == row["image"]
        assert page.explicit_order == bool(lines)
        assert row["status"] == ("lines" if lines else "empty")
        for found, given in zip(page.lines, lines, strict=True):
            near = zip(found.polygon, given.polygon, strict=True)
            assert all(abs(x - a) <= 1 and abs(y - b) <= 1 for (x, y), (a, b) in near)
    assert sum(int(row["lines"]) for row in rows.values()) > 60


def test_an_import_of_the_files_has_the_lines_as_its_reference(read, tmp_path):
    rows = exported(read, "page-xml", tmp_path / "out", images=True)
    about = {"name": "back", "version": "1", "licence": "CC0-1.0", "source": "made in the test"}
    with DatasetWriter(tmp_path / "back", **about) as writer:
        PAGE_XML.read(tmp_path / "out", writer, PageSettings())
    items = {each.id: each for each in Dataset.open(tmp_path / "back").items()}
    read_lines = [each for each in pages(read, rows) if each.lines]
    assert len(items) == len(read_lines)
    for row, image, lines in read_lines:
        back = items[row["file"].removesuffix(".xml")]
        assert back.answer == "\n".join(line.text for line in lines)
        assert back.images[0].sha256 == image.sha256


def test_text_files_are_the_responses_as_they_are_scored(read, tmp_path):
    rows = exported(read, "txt", tmp_path / "out")
    for each in RunFolder(read).responses("ppocr"):
        files = [row["file"] for name, row in rows.items() if name.rpartition("/")[0] == each.item]
        texts = [(tmp_path / "out" / file).read_text("utf-8") for file in files]
        assert "".join(texts) == (f"{each.text}\n" if each.text else "")


def test_hocr_has_each_line_with_its_box_and_confidence(read, tmp_path):
    rows = exported(read, "hocr", tmp_path / "out")
    for row, _, lines in pages(read, rows):
        root = html.fromstring((tmp_path / "out" / row["file"]).read_bytes())
        (page,) = root.find_class("ocr_page")
        number = int(row["page"]) - 1
        title = rf'image "{re.escape(row["image"])}"; bbox 0 0 \d+ \d+; ppageno {number}'
        assert re.fullmatch(title, page.get("title"))
        found = root.find_class("ocr_line")
        assert [line.text_content() for line in found] == [line.text for line in lines]
        for line, given in zip(found, lines, strict=True):
            numbers = re.search(r"bbox (\d+) (\d+) (\d+) (\d+)", line.get("title")).groups()
            xs, ys = zip(*given.polygon, strict=True)
            box = min(xs), min(ys), max(xs), max(ys)
            assert all(abs(int(a) - b) <= 1 for a, b in zip(numbers, box, strict=True))
            sure = re.search(r"x_wconf (\d+)", line.get("title"))[1]
            assert int(sure) == round(100 * given.confidence)


def test_images_are_copies(read, tmp_path):
    rows = exported(read, "page-xml", tmp_path / "out", images=True)
    dataset = RunFolder(read).dataset()
    for row, image, _ in pages(read, rows):
        copy = tmp_path / "out" / row["image"]
        assert copy.read_bytes() == dataset.image_bytes(image)
        assert not copy.is_symlink()
        assert copy.stat().st_nlink == 1


def strict_values(run: Path, model: str) -> dict[tuple[str, str], float | None]:
    return {
        (score.item, score.metric): score.value
        for score in score_run(RunFolder(run), ("strict",))
        if score.model == model and score.task in PAGE_TASKS
    }


def test_what_an_engine_read_has_the_same_strict_scores_from_each_form(read, tmp_path):
    for form in FORMS:
        export_pages(read, form, tmp_path / form)
    folders = [f"replay:{form}={tmp_path / form}" for form in FORMS]
    run(mini(), folders, tmp_path / "back", selection=Selection(tasks=PAGE_TASKS, limit=2))
    responses = {each.item: each for each in RunFolder(read).responses("ppocr")}
    expected = strict_values(read, "ppocr")
    assert len(expected) > 20
    for form in FORMS:
        assert strict_values(tmp_path / "back", form) == expected
        for each in RunFolder(tmp_path / "back").responses(form):
            texts = [line.text for line in responses[each.item].lines]
            assert [line.text for line in each.lines] == ([] if form == "txt" else texts)


@pytest.mark.parametrize(
    ("form", "orientation"), [("JPEG", 1), ("JPEG", 3), ("TIFF", 6), ("PNG", 8), ("WEBP", 5)]
)
def test_copies_of_images_fit_the_coordinates_without_exif(form, orientation, tmp_path):
    data = stored(orientation, form)
    with DatasetWriter(tmp_path / "d", name="d", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        ref = writer.add_image(data, "p")
        writer.add(replace(item("p"), images=(ref,)))
    left, top, right, bottom = MARK
    mark = Line(id="1", text="天", kind="main",
                polygon=((left, top), (right, top), (right, bottom), (left, bottom)))  # fmt: skip
    items = Dataset.open(tmp_path / "d").items()
    run = made_run(tmp_path / "run", items, [response("p", "天", mark)])
    folder = RunFolder(run)
    folder.write_manifest(replace(folder.manifest(), dataset_path="../d"))
    row = exported(run, "page-xml", tmp_path / "out", images=True)["p/1"]
    page = read_page(tmp_path / "out" / row["file"])
    assert (page.width, page.height) == (300, 200)
    plain = Image.open(tmp_path / "out" / row["image"])
    assert (plain.size, marked(plain)) == ((300, 200), MARK)


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["a/001.jpg", "a/002.jpg"], ["001", "002"]),
        (["a/001.jpg", "四庫總目/001.jpg", "a/002.jpg"], ["0", "1", "2"]),
        (["a/001.jpg", "a/002.jpg", ""], ["001", "002", "2"]),
    ],
)
def test_all_pages_are_named_by_one_rule(sources, names):
    items = [
        item(str(number), metadata={"file": source} if source else {})
        for number, source in enumerate(sources)
    ]
    assert list(page_stems(items)) == names


# Directions, regions, engine


def test_columns_are_vertical_with_their_axis_as_baseline(tmp_path):
    lines = column("1", "天地玄黃", 300), column("2", "宇宙洪荒", 250)
    root = valid("page-xml", one(tmp_path, "page-xml", *lines))
    (region,) = root.iter("{*}TextRegion")
    assert region.get("readingDirection") == "top-to-bottom"
    assert region.get("textLineOrder") == "right-to-left"
    assert [each.get("points") for each in root.iter("{*}Baseline")] == [
        "280,50 280,550",
        "230,50 230,550",
    ]
    assert region.find("{*}Coords").get("points") == "210,50 300,50 300,550 210,550"


def test_rows_are_horizontal_with_their_lower_edge_as_baseline(tmp_path):
    row = column("1", "天地玄黃", polygon=((10, 20), (210, 24), (209, 64), (9, 60)))
    root = valid("page-xml", one(tmp_path, "page-xml", row))
    (region,) = root.iter("{*}TextRegion")
    assert region.get("readingDirection") == "left-to-right"
    assert region.get("textLineOrder") == "top-to-bottom"
    assert next(root.iter("{*}Baseline")).get("points") == "9,60 209,64"


def test_a_line_of_another_direction_begins_a_region_of_its_own(tmp_path):
    row = column("3", "天地", polygon=((10, 20), (210, 20), (210, 60), (10, 60)))
    single = column("4", "天", polygon=((100, 100), (150, 100), (150, 140), (100, 140)))
    lines = column("1", "天地玄黃", 300), column("2", "宇宙洪荒", 250), row, single
    found = valid("alto", one(tmp_path, "alto", *lines))
    blocks = list(found.iter("{*}TextBlock"))
    assert [each.get("BASEDIRECTION") for each in blocks] == ["ttb", "ltr", "ttb"]
    assert [len(each.findall("{*}TextLine")) for each in blocks] == [2, 1, 1]


def test_a_new_kind_of_line_begins_a_region_of_its_own(tmp_path):
    kinds = ("title", "main", "note", "centre", "number", "seal", "author", "head", "foot",
             "margin", "other")  # fmt: skip
    lines = [column(str(at), f"行{at}", 390 - 30 * at, kind=kind) for at, kind in enumerate(kinds)]
    path = one(tmp_path, "page-xml", *lines)
    root = valid("page-xml", path)
    assert [each.get("type") for each in root.iter("{*}TextRegion")] == [
        "heading", "paragraph", "marginalia", "page-number", "other", "credit", "header", "footer",
        "marginalia", "other",
    ]  # fmt: skip
    assert [line.kind for line in read_page(path).lines] == list(kinds)
    alto = one(tmp_path / "again", "alto", *lines)
    assert [line.kind for line in read_page(alto).lines] == list(kinds)


def test_the_files_name_engine_version_and_time(tmp_path):
    alto = valid("alto", one(tmp_path, "alto", column("1", "天")))
    steps = [[part.text for part in step.iter("{*}softwareName", "{*}softwareVersion")]
             for step in alto.iter("{*}Processing")]  # fmt: skip
    assert steps[0] == ["engine", "3.10.0"]
    assert steps[1][0] == "keju"
    assert next(alto.iter("{*}String")).get("WC") == "0.9000"
    assert next(alto.iter("{*}Page")).get("LANG") == "zh"
    page = valid("page-xml", one(tmp_path / "again", "page-xml", column("1", "天")))
    assert next(page.iter("{*}Created")).text == "2026-01-02T02:04:05Z"


def test_the_folder_of_a_models_weights_is_not_in_the_files(tmp_path):
    items, said = [item("p")], [replace(response("p", "天"), model="got:/home/me/weights")]
    run = made_run(tmp_path / "run", items, said, models=["got:/home/me/weights"])
    for form in ("page-xml", "alto", "hocr"):
        export_pages(run, form, tmp_path / form)
        text = next((tmp_path / form).glob("p.*")).read_text("utf-8")
        assert "/home/me" not in text
        assert "got:weights" in text


# Text without places, and items without a file


def test_a_text_without_places_gets_no_coordinates(tmp_path):
    text = "<think>天？</think>天地玄黃\n\n宇宙洪荒\n"
    page = valid("page-xml", one(tmp_path, "page-xml", text=text))
    (region,) = page.iter("{*}TextRegion")
    width, height = SIZE
    assert region.find("{*}Coords").get("points") == f"0,0 {width},0 {width},{height} 0,{height}"
    assert [each.text for each in region.iter("{*}Unicode")] == ["天地玄黃\n宇宙洪荒"]
    assert not list(page.iter("{*}TextLine", "{*}Baseline"))
    path = one(tmp_path / "again", "alto", text=text)
    alto = valid("alto", path)
    assert [line.text for line in read_page(path).lines] == ["天地玄黃", "宇宙洪荒"]
    placed = {"HPOS", "VPOS", "WIDTH", "HEIGHT", "BASELINE"}
    blocks = list(alto.iter("{*}TextBlock", "{*}TextLine", "{*}String"))
    assert not [each for each in blocks if placed & set(each.attrib)]
    hocr = html.fromstring(one(tmp_path / "third", "hocr", text=text).read_bytes())
    assert [line.get("title") for line in hocr.find_class("ocr_line")] == [None, None]
    assert index(tmp_path / "page-xml")[0]["status"] == "text-only"


def test_every_image_is_listed_with_what_became_of_it(tmp_path):
    placed, loose = column("1", "天"), column("2", "地", polygon=())
    several = [replace(column("1", text), id=f"{at}-1") for at, text in ((1, "天"), (2, "地"))]
    items = [
        *map(item, ("lines", "some", "text", "empty", "cut", "failed", "filtered", "missing")),
        item("two", images=2), item("one-text", images=2),
    ]  # fmt: skip
    run = made_run(
        tmp_path / "run",
        items,
        [
            response("two", "天\n地", *several),
            response("one-text", "天地"),
            response("lines", "天", placed),
            response("some", "天地", placed, loose),
            response("text", "天"),
            response("empty"),
            response("cut", "天", status="truncated"),
            response("failed", status="failed"),
            response("filtered", status="filtered", finish_reason="content_filter"),
        ],
    )
    for form in FORMS:
        rows = exported(run, form, tmp_path / form)
        assert {name: row["status"] for name, row in rows.items()} == {
            "lines/1": "lines", "some/1": "some-lines", "text/1": "text-only",
            "empty/1": "empty", "cut/1": "text-only", "failed/1": "failed",
            "filtered/1": "filtered", "missing/1": "missing",
            "two/1": "lines", "two/2": "lines", "one-text/1": "undivided",
            "one-text/2": "undivided",
        }  # fmt: skip
        files = {row["file"] for row in rows.values() if row["file"]}
        assert files | {"index.csv"} == {path.name for path in (tmp_path / form).iterdir()}
        assert len(files) == 7
    assert rows["failed/1"]["note"] == "server: no power"
    assert rows["cut/1"]["note"] == "the response was cut off"
    assert [(tmp_path / "txt" / rows[f"two/{at}"]["file"]).read_text() for at in (1, 2)] == [
        "天\n",
        "地\n",
    ]
    some = valid("page-xml", tmp_path / "page-xml" / "some.xml")
    assert [len(list(each.iter("{*}TextLine"))) for each in some.iter("{*}TextRegion")] == [1, 0]


def test_a_long_run_is_exported_in_its_order_without_all_items_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(record_list, "MOST_IN_MEMORY", 10)
    count, long = 600, "天" * 10_000
    items = [replace(item(f"p{at:03}"), answer=f"{long}{at}") for at in range(count)]
    said = [response(f"p{at:03}", f"第{at}頁") for at in reversed(range(count)) if at % 7]
    run = made_run(tmp_path / "run", items, said)
    del items
    tracemalloc.start()
    rows = exported(run, "txt", tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [row["item"] for row in rows.values()] == [f"p{at:03}" for at in range(count)]
    for at, row in enumerate(rows.values()):
        assert row["status"] == ("text-only" if at % 7 else "missing")
        if at % 7:
            assert (tmp_path / "out" / row["file"]).read_text("utf-8") == f"第{at}頁\n"
    assert peak < 8_000_000 < count * sys.getsizeof(long)


# Hostile responses


HOSTILE = [
    "</Unicode></PcGts><script>alert(1)</script>", ']]> & " \' <!-- -->', "&amp;&#0;&xxe;",
    "\x00\x01\x1b[31m\x7f\x9f", "a\nb\r\nc\td\u2028e", "\ufffe\uffff", "\u202e顛倒\u202c",
    "𠀀𪚥\U000e0100", " ", "", "天" * 200_000, "=1+1",
]  # fmt: skip


@pytest.mark.parametrize("form", ["page-xml", "alto"])
def test_hostile_texts_give_valid_files_with_the_same_texts(form, tmp_path):
    lines = [column(str(at), text, 60 + 25 * at) for at, text in enumerate(HOSTILE)]
    path = one(tmp_path, form, *lines)
    valid(form, path)
    shown = [line.text for line in read_page(path).lines]
    table = str.maketrans(
        dict.fromkeys("\n\r\t\u2028", " ")
        | dict.fromkeys("\x00\x01\x1b\x7f\x9f\ufffe\uffff", "\ufffd")
    )
    assert shown == [text.translate(table) for text in HOSTILE]
    (row,) = index(tmp_path / form)
    assert int(row["replaced"]) == sum(
        len(re.findall("[\n\r\t\u2028\x00\x01\x1b\x7f\x9f\ufffe\uffff]", text)) for text in HOSTILE
    )


def test_hostile_texts_are_text_in_hocr(tmp_path):
    lines = [column(str(at), text, 60 + 25 * at) for at, text in enumerate(HOSTILE)]
    data = one(tmp_path, "hocr", *lines).read_bytes()
    for root in (html.fromstring(data), etree.fromstring(data)):
        assert not root.xpath("//*[local-name() = 'script']")
        found = root.xpath("//*[@class = 'ocr_line']")
        assert "".join(found[0].itertext()) == HOSTILE[0]
        assert len(found) == len(HOSTILE)


def test_hostile_places_stay_inside_the_image(tmp_path):
    wide, high = SIZE
    polygons = {
        "outside": ((-50, -50), (1e300, -50), (1e300, 1e300), (-50, 1e300)),
        "beyond": ((900, 900), (950, 900), (950, 950), (900, 950)),
        "flat": ((10, 10), (90, 10), (10, 10)),
        "point": ((10, 10),),
        "halves": ((10.4, 10.6), (20.5, 10.6), (20.5, 90.49), (10.4, 90.49)),
    }
    lines = [column(name, name, polygon=places) for name, places in polygons.items()]
    path = one(tmp_path, "page-xml", *lines)
    root = valid("page-xml", path)
    coordinates = [each.find("{*}Coords").get("points") for each in root.iter("{*}TextLine")]
    assert coordinates == [f"0,0 {wide},0 {wide},{high} 0,{high}", "10,11 20,11 20,90 10,90"]
    assert [line.text for line in read_page(path).lines] == list(polygons)
    assert index(tmp_path / "page-xml")[0]["status"] == "some-lines"


def test_a_formula_in_an_id_is_text_in_the_index(tmp_path):
    run = made_run(tmp_path / "run", [item("=1+1")], [response("=1+1", "天")])
    export_pages(run, "txt", tmp_path / "out")
    assert index(tmp_path / "out")[0]["item"] == "'=1+1"


# Names


def test_files_are_named_after_images_and_no_name_is_a_path(tmp_path):
    names = {
        "a": {"file": "book1/page001.jpg"}, "b": {"file": "book2/page001.jpg"},
        "c": {"page": "史部/史記/page_7.png"}, "d/003": {"file": "book.pdf", "page": "3"},
        "../../etc/passwd": {}, "CON": {}, "x.": {}, "Same": {}, "same": {}, "卷一 之 二": {},
        "long" * 100: {}, "...": {}, "e": {"file": "..\\..\\evil.png"}, "/abs": {},
    }  # fmt: skip
    items = [item(name, metadata=about) for name, about in names.items()]
    run = made_run(tmp_path / "run", items, [response(name, "天") for name in names])
    rows = exported(run, "txt", tmp_path / "out")
    stems = {name: rows[f"{name}/1"]["file"].removesuffix(".txt") for name in names}
    assert {name: stems[name] for name in ("a", "b", "d/003", "CON", "x.", "/abs")} == {
        "a": "a",
        "b": "b",
        "d/003": "d_003",
        "CON": "_CON",
        "x.": "x",
        "/abs": "_abs",
    }
    assert stems["卷一 之 二"] == "卷一_之_二"
    assert stems["../../etc/passwd"] == "_.._etc_passwd"
    assert len({stem.casefold() for stem in stems.values()}) == len(names)
    assert all((tmp_path / "out" / f"{stem}.txt").is_file() for stem in stems.values())
    assert max(len(stem.encode()) for stem in stems.values()) <= 160
    assert len(list(tmp_path.iterdir())) == 2


# Choosing


def test_the_model_is_needed_where_there_are_several(tmp_path):
    run = made_run(tmp_path / "run", [item("p")], [response("p", "天")], models=["ppocr", "got:w"])
    with pytest.raises(UsageError, match=r"--model: ppocr, got:w"):
        export_pages(run, "txt", tmp_path / "out")
    with pytest.raises(UsageError, match=r"--model: ppocr, got:w"):
        export_pages(run, "txt", tmp_path / "out", model="PPOCRv6")
    with pytest.raises(UsageError, match="has no responses to tasks of transcription"):
        export_pages(run, "txt", tmp_path / "out", model="got:w")
    assert not (tmp_path / "out").exists()


def test_the_first_script_and_round_are_exported(tmp_path):
    said = [
        response("p", f"{script} {number}", script=script, round=number)
        for script in ("simplified", "traditional")
        for number in (1, 2)
    ]
    run = made_run(
        tmp_path / "run", [item("p")], said, scripts="simplified,traditional", rounds="2"
    )
    export_pages(run, "txt", tmp_path / "out")
    assert (tmp_path / "out" / "p.txt").read_text() == "simplified 1\n"


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    run = made_run(tmp_path / "run", [item("p")], [response("p", "天")])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty directory"):
        export_pages(run, "txt", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_full_disk_is_named_with_the_file_and_leaves_no_index(tmp_path, monkeypatch):
    run = made_run(tmp_path / "run", [item("p")], [response("p", "天")])

    def full(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match=r"p\.txt: cannot be written: No space left"):
        export_pages(run, "txt", tmp_path / "out")
    assert not (tmp_path / "out" / "index.csv").exists()


@pytest.mark.parametrize("form", FORMS)
def test_the_command_prints_what_was_written(form, tmp_path):
    items, said = [item("p"), item("q")], [response("p", "天\x00地")]
    run = made_run(tmp_path / "run", items, said)
    done = CliRunner().invoke(app, ["export", form, str(run), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "1 file of engine in" in done.output
    assert ": 1 text-only, 1 missing" in done.output
    assert "1 control character replaced" in done.output
    assert len(list((tmp_path / "out").iterdir())) == 2
