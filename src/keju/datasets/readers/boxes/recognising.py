"""`recognise_boxes`: detect the files with boxes in a source, and their format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.boxes.table import is_table
from keju.datasets.readers.boxes.yolo import read_fractions

HEAD = 1 << 20
"""Bytes at the beginning of a file that determine its format."""

SUFFIXES = frozenset({"xml", "json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "xlsx"})

_OTHER_TABLES = frozenset({"descriptions", "adjacency", "classes", "pairs"})
_OTHER_TEXTS = frozenset({"classes", "train", "val", "valid", "test", "readme", "labels"})


class Recognised(NamedTuple):
    """The files of each format, and unrecognised files that could contain boxes."""

    forms: dict[str, list[PurePosixPath]]
    unknown: list[PurePosixPath]


def recognise_boxes(
    files: Iterable[PurePosixPath],
    text: Callable[[PurePosixPath], str],
    images: Iterable[PurePosixPath],
) -> Recognised:
    """Group files by their format of boxes; `text` returns the beginning of one.

    A text file is YOLO's only where it has the name of an image.
    """
    stems = {path.stem.casefold() for path in images}
    found = Recognised({}, [])
    texts: list[tuple[PurePosixPath, bool | None]] = []
    for path in files:
        suffix = path.suffix.casefold()
        if suffix.lstrip(".") not in SUFFIXES or path.stem.casefold() in _OTHER_TABLES:
            continue
        if suffix == ".txt":
            if _may_be_labels(path, stems):
                texts.append((path, _is_yolo(text(path))))
            continue
        form = "voc" if suffix == ".xml" else _form_of(path, suffix, text(path))
        if form:
            found.forms.setdefault(form, []).append(path)
        else:
            found.unknown.append(path)
    if any(yolo for _, yolo in texts):
        found.forms["yolo"] = [path for path, _ in texts]
    else:
        found.unknown.extend(path for path, _ in texts)
    return found


def _may_be_labels(path: PurePosixPath, stems: set[str]) -> bool:
    stem = path.stem.casefold()
    return stem in stems or ("labels" in path.parts[:-1] and stem not in _OTHER_TEXTS)


def _is_yolo(text: str) -> bool | None:
    """Whether the first line is YOLO's; None for an empty text: an image without boxes."""
    lines = [line for line in text[:100_000].split("\n")[:50] if line.strip()]
    if not lines:
        return None
    return read_fractions(lines[0]) is not None


def _form_of(path: PurePosixPath, suffix: str, text: str) -> str:
    if suffix in {".parquet", ".xlsx"}:
        return "table" if path.stem == "boxes" else ""
    if suffix in {".csv", ".tsv"}:
        return "table" if path.stem == "boxes" or is_table(text, suffix) else ""
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start == "{" and suffix == ".json":
        form = next((form for form, pattern in _OBJECTS if pattern.search(text)), "")
        return form if form != "coco" or _COCO.search(text) else ""
    if start == "[":
        return next((form for form, pattern in _LISTS if pattern.search(text)), "") or (
            "table" if path.stem == "boxes" else ""
        )
    return "table" if path.stem == "boxes" else ""


_OBJECTS = (
    ("yinqiwenyuan", re.compile(r'"ann"\s*:\s*\[')),
    ("labelme", re.compile(r'"shapes"\s*:\s*\[|"imageData"\s*:\s*"')),
    ("via", re.compile(r'"_via_img_metadata"\s*:|"shape_attributes"\s*:|"regions"\s*:\s*[\[{]')),
    ("coco", re.compile(r'"(images|annotations)"\s*:\s*\[\s*\{')),
)
_LISTS = (
    ("createml", re.compile(r'"coordinates"\s*:\s*\{')),
    ("yinqiwenyuan", re.compile(r'"ann"\s*:\s*\[')),
)
_COCO = re.compile(r'"(file_name|bbox)"\s*:')
