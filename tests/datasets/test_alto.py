"""What ALTO files say is what a dataset made of them holds."""

from pathlib import Path

import pytest

from keju.datasets.readers.pages.page_items import ALTO
from keju.datasets.readers.pages.page_xml import read_page
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import Item

NAMESPACES = [
    "",
    "http://schema.ccs-gmbh.com/ALTO",
    "http://www.loc.gov/standards/alto/ns-v2#",
    "http://www.loc.gov/standards/alto/ns-v3#",
    "http://www.loc.gov/standards/alto/ns-v4#",
]


def alto_file(
    folder: Path,
    spaces: str,
    *,
    before: str = "",
    unit: str = "pixel",
    namespace: str = NAMESPACES[-1],
    name: str = "p1.xml",
) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    xmlns = f'xmlns="{namespace}"' if namespace else ""
    path.write_text(
        f"<alto {xmlns}><Description><MeasurementUnit>{unit}</MeasurementUnit>"
        "<sourceImageInformation><fileName>scan.png</fileName></sourceImageInformation>"
        f'</Description>{before}<Layout><Page ID="page" WIDTH="300" HEIGHT="400">{spaces}'
        "</Page></Layout></alto>",
        "utf-8",
    )
    return path


def line(name: str, *strings: str, x: int = 0, attributes: str = "") -> str:
    inner = "".join(strings) or string(name)
    return (
        f'<TextLine ID="{name}" HPOS="{x}" VPOS="10" WIDTH="20" HEIGHT="300" {attributes}>'
        f"{inner}</TextLine>"
    )


def string(content: str, attributes: str = "") -> str:
    return f'<String CONTENT="{content}" {attributes}/>'


def block(name: str, *lines: str, attributes: str = "") -> str:
    inner = "".join(lines) or line(f"{name}1") + line(f"{name}2")
    return f'<TextBlock ID="{name}" {attributes}>{inner}</TextBlock>'


def printed(*blocks: str) -> str:
    return f"<PrintSpace>{''.join(blocks)}</PrintSpace>"


def ref(name: str) -> str:
    return f'<ElementRef ID="ref_{name.replace(" ", "_")}" REF="{name}"/>'


def texts(path: Path) -> list[str]:
    return [found.text for found in read_page(path).lines]


def imported(src: Path, out: Path, **options: str) -> tuple[dict[str, Item], list[str]]:
    with DatasetWriter(out, name="x", version="1", licence="CC0-1.0", source="test") as writer:
        notes = list(ALTO.read(src, writer, ALTO.parse(options)))
    return {item.id: item for item in Dataset.open(out).items()}, notes


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_version_reads_alike(tmp_path: Path, namespace: str) -> None:
    page = read_page(alto_file(tmp_path, printed(block("b", line("甲", x=7))), namespace=namespace))
    assert (page.width, page.height, page.image_name) == (300, 400, "scan.png")
    (found,) = page.lines
    assert (found.id, found.text, found.kind, found.source_kind) == ("甲", "甲", "main", "")
    assert found.polygon == ((7, 10), (27, 10), (27, 310), (7, 310))
    assert not page.explicit_order


def test_strings_join_as_chinese_or_latin_is_written(tmp_path: Path) -> None:
    rows = [
        line("a", string("大"), string("學")),
        line("b", string("ad"), "<SP/>", string("hoc"), string("曰")),
        line("c", string("two"), string("words")),
        line("d", string("re", 'SUBS_TYPE="HypPart1" SUBS_CONTENT="repeat"'), '<HYP CONTENT="-"/>'),
        "<TextLine/>",
    ]
    expected = ["大學", "ad hoc曰", "two words", "re-", ""]
    assert texts(alto_file(tmp_path, printed(block("x", *rows)))) == expected


@pytest.mark.parametrize("given", ["1,2 3,4 5,6.5", "1 2 3 4 5 6.5", " 1,2  3,4 5,6.5 "])
def test_a_shape_goes_before_the_box(tmp_path: Path, given: str) -> None:
    shaped = line("l", f'<Shape><Polygon POINTS="{given}"/></Shape>', string("字"))
    (found,) = read_page(alto_file(tmp_path, printed(block("b", shaped)))).lines
    assert found.polygon == ((1, 2), (3, 4), (5, 6.5))
    assert found.text == "字"


