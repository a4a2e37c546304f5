"""One page, a title in a row above five columns, in every form of every level that files have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

SIZE = (1000, 1400)


class Row(NamedTuple):
    """A line of the page: its text and box."""

    text: str
    box: tuple[int, int, int, int]


TITLE = Row("論語卷第一", (250, 40, 750, 100))
COLUMNS = tuple(
    Row(text, (850 - 150 * at, 150, 910 - 150 * at, 1300))
    for at, text in enumerate(
        ("學而時習之不亦說乎", "有朋自遠方來", "不亦樂乎", "人不知而不慍", "不亦君子乎")
    )
)
ROWS = (TITLE, *COLUMNS)
TEXT = "\n".join(row.text for row in ROWS)

Draw = Callable[[Row], str]


def join(draw: Draw) -> str:
    """All lines, each drawn as an element of a format."""
    return "".join(map(draw, ROWS))


# PAGE-XML


def page(body: str, *, version: str = "2019-07-15", before: str = "") -> str:
    """A PAGE-XML file with this body."""
    across, down = SIZE
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/'
        f'{version}"><Metadata><Creator>x</Creator></Metadata><Page imageFilename="p.png" '
        f'imageWidth="{across}" imageHeight="{down}">{before}{body}</Page></PcGts>'
    )


def equiv(text: str, attributes: str = "") -> str:
    """A TextEquiv."""
    return f"<TextEquiv {attributes}><Unicode>{text}</Unicode></TextEquiv>"


def coords(row: Row) -> str:
    """The outline of a line."""
    x0, y0, x1, y1 = row.box
    return f'<Coords points="{x0},{y0} {x1},{y0} {x1},{y1} {x0},{y1}"/>'


def points(row: Row) -> str:
    """The outline of a line in the versions of 2009 and 2010."""
    x0, y0, x1, y1 = row.box
    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    inner = "".join(f'<Point x="{x}" y="{y}"/>' for x, y in corners)
    return f"<Coords>{inner}</Coords>"


def text_line(row: Row, inner: str, attributes: str = "") -> str:
    """A TextLine with its outline."""
    return f"<TextLine {attributes}>{coords(row)}{inner}</TextLine>"


def line(row: Row) -> str:
    """A TextLine with its text."""
    return text_line(row, equiv(row.text))


def region(inner: str, tag: str = "TextRegion", attributes: str = "") -> str:
    """A region around lines or other regions."""
    return f'<{tag} {attributes}><Coords points="0,0 1000,0 1000,1400"/>{inner}</{tag}>'


def words(row: Row, place: str = "") -> str:
    """A line's text as two Words."""
    half = len(row.text) // 2
    return "".join(
        f"<Word>{place}{equiv(part)}</Word>" for part in (row.text[:half], row.text[half:])
    )


def glyphs(row: Row, level: str = "{}") -> str:
    """A line's text as the glyphs of one Word."""
    parts = (f"<Glyph>{level.format(equiv(letter))}</Glyph>" for letter in row.text)
    return f"<Word>{''.join(parts)}</Word>"


def order(*names: str) -> str:
    """A ReadingOrder of these regions."""
    refs = (f'<RegionRefIndexed index="{at}" regionRef="{name}"/>' for at, name in enumerate(names))
    return f'<ReadingOrder><OrderedGroup id="g">{"".join(refs)}</OrderedGroup></ReadingOrder>'


def indexed(rows: Iterator[tuple[int, Row]]) -> str:
    """Lines with Transkribus's index, in the order of the document that is given."""
    return "".join(
        text_line(row, equiv(row.text), f'custom="readingOrder {{index:{at};}}"')
        for at, row in rows
    )


