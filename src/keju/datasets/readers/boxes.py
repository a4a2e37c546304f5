"""Boxes on images in the forms that annotation tools and releases write: `annotations_in`.

A form is "which list has the images, which field names one, how numbers mean a box": ``boxes.toml``
declares each, and one engine reads them. YOLO's lines and tables become such records first.
`fit_boxes` converts the boxes to pixels of the upright image; `boxes_in` reads those that a cell of
a table has as an answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import msgspec
from lxml import etree
from msgspec.structs import replace

from keju.datasets.checks import box_fault
from keju.datasets.import_log import import_log
from keju.datasets.readers.base import files_under, join_names, plain_file, source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.listing import HEAD
from keju.datasets.readers.records import JsonObject, Place, cell_text
from keju.datasets.readers.tables import all_rows
from keju.datasets.readers.xml_parsing import LARGEST, children, name_of, parse_xml
from keju.errors import DataError, shortened
from keju.files import json_problem, shipped_toml
from keju.images import decoding, open_header, orientation_of, upright_size
from keju.items import Box, ImageRef
from keju.texts import Text, _, n_

MOST_BOXES = 10_000
"""Maximum number of boxes of one image. The densest rubbings have some hundred characters."""

LARGEST_SHARE = 2.0
"""Largest coordinate as a share of the image; 1 is its edge."""

_DECIMALS = 2
"""Decimals of a pixel, for boxes that are shares of an image: tools write shares with six decimals.
"""

SUFFIXES = frozenset({"xml", "json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "xlsx"})

_OTHER_TABLES = frozenset({"descriptions", "adjacency", "classes", "pairs"})
_OTHER_TEXTS = frozenset({"classes", "train", "val", "valid", "test", "readme", "labels"})


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A form of annotations.

    Attributes:
        title: its name for users.
        signs: patterns that are all found in the beginning of a JSON file.
        images: the key of the images, whose objects are also read without it. Where there is none,
            a file that is an object annotates the image that is called as the file.
        image: fields that name the image; the first with a value counts.
        record: the word for an image's record in errors.
        size: the fields with the width and height of the annotated image.
        boxes: the keys of an image's boxes; the first with a value counts.
        box: the word for a box in errors.
        by_id: the boxes of all images are in one list, and have the image's ``id`` as ``image_id``.
        numbers: the fields with the four numbers of a box, or the one field with a list of them.
        convention: what they mean: two corners, a corner and the size, or the centre and the size.
        points: where there are no numbers, the field with lists of x, y, x, y …, whose bounding box
            is the box.
        relative: whether coordinates are shares of the image.
        kind: the field with the kind of a shape.
        kinds: the kinds that are read; others are counted.
        crowd: a field that marks the box of several characters, which is counted and not read.
    """

    title: str
    signs: list[str] = []
    images: str = ""
    image: list[str] = []
    record: str = ""
    size: list[str] = []
    boxes: list[str] = []
    box: str = ""
    by_id: bool = False
    numbers: list[str] = []
    convention: Literal["xyxy", "xywh", "cxcywh"] = "xyxy"
    points: str = ""
    relative: bool = False
    kind: str = ""
    kinds: list[str] = []
    crowd: str = ""


FORMS = shipped_toml("keju.datasets.readers", "boxes.toml", dict[str, Form])
"""The forms of annotations, by name."""

_TABLES = (
    FORMS["table"],
    replace(FORMS["table"], numbers=["x", "y", "width", "height"], convention="xywh", size=[]),
)


class Drawn(NamedTuple):
    """A box, and its position in the source.

    Attributes:
        box: its corners, in pixels, or as shares of the image where `relative` is set.
        place: the file and the record in it.
        size: width and height of the image that was annotated; 0 where the file does not state it.
        relative: whether the corners are shares of the image's width and height, as in YOLO.
    """

    box: Box
    place: Place
    size: tuple[float, float] = (0, 0)
    relative: bool = False


class Annotations(NamedTuple):
    """The boxes on each image that has an annotation, even an empty one; and notes for the user.

    `files` has the annotation file of each such image.
    """

    of: dict[Path, list[Drawn]]
    files: dict[Path, Path]
    notes: list[str]


