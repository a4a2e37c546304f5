"""What PAGE-XML files say is what a dataset made of them holds."""

from pathlib import Path

import pytest

from keju.datasets.pages import effective_order, page_in_reading_order
from keju.datasets.readers.pages.page_xml import read_page
from keju.errors import DataError

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/{}"
HEAD = (
    '<PcGts xmlns="{}"><Page imageFilename="{}" imageWidth="300" imageHeight="400">{}'
    "</Page></PcGts>"
)


def page_file(
    folder: Path,
    body: str,
    *,
    name: str = "p1.xml",
    version: str = "2019-07-15",
    image: str = "p1.png",
) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD.format(NAMESPACE.format(version), image, body), "utf-8")
    return path


def line(name: str, text: str = "", *, x: int = 0, y: int = 0, attributes: str = "") -> str:
    """A column of 20 x 300 pixels whose text is its name, unless another is given."""
    corners = f"{x},{y} {x + 20},{y} {x + 20},{y + 300} {x},{y + 300}"
    return (
        f'<TextLine id="{name}" {attributes}><Coords points="{corners}"/>'
        f"<TextEquiv><Unicode>{text or name}</Unicode></TextEquiv></TextLine>"
    )


def region(name: str, *lines: str, attributes: str = "") -> str:
    inner = "".join(lines) or line(f"{name}1") + line(f"{name}2")
    return (
        f'<TextRegion id="{name}" {attributes}><Coords points="0,0 9,0 9,9"/>{inner}</TextRegion>'
    )


def ref(name: str, index: int) -> str:
    return f'<RegionRefIndexed index="{index}" regionRef="{name}"/>'


def order(*groups: str) -> str:
    return f"<ReadingOrder>{''.join(groups)}</ReadingOrder>"


def texts(path: Path) -> list[str]:
    return [found.text for found in read_page(path).lines]


# Reading order


def ordered(*members: str, tag: str = "OrderedGroup", attributes: str = "") -> str:
    return f"<{tag} {attributes}>{''.join(members)}</{tag}>"


def loose(*names: str, tag: str = "UnorderedGroup", attributes: str = "") -> str:
    refs = "".join(f'<RegionRef regionRef="{name}"/>' for name in names)
    return f"<{tag} {attributes}>{refs}</{tag}>"


def indexed(index: int) -> str:
    return f'custom="readingOrder {{index:{index};}} structure {{type:Text;}}"'


