"""Page files become items: text, lines, pictures, editions; and real editions come in whole."""

from collections import Counter
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from keju.datasets.readers import import_dataset
from keju.datasets.readers.pages.page_items import PAGE_XML
from keju.datasets.readers.pages.page_xml import read_page
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import is_blank
from keju.errors import DataError, UsageError
from keju.items import Item


def page_file(folder: Path, body: str, *, name: str = "p1.xml", image: str = "p1.png") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    page = f'<Page imageFilename="{image}" imageWidth="300" imageHeight="400">{body}</Page>'
    path.write_text(f"<PcGts>{page}</PcGts>", "utf-8")
    return path


def region(*lines: str) -> str:
    return f"<TextRegion>{''.join(lines)}</TextRegion>"


def line(text: str, *, x: int = 0, y: int = 0, kind: str = "") -> str:
    """A column of 20 x 300 pixels."""
    corners = f"{x},{y} {x + 20},{y} {x + 20},{y + 300} {x},{y + 300}"
    custom = f'custom="structure {{type:{kind};}}"' if kind else ""
    return (
        f'<TextLine id="{text or x}" {custom}><Coords points="{corners}"/>'
        f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
    )


def imported(src: Path, out: Path, **options: str) -> tuple[Dataset, dict[str, Item], list[str]]:
    with DatasetWriter(out, name="x", version="1", licence="CC0-1.0", source="test") as writer:
        settings = PAGE_XML.parse({k.replace("_", "-"): v for k, v in options.items()})
        notes = list(PAGE_XML.read(src, writer, settings))
    dataset = Dataset.open(out)
    return dataset, {item.id: item for item in dataset.items()}, notes


def kinds_page(folder: Path) -> Path:
    text = region(
        line("題", x=260, kind="Title"),
        line("經", x=220, kind="Text"),
        line("", x=190, kind="Commentary"),
        line("注", x=160, kind="Commentary"),
    )
    return page_file(folder, text + region(line("葉", x=5, kind="Page_Number")), name="book/p1.xml")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("all", "題\n經\n\n注\n葉"),
        ("body", "題\n經\n\n注"),
        ("main", "題\n經"),
        ("notes", "\n注"),
    ],
)
def test_main_text_and_notes_are_had_apart_or_together(
    tmp_path: Path, text: str, answer: str
) -> None:
    kinds_page(tmp_path / "src")
    options = {"text": text, "order": "document"}
    _, items, _ = imported(tmp_path / "src", tmp_path / "out", **options)
    item = items["book/p1"]
    assert item.answer == item.transcription == answer
    assert [found.text for found in item.lines] == ["題", "經", "", "注", "葉"]
    assert (item.benchmark, item.task, item.group) == ("pages", "page_ocr", "book")


def test_an_unknown_type_must_be_explained_before_text_is_chosen(tmp_path: Path) -> None:
    body = region(line("l", kind="Glose"))
    src = page_file(tmp_path / "src", body)
    assert imported(src, tmp_path / "all")[1]["p1"].answer == "l"
    with pytest.raises(DataError, match=r"line l: the line type 'Glose' is unknown.*kinds=Glose="):
        imported(src, tmp_path / "main", text="main")
    _, items, _ = imported(src, tmp_path / "told", text="notes", kinds="Glose=note")
    assert items["p1"].answer == "l"


def test_a_page_without_a_wanted_line_is_left_out_and_said_so(tmp_path: Path) -> None:
    kinds_page(tmp_path / "src")
    page_file(tmp_path / "src", region(line("獨")), name="book/p2.xml")
    _, items, notes = imported(tmp_path / "src", tmp_path / "out", text="notes")
    assert list(items) == ["book/p1"]
    assert any("skipped, since" in note and "book/p2.xml" in note for note in notes)
    with pytest.raises(DataError, match="none has a line of the selected kind"):
        imported(tmp_path / "src/book/p2.xml", tmp_path / "none", text="notes")