# ---- finding files


def recognise_boxes(
    files: Iterable[PurePosixPath],
    text: Callable[[PurePosixPath], str],
    images: Iterable[PurePosixPath],
) -> tuple[dict[str, list[PurePosixPath]], list[PurePosixPath]]:
    """The files of each form of boxes, and unrecognised ones that could contain boxes.

    `text` returns the beginning of a file. A text file is YOLO's only where it has the name of an
    image, or is in a folder of labels.
    """
    stems = {path.stem.casefold() for path in images}
    forms: dict[str, list[PurePosixPath]] = {}
    unknown: list[PurePosixPath] = []
    labels: list[PurePosixPath] = []
    for path in files:
        stem, suffix = path.stem.casefold(), path.suffix.casefold()
        if suffix.lstrip(".") not in SUFFIXES or stem in _OTHER_TABLES:
            continue
        if suffix == ".txt":
            if stem in stems or ("labels" in path.parts[:-1] and stem not in _OTHER_TEXTS):
                labels.append(path)
        elif form := _form_of(path.stem, suffix, text(path)):
            forms.setdefault(form, []).append(path)
        else:
            unknown.append(path)
    lines = (text(path)[:100_000].split("\n")[:50] for path in labels)
    if any(_yolo_shares(next(filter(str.strip, rows), "")) for rows in lines):
        return {**forms, "yolo": labels}, unknown
    return forms, [*unknown, *labels]


def _form_of(stem: str, suffix: str, text: str) -> str:
    """The form of a file, by the beginning of its text; empty where it has none."""
    if suffix == ".xml":
        return "voc"
    text = text.lstrip("\ufeff \t\r\n")
    if "json" in suffix:
        for name, form in FORMS.items():
            if form.signs and all(re.search(sign, text) for sign in form.signs):
                return name
        if suffix == ".json" and text.startswith("{"):
            return ""
    columns = set(re.findall(r'[^,;\t"\s]+', text.partition("\n")[0]))
    is_head = suffix in {".csv", ".tsv"} and any({*form.numbers} <= columns for form in _TABLES)
    return "table" if is_head or stem == "boxes" else ""


def _head(path: Path) -> str:
    """Beginning of a file as text; characters of other encodings do not affect the form."""
    with plain_file(path).open("rb") as file:
        data = file.read(HEAD)
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if wide else "utf-8", "replace").replace("\r\n", "\n")


# ---- the boxes of images


def annotations_in(
    folder: Path, images: Sequence[Path], *, skip_missing: bool = False
) -> Annotations:
    """The boxes on each image of a directory that has an annotation, even an empty one.

    Raises:
        DataError: no boxes, or boxes in several forms; a file that does not have its form; an image
            that is missing, or that two files have boxes for.
    """
    files, image_paths = (
        [PurePosixPath(path.relative_to(folder).as_posix()) for path in paths]
        for paths in (files_under(folder, SUFFIXES), images)
    )
    forms, unknown = recognise_boxes(files, lambda path: _head(folder / path), image_paths)
    unread = join_names(map(str, unknown))
    if len(forms) != 1:
        names = (f"{FORMS[form].title} ({paths[0]})" for form, paths in forms.items())
        raise DataError(
            "expected boxes as one of {}; found {}{}",
            ", ".join(form.title for form in FORMS.values()),
            join_names(names) or _("none"),
            _(". Not recognised: {}", unread) if unknown else "",
            file=folder,
            hint="Put the files with the boxes into this folder, in one form alone. The first line "
            "of a table has its column names: image,xmin,ymin,xmax,ymax",
        )
    ((form, paths),) = forms.items()
    finder = ImageFinder([folder], images)
    for path in unknown:
        # The boxes of that image would be lost; a damaged file has no form.
        if finder.has_stem(path.stem) and path.suffix.casefold() != ".txt":
            raise DataError(
                "it is not readable as {}, the form of the other boxes",
                FORMS[form].title,
                file=folder / path,
                hint="Correct it, or remove it",
            )
    annotations = collect_boxes(
        form, (folder / path for path in paths), finder, skip_missing=skip_missing
    )
    if unknown:
        annotations.notes.append(_("files not read: {}", unread))
    return annotations


