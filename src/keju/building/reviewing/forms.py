"""The formats in which a review is exported and read back, by name."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from keju.building.review_form import ReviewForm, read_review_form
from keju.building.reviewing.coco_boxes import COCO_FILE, read_boxes, write_boxes
from keju.building.reviewing.exported_images import IMAGES
from keju.building.reviewing.label_studio import (
    DOCUMENT_ROOT,
    INTERFACE,
    SERVING,
    TASKS,
    read_tasks,
    write_tasks,
)
from keju.building.reviewing.sheets import SUFFIXES, read_sheet, write_sheet
from keju.building.reviewing.verdicts import Verdict
from keju.datasets.readers.base import source_bytes
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.files import relative_path
from keju.items import Item
from keju.texts import Text, _

Form = Literal["sheet", "label-studio", "coco"]

_WORKBOOKS = (".xls", ".ods", ".numbers")


def export_review(
    form: Form,
    dataset: Dataset,
    items: Sequence[Item],
    out: Path,
    scales: ReviewForm | None = None,
) -> None:
    """Write items for review.

    `out` is a CSV or JSON-lines file for a sheet, else a directory. COCO has no place for marks.

    Raises:
        UsageError: `out` exists, a sheet does not end in .csv or .jsonl, or scales are given for
            COCO.
        DataError: there are no items, or an image cannot be exported.
    """
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError("{} exists already. Choose another --out", out)
    if not items:
        raise DataError(
            "there are no items to review", file=dataset.path, hint="Choose other items"
        )
    if form == "coco" and scales:
        raise UsageError("COCO has no place for marks. Remove the scales")
    scales = scales or read_review_form()
    if form == "sheet":
        if out.suffix not in {".csv", ".jsonl"}:
            raise UsageError("{}: the name of a sheet must end in .csv or .jsonl", out)
        write_sheet(dataset, items, out, scales)
    elif form == "label-studio":
        write_tasks(dataset, items, out, scales)
    else:
        write_boxes(dataset, items, out)


def describe_export(form: Form, dataset: Dataset, out: Path) -> list[Text]:
    """Describe an export to the user: where the images are, and how the tool shows them."""
    if form == "sheet":
        folder = relative_path(dataset.path, out.parent)
        if dataset.packed:
            return [
                _(
                    "The images are stored in the tables of {}, relative to the sheet, and cannot "
                    "be opened as files",
                    folder,
                )
            ]
        return [
            _(
                "The images are in {}, relative to the sheet. The column images contains "
                "their paths",
                folder,
            )
        ]
    lines = [_("The images are in {}", out / IMAGES)]
    if form == "label-studio":
        root = shlex.quote(str(out.resolve().parent))
        start = f"{SERVING}=true {DOCUMENT_ROOT}={root} label-studio start"
        lines += [
            _(
                "Start Label Studio with access to the images: {}. One server can show several "
                "exports of the same folder",
                start,
            ),
            _(
                "In Label Studio, use {} as the labelling interface, add {} as local storage "
                "without syncing it, and import {}. After the review, export as JSON",
                INTERFACE,
                out.resolve() / IMAGES,
                TASKS,
            ),
        ]
    return lines


def read_review(
    src: Path, items: Mapping[str, Item], person: str, scales: ReviewForm | None = None
) -> list[Verdict]:
    """Read the verdicts in a file or directory, in any of the formats.

    `person` is the reviewer if the file does not name one.

    Raises:
        DataError: `src` has none of the formats, or a value is not valid.
    """
    scales = scales or read_review_form()
    if src.suffix.casefold() in SUFFIXES:
        return read_sheet(src, items, person, scales)
    if src.suffix.casefold() == ".zip":
        raise DataError(
            "the file is an archive", file=src, hint="Unpack it. From Label Studio, export as JSON"
        )
    if src.suffix.casefold() in _WORKBOOKS:
        raise DataError(
            "keju does not read this spreadsheet format",
            file=src,
            hint="Save it as .xlsx or as CSV (UTF-8)",
        )
    if src.is_dir() and (src / TASKS).is_file():
        return read_tasks(src / TASKS, items, person, scales)
    if src.is_file() and src.suffix.casefold() == ".json" and _is_list(src):
        return read_tasks(src, items, person, scales)
    boxes = src / COCO_FILE if src.is_dir() else src
    if not boxes.is_file():
        raise DataError(
            "the path contains no review. keju reads sheets, exports of Label Studio, and boxes "
            "as COCO",
            file=src,
            hint="Use the files that the tool exported",
        )
    return read_boxes(boxes, items, person)


def _is_list(file: Path) -> bool:
    return source_bytes(file).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["