def test_a_line_without_box_or_shape_has_no_outline(tmp_path: Path) -> None:
    (found,) = read_page(alto_file(tmp_path, printed(block("b", "<TextLine/>")))).lines
    assert found.polygon == ()
    assert found.id == "b.1"


EMPTY = 'HPOS="" VPOS="" WIDTH="" HEIGHT=" "'


@pytest.mark.parametrize(
    ("attributes", "shape"),
    [
        ("", ""),
        (EMPTY, ""),
        (EMPTY, '<Shape><Polygon POINTS=""/></Shape>'),
        ('HPOS="0" VPOS="0" WIDTH="0" HEIGHT="0"', ""),
        ('HPOS="7" VPOS="10" WIDTH="20"', ""),
    ],
)
def test_a_line_without_a_size_has_the_box_around_its_strings(
    tmp_path: Path, attributes: str, shape: str
) -> None:
    strings = string("大", 'HPOS="1.5" VPOS="2" WIDTH="4" HEIGHT="8.25"') + string("學", EMPTY)
    body = f'<TextLine ID="l" {attributes}>{shape}{strings}</TextLine>'
    (found,) = read_page(alto_file(tmp_path, printed(block("b", body)))).lines
    assert (found.text, found.id) == ("大學", "l")
    assert found.polygon == ((1.5, 2), (5.5, 2), (5.5, 10.25), (1.5, 10.25))


def test_a_page_without_sizes_is_read(tmp_path: Path) -> None:
    path = alto_file(tmp_path, printed(block("b", line("甲"))), unit="")
    sized = path.read_text("utf-8")
    for sizes in ('WIDTH="" HEIGHT=""', ""):
        path.write_text(sized.replace('WIDTH="300" HEIGHT="400"', sizes), "utf-8")
        page = read_page(path)
        assert (page.width, page.height, [found.text for found in page.lines]) == (0, 0, ["甲"])


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (printed(block("b", string("大"), string("學"))), ["大學"]),
        (printed(string("大"), line("l", string("中")), string("學")), ["大", "中", "學"]),
        (line("甲"), ["甲"]),
        (block("b", line("甲")), ["甲"]),
        (printed("<Illustration>" + line("甲") + "</Illustration>"), ["甲"]),
        (line("l", "<String><Glyph CONTENT='大'/><Glyph CONTENT='學'/></String>"), ["大學"]),
        (line("l", '<HYP CONTENT="-"/>', string("re")), ["- re"]),
    ],
)
def test_text_is_taken_wherever_it_is(tmp_path: Path, body: str, lines: list[str]) -> None:
    assert texts(alto_file(tmp_path, body)) == lines


@pytest.mark.parametrize(("unit", "dpi", "factor"), [("mm10", 254, 1), ("inch1200", 300, 0.25)])
def test_other_units_become_pixels_by_the_resolution(
    tmp_path: Path, unit: str, dpi: float, factor: float
) -> None:
    path = alto_file(tmp_path, printed(block("b", line("l", x=40))), unit=unit)
    page = read_page(path, dpi=dpi)
    assert (page.width, page.height) == (300 * factor, 400 * factor)
    assert page.lines[0].polygon[2] == (60 * factor, 310 * factor)
    with pytest.raises(DataError, match=rf"measures in {unit}, .*dpi=300"):
        read_page(path, form="ALTO")


def test_an_unknown_unit_is_refused(tmp_path: Path) -> None:
    path = alto_file(tmp_path, printed(block("b")), unit="cun")
    with pytest.raises(DataError, match="measurement unit 'cun' is unknown"):
        read_page(path, dpi=300)


def group(*members: str, tag: str = "OrderedGroup") -> str:
    return f'<{tag} ID="g">{"".join(members)}</{tag}>'


