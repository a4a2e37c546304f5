"""Tables of boxes, one line per box: CSV, TSV, JSON or JSON lines, with or without column names.

Without column names a line is ``path,x1,y1,x2,y2`` or ``path,x1,y1,x2,y2,class``, as in
keras-retinanet, whose images without boxes are lines with empty cells. VIA's CSV has the regions as
JSON in ``region_shape_attributes``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from keju.datasets.readers.base import source_text
from keju.datasets.readers.boxes.collecting import Collector
from keju.datasets.readers.boxes.json_forms import ViaShape, add_via_shape
from keju.datasets.readers.boxes.model import Drawn, box_error
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import (
    Field,
    JsonObject,
    Place,
    map_fields,
    text_of,
)
from keju.datasets.readers.tables import Row, all_rows, number_in
from keju.errors import DataError
from keju.items import Box
from keju.texts import _, n_

_PLACED = {
    "image": Field(
        ("image", "filename", "file", "image_path", "img", "name", "image_name", "img_name", "path",
         "image_id", "file_name")
    ),
    "left": Field(("xmin", "x_min", "x1", "left", "x0", "x")),
    "top": Field(("ymin", "y_min", "y1", "top", "y0", "y")),
}  # fmt: skip
_FORMS = {
    "xyxy": {"right": Field(("xmax", "x2", "right")), "bottom": Field(("ymax", "y2", "bottom"))},
    "xywh": {"right": Field(("width", "w")), "bottom": Field(("height", "h"))},
}
_VIA = "region_shape_attributes"
_SIZE = ("width", "height")


def read_box_table(file: Path, found: Collector) -> None:
    """Collect the boxes of a table.

    Raises:
        UsageError: a name is given for a column that a table of boxes does not have.
        DataError: a column, a number or an image is missing, or the table is not readable.
    """
    if is_headless(source_text(file)[:10_000], file.suffix):
        _read_headless(file, found)
        return
    rows = all_rows(file)
    if _VIA in rows[0].cells:
        _read_via(rows, found)
    else:
        _read_headed(file, rows, found)


def is_table(text: str, suffix: str) -> bool:
    """Whether the beginning of a table has the columns of boxes, or boxes without column names."""
    if is_headless(text, suffix):
        return True
    head = _first_line(text)
    keys = _cells(head, max(",\t;", key=head.count))
    return _VIA in keys or any(_has(_PLACED | fields, keys) for fields in _FORMS.values())


def _first_line(text: str) -> str:
    return text.lstrip("\ufeff").partition("\n")[0].partition("\r")[0]


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line; none where it is not a line of a table."""
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return []


def _has(fields: Mapping[str, Field], keys: Sequence[str]) -> bool:
    try:
        return bool(map_fields(Path(), [dict.fromkeys(keys, "")], fields))
    except DataError:
        return False


def is_headless(text: str, suffix: str) -> bool:
    """Whether the first line is already a box: a path, then four numbers or four empty cells."""
    if suffix.casefold() not in {".csv", ".tsv"}:
        return False
    cells = _cells(_first_line(text), _mark(suffix))
    return len(cells) in {5, 6} and bool(cells[0].strip()) and _is_box(cells[1:5])


def _is_box(cells: Sequence[str]) -> bool:
    if not any(cell.strip() for cell in cells):
        return True
    try:
        return all(abs(float(cell)) >= 0 for cell in cells)
    except ValueError:
        return False


def _mark(suffix: str) -> str:
    return "\t" if suffix.casefold() == ".tsv" else ","


def _read_headless(file: Path, found: Collector) -> None:
    wide = found.settings.boxes == "xywh"
    lines = csv.reader(io.StringIO(source_text(file), newline=""), delimiter=_mark(file.suffix))
    for cells in _lines(lines, file):
        place = Place(file, f"line {lines.line_num}")
        if len(cells) not in {5, 6}:
            raise box_error(
                n_(
                    "{n:,} cell, expected path, x1, y1, x2, y2, class",
                    "{n:,} cells, expected path, x1, y1, x2, y2, class",
                    len(cells),
                ),
                place,
            )
        image = found.image(cells[0].strip(), place)
        if image is not None and any(cell.strip() for cell in cells[1:5]):
            named: JsonObject = dict(zip(_ROLES, cells[1:5], strict=True))
            box = _box(named, {role: role for role in _ROLES}, place, wide=wide)
            found.add(image, Drawn(box, place))


def _lines(lines: Iterator[list[str]], file: Path) -> Iterator[list[str]]:
    try:
        yield from (cells for cells in lines if any(cells))
    except csv.Error as error:
        raise DataError(
            "not readable as a table: {}", error, file=file, hint="Close the quotes"
        ) from None


def _read_headed(file: Path, rows: Sequence[Row], found: Collector) -> None:
    records, given = [cells for _, cells in rows], found.settings.field
    form = found.settings.boxes or _form_of(records, given)
    fields = map_fields(file, records, _PLACED | _FORMS[form], given)
    sizes = _SIZE if form == "xyxy" else ()
    import_log().columns(fields, [key for key in records[0] if key not in sizes])
    _check_pixels(rows, fields)
    for place, cells in rows:
        name = text_of(cells, fields["image"], place).strip()
        image = found.image(name, place)
        if image is not None:
            box = _box(cells, fields, place, wide=form == "xywh")
            found.add(image, Drawn(box, place, _size(cells, form)))


def _check_pixels(rows: Sequence[Row], fields: Mapping[str, str]) -> None:
    """Check that not every value of a table is a share of the image."""
    if all(0 <= number_in(cells, fields[role], place) <= 1 for place, cells in rows
           for role in _ROLES):  # fmt: skip
        raise box_error(
            _("the boxes of the table are fractions of the image, not pixels"), rows[0].place
        )


def _form_of(records: Sequence[JsonObject], given: Mapping[str, str]) -> str:
    """The convention: xywh where the table has widths and heights and no right and bottom.

    Else xyxy.
    """
    if given:
        return "xyxy"
    return next((form for form in _FORMS if _has(_FORMS[form], list(records[0]))), "xyxy")


def _size(cells: JsonObject, form: str) -> tuple[float, float]:
    """The image's size, where a table of corners has it as width and height (TensorFlow's CSV)."""
    if form != "xyxy" or not all(key in cells for key in _SIZE):
        return (0, 0)
    try:
        wide, high = (float(str(cells[key] or 0)) for key in _SIZE)
    except ValueError:
        return (0, 0)
    return (wide, high)


def _box(cells: JsonObject, fields: Mapping[str, str], place: Place, *, wide: bool) -> Box:
    left, top, right, bottom = (number_in(cells, fields[role], place) for role in _ROLES)
    return Box(
        x0=left, y0=top, x1=left + right if wide else right, y1=top + bottom if wide else bottom
    )


def _read_via(rows: Sequence[Row], found: Collector) -> None:
    for place, cells in rows:
        image = found.image(text_of(cells, "filename", place).strip(), place)
        text = text_of(cells, _VIA, place).strip()
        if image is None or text in {"", "{}"}:
            continue
        try:
            shape = msgspec.json.decode(text, type=ViaShape)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise box_error(_("{} is not readable: {}", _VIA, error), place) from None
        add_via_shape(shape, image, place, found)


_ROLES = ("left", "top", "right", "bottom")