def page_forms() -> Iterator[tuple[str, str]]:
    """Files of PAGE-XML, by name."""
    lines = join(line)
    empty = join(lambda row: text_line(row, equiv("")))
    yield "page line", page(region(lines))
    yield (
        "page 2010",
        page(
            region(join(lambda row: f"<TextLine>{points(row)}{equiv(row.text)}</TextLine>")),
            version="2010-03-19",
        ),
    )
    yield "page 2013", page(region(lines), version="2013-07-15")
    yield "page word", page(region(join(lambda row: text_line(row, words(row)))))
    yield (
        "page word coords",
        page(region(join(lambda row: f"<TextLine>{words(row, coords(row))}</TextLine>"))),
    )
    yield (
        "page empty line, word",
        page(region(join(lambda row: text_line(row, words(row) + equiv(""))))),
    )
    yield "page glyph", page(region(join(lambda row: text_line(row, glyphs(row)))))
    yield (
        "page grapheme",
        page(
            region(
                join(
                    lambda row: text_line(
                        row, glyphs(row, '<Graphemes><Grapheme index="0">{}</Grapheme></Graphemes>')
                    )
                )
            )
        ),
    )
    yield (
        "page line of glyphs",
        page(
            region(
                join(
                    lambda row: text_line(
                        row, "".join(f"<Glyph>{equiv(letter)}</Glyph>" for letter in row.text)
                    )
                )
            )
        ),
    )
    yield (
        "page all levels",
        page(region(join(lambda row: text_line(row, words(row) + equiv(row.text))) + equiv(TEXT))),
    )
    yield "page region", page(region(equiv(TEXT)))
    yield "page region, outlines", page(region(join(lambda row: text_line(row, "")) + equiv(TEXT)))
    yield "page region, empty lines", page(region(empty + equiv(TEXT)))
    yield (
        "page region, other lines",
        page(region(text_line(TITLE, equiv("")) + equiv(TEXT)), before=order("none")),
    )
    yield "page region of words", page(join(lambda row: region(words(row))))
    yield (
        "page plain text",
        page(
            region(
                join(
                    lambda row: text_line(
                        row,
                        f"<TextEquiv><PlainText>{row.text}</PlainText><Unicode/></TextEquiv>",
                    )
                )
            )
        ),
    )
    yield (
        "page index",
        page(
            region(
                join(
                    lambda row: text_line(
                        row, equiv("誤") + equiv("非", 'index="1"') + equiv(row.text, 'index="0"')
                    )
                )
            )
        ),
    )
    yield (
        "page index, none",
        page(
            region(
                join(
                    lambda row: text_line(
                        row, equiv("誤", 'conf="1"') + equiv(row.text, 'index="3" conf="0.1"')
                    )
                )
            )
        ),
    )
    yield (
        "page confidence",
        page(
            region(
                join(
                    lambda row: text_line(
                        row, equiv("誤") + equiv("非", 'conf="0.2"') + equiv(row.text, 'conf="0.9"')
                    )
                )
            )
        ),
    )
    yield (
        "page first",
        page(region(join(lambda row: text_line(row, equiv(row.text) + equiv("誤"))))),
    )
    yield (
        "page cells",
        page(
            region(
                join(lambda row: f"<TableCell>{coords(row)}{line(row)}</TableCell>"), "TableRegion"
            )
        ),
    )
    yield (
        "page cell text",
        page(
            region(
                join(lambda row: f"<TableCell>{coords(row)}{equiv(row.text)}</TableCell>"),
                "TableRegion",
            )
        ),
    )
    for tag in ("TableRegion", "TextRegion", "AdvertRegion", "ChartRegion", "CustomRegion"):
        yield f"page in {tag}", page(region(join(lambda row: region(line(row))), tag))
    yield "page group", page(region(f"<Unforeseen>{lines}</Unforeseen>"))
    backwards = "".join(region(line(row), attributes=f'id="r{at}"') for at, row in
                        reversed(list(enumerate(ROWS))))  # fmt: skip
    yield "page ReadingOrder", page(backwards, before=order(*(f"r{at}" for at in range(6))))
    yield "page custom index", page(region(indexed(reversed(list(enumerate(ROWS))))))
    yield "page dangling order", page(region(lines), before=order("deleted", "gone"))


ID = 'id="r1"'


# ALTO


WHOLE = 'WIDTH="1000" HEIGHT="1400"'


def alto(body: str, *, namespace: str = "ns-v4#", unit: str = "pixel", sizes: str = WHOLE) -> str:
    """An ALTO file with this content of the page."""
    if "://" not in namespace:
        namespace = f"http://www.loc.gov/standards/alto/{namespace}"
    return (
        f'<alto xmlns="{namespace}"><Description><MeasurementUnit>{unit}</MeasurementUnit>'
        "<sourceImageInformation><fileName>p.png</fileName></sourceImageInformation>"
        f"</Description><Layout><Page {sizes}>{body}"
        "</Page></Layout></alto>"
    )


def place(row: Row) -> str:
    """The position of a line."""
    x0, y0, x1, y1 = row.box
    return f'HPOS="{x0}" VPOS="{y0}" WIDTH="{x1 - x0}" HEIGHT="{y1 - y0}"'


