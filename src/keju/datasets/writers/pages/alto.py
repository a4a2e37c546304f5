"""ALTO 4.4: blocks in a ReadingOrder, lines with shape and baseline, the engine as a processing."""

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
from keju.datasets.writers.pages.xml_elements import add_element, format_points, new_root, serialise

NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
VERSION = "4.4"

_DIRECTION = {True: "ttb", False: "ltr"}


def write_alto(page: PageContent) -> bytes:
    """One page as ALTO; measures are pixels of the image.

    A region without positions is a block whose lines have only text.
    """
    root = new_root(NAMESPACE, "alto")
    root.set("SCHEMAVERSION", VERSION)
    _description(root, page)
    words = {word for region in page.regions for line in region.lines if (word := _word(line))}
    if words:
        tags = add_element(root, "Tags")
        for word in sorted(words):
            add_element(tags, "StructureTag", ID=f"kind-{word}", LABEL=word)
    if page.regions:
        group = add_element(add_element(root, "ReadingOrder"), "OrderedGroup", ID="reading-order")
        for place in range(1, len(page.regions) + 1):
            add_element(group, "ElementRef", ID=f"ref{place}", REF=f"r{place}")
    sheet = add_element(
        add_element(root, "Layout"),
        "Page",
        ID="page",
        PHYSICAL_IMG_NR=page.number,
        WIDTH=page.width,
        HEIGHT=page.height,
        LANG=LANGUAGE,
    )
    whole = (0, 0, page.width, page.height)
    space = _placed(add_element(sheet, "PrintSpace", ID="space"), whole)
    for place, region in enumerate(page.regions, start=1):
        _block(space, f"r{place}", region)
    return serialise(root)


def _description(root: etree._Element, page: PageContent) -> None:
    about = add_element(root, "Description")
    add_element(about, "MeasurementUnit", "pixel")
    add_element(add_element(about, "sourceImageInformation"), "fileName", page.image)
    engine = page.engine
    read = add_element(about, "Processing", ID="recognition")
    add_element(read, "processingCategory", "contentGeneration")
    add_element(read, "processingStepDescription", "text recognition")
    if engine.settings:
        add_element(read, "processingStepSettings", engine.settings)
    _software(read, engine.name, engine.version)
    written = add_element(about, "Processing", ID="export")
    add_element(written, "processingCategory", "postOperation")
    add_element(written, "processingDateTime", page.created)
    add_element(written, "processingStepDescription", "export as ALTO")
    _software(written, *page.exporter.split(" ", 1))


def _software(step: etree._Element, name: str, version: str = "") -> None:
    software = add_element(step, "processingSoftware")
    add_element(software, "softwareName", name)
    if version:
        add_element(software, "softwareVersion", version)


def _block(space: etree._Element, name: str, region: Region) -> None:
    block = add_element(space, "TextBlock", ID=name)
    if region.box is not None:
        _placed(block, region.box)
    if region.vertical is not None:
        block.set("BASEDIRECTION", _DIRECTION[region.vertical])
    for place, line in enumerate(region.lines, start=1):
        _line(block, f"{name}l{place}", line, region)


def _line(block: etree._Element, name: str, line: PageLine, region: Region) -> None:
    element = add_element(block, "TextLine", ID=name)
    if line.vertical is not None and line.vertical != region.vertical:
        element.set("BASEDIRECTION", _DIRECTION[line.vertical])
    if word := _word(line):
        element.set("TAGREFS", f"kind-{word}")
    if line.outline:
        _placed(element, line.box)
        element.set("BASELINE", format_points(line.baseline))
        add_element(add_element(element, "Shape"), "Polygon", POINTS=format_points(line.outline))
    string = add_element(element, "String", CONTENT=line.text)
    if line.outline:
        _placed(string, line.box)
    if line.confidence is not None:
        string.set("WC", f"{line.confidence:.4f}")


def _word(line: PageLine) -> str:
    return WORDS.get(line.kind, "")


def _placed(element: etree._Element, box: Rectangle) -> etree._Element:
    x0, y0, x1, y1 = box
    for key, value in (("HPOS", x0), ("VPOS", y0), ("WIDTH", x1 - x0), ("HEIGHT", y1 - y0)):
        element.set(key, str(value))
    return element
