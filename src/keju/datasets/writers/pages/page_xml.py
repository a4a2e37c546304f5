"""PAGE-XML of the schema 2019-07-15: regions in a ReadingOrder, lines with outline and baseline."""

from __future__ import annotations

from lxml import etree

from keju.datasets.writers.pages.page import (
    WORDS,
    PageContent,
    PageLine,
    Region,
)
from keju.datasets.writers.pages.xml_elements import add_element, format_points, new_root, serialise

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"

_DIRECTION = {True: "top-to-bottom", False: "left-to-right"}
_ORDER = {True: "right-to-left", False: "top-to-bottom"}


def write_page_xml(page: PageContent) -> bytes:
    """One page as PAGE-XML.

    A region also contains the text of its lines as a whole, for programs that read regions. One
    without positions has the outline of the whole image and no lines, since the schema requires an
    outline of every region and every line.
    """
    root = new_root(NAMESPACE, "PcGts")
    _metadata(root, page)
    sheet = add_element(
        root,
        "Page",
        imageFilename=page.image,
        imageWidth=page.width,
        imageHeight=page.height,
        primaryLanguage="Chinese",
    )
    if page.regions:
        group = add_element(add_element(sheet, "ReadingOrder"), "OrderedGroup", id="reading-order")
        for place in range(len(page.regions)):
            add_element(group, "RegionRefIndexed", index=place, regionRef=f"r{place + 1}")
    for place, region in enumerate(page.regions, start=1):
        _region(sheet, f"r{place}", region, page)
    return serialise(root)


def _metadata(root: etree._Element, page: PageContent) -> None:
    about = add_element(root, "Metadata")
    add_element(about, "Creator", page.exporter)
    add_element(about, "Created", page.created)
    add_element(about, "LastChange", page.created)
    step = add_element(
        about, "MetadataItem", type="processingStep", name="recognition", value=page.engine.name
    )
    labels = add_element(step, "Labels")
    for kind, value in (("version", page.engine.version), ("settings", page.engine.settings)):
        if value:
            add_element(labels, "Label", value=value, type=kind)


def _region(sheet: etree._Element, name: str, region: Region, page: PageContent) -> None:
    box = region.box or (0, 0, page.width, page.height)
    element = add_element(sheet, "TextRegion", id=name, type=region.kind)
    if region.vertical is not None:
        element.set("readingDirection", _DIRECTION[region.vertical])
        element.set("textLineOrder", _ORDER[region.vertical])
    x0, y0, x1, y1 = box
    add_element(element, "Coords", points=format_points([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]))
    if region.box is not None:
        for place, line in enumerate(region.lines, start=1):
            _line(element, f"{name}l{place}", line, region)
    _text(element, "\n".join(line.text for line in region.lines))


def _line(parent: etree._Element, name: str, line: PageLine, region: Region) -> None:
    element = add_element(parent, "TextLine", id=name)
    if line.vertical is not None and line.vertical != region.vertical:
        element.set("readingDirection", _DIRECTION[line.vertical])
    if word := WORDS.get(line.kind):
        element.set("custom", f"structure {{type:{word};}}")
    add_element(element, "Coords", points=format_points(line.outline))
    add_element(element, "Baseline", points=format_points(line.baseline))
    equivalent = _text(element, line.text)
    if line.confidence is not None:
        equivalent.set("conf", f"{line.confidence:.4f}")


def _text(element: etree._Element, text: str) -> etree._Element:
    equivalent = add_element(element, "TextEquiv")
    add_element(equivalent, "Unicode", text)
    return equivalent