def string(text: str, attributes: str = "", inner: str = "") -> str:
    """A String."""
    return f'<String CONTENT="{text}" {attributes}>{inner}</String>'


def alto_line(row: Row) -> str:
    """A TextLine with one String."""
    return f"<TextLine {place(row)}>{string(row.text, place(row))}</TextLine>"


def block(inner: str, tag: str = "TextBlock") -> str:
    """A block."""
    return f"<{tag}>{inner}</{tag}>"


def printed(inner: str) -> str:
    """A print space with this content."""
    return f"<PrintSpace>{inner}</PrintSpace>"


def alto_glyphs(row: Row) -> str:
    """A TextLine whose String has its text in glyphs only."""
    inner = "".join(
        f'<Glyph CONTENT="{letter}"><Variant CONTENT="誤"/></Glyph>' for letter in row.text
    )
    return f"<TextLine {place(row)}>{string('', '', inner)}</TextLine>"


def alto_forms() -> Iterator[tuple[str, str]]:
    """Files of ALTO, by name."""
    lines = join(alto_line)
    body = printed(block(lines))
    for namespace in ("http://schema.ccs-gmbh.com/ALTO", "ns-v2#", "ns-v3#", "ns-v4#"):
        yield f"alto {namespace.rpartition('/')[2]}", alto(body, namespace=namespace)
    nowhere = 'HPOS="" VPOS="" WIDTH="" HEIGHT=""'
    yield (
        "alto empty sizes",
        alto(
            f"<PrintSpace {nowhere}><TextBlock {nowhere}>"
            + join(lambda row: f"<TextLine {nowhere}>{string(row.text, nowhere)}</TextLine>")
            + "</TextBlock></PrintSpace>",
            sizes='WIDTH="" HEIGHT=""',
        ),
    )
    yield (
        "alto no sizes",
        alto(
            printed(block(join(lambda row: f"<TextLine>{string(row.text)}</TextLine>"))), sizes=""
        ),
    )
    yield "alto decimals", alto(body.replace('WIDTH="60"', 'WIDTH="60.25"'))
    yield (
        "alto places of strings",
        alto(
            printed(block(join(lambda row: f"<TextLine>{string(row.text, place(row))}</TextLine>")))
        ),
    )
    yield "alto no unit", alto(body, unit="")
    yield "alto mm10", alto(body, unit="mm10")
    yield "alto strings in blocks", alto(printed(join(lambda row: block(string(row.text)))))
    yield "alto strings in the space", alto(printed(join(lambda row: string(row.text))))
    yield "alto lines in the space", alto(printed(lines))
    yield "alto lines in the page", alto(lines)
    yield "alto block in the page", alto(block(lines))
    yield (
        "alto composed",
        alto(printed(block(block(block(lines), "ComposedBlock"), "ComposedBlock"))),
    )
    yield "alto illustration", alto(printed(block(lines, "Illustration")))
    yield "alto glyphs", alto(printed(block(join(alto_glyphs))))
    yield (
        "alto words",
        alto(
            printed(
                block(
                    join(
                        lambda row: (
                            f"<TextLine {place(row)}>{''.join(map(string, row.text))}</TextLine>"
                        )
                    )
                )
            )
        ),
    )
    yield (
        "alto HYP",
        alto(
            printed(
                block(
                    join(
                        lambda row: (
                            "<TextLine>"
                            + string(row.text[:-1], 'SUBS_CONTENT="誤"')
                            + f'<HYP CONTENT="{row.text[-1]}"/></TextLine>'
                        )
                    )
                )
            )
        ),
    )
    yield (
        "alto alternatives",
        alto(
            printed(
                block(
                    join(
                        lambda row: (
                            "<TextLine>"
                            + string(row.text, "", "<ALTERNATIVE>誤</ALTERNATIVE>")
                            + "</TextLine>"
                        )
                    )
                )
            )
        ),
    )


# hOCR


def hocr(body: str, *, system: str = "engine", title: str = "") -> str:
    """An hOCR file with this content of the page."""
    across, down = SIZE
    title = title or f'image "p.png"; bbox 0 0 {across} {down}'
    return (
        f"<html><head><title>x</title><meta name='ocr-system' content='{system}'/></head>"
        f"<body><div class='ocr_page' title='{title}'>{body}</div></body></html>"
    )


def bbox(row: Row) -> str:
    """The position of a line."""
    return f'title="bbox {" ".join(map(str, row.box))}"'


