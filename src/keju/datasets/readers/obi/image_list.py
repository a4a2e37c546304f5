"""``--option items=FILE``: a list of images to import instead of a draw."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import Options, listed, source_text
from keju.datasets.readers.json_records import json_in
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.errors import DataError, shortened

OPTION = (
    "a list of images to import instead of a draw: one path a line, or CSV or JSON with a column "
    "image (and role, where there is one)"
)

_FIELDS = {
    "image": Field(("image", "path", "file", "filename", "img", "image_path", "name")),
    "role": Field(("role", "kind", "use"), required=False),
}
_LABEL = re.compile(r"[ \t,]+\S+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


class ListedImage(NamedTuple):
    """An image of the list: its name in the source, its role (may be empty), and its place."""

    name: str
    role: str
    place: Place


def listed_images(options: Options, names: Iterable[str]) -> list[ListedImage] | None:
    """The images of the list that the option ``items`` names, in its order; None without it.

    A listed path is found by its end: ``../HUST-OBC/deciphered/0157/a.png`` is the image
    ``deciphered/0157/a.png`` of the source.

    Args:
        options: of the import.
        names: the images of the source, paths with ``/``.

    Raises:
        DataError: the list is not readable or empty, an image is not in the source, is in it
            several times, or is listed twice.
    """
    if "items" not in options:
        return None
    file = Path(options["items"])
    ends: dict[str, list[str]] = defaultdict(list)
    for name in names:
        ends[name.rpartition("/")[2]].append(name)
    found: dict[str, ListedImage] = {}
    for path, role, place in _lines(file):
        name = _match(path, ends, place)
        if name in found:
            raise DataError(
                f"{shortened(path)} is also in {found[name].place.item}",
                file=file,
                item=place.item,
                mend="List each image once",
            )
        found[name] = ListedImage(name, role, place)
    if not found:
        raise DataError("the list is empty", file=file, mend="Write one image a line")
    return list(found.values())


def _lines(file: Path) -> Iterator[tuple[str, str, Place]]:
    suffix = file.suffix.casefold()
    if suffix in {".csv", ".tsv", ".jsonl"} or (suffix == ".json" and not _is_list_of_texts(file)):
        rows = read_table(file)
        fields = map_fields(file, [cells for _, cells in rows], _FIELDS)
        for place, cells in rows:
            role = text_of(cells, fields.get("role"), place).strip().casefold()
            yield text_of(cells, fields["image"], place).strip(), role, place
    elif suffix == ".json":
        for number, path in enumerate(json_in(file, list[str]), start=1):
            yield path.strip(), "", Place(file, f"text {number}")
    else:
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            if line.strip():
                yield line.strip(), "", Place(file, f"line {number}")


def _is_list_of_texts(file: Path) -> bool:
    content = json_in(file, object)
    return isinstance(content, list) and bool(content) and isinstance(content[0], str)


def _match(path: str, ends: dict[str, list[str]], place: Place) -> str:
    """The image of the source that a listed path names, as it is or with a class after it."""
    plain = path.replace("\\", "/")
    for text in (plain, _LABEL.sub("", plain)):
        wanted = [part for part in text.split("/") if part not in {"", ".", ".."}]
        same = [name for name in ends.get(wanted[-1] if wanted else "", []) if _fits(wanted, name)]
        longest = max((_common_end(wanted, name) for name in same), default=0)
        best = [name for name in same if _common_end(wanted, name) == longest]
        if len(best) == 1:
            return best[0]
        if best:
            raise DataError(
                f"{shortened(path)!r} may be {listed(best, 3)}",
                file=place.file,
                item=place.item,
                mend="Write the path from the source's folder on",
            )
    raise DataError(
        f"the source has no image {shortened(path)!r}",
        file=place.file,
        item=place.item,
        mend="Write the path from the source's folder on, or remove the line",
    )


def _fits(wanted: list[str], name: str) -> bool:
    """Whether one of the two paths is the end of the other."""
    return _common_end(wanted, name) == min(len(wanted), name.count("/") + 1)


def _common_end(wanted: list[str], name: str) -> int:
    count = 0
    for left, right in zip(reversed(wanted), reversed(name.split("/")), strict=False):
        if left != right:
            break
        count += 1
    return count
