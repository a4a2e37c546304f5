"""hOCR 1.2: a page as XHTML, with areas and lines whose positions are in ``title``."""

from __future__ import annotations

from lxml import etree

from keju.datasets.writers.pages.page import (
    LANGUAGE,
    WORDS,
    PageContent,
    PageLine,
    Rectangle,
    Region,
)
from keju.datasets.writers.pages.xml_elements import add_element, new_root

NAMESPACE = "http://www.w3.org/1999/xhtml"

_MODE = {True: "writing-mode: vertical-rl", False: "writing-mode: horizontal-tb"}
_CAPABILITIES = "ocr_page ocr_carea ocr_line ocrx_word ocrp_wconf ocrp_poly ocrp_lang"


def write_hocr(page: PageContent) -> bytes:
    """One page as hOCR: ocr_page, an ocr_carea for each region, an ocr_line for each line.

    A line is also one ocrx_word, for programs that search for words. The writing direction is CSS
    (``writing-mode``), the kind of a line ``data-kind``. Elements without a position have no bbox.
    """
    root = new_root(NAMESPACE, "html")
    root.set("{http://www.w3.org/XML/1998/namespace}lang", LANGUAGE)
    root.set("lang", LANGUAGE)
    head = add_element(root, "head")
    add_element(head, "meta", charset="utf-8")
    add_element(head, "title", page.image)
    system = f"{page.engine.name} {page.engine.version}".strip()
    for name, content in (
        ("ocr-system", f"{system}, written by {page.exporter}"),
        ("ocr-capabilities", _CAPABILITIES),
        ("ocr-number-of-pages", "1"),
        ("ocr-langs", LANGUAGE),
        ("ocr-scripts", "Hani"),
    ):
        add_element(head, "meta", name=name, content=content)
    whole = _bbox((0, 0, page.width, page.height))
    sheet = add_element(add_element(root, "body"), "div", id="page_1")
    sheet.set("class", "ocr_page")
    sheet.set("title", f'image "{page.image}"; {whole}; ppageno {page.number - 1}')
    for place, region in enumerate(page.regions, start=1):
        _area(sheet, f"r{place}", region)
    _broken_into_rows(root)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, doctype="<!DOCTYPE html>")


def _area(sheet: etree._Element, name: str, region: Region) -> None:
    area = add_element(sheet, "div", id=name)
    area.set("class", "ocr_carea")
    if region.box is not None:
        area.set("title", _bbox(region.box))
    if region.vertical is not None:
        area.set("style", _MODE[region.vertical])
    for place, line in enumerate(region.lines, start=1):
        _line(area, f"{name}l{place}", line, region)


def _line(area: etree._Element, name: str, line: PageLine, region: Region) -> None:
    element = add_element(area, "span", id=name)
    element.set("class", "ocr_line")
    word = add_element(element, "span", line.text, id=f"{name}w1")
    word.set("class", "ocrx_word")
    sure = [] if line.confidence is None else [f"x_wconf {round(100 * line.confidence)}"]
    if line.outline:
        poly = "poly " + " ".join(f"{x} {y}" for x, y in line.outline)
        element.set("title", "; ".join([_bbox(line.box), poly, *sure]))
        word.set("title", "; ".join([_bbox(line.box), *sure]))
    elif sure:
        element.set("title", sure[0])
        word.set("title", sure[0])
    if line.vertical is not None and line.vertical != region.vertical:
        element.set("style", _MODE[line.vertical])
    if kind := WORDS.get(line.kind):
        element.set("data-kind", kind)


def _bbox(box: Rectangle) -> str:
    return "bbox " + " ".join(map(str, box))


def _broken_into_rows(root: etree._Element) -> None:
    """One row per element, except inside a line, where white space would be text."""
    for element in root.iter():
        if element.get("class") in {None, "ocr_page", "ocr_carea"}:
            element.tail = "\n"
            if len(element):
                element.text = "\n"
        elif element.get("class") == "ocr_line":
            element.tail = "\n"