class _Record(NamedTuple):
    """One image in a file: its name, its size where that is stated, and its shapes.

    The place has no item where the file is of this image alone.
    """

    place: Place
    name: str
    size: tuple[float, float]
    shapes: Iterable[tuple[Place, object]]


def collect_boxes(
    name: str, files: Iterable[Path], images: ImageFinder, *, skip_missing: bool = False
) -> Annotations:
    """The boxes in files of one form, on the images of a source.

    Raises:
        DataError: a file does not have the form, or an image is missing, unless such are skipped.
    """
    annotations = Annotations({}, {}, [])
    missing: dict[str, Place] = {}
    skipped: Counter[str] = Counter()
    for file in files:
        form, records = _read(name, file)
        for place, image, size, shapes in records:
            path = images.find(image, place) if place.item else images.beside(file, image)
            if path is None:
                missing.setdefault(image, place)
                continue
            first = annotations.files.setdefault(path, file)
            if first != file:
                hint = _("Keep one of the two files")
                problem = _("{} also has the boxes of {}", shortened(first.name), path.name)
                raise DataError(problem, file=file, hint=hint)
            boxes = annotations.of.setdefault(path, [])
            for where, shape in shapes:
                kind = str(_at(shape, form.kind) or "") if form.kind else ""
                if form.crowd and _at(shape, form.crowd):
                    skipped[_("annotations of crowds")] += 1
                elif form.kind and kind not in form.kinds:
                    skipped[_("{}s of the kind {!r}", form.box, kind[:20])] += 1
                elif len(boxes) == MOST_BOXES:
                    hint = _("Check the file: an image of oracle bones has a few hundred at most")
                    raise where.error(_("more than {} boxes on {}", MOST_BOXES, path.name), hint)
                else:
                    boxes.append(Drawn(_box_of(form, shape, where), where, size, form.relative))
    annotations.notes.extend(_("skipped {} {}", count, word) for word, count in skipped.items())
    if missing:
        places = (_("{!r} (of {})", shortened(name), at.item) for name, at in missing.items())
        note = n_(
            "{n:,} image is missing: {}",
            "{n:,} images are missing: {}",
            len(missing),
            join_names(places),
            hint="Add them, or skip them: --option skip-missing=yes",
        )
        if not skip_missing:
            raise DataError(note, file=next(iter(missing.values())).file)
        annotations.notes.append(_("skipped boxes: {}", note))
    return annotations


# ---- reading a file


def _read(name: str, file: Path) -> tuple[Form, Iterable[_Record]]:
    """The records of a file, and the form of their shapes."""
    form, place = FORMS[name], Place(file, "")
    if name == "table":
        return _read_table(file)
    if name == "yolo":
        return form, [_Record(place, "", (0, 0), _yolo_shapes(file))]
    if name == "voc":
        return form, _records(form, _xml_record(file, form), place)
    try:
        content = msgspec.json.decode(source_text(file))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _faulty(_("not readable as JSON boxes: {}", json_problem(error)), place) from None
    return form, _records(form, content, place)


def _records(form: Form, content: object, file: Place) -> list[_Record]:
    single = isinstance(content, dict) and not form.images
    listed: object = [content] if single else content
    if isinstance(content, dict) and form.images:
        listed = content.get(form.images, content)
    joined: dict[object, list[tuple[Place, object]]] = {}
    if form.by_id:
        for place, shape in _numbered(_at(content, form.boxes[0]), file, form.box):
            joined.setdefault(_id(shape, "image_id", place), []).append((place, shape))
    records: list[_Record] = []
    ids: set[object] = set()
    for place, record in _numbered(listed, file, "" if single else form.record):
        if not isinstance(record, dict):
            raise _faulty(_("expected an object; found {}", type(record).__name__), place)
        names = (cell_text(record.get(field), field, place) for field in form.image)
        name = next(filter(None, names), "")
        if not name and not single:
            raise _faulty(_("it does not name its image: {}", ", ".join(form.image)), place)
        if form.by_id:
            key = _id(record, "id", place)
            if key in ids:
                raise _faulty(_("two images have this id"), place)
            ids.add(key)
            shapes = joined.pop(key, [])
        else:
            value = next(filter(None, map(record.get, form.boxes)), None)
            shapes = list(_numbered(value, place, form.box))
        records.append(_Record(place, name, _size(form, record, place), shapes))
    for image_id, shapes in joined.items():
        raise _faulty(_("no image has the id {}", image_id), shapes[0][0])
    return records