def span(name: str, inner: str, attributes: str = "", tag: str = "span") -> str:
    """An element of a class."""
    return f"<{tag} class='{name}' {attributes}>{inner}</{tag}>"


def hocr_line(row: Row, name: str = "ocr_line") -> str:
    """A line with one word."""
    return span(name, span("ocrx_word", row.text, bbox(row)), bbox(row))


def hocr_words(row: Row) -> str:
    """A line's text as a word for each character."""
    return "\n".join(span("ocrx_word", letter, bbox(row)) for letter in row.text)


def with_choices(row: Row) -> str:
    """A word of Tesseract with boxes of characters and the readings among which it chose."""
    inner = "".join(
        span("ocrx_cinfo", letter, "title='x_bboxes 1 1 2 2; x_conf 9'")
        + span("ocrx_cinfo", span("ocrx_cinfo", "誤", "id='choice_1_1_1'"),
               f"id='lstm_choices_1_1_{at}'")
        for at, letter in enumerate(row.text)
    )  # fmt: skip
    return span("ocr_line", span("ocrx_word", inner), bbox(row))


def hocr_forms() -> Iterator[tuple[str, str]]:
    """Files of hOCR, by name."""
    lines = join(hocr_line)
    yield "hocr line", hocr(lines)
    yield "hocr area", hocr(span("ocr_carea", span("ocr_par", lines, tag="p"), tag="div"))
    yield "hocr line text", hocr(join(lambda row: span("ocr_line", row.text, bbox(row))))
    yield "hocr ocrx_line", hocr(join(lambda row: hocr_line(row, "ocrx_line")))
    yield (
        "hocr ocrx_block",
        hocr(span("ocrx_block", join(lambda row: hocr_line(row, "ocrx_line")), tag="div")),
    )
    yield (
        "hocr ocropus",
        hocr(
            join(lambda row: f"<p>{span('ocr_line', row.text, bbox(row))}</p>\n"),
            title="file p.png",
        ),
    )
    yield "hocr words", hocr(join(lambda row: span("ocr_par", hocr_words(row), tag="p")))
    yield (
        "hocr words in areas",
        hocr(join(lambda row: span("ocr_carea", hocr_words(row), tag="div"))),
    )
    yield "hocr words in the page", hocr(join(hocr_words))
    yield "hocr words in lines", hocr(join(lambda row: span("ocr_line", hocr_words(row))))
    yield (
        "hocr words and text",
        hocr(
            join(
                lambda row: span(
                    "ocr_line", span("ocrx_word", row.text[:2]) + row.text[2:], bbox(row)
                )
            )
        ),
    )
    yield "hocr par", hocr(join(lambda row: span("ocr_par", row.text, bbox(row), "p")))
    yield "hocr par with br", hocr(span("ocr_par", TEXT.replace("\n", "<br/>"), tag="p"))
    yield "hocr carea", hocr(join(lambda row: span("ocr_carea", row.text, bbox(row), "div")))
    yield "hocr page text", hocr(TEXT.replace("\n", "<br>"))
    yield "hocr plain div", hocr(join(lambda row: f"<div><b>{row.text}</b></div>"))
    yield (
        "hocr cinfo",
        hocr(
            join(
                lambda row: span(
                    "ocr_line", "\n".join(span("ocrx_cinfo", letter) for letter in row.text)
                )
            )
        ),
    )
    yield "hocr choices", hocr(join(with_choices), system="tesseract 5.3.0")
    for name in ("ocr_header", "ocr_caption", "ocr_textfloat"):
        yield (
            f"hocr tesseract {name}",
            hocr(
                hocr_line(TITLE, name) + "".join(map(hocr_line, COLUMNS)), system="tesseract 5.3.0"
            ),
        )
    yield "hocr textfloat area", hocr(span("ocr_textfloat", lines, tag="div"))
    yield (
        "hocr title",
        hocr(span("ocr_title", TITLE.text) + span("ocr_section", "".join(map(hocr_line, COLUMNS)))),
    )
    yield (
        "hocr par with lines and text",
        hocr(span("ocr_par", TITLE.text + "".join(map(hocr_line, COLUMNS)), tag="p")),
    )
    yield (
        "hocr alternatives",
        hocr(
            join(
                lambda row: span(
                    "ocr_line",
                    span(
                        "alternatives",
                        f"<ins class='alt'>{row.text}</ins><del class='alt'>誤</del>",
                    ),
                )
            )
        ),
    )
    yield "hocr no places", hocr(join(lambda row: span("ocr_line", row.text)), title="ppageno 0")


