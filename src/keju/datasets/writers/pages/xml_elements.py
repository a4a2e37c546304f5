"""Construction of elements in one namespace, for the XML formats of a page."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree


def new_root(namespace: str, name: str) -> etree._Element:
    """A root element whose namespace is the default one of the document."""
    return etree.fromstring(f'<{name} xmlns="{namespace}"/>')


def add_element(
    parent: etree._Element, name: str, text: str | None = None, /, **attributes: str | int
) -> etree._Element:
    """A new last child in the parent's namespace, with its text and attributes."""
    namespace = etree.QName(parent).namespace
    element = etree.SubElement(parent, f"{{{namespace}}}{name}")
    for key, value in attributes.items():
        element.set(key, str(value))
    element.text = text
    return element


def format_points(points: Iterable[tuple[int, int]]) -> str:
    """Points as PAGE-XML and ALTO write them."""
    return " ".join(f"{x},{y}" for x, y in points)


def serialise(root: etree._Element) -> bytes:
    """The document as indented UTF-8, with its XML declaration."""
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)