def picture(path: Path, size: tuple[int, int] = (300, 400)) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", size, 200).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("where", ["src/book/scan 1.png", "src/book/p1.png"])
def test_a_picture_is_found_beside_the_file(tmp_path: Path, where: str) -> None:
    page_file(
        tmp_path / "src",
        region(line("l")),
        name="book/p1.xml",
        image="file:///home/me/scan 1.png",
    )
    data = picture(tmp_path / where)
    dataset, items, notes = imported(tmp_path / "src", tmp_path / "out")
    (ref_,) = items["book/p1"].images
    assert dataset.image_bytes(ref_) == data
    assert "image" not in items["book/p1"].metadata
    assert notes == []


def test_a_missing_picture_is_named_and_the_page_imported_without(tmp_path: Path) -> None:
    outside = picture(tmp_path / "secret.png")
    assert outside
    page_file(tmp_path / "src", region(line("l")), image="../../secret.png")
    _, items, notes = imported(tmp_path / "src", tmp_path / "out")
    assert items["p1"].images == ()
    assert items["p1"].metadata["image"] == "missing:secret.png"
    assert items["p1"].metadata["page_size"] == "300x400"
    assert notes == ["imported without image, since none was found: 1 page, p1.xml"]


def test_outlines_are_in_pixels_of_the_picture(tmp_path: Path) -> None:
    src = page_file(tmp_path / "src", region(line("l", x=100, y=40)))
    picture(tmp_path / "src/p1.png", (150, 200))
    _, items, _ = imported(src, tmp_path / "out")
    assert items["p1"].lines[0].polygon == ((50, 20), (60, 20), (60, 170), (50, 170))


def test_a_picture_of_another_shape_is_refused(tmp_path: Path) -> None:
    src = page_file(tmp_path / "src", region(line("l")))
    picture(tmp_path / "src/p1.png", (400, 300))
    with pytest.raises(DataError, match="the page is 300x400, but its image has 400x300 pixels"):
        imported(src, tmp_path / "out")