def forms() -> dict[str, tuple[str, bytes]]:
    """The name of each form, with the suffix of the file and its content."""
    found = {name: (".xml", text.encode()) for name, text in (*page_forms(), *alto_forms())}
    found |= {name: (".hocr", text.encode()) for name, text in hocr_forms()}
    return found | {
        "txt": (".txt", TEXT.encode()),
        "txt of Windows": (".txt", b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()),
        "txt of Tesseract": (".txt", f"{TEXT}\n\f".encode()),
        "txt in UTF-16": (".txt", TEXT.encode("utf-16")),
    }


def lossy_forms() -> dict[str, tuple[str, str, str]]:
    """Files with text that no reader takes: the suffix, the content, and how a note names it."""
    lines, columns = join(line), "".join(map(line, COLUMNS))
    alto_columns = "".join(map(alto_line, COLUMNS))
    hocr_columns = "".join(map(hocr_line, COLUMNS))
    title = f"TextLine l1: “{TITLE.text}”"
    return {
        "page second Page": (
            ".xml",
            page(region(lines)).replace(
                "</PcGts>", f"<Page>{region(line(TITLE), 'TextRegion', ID)}</Page></PcGts>"
            ),
            f"TextLine in r1: “{TITLE.text}”",
        ),
        "page text without TextEquiv": (
            ".xml",
            page(region(columns + f'<TextLine id="l1">{TITLE.text}</TextLine>')),
            title,
        ),
        "page region with more rows": (
            ".xml",
            page(region(columns + text_line(TITLE, "") + equiv(TEXT), attributes=ID)),
            f"TextRegion r1: “{TITLE.text}”",
        ),
        "page empty first version": (
            ".xml",
            page(
                region(
                    columns
                    + text_line(
                        TITLE, equiv("", 'index="0"') + equiv(TITLE.text, 'index="1"'), 'id="l1"'
                    )
                )
            ),
            title,
        ),
        "page more words than in the line": (
            ".xml",
            page(
                region(
                    columns
                    + text_line(TITLE, equiv("論") + f'<Word id="w1">{equiv("語卷第一")}</Word>')
                )
            ),
            "Word w1: “語卷第一”",
        ),
        "page header": (
            ".xml",
            page(region(columns) + region(line(TITLE), attributes='type="header"')),
            f"header: “{TITLE.text}”",
        ),
        "alto CONTENT of a line": (
            ".xml",
            alto(block(alto_columns + f'<TextLine ID="l1" CONTENT="{TITLE.text}"/>')),
            title,
        ),
        "alto text of a line": (
            ".xml",
            alto(block(alto_columns + f'<TextLine ID="l1">{TITLE.text}</TextLine>')),
            title,
        ),
        "alto SUBS_CONTENT alone": (
            ".xml",
            alto(
                block(
                    alto_columns
                    + f'<TextLine><String ID="s1" CONTENT="" SUBS_CONTENT="{TITLE.text}"/>'
                    "</TextLine>"
                )
            ),
            f"String s1: “{TITLE.text}”",
        ),
        "alto second Layout": (
            ".xml",
            alto(alto_columns).replace(
                "</alto>", f'<Layout><Page ID="p2">{alto_line(TITLE)}</Page></Layout></alto>'
            ),
            f"String in p2: “{TITLE.text}”",
        ),
        "alto TopMargin": (
            ".xml",
            alto(block(alto_columns) + block(block(alto_line(TITLE)), "TopMargin")),
            f"TopMargin: “{TITLE.text}”",
        ),
        "hocr text outside the page": (
            ".hocr",
            hocr(hocr_columns).replace("</body>", f"<p id='after'>{TITLE.text}</p></body>"),
            f"p after: “{TITLE.text}”",
        ),
        "hocr header area": (
            ".hocr",
            hocr(span("ocr_header", hocr_line(TITLE), tag="div") + hocr_columns),
            f"header: “{TITLE.text}”",
        ),
        "hocr header of another engine": (
            ".hocr",
            hocr(hocr_line(TITLE, "ocr_header") + hocr_columns),
            f"header: “{TITLE.text}”",
        ),
        "hocr page number": (
            ".hocr",
            hocr(span("ocr_pageno", TITLE.text) + hocr_columns),
            f"page-number: “{TITLE.text}”",
        ),
    }