A, B, C, D = (region(name, line(name)) for name in "abcd")
HEADERS = [region(f"h{at}", line(f"h{at}"), attributes='type="header"') for at in range(3)]
ORDERS = {
    "none: as in the document": (region("b") + region("a"), ["b1", "b2", "a1", "a2"], False),
    "an ordered group goes by index": (
        order(ordered(ref("c", 10), ref("a", 2), ref("b", 1))) + region("a") + region("b") + C,
        ["b1", "b2", "a1", "a2", "c"],
        True,
    ),
    "groups nest, an unordered one in the order of its references": (
        order(
            ordered(
                loose("b", "a", tag="UnorderedGroupIndexed", attributes='index="1"'),
                ordered(
                    ref("d", 1), ref("c", 0), tag="OrderedGroupIndexed", attributes='index="0"'
                ),
            )
        )
        + A + B + C + D,
        ["c", "d", "b", "a"],
        True,
    ),
    "an unordered group alone states none": (order(loose("b", "a")) + A + B, ["a", "b"], False),
    "ordered groups in an unordered one state theirs": (
        order(f'<UnorderedGroup>{ordered(ref("c", 0), ref("b", 1))}<RegionRef regionRef="a"/>'
              "</UnorderedGroup>") + A + B + C,
        ["c", "b", "a"],
        True,
    ),
    "regions left out come last and inner ones stay": (
        order(ordered(ref("b", 0), ref("gone", 1), ref("b", 2)))
        + A + region("b", line("b"), region("inner", line("inside"))) + C,
        ["b", "inside", "a", "c"],
        False,
    ),
    "a group stands for a region and what lies in it": (
        order(
            ordered(
                ordered(ref("c", 0), ref("b", 1), tag="OrderedGroupIndexed",
                        attributes='index="0" regionRef="t1"'),
                ref("a", 1),
            )
        )
        + A + f'<TableRegion id="t1">{B}{C}</TableRegion>',
        ["c", "b", "a"],
        True,
    ),
    "indices on regions and lines state one too": (
        region("a", line("a2", attributes=indexed(1)), line("a1", attributes=indexed(0)),
               attributes=indexed(1))
        + region("b", line("b1", attributes=indexed(0)), attributes=indexed(0))
        + '<ImageRegion id="i"/>',
        ["b1", "a1", "a2"],
        True,
    ),
    "an index that is missing somewhere states none": (
        region("a", line("a"), attributes=indexed(1)) + B, ["a", "b"], False,
    ),
    "marginal regions need not be in it": (
        order(ordered(ref("b", 0), ref("a", 1))) + "".join(HEADERS) + A + B,
        ["b", "a", "h0", "h1", "h2"],
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ORDERS)
def test_lines_come_in_the_stated_order(tmp_path: Path, case: str) -> None:
    body, expected, explicit = ORDERS[case]
    page = read_page(page_file(tmp_path, body))
    assert [each.text for each in page.lines] == expected
    assert page.explicit_order == explicit


def test_regions_without_names_stay_short_however_deep_they_lie(tmp_path: Path) -> None:
    deep = "<TextRegion>" * 100 + "<TextLine/>" + "</TextRegion>" * 100
    (found,) = read_page(page_file(tmp_path, deep)).lines
    assert found.id == ".".join(["r1"] * 100 + ["1"])


@pytest.mark.parametrize(
    "members",
    [
        "",
        ref("deleted1", 0) + ref("deleted2", 1),
        ref("picture", 0),
        ref("left", 0),
    ],
    ids=["empty", "dangling", "a picture", "half of the lines"],
)
def test_an_order_that_does_not_order_the_lines_leaves_it_to_geometry(
    tmp_path: Path, members: str
) -> None:
    body = order(f'<OrderedGroup id="g">{members}</OrderedGroup>') + '<ImageRegion id="picture"/>'
    body += region("left", line("左列", x=30)) + region("right", line("右列", x=240))
    page = read_page(page_file(tmp_path, body))
    assert [found.text for found in page.lines] == ["左列", "右列"]
    assert effective_order(page, "auto") == "geometry"
    assert [found.text for found in page_in_reading_order(page)] == ["右列", "左列"]


def test_geometry_orders_a_page_that_states_no_order(tmp_path: Path) -> None:
    body = region("a", *(line(f"x{x}", x=x) for x in (100, 240, 30)))
    page = read_page(page_file(tmp_path, body))
    assert [found.text for found in page_in_reading_order(page)] == ["x240", "x100", "x30"]
    as_is = page_in_reading_order(page, order="document")
    assert [found.text for found in as_is] == ["x100", "x240", "x30"]


def test_a_stated_order_goes_before_geometry_unless_geometry_is_asked_for(tmp_path: Path) -> None:
    groups = order(f'<OrderedGroup id="g">{ref("left", 0)}{ref("right", 1)}</OrderedGroup>')
    body = region("right", line("right", x=240)) + region("left", line("left", x=30))
    page = read_page(page_file(tmp_path, groups + body))
    assert [found.text for found in page_in_reading_order(page)] == ["left", "right"]
    forced = page_in_reading_order(page, order="geometry")
    assert [found.text for found in forced] == ["right", "left"]


def test_a_line_without_outline_follows_the_one_before_it(tmp_path: Path) -> None:
    bare = '<TextLine id="bare"><TextEquiv><Unicode>bare</Unicode></TextEquiv></TextLine>'
    page = read_page(page_file(tmp_path, region("a", line("a", x=30), bare, line("c", x=240))))
    assert [found.text for found in page_in_reading_order(page)] == ["c", "a", "bare"]


def test_geometry_needs_an_outline_somewhere(tmp_path: Path) -> None:
    bare = "<TextLine><TextEquiv><Unicode>{}</Unicode></TextEquiv></TextLine>"
    page = read_page(page_file(tmp_path, region("a", bare.format("甲"), bare.format("乙"))))
    assert [found.text for found in page_in_reading_order(page)] == ["甲", "乙"]
    assert effective_order(page, "auto") == "document"
    with pytest.raises(DataError, match=r"p1\.xml: no line has an outline"):
        page_in_reading_order(page, order="geometry")


# Text, outlines, kinds


def version(text: str, attributes: str = "") -> str:
    return f"<TextEquiv {attributes}><Unicode>{text}</Unicode></TextEquiv>"


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (version("正", 'index="1"') + version("誤"), "正"),
        (version("誤") + version("正", 'index="1"'), "正"),
        (version("誤", 'conf="0.9"') + version("正", 'index="7" conf="0.1"'), "正"),
        (version("誤", 'index="2"') + version("正", 'index="1"'), "正"),
        (version("誤", 'index="10"') + version("正", 'index="9"'), "正"),
        (version("正", 'index="0"') + version("誤", 'index="0"'), "正"),
        (version("誤", 'conf="0.2"') + version("正", 'conf="0.9"'), "正"),
        (version("誤") + version("正", 'conf="0.1"'), "正"),
        (version("誤", 'conf="high"') + version("正", 'conf="0"'), "正"),
        (version("誤", 'conf="nan"') + version("正", 'conf="0"'), "正"),
        (version("正", 'index=""') + version("誤", 'index=""'), "正"),
        (version("正", 'conf=""') + version("誤"), "正"),
        (version("", 'index="0"') + version("非", 'index="1"'), ""),
        ("<TextEquiv><PlainText>正</PlainText><Unicode/></TextEquiv>", "正"),
        ("<TextEquiv><PlainText>誤</PlainText><Unicode>正</Unicode></TextEquiv>", "正"),
        ("<TextEquiv><PlainText>正</PlainText></TextEquiv>", "正"),
    ],
)
def test_dinglehoppers_rule_chooses_among_the_versions_of_a_text(
    tmp_path: Path, versions: str, text: str
) -> None:
    body = f'<TextLine id="l">{versions}</TextLine>'
    assert texts(page_file(tmp_path, region("a", body))) == [text]


