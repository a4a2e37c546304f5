"""Boxes on images in the usual formats of annotation tools and releases.

`annotations_in` reads the boxes of a directory in any of the formats; `fit_boxes` fits those of one
image to its size. Each format has a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import files_under, join_names, plain_file
from keju.datasets.readers.boxes.collecting import Collector
from keju.datasets.readers.boxes.fitting import Canvas, fit_boxes, is_ambiguous, read_canvas
from keju.datasets.readers.boxes.json_forms import (
    read_coco,
    read_createml,
    read_labelme,
    read_via,
    read_yinqiwenyuan,
)
from keju.datasets.readers.boxes.model import Annotations, Drawn
from keju.datasets.readers.boxes.recognising import (
    HEAD,
    SUFFIXES,
    Recognised,
    recognise_boxes,
)
from keju.datasets.readers.boxes.settings import NAMES, BoxSettings
from keju.datasets.readers.boxes.table import read_box_table
from keju.datasets.readers.boxes.voc import read_voc
from keju.datasets.readers.boxes.yolo import read_yolo
from keju.datasets.readers.images import ImageFinder
from keju.errors import DataError
from keju.texts import _, both

__all__ = [
    "NAMES",
    "Annotations",
    "BoxSettings",
    "Canvas",
    "Drawn",
    "annotations_in",
    "collect_boxes",
    "fit_boxes",
    "is_ambiguous",
    "read_canvas",
]  # fmt: skip

_READERS: Mapping[str, Callable[[Path, Collector], None]] = {
    "voc": read_voc,
    "yinqiwenyuan": read_yinqiwenyuan,
    "coco": read_coco,
    "labelme": read_labelme,
    "createml": read_createml,
    "via": read_via,
    "yolo": read_yolo,
    "table": read_box_table,
}


def annotations_in(folder: Path, images: Sequence[Path], settings: BoxSettings) -> Annotations:
    """The boxes on each image of a directory that has an annotation, even an empty one.

    Raises:
        UsageError: a name is given for a column that a table of boxes does not have.
        DataError: no boxes, or boxes in several formats; a file that does not have its format; an
            image that is missing, or that two files have boxes for.
    """
    index = ImageFinder([folder], images)
    relative = [PurePosixPath(path.relative_to(folder).as_posix()) for path in images]
    files = [
        PurePosixPath(path.relative_to(folder).as_posix()) for path in files_under(folder, SUFFIXES)
    ]
    recognised = recognise_boxes(files, partial(_head, folder), relative)
    form = settings.form or _only_form(recognised, folder)
    chosen = [folder / path for path in recognised.forms.get(form, [])]
    if not chosen:
        raise _no_boxes(recognised, folder, NAMES[form])
    unread = _unread(recognised, form, index, folder)
    found = collect_boxes(form, chosen, index, settings)
    return found._replace(notes=(*found.notes, *unread))


def collect_boxes(
    form: str, files: Iterable[Path], images: ImageFinder, settings: BoxSettings
) -> Annotations:
    """The boxes in files of one format, on the images of a source.

    Raises:
        DataError: a file does not have the format, or an image is missing.
    """
    found = Collector(images, settings)
    for file in files:
        _READERS[form](file, found)
    return Annotations(form, found.of, found.files, found.notes())


def _head(folder: Path, path: PurePosixPath) -> str:
    """Beginning of a file as text; characters of other encodings do not affect the detection."""
    with plain_file(folder / path).open("rb") as file:
        data = file.read(HEAD)
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if wide else "utf-8", "replace").replace("\r\n", "\n")


def _only_form(recognised: Recognised, folder: Path) -> str:
    forms = recognised.forms
    if not forms:
        raise _no_boxes(recognised, folder, "")
    if len(forms) > 1:
        shown = [f"{NAMES[form]} ({paths[0]})" for form, paths in forms.items()]
        first, *__ = forms
        raise DataError(
            "boxes in {} forms: {}",
            len(forms),
            both(shown),
            file=folder,
            hint=_("Keep one of them, or choose: --option form={}", first),
        )
    return next(iter(forms))


def _no_boxes(recognised: Recognised, folder: Path, form: str) -> DataError:
    other = f" Not recognised: {join_names(map(str, recognised.unknown))}." * bool(
        recognised.unknown
    )
    return DataError(
        f"expected boxes as {form or ', '.join(NAMES.values())}; found none.{other}".rstrip("."),
        file=folder,
        hint=_("Put the files with the boxes into this folder"),
    )


def _unread(recognised: Recognised, form: str, index: ImageFinder, folder: Path) -> tuple[str, ...]:
    """A note on the files that are not read.

    One with the name of an image is an error, since its boxes would be lost.
    """
    for path in recognised.unknown:
        if index.has_stem(path.stem) and path.suffix.casefold() != ".txt":
            raise DataError(
                "it is not readable as {}, the form of the other boxes",
                NAMES[form],
                file=folder / path,
                hint="Correct it, or remove it",
            )
    if not recognised.unknown:
        return ()
    return (f"files not read: {join_names(map(str, recognised.unknown))}",)
