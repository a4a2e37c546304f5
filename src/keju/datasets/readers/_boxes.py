"""Boxes drawn on pictures: LabelImg's Pascal VOC, one file a picture, or one table for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.boxes import box_fault
from keju.datasets.readers._xml import children, first, name_of, number, parse_xml
from keju.datasets.readers.base import Options, files_under, listed
from keju.datasets.readers.records import Field, Place, map_fields, picture_under, text_of
from keju.datasets.readers.tables import find_table, number_in, read_table
from keju.errors import DataError, UsageError
from keju.items import Box, ImageRef

OPTIONS = {
    "boxes": "xyxy: left, top, right, bottom; xywh: left, top, width, height (default xyxy)",
    "field.NAME": "the column of boxes.csv that holds the NAME: image, left, top, right, bottom",
}

_CORNERS = {
    "image": Field(("image", "filename", "file", "image_path", "img", "name")),
    "left": Field(("xmin", "x_min", "x1", "left", "x")),
    "top": Field(("ymin", "y_min", "y1", "top", "y")),
}
_FORMS = {
    "xyxy": {"right": Field(("xmax", "x2", "right")), "bottom": Field(("ymax", "y2", "bottom"))},
    "xywh": {"right": Field(("width", "w")), "bottom": Field(("height", "h"))},
}


class Drawn(NamedTuple):
    """A box, where it was read, and the size of picture that was drawn on (0 where unsaid)."""

    box: Box
    place: Place
    size: tuple[float, float] = (0, 0)


def boxes_of(folder: Path, pictures: list[Path], options: Options) -> dict[Path, list[Drawn]]:
    """The boxes on each picture of a folder that has an annotation, even an empty one.

    Raises:
        UsageError: an option is none of those above.
        DataError: both forms, or none; a file that is not as its form says; a picture that is not
            there, or that two annotations speak of.
    """
    form = options.get("boxes", "xyxy")
    if form not in _FORMS:
        raise UsageError(f"option boxes={form}: say xyxy or xywh")
    table = find_table(folder, "boxes")
    voc = list(files_under(folder, {"xml"}))
    if table and voc:
        raise DataError(
            f"both {table.name} and {voc[0].name}", file=folder, mend="Keep one form of boxes"
        )
    if table:
        return _from_table(table, folder, _CORNERS | _FORMS[form], options)
    if not voc:
        raise DataError(
            "expected boxes.csv, or a .xml file of LabelImg for each picture; found neither",
            file=folder,
            mend="Put the boxes there",
        )
    return _from_voc(voc, pictures)


def sound(drawn: list[Drawn], ref: ImageRef) -> tuple[Box, ...]:
    """The boxes of a picture, each inside it, and once where it stands there twice.

    Raises:
        DataError: a box without area or outside, or drawn on a picture of another size.
    """
    for box, place, size in drawn:
        wrong = box_fault(box, (ref.width, ref.height))
        if size[0] and size[1] and size != (ref.width, ref.height):
            wrong = (
                f"was drawn on a picture of {size[0]:g}x{size[1]:g} pixels; "
                f"this one has {ref.width}x{ref.height}"
            )
        if wrong:
            raise DataError(
                f"the box {wrong}",
                file=place.file,
                item=place.item,
                mend="Draw it again, or put the picture there that it was drawn on",
            )
    return tuple(dict.fromkeys(each.box for each in drawn))


def _from_table(
    file: Path, folder: Path, wanted: Mapping[str, Field], options: Options
) -> dict[Path, list[Drawn]]:
    rows = read_table(file)
    fields = map_fields(file, [cells for _, cells in rows], wanted, options)
    wide = options.get("boxes") == "xywh"
    found: dict[Path, list[Drawn]] = {}
    missing: dict[str, str] = {}
    for place, cells in rows:
        name = text_of(cells, fields["image"], place).strip()
        picture = picture_under((folder, folder / "images"), name, place)
        if picture is None:
            missing.setdefault(name, place.item)
            continue
        left, top, right, bottom = (
            number_in(cells, fields[role], place) for role in ("left", "top", "right", "bottom")
        )
        box = Box(
            x0=left,
            y0=top,
            x1=left + right if wide else right,
            y1=top + bottom if wide else bottom,
        )
        found.setdefault(picture, []).append(Drawn(box, place))
    if missing:
        names = listed(f"{name} (of {item})" for name, item in missing.items())
        raise DataError(
            f"{len(missing)} pictures are missing: {names}", file=file, mend="Put them there"
        )
    return found


def _from_voc(files: list[Path], pictures: list[Path]) -> dict[Path, list[Drawn]]:
    by_stem: dict[str, list[Path]] = {}
    for path in pictures:
        by_stem.setdefault(path.stem, []).append(path)
    found: dict[Path, list[Drawn]] = {}
    spoken: dict[Path, Path] = {}
    for file in files:
        root = parse_xml(file)
        if name_of(root) != "annotation":
            raise DataError(
                f"its root is <{name_of(root)}>, not <annotation>: not LabelImg's",
                file=file,
                mend="Export it as Pascal VOC",
            )
        picture = _picture_of(file, root, by_stem)
        if picture in spoken:
            raise DataError(
                f"{spoken[picture].name} speaks of {picture.name} too",
                file=file,
                mend="Keep one of them",
            )
        spoken[picture] = file
        found[picture] = list(_voc_boxes(file, root))
    return found


def _picture_of(file: Path, root: etree._Element, by_stem: Mapping[str, list[Path]]) -> Path:
    """The picture of the annotation's own name, beside it if there are several; else the named."""
    said = first(root, "filename")
    written = (said.text or "") if said is not None else ""
    named = Path(written.replace("\\", "/").replace("\0", "")).stem
    for stem in (file.stem, named):
        same = by_stem.get(stem, [])
        beside = [path for path in same if path.parent == file.parent] or same
        if len(beside) > 1:
            raise DataError(
                f"{len(beside)} pictures are called {stem}: {listed(map(str, beside))}",
                file=file,
                mend="Put it beside its own",
            )
        if beside:
            return beside[0]
    raise DataError(
        f"its picture is missing: expected {file.stem}.jpg or another image of that name",
        file=file,
        mend="Put the picture there, or take the annotation out",
    )


def _voc_boxes(file: Path, root: etree._Element) -> Iterator[Drawn]:
    size = tuple(_value(first(root, "size", side), file, "size") for side in ("width", "height"))
    for count, element in enumerate(children(root, "object"), start=1):
        place = Place(file, f"object {count}")
        bounds = first(element, "bndbox")
        if bounds is None or any(first(bounds, side) is None for side in _SIDES):
            raise DataError(
                f"no bndbox with {', '.join(_SIDES)}",
                file=file,
                item=place.item,
                mend="Draw it again",
            )
        left, top, right, bottom = (
            _value(first(bounds, side), file, place.item) for side in _SIDES
        )
        yield Drawn(Box(x0=left, y0=top, x1=right, y1=bottom), place, (size[0], size[1]))


def _value(element: etree._Element | None, file: Path, item: str) -> float:
    return 0.0 if element is None else number((element.text or "").strip(), file=file, item=item)


_SIDES = ("xmin", "ymin", "xmax", "ymax")