def test_an_index_that_is_not_a_number_is_refused(tmp_path: Path) -> None:
    body = '<TextLine id="l">' + version("正", 'index="one"') + "</TextLine>"
    with pytest.raises(DataError, match="TextEquiv: 'one' is not a number"):
        read_page(page_file(tmp_path, region("a", body)))


def test_the_rows_of_a_region_get_the_outlines_of_its_empty_lines(tmp_path: Path) -> None:
    """Only where these are in the order of the text: a program may have drawn them otherwise."""
    text = version("學而時習之\n不亦說乎")
    outlines = line("l1", "&#32;", x=200) + line("l2", "&#32;", x=100)
    (first, second) = read_page(page_file(tmp_path, region("a", outlines, text))).lines
    assert [(found.id, found.text) for found in (first, second)] == [
        ("l1", "學而時習之"), ("l2", "不亦說乎"),
    ]  # fmt: skip
    assert first.polygon[0] == (200, 0)
    backwards = line("l1", "&#32;", x=100) + line("l2", "&#32;", x=200)
    for other in (backwards, line("l1", "&#32;", x=100), ""):
        found = read_page(page_file(tmp_path, region("a", other, text))).lines
        assert [line.text for line in found] == ["學而時習之", "不亦說乎"]
        assert [line.polygon for line in found] == [(), ()]


