"""Pascal VOC as LabelImg writes it: one XML file for each image, corners in pixels.

Source: VOC's ``annotation/object/bndbox``; seen in LabelImg's own output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from keju.datasets.readers.boxes.collecting import Collector
from keju.datasets.readers.boxes.model import Drawn
from keju.datasets.readers.records import Place
from keju.datasets.readers.xml_parsing import children, first, name_of, number, parse_xml
from keju.errors import DataError
from keju.items import Box
from keju.texts import _

_SIDES = ("xmin", "ymin", "xmax", "ymax")


def read_voc(file: Path, found: Collector) -> None:
    """Collect the boxes of a VOC file.

    Raises:
        DataError: the file is not LabelImg's, its image is missing, or two files share an image.
    """
    root = parse_xml(file)
    if name_of(root) != "annotation":
        raise DataError(
            "the root element is <{}>, not <annotation>, so this is not a LabelImg file",
            name_of(root),
            file=file,
            hint="Export it as Pascal VOC",
        )
    written = first(root, "filename")
    image = found.image_beside(file, (written.text or "") if written is not None else "")
    for drawn in _boxes(file, root):
        found.add(image, drawn)


def _boxes(file: Path, root: etree._Element) -> Iterator[Drawn]:
    wide, high = (_value(first(root, "size", side), file, "size") for side in ("width", "height"))
    for count, element in enumerate(children(root, "object"), start=1):
        place = Place(file, f"object {count}")
        bounds = first(element, "bndbox")
        if bounds is None or any(first(bounds, side) is None for side in _SIDES):
            raise place.error(_("no bndbox with {}", ", ".join(_SIDES), hint="Draw the box again"))
        left, top, right, bottom = (
            _value(first(bounds, side), file, place.item) for side in _SIDES
        )
        yield Drawn(Box(x0=left, y0=top, x1=right, y1=bottom), place, (wide, high))


def _value(element: etree._Element | None, file: Path, item: str) -> float:
    return 0.0 if element is None else number((element.text or "").strip(), file=file, item=item)
