"""`load` for datasets, readers of page files, and `reading_order`."""

from __future__ import annotations

from collections.abc import Iterable

from keju.api.inputs import AnyPath, dataset_path_of, listed, path_of
from keju.datasets import Dataset, mini
from keju.datasets.pages import Page, page_in_reading_order
from keju.datasets.readers.pages import page_xml
from keju.items import Line


def load(dataset: AnyPath) -> Dataset:
    """Open a dataset for reading.

    Args:
        dataset: the directory of a dataset, an address such as ``s3://BUCKET/PREFIX`` (needs
            ``keju[object-stores]``), or ``mini`` for the bundled one.

    Raises:
        TypeError: `dataset` is not a path.
        KejuError: there is no dataset, or it is damaged.
    """
    return Dataset.open(mini.dataset_path(dataset_path_of(dataset)))


def read_page_xml(path: AnyPath) -> Page:
    """Read a PAGE-XML file: its lines with texts and outlines, in the order of the file.

    Raises:
        TypeError: `path` is not a path.
        KejuError: the file does not exist or is not PAGE-XML.
    """
    return page_xml.read_page(path_of(path), form="PAGE-XML")


def read_alto(path: AnyPath, *, dpi: float | None = None) -> Page:
    """Read an ALTO file of one page: its lines with texts and outlines, in the order of the file.

    Args:
        path: the file.
        dpi: the resolution of the scan, for a file in millimetres or inches.

    Raises:
        TypeError: `path` is not a path.
        KejuError: the file does not exist or is not ALTO of one page, or `dpi` is missing.
    """
    return page_xml.read_page(path_of(path), form="ALTO", dpi=dpi)


def read_hocr(path: AnyPath) -> Page:
    """Read an hOCR file of one page: its lines with texts and outlines, in the order of the file.

    Raises:
        TypeError: `path` is not a path.
        KejuError: the file does not exist or is not hOCR of one page.
    """
    return page_xml.read_page(path_of(path), form="hOCR")


def reading_order(lines: Page | Iterable[Line]) -> list[Line]:
    """The lines of a page in reading order: columns from right to left, notes in place.

    Running text comes first, then marginal text (margins, centre column, seals). The rules are
    those of `keju.layout`; `kind` is set where the geometry shows it.

    Args:
        lines: a page, whose own order is kept where its file states one, or the lines of a page in
            any order, which are ordered by their outlines. A line without an outline follows the
            one before it.

    Raises:
        TypeError: a value is not a line.
        ValueError: none of several lines has an outline.
    """
    if isinstance(lines, Page):
        return list(page_in_reading_order(lines))
    page_lines = lines_of(lines)
    if len(page_lines) > 1 and not any(line.polygon for line in page_lines):
        raise ValueError("no line has an outline (polygon), so there is no order to find")
    page = Page(
        file="", image_name="", width=0, height=0, lines=tuple(page_lines), explicit_order=False
    )
    return list(page_in_reading_order(page))


def lines_of(lines: Iterable[Line]) -> list[Line]:
    """The lines of a page, checked.

    Raises:
        TypeError: a value is not a line.
    """
    page_lines = list[Line]()
    for place, line in enumerate(listed("lines", lines, "a keju.Page or a list of keju.Line")):
        if not isinstance(line, Line):
            raise TypeError(f"lines {place} is a {type(line).__name__}, not a keju.Line")
        page_lines.append(line)
    return page_lines