def _id(record: object, field: str, place: Place) -> int | float | str:
    value = _at(record, field)
    if not isinstance(value, int | float | str):
        raise _faulty(_("its {} is not a number or text", field), place)
    return value


def _numbered(values: object, place: Place, word: str) -> Iterator[tuple[Place, object]]:
    """The values of a list, or of an object by key, each with its place; none of null."""
    values = list(values.values()) if isinstance(values, dict) else values
    if not isinstance(values, list | None):
        raise _faulty(_("expected a list; found {}", type(values).__name__), place)
    for number, value in enumerate(values or (), start=1):
        item = ", ".join(filter(None, (place.item, f"{word} {number}" if word else "")))
        yield Place(place.file, item), value


def _xml_record(file: Path, form: Form) -> JsonObject:
    """An XML file of one image as JSON has it; of several elements of one name, the first."""
    root = parse_xml(file)
    if name_of(root) != "annotation":
        raise DataError(
            "the root element is <{}>, not <annotation>, so this is not a LabelImg file",
            name_of(root),
            file=file,
            hint="Export it as Pascal VOC",
        )
    record = {name_of(child): _xml_value(child) for child in reversed(root)}
    return record | {form.boxes[0]: [_xml_value(child) for child in children(root, *form.boxes)]}


def _xml_value(element: etree._Element) -> object:
    if not len(element):
        return (element.text or "").strip()
    return {name_of(child): _xml_value(child) for child in reversed(element)}


def _yolo_shapes(file: Path) -> Iterator[tuple[Place, object]]:
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        place, shares = Place(file, f"line {number}"), _yolo_shares(line)
        if shares is None or not all(abs(share) <= LARGEST_SHARE for share in shares):
            hint = _("Write class, centre and size as fractions of the image: 0 0.5 0.5 0.2 0.1")
            raise place.error(_("{!r} is not a line of a YOLO file", line.strip()[:60]), hint)
        yield place, {"box": shares} if len(shares) == 4 else {"outline": [shares]}


def _yolo_shares(line: str) -> list[float] | None:
    """The numbers after the class of a line; None if it is not a line of YOLO."""
    label, *words = line.split() or [""]
    if not label.isascii() or not label.isdigit() or len(words) < 4 or len(words) % 2:
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return None


def _read_table(file: Path) -> tuple[Form, list[_Record]]:
    """The records of a table with a line for each box, or for an image without boxes."""
    rows = all_rows(file)
    columns = list(rows[0].cells)
    form = next((form for form in _TABLES if {*form.numbers} <= {*columns}), None)
    image = next((name for name in FORMS["table"].image if name in columns), "")
    if not image or not form:
        names = " or ".join(FORMS["table"].image)
        problem = _("a column for the image ({}) or for its box is missing", names)
        hint = _("Name the columns image,xmin,ymin,xmax,ymax, or image,x,y,width,height")
        raise DataError(problem, file=file, hint=hint)
    used = {"image": image} | {number: number for number in form.numbers}
    import_log().columns(used, [name for name in columns if name not in form.size])
    records: list[_Record] = []
    largest = 0.0
    for place, cells in rows:
        numbers = [_at(cells, side) for side in form.numbers]
        stated = any(number not in (None, "") for number in numbers)
        if stated and largest <= 1:
            sides = zip(numbers, form.numbers, strict=True)
            largest = max(largest, *(abs(_number(place, *side)) for side in sides))
        name = cell_text(cells.get(image), image, place).strip()
        shapes = [(place, cells)] if stated else []
        records.append(_Record(place, name, _size(form, cells, place), shapes))
    if 0 < largest <= 1:
        problem = _("the boxes of the table are fractions of the image, not pixels")
        raise _faulty(problem, rows[0].place)
    return form, records