def test_an_export_folder_is_no_edition(tmp_path: Path) -> None:
    page_file(tmp_path / "src", region(line("l")), name="book/page/p1.xml")
    picture(tmp_path / "src/book/p1.png")
    (tmp_path / "src/book/mets.xml").write_text("<mets/>", "utf-8")
    _, items, _ = imported(tmp_path / "src", tmp_path / "out")
    assert [(item.id, item.group) for item in items.values()] == [("book/page/p1", "book")]
    assert items["book/page/p1"].images
    _, inner, _ = imported(tmp_path / "src/book/page", tmp_path / "inner")
    assert inner["p1"].group == "book"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "none"}, "text: no value 'none'. Did you mean 'notes'"),
        ({"order": "best"}, "order: no value 'best'. Choose from: auto, document, geometry"),
        ({"task": "T10"}, "task 'T10' does not ask for a transcription"),
        ({"kinds": "Glose"}, "'Glose' does not have the form WORD=KIND"),
        ({"kinds": "Glose=gloss"}, "'Glose=gloss' does not have the form WORD=KIND"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_ones(
    tmp_path: Path, options: dict[str, str], message: str
) -> None:
    src = page_file(tmp_path / "src", region(line("l")))
    with pytest.raises(UsageError, match=message):
        imported(src, tmp_path / "out", **options)


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(DataError, match=r"contains no \.xml file"):
        imported(tmp_path / "src", tmp_path / "out")


def test_another_task_of_transcription_can_be_asked(tmp_path: Path) -> None:
    src = page_file(tmp_path / "src", region(line("l")))
    _, items, _ = imported(src, tmp_path / "out", task="T1")
    assert (items["p1"].benchmark, items["p1"].task) == ("MCS-Bench", "T1")


def counted(path: Path) -> list[str]:
    """The texts of a file's lines, by another way than the reader's."""
    lines = etree.parse(path).xpath("//*[local-name()='TextLine']")
    return [
        "".join(one.xpath("./*[local-name()='TextEquiv']/*[local-name()='Unicode']/text()"))
        for one in lines
    ]


def test_nine_editions_are_detected_and_import_whole(shared: Path, tmp_path: Path) -> None:
    src = shared / "data/chi-know-po"
    files = sorted(src.rglob("*.xml"))
    about = {"name": "x", "version": "1", "licence": "CC0-1.0", "source": "test"}
    done = import_dataset("auto", src, tmp_path / "out", **about)
    assert done.notes[0].startswith("read as page-xml: ")
    assert done.manifest.images == 0
    items = {item.id: item for item in Dataset.open(tmp_path / "out").items()}
    assert len(files) == len(items) == done.manifest.items == 227
    assert len({item.group for item in items.values()}) == 9
    lines = empty = 0
    for path in files:
        item = items[path.relative_to(src).with_suffix("").as_posix()]
        truth = counted(path)
        assert len(item.lines) == len(truth), path.name
        assert Counter(found.text for found in item.lines) == Counter(truth), path.name
        assert item.answer == "\n".join(found.text for found in item.lines)
        assert item.group == f"page/{path.parent.name}"
        lines += len(truth)
        empty += truth.count("")
    assert (lines, empty) == (10156, 83)
    assert [note.partition(":")[0] for note in done.notes] == [
        "read as page-xml",
        "imported without image, since none was found",
        "imported with empty lines alone, so nothing can be scored",
        "text not taken",
    ]
    assert "1 page, page/BULAC_BIULO_CHI_1938/BULAC_BIULO_CHI_1938_1_0005.xml" in done.notes[2]
    first = items["page/BULAC_BIULO_CHI_1087_1/BULAC_BIULO_CHI_1087_1_0065"]
    assert first.answer.startswith("北堂書鈔目錄")


def test_the_editions_in_the_documents_order_are_the_files_to_the_letter(
    shared: Path, tmp_path: Path
) -> None:
    src = shared / "data/chi-know-po/page"
    _, items, _ = imported(src, tmp_path / "out", order="document")
    for path in sorted(src.rglob("*.xml")):
        item = items[path.relative_to(src).with_suffix("").as_posix()]
        assert [found.text for found in item.lines] == counted(path), path.name


def test_every_type_of_the_editions_is_known(shared: Path) -> None:
    kinds: Counter[tuple[str, str]] = Counter()
    for path in (shared / "data/chi-know-po/page").rglob("*.xml"):
        kinds.update((found.source_kind, found.kind) for found in read_page(path).lines)
    assert {kind for (word, kind) in kinds if word == "Commentary"} == {"note", "centre", "number"}
    assert kinds["Text", "main"] == 3129
    assert kinds["Commentary", "note"] == 5180
    assert kinds["Title", "title"] == 753
    assert sum(kinds.values()) == 10156


def test_a_page_without_a_line_is_blank_where_the_option_says_so(tmp_path: Path) -> None:
    page_file(tmp_path / "src", region(line("經")), name="book/p1.xml")
    page_file(tmp_path / "src", "<ImageRegion/>", name="book/p2.xml")
    page_file(tmp_path / "src", region(line("")), name="book/p3.xml")
    _, items, notes = imported(tmp_path / "src", tmp_path / "skipped")
    assert set(items) == {"book/p1", "book/p3"}
    _, items, notes = imported(tmp_path / "src", tmp_path / "blank", blank_pages="yes")
    assert {name for name, item in items.items() if is_blank(item)} == {"book/p2"}
    assert "imported as blank: 1 page, book/p2.xml" in notes
    about = {"name": "x", "version": "1", "licence": "CC0-1.0", "source": "test"}
    options = {"blank-pages": "yes"}
    done = import_dataset("page-xml", tmp_path / "src", tmp_path / "o", **about, options=options)
    assert done.manifest.items == 3