def test_lines_are_read_in_whatever_element_they_are(tmp_path: Path) -> None:
    cells = "".join(
        f'<TableCell row="0" col="{at}" id="c{at}">{line(text, x=200 - 40 * at)}</TableCell>'
        for at, text in enumerate(("甲乙丙", "丁戊己"))
    )
    body = f'<TableRegion id="t">{cells}</TableRegion>' + region("r", line("庚辛壬", x=20))
    page = read_page(page_file(tmp_path, body))
    assert [found.text for found in page_in_reading_order(page)] == ["甲乙丙", "丁戊己", "庚辛壬"]
    first = order(f'<OrderedGroup id="g">{ref("r", 0)}{ref("t", 1)}</OrderedGroup>')
    assert texts(page_file(tmp_path, first + body)) == ["庚辛壬", "甲乙丙", "丁戊己"]


def test_a_line_without_an_outline_has_the_box_around_its_words(tmp_path: Path) -> None:
    words = "".join(
        f'<Word><Coords points="{x},5 {x + 9},5 {x + 9},90"/>{version("天")}</Word>'
        for x in (10, 40)
    )
    for coords in ("", '<Coords points=""/>'):
        body = f'<TextLine id="l">{coords}{words}</TextLine>'
        (found,) = read_page(page_file(tmp_path, region("a", body))).lines
        assert found.polygon == ((10, 5), (49, 5), (49, 90), (10, 90))


def test_a_line_without_text_takes_that_of_its_words(tmp_path: Path) -> None:
    def word(text: str) -> str:
        return f"<Word><TextEquiv><Unicode>{text}</Unicode></TextEquiv></Word>"

    glyphs = "<Word><Glyph><TextEquiv><Unicode>學</Unicode></TextEquiv></Glyph></Word>"
    chinese = f"<TextLine>{word('大')}{glyphs}</TextLine>"
    latin = f"<TextLine>{word('ad')}{word('hoc')}{word('曰')}</TextLine>"
    empty = "<TextLine><TextEquiv><Unicode/></TextEquiv></TextLine><TextLine/>"
    assert texts(page_file(tmp_path, region("a", chinese, latin, empty))) == [
        "大學",
        "ad hoc曰",
        "",
        "",
    ]


def test_text_is_kept_to_the_letter(tmp_path: Path) -> None:
    odd = "　一 二&#10;&#10;三&amp;<!-- x -->四\U00020000"
    assert texts(page_file(tmp_path, region("a", line("l", odd)))) == ["　一 二\n\n三&四\U00020000"]


def test_a_region_without_lines_gives_its_own_text(tmp_path: Path) -> None:
    body = '<TextRegion id="r"><TextEquiv><Unicode>一\n二\n</Unicode></TextEquiv></TextRegion>'
    page = read_page(page_file(tmp_path, body))
    assert [(found.id, found.text) for found in page.lines] == [("r.1", "一"), ("r.2", "二")]


@pytest.mark.parametrize("version", ["2009-03-16", "2010-03-19", "2013-07-15", "2019-07-15"])
def test_every_version_reads_alike(tmp_path: Path, version: str) -> None:
    page = read_page(page_file(tmp_path, region("a", line("l", x=7, y=5)), version=version))
    assert page.lines[0].polygon == ((7, 5), (27, 5), (27, 305), (7, 305))
    assert (page.width, page.height, page.image_name) == (300, 400, "p1.png")


def test_old_points_are_elements(tmp_path: Path) -> None:
    old = '<TextLine id="l"><Coords><Point x="1" y="2"/><Point x="3" y="4"/></Coords></TextLine>'
    page = read_page(page_file(tmp_path, region("a", old), version="2009-03-16"))
    assert page.lines[0].polygon == ((1, 2), (3, 4))