# ---- numbers that mean a box


def _box_of(form: Form, shape: object, place: Place) -> Box:
    """The box of a shape.

    Raises:
        DataError: it has no box, or not numbers of a size that an image can have.
    """
    fields = form.numbers
    if len(fields) == 1:
        values, fields = _at(shape, fields[0]), fields * 4
    else:
        values = [_at(shape, field) for field in fields]
    if form.points and (not isinstance(values, list) or not values or values[0] is None):
        return _bounding_box(shape, form.points, place)
    if not isinstance(values, list) or len(values) != 4:
        raise _faulty(_("{} is not a list of four numbers", fields[0]), place)
    x, y, right, bottom = [
        # Most are plain numbers, of which there may be millions.
        float(value)
        if type(value) in {int, float} and -LARGEST <= value <= LARGEST
        else _number(place, value, field)
        for value, field in zip(values, fields, strict=True)
    ]
    if form.convention == "xywh":
        return Box(x0=x, y0=y, x1=x + right, y1=y + bottom)
    if form.convention == "cxcywh":
        return Box(x0=x - right / 2, y0=y - bottom / 2, x1=x + right / 2, y1=y + bottom / 2)
    return Box(x0=x, y0=y, x1=right, y1=bottom)


def _bounding_box(shape: object, field: str, place: Place) -> Box:
    """The box around points."""
    lists = _at(shape, field)
    if not isinstance(lists, list) or not all(isinstance(values, list) for values in lists):
        raise _faulty(_("{} is not a list of points", field), place)
    numbers = [[_number(place, value, field) for value in values] for values in lists]
    xs, ys = ([number for row in numbers for number in row[start::2]] for start in (0, 1))
    if not xs or len(xs) != len(ys):
        raise _faulty(_("the shape has no points, or unequal numbers of x and y"), place)
    return Box(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys))


def _size(form: Form, record: JsonObject, place: Place) -> tuple[float, float]:
    """The size of the annotated image; 0 where it is not stated."""
    sides = [_number(place, _at(record, field) or 0, field) for field in form.size] or [0.0, 0.0]
    return sides[0], sides[1]


def _number(place: Place, value: object, field: str) -> float:
    """A number, also one written as a text, of a size that an image can have."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        shown = "" if value is None else str(value)[:40]
        raise _faulty(_("{!r} is not a number (field {})", shown, field), place)
    if abs(number) > LARGEST:
        raise _faulty(_("{} is too large for an image (field {})", str(value)[:40], field), place)
    return number


def _at(value: object, path: str) -> object:
    """The value at a path of keys and indices with points between; None where there is none."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for key in path.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _faulty(problem: str, place: Place) -> DataError:
    """The error about one record of an annotation file."""
    return place.error(problem, _("Correct it, or export it again"))


# ---- boxes on their image


class Canvas(NamedTuple):
    """Size of an image after EXIF rotation, as models see it, and its EXIF orientation, 1 to 8."""

    width: int
    height: int
    orientation: int = 1


class Fitted(NamedTuple):
    """The boxes of an image; how many were `clipped`, `skipped`, listed `twice`; if it `turned`."""

    boxes: tuple[Box, ...]
    counts: Counter[str]


def read_canvas(data: bytes, path: Path) -> Canvas:
    """The size and orientation of an image, from its header.

    Raises:
        DataError: it is not an image that keju reads.
    """
    with decoding(data, str(path)):
        image = open_header(data, name=str(path))
        return Canvas(*upright_size(image), orientation_of(image))