A, B, C = (block(name, line(name)) for name in "abc")
ORDERS = {
    "blocks and lines in groups, and the rest after them": (
        group(ref("b2"), group(ref("c1"), ref("a"), tag="UnorderedGroup"),
              group(ref("c2"), ref("b"))),
        [block(name) for name in "abcd"],
        ["b2", "c1", "a1", "a2", "c2", "b1", "d1", "d2"],
    ),
    "a reference to a string, and one to two elements": (
        group(ref("s9"), ref("c a")),
        [A, block("b", line("b", string("b", 'ID="s9"'))), C],
        ["b", "c", "a"],
    ),
    "blocks in a block": (
        group(ref("all"), ref("c")),
        [C, f'<ComposedBlock ID="all">{A}{B}</ComposedBlock>'],
        ["a", "b", "c"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ORDERS)
def test_lines_come_in_the_stated_order(tmp_path: Path, case: str) -> None:
    groups, blocks, expected = ORDERS[case]
    before = f"<ReadingOrder>{groups}</ReadingOrder>"
    page = read_page(alto_file(tmp_path, printed(*blocks), before=before))
    assert [each.text for each in page.lines] == expected
    assert page.explicit_order


def test_tags_and_margins_become_kinds(tmp_path: Path) -> None:
    tags = (
        '<Tags><OtherTag ID="BT1" LABEL="MainZone"/><OtherTag ID="BT2" LABEL="StampZone"/>'
        '<LayoutTag ID="LT1" LABEL="DefaultLine"/><StructureTag ID="LT2" LABEL="Commentary"/>'
        '<NamedEntityTag ID="NE" LABEL="title"/></Tags>'
    )
    main = block(
        "m",
        line("text", attributes='TAGREFS="LT1 NE"'),
        line("note", attributes='TAGREFS="LT2"'),
        attributes='TAGREFS="BT1"',
    )
    seal = block("s", line("seal", attributes='TAGREFS="LT1"'), attributes='TAGREFS="BT2"')
    body = f"<TopMargin>{block('t', line('top'))}</TopMargin>{printed(main, seal)}"
    page = read_page(alto_file(tmp_path, body, before=tags))
    assert [(found.text, found.kind, found.source_kind) for found in page.lines] == [
        ("top", "head", "TopMargin"),
        ("text", "main", "DefaultLine"),
        ("note", "note", "Commentary"),
        ("seal", "seal", "StampZone"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<PcGts/>", "the root element is <PcGts>, not <alto>"),
        ("<alto/>", "the file has 0 pages"),
        (
            "<alto><Layout><Page/><Page/></Layout></alto>",
            "the file has 2 pages. Keep one page per file",
        ),
        ('<alto><Layout><Page ID="p" WIDTH="x"/></Layout></alto>', "p: 'x' is not a number"),
        ('<!DOCTYPE alto [<!ENTITY e "x">]><alto>&e;</alto>', "the XML has a DOCTYPE"),
        ("<alto>", "not well-formed XML"),
    ],
)
def test_a_file_that_is_no_page_is_refused_in_one_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError) as caught:
        read_page(path, form="ALTO")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_folder_becomes_a_dataset(tmp_path: Path) -> None:
    lines = [line("經", x=200), line("", string(""), x=100), line("傳", x=30)]
    alto_file(tmp_path / "src", printed(block("b", *lines)), name="book/alto/p1.xml")
    alto_file(tmp_path / "src", printed(block("b", line("獨"))), name="book/alto/p2.xml")
    items, notes = imported(tmp_path / "src", tmp_path / "out")
    assert {item.id: item.answer for item in items.values()} == {
        "book/alto/p1": "經\n\n傳",
        "book/alto/p2": "獨",
    }
    assert {item.group for item in items.values()} == {"book"}
    assert items["book/alto/p1"].metadata["image"] == "missing:scan.png"
    assert len(notes) == 1


def test_the_resolution_is_an_option(tmp_path: Path) -> None:
    path = alto_file(tmp_path, printed(block("b", line("l", x=40))), unit="inch1200")
    items, _ = imported(path, tmp_path / "out", dpi="300")
    assert items["p1"].lines[0].polygon[0] == (10, 2.5)
    for wrong, expected in (
        ("many", ""),
        ("0", " >= 1.0"),
        ("nan", " >= 1.0"),
        ("1e6", " <= 100000.0"),
    ):
        with pytest.raises(UsageError, match=f"dpi: expected a number{expected}.*, got '{wrong}'"):
            imported(path, tmp_path / f"out{wrong}", dpi=wrong)