@pytest.mark.parametrize(
    ("region_type", "line_type", "kind", "source_kind"),
    [
        ("", "", "main", "paragraph"),
        ("structure {type:MainText_Left;}", "structure {type:Text;}", "main", "Text"),
        ("structure {type:MainText;}", "structure {type:Commentary;}", "note", "Commentary"),
        ("structure {type:MainText;}", "structure {type:Title;}", "title", "Title"),
        ("structure {type:MainText;}", "structure {type:Author_name;}", "author", "Author_name"),
        ("structure {type:Marginalia_Metadata;}", "structure {type:Title;}", "centre", "Title"),
        ("structure {type:X;}", "structure {type:Page_Number;}", "number", "Page_Number"),
        ("structure {type:MainZone;}", "structure {type:DefaultLine;}", "main", "DefaultLine"),
        ("structure {type:MarginTextZone:note#1;}", "", "margin", "MarginTextZone:note#1"),
        ("structure {type:RunningTitleZone;}", "structure {type:DefaultLine;}", "centre",
         "RunningTitleZone"),
        ("structure {type:StampZone;}", "", "seal", "StampZone"),
        ("readingOrder {index:0;} structure {score:1; type:眉批;}", "", "head", "眉批"),
        ("structure {type:Glose;}", "", "other", "Glose"),
    ],
)  # fmt: skip
def test_types_become_kinds(
    tmp_path: Path, region_type: str, line_type: str, kind: str, source_kind: str
) -> None:
    body = region(
        "a",
        line("l", attributes=f'custom="{line_type}"'),
        attributes=f'type="paragraph" custom="{region_type}"',
    )
    (found,) = read_page(page_file(tmp_path, body)).lines
    assert (found.kind, found.source_kind) == (kind, source_kind)


def test_the_schemas_own_types_become_kinds(tmp_path: Path) -> None:
    body = region("a", line("l"), attributes='type="page-number"')
    assert read_page(page_file(tmp_path, body)).lines[0].kind == "number"


def test_a_user_can_say_what_a_type_means(tmp_path: Path) -> None:
    path = page_file(tmp_path, region("a", line("l"), attributes='type="Glose"'))
    assert read_page(path, kinds={"glose": "note"}).lines[0].kind == "note"


# Files that are not what they must be


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not well-formed XML"),
        ("<PcGts><Page>", "not well-formed XML"),
        ("<alto/>", "the root element is <alto>, not <PcGts>"),
        ("<PcGts/>", "the file has no Page element"),
        ('<PcGts><Page imageWidth="wide"/></PcGts>', "Page: 'wide' is not a number"),
        (
            '<PcGts><Page><TextRegion><TextLine id="l7"><Coords points="1,2 3"/></TextLine>'
            "</TextRegion></Page></PcGts>",
            "l7: the outline has an odd number of values",
        ),
        (
            '<PcGts><Page><TextRegion><TextLine id="l7"><Coords points="1,2 nan,4"/></TextLine>'
            "</TextRegion></Page></PcGts>",
            "l7: 'nan' is not a number",
        ),
        (
            '<PcGts><Page><TextRegion><TextLine id="l7"><Coords points="1,2 1e300,4"/></TextLine>'
            "</TextRegion></Page></PcGts>",
            "l7: '1e300' is too large for a page",
        ),
        ('<!DOCTYPE PcGts SYSTEM "http://localhost/x.dtd"><PcGts><Page/></PcGts>', "DOCTYPE"),
    ],
)
def test_a_file_that_is_no_page_is_refused_in_one_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError) as caught:
        read_page(path, form="PAGE-XML")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.xml: no such file"):
        read_page(tmp_path / "none.xml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    "entity",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY e "&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY e SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p; <!ENTITY e "x">',
    ],
)
def test_entities_are_never_resolved(tmp_path: Path, entity: str, encoding: str) -> None:
    path = tmp_path / "evil.xml"
    body = region("a", line("l", "&e;"))
    document = f"<!DOCTYPE PcGts [{entity}]><PcGts><Page>{body}</Page></PcGts>"
    if encoding != "utf-8":
        document = f'<?xml version="1.0" encoding="{encoding}"?>{document}'
    path.write_bytes(document.encode(encoding))
    with pytest.raises(DataError, match=r"evil\.xml: (the XML has a DOCTYPE|not well-formed XML)"):
        read_page(path)


def test_a_file_too_deep_is_refused(tmp_path: Path) -> None:
    body = "<TextRegion>" * 5000 + "</TextRegion>" * 5000
    with pytest.raises(DataError, match="not well-formed XML"):
        read_page(page_file(tmp_path, body))