def fit_boxes(drawn: Sequence[Drawn], canvas: Canvas, *, skip_faulty: bool = False) -> Fitted:
    """The boxes of an image in pixels of the upright image.

    Boxes are clipped where they exceed the image by at most one pixel, a rounding error of tools.
    If a file states the size of an image that EXIF rotates by 90 degrees, the size shows in which
    orientation it was annotated: boxes on the stored image are rotated with it. Without a size,
    boxes are assumed to be drawn on the upright image. `skip_faulty` skips boxes without area and
    boxes outside the image.

    Raises:
        DataError: a box without area or outside, or drawn on an image of another size.
    """
    boxes: list[Box] = []
    counts: Counter[str] = Counter()
    for annotation in drawn:
        box = _in_pixels(annotation, canvas)
        clip = Box(
            x0=max(0.0, box.x0),
            y0=max(0.0, box.y0),
            x1=min(float(canvas.width), box.x1),
            y1=min(float(canvas.height), box.y1),
        )
        fault = box_fault(box, canvas[:2]) or box_fault(clip, canvas[:2])
        if not fault:
            boxes.append(clip)
            counts["clipped"] += clip != box
        elif skip_faulty:
            counts["skipped"] += 1
        else:
            hint = _("Correct it, or skip such boxes: --option skip-faulty=yes")
            raise annotation.place.error(_("the box {}", fault), hint)
    unique = tuple(dict.fromkeys(boxes))
    counts["twice"] = len(boxes) - len(unique)
    if drawn and canvas.orientation > 1:
        sideways = canvas.orientation >= 5 and canvas.width != canvas.height
        counts["turned"] = not (sideways and all(drawn[0].size) and not drawn[0].relative)
    return Fitted(unique, counts)


def box_notes(counts: Mapping[str, int]) -> Iterator[Text]:
    """Notes on the changes of boxes that `fit_boxes` counted."""
    notes = (
        n_(
            "{n:,} box clipped that left the image by a pixel or less",
            "{n:,} boxes clipped that left the image by a pixel or less",
            counts["clipped"],
        ),
        n_(
            "{n:,} box skipped without area or outside the image",
            "{n:,} boxes skipped without area or outside the image",
            counts["skipped"],
        ),
        n_(
            "{n:,} box listed twice and counted once",
            "{n:,} boxes listed twice and counted once",
            counts["twice"],
        ),
        n_(
            "{n:,} image turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            "{n:,} images turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            counts["turned"],
        ),
    )
    return (note for note in notes if note.number)


def _in_pixels(drawn: Drawn, canvas: Canvas) -> Box:
    box, (width, height) = drawn.box, drawn.size
    if drawn.relative:
        return Box(
            x0=round(box.x0 * canvas.width, _DECIMALS), y0=round(box.y0 * canvas.height, _DECIMALS),
            x1=round(box.x1 * canvas.width, _DECIMALS), y1=round(box.y1 * canvas.height, _DECIMALS),
        )  # fmt: skip
    if not (width and height) or drawn.size == canvas[:2]:
        return box
    if canvas.orientation < 5 or (height, width) != canvas[:2]:
        problem = _(
            "the box was drawn on an image of {:g}x{:g} pixels; this one has {}x{}",
            width,
            height,
            canvas.width,
            canvas.height,
        )
        hint = _("Put the image there that was annotated, or annotate this one")
        raise drawn.place.error(problem, hint)
    # The box on the stored image becomes one on the upright image: EXIF orientations 5 to 8 swap
    # the axes.
    x0, x1, y0, y1 = box.y0, box.y1, box.x0, box.x1
    if canvas.orientation in {6, 7}:
        x0, x1 = canvas.width - x1, canvas.width - x0
    if canvas.orientation in {7, 8}:
        y0, y1 = canvas.height - y1, canvas.height - y0
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def boxes_in(cell: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    hint = _("Write [[left, top, right, bottom], …] in pixels, or [] if the image has none")
    if isinstance(cell, str):
        with suppress(msgspec.DecodeError):
            cell = msgspec.json.decode(cell)
    if isinstance(cell, list) and len(cell) == 4 and not isinstance(cell[0], list):
        cell = [cell]
    try:
        corners = msgspec.convert(cell, list[tuple[float, float, float, float]])
    except msgspec.ValidationError:
        problem = _("the answer {!r} is not a list of boxes of four numbers", shortened(str(cell)))
        raise place.error(problem, hint) from None
    boxes = tuple(Box(x0=x0, y0=y0, x1=x1, y1=y1) for x0, y0, x1, y1 in corners)
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise place.error(_("the box {}", fault), hint)
    return boxes
