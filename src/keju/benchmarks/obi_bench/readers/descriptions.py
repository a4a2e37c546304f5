"""Tables of descriptions of images, such as ``descriptions.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.image_lookup import image_below
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import find_table, read_table
from keju.texts import _

NAME = "descriptions"

FIELDS = {
    "image": Field(("image", "filename", "file", "image_path", "img")),
    "description": Field(("description", "interpretation", "meaning", "answer", "释义", "釋義")),
    "character": Field(("character", "char", "label", "字"), required=False),
    "subset": Field(("subset", "kind", "type"), required=False),
    "frequency": Field(("frequency", "count", "f"), required=False),
}


class Description(NamedTuple):
    """One line: an image, its description, and what else the table has."""

    path: Path
    place: Place
    description: str
    character: str
    subset: str
    frequency: int | None


def descriptions_in(folder: Path, given: Path | None) -> dict[Path, str]:
    """The descriptions of images, from the given table or that in a folder.

    A description may be empty, as in a table that is yet to be filled in.

    Raises:
        DataError: the table is not as it should be.
    """
    file = given or find_table(folder, NAME)
    if file is None:
        return {}
    rows = read_descriptions(file, may_be_empty=True, folder=folder if given else None)
    return {each.path: each.description for each in rows}


def read_descriptions(
    file: Path,
    given: Mapping[str, str] | None = None,
    *,
    may_be_empty: bool = False,
    folder: Path | None = None,
) -> Iterator[Description]:
    """The lines of a table of descriptions.

    Args:
        file: the table.
        given: names of columns by field.
        may_be_empty: whether a description may be empty, as of an undeciphered character.
        folder: what images are named from; by default the table's folder. They may also be in the
            folder ``images`` in it.

    Raises:
        UsageError: a field is mapped that this table has not.
        DataError: a column or an image is missing, a description that must not be empty is empty, a
            frequency is not a whole number, or an image is listed twice.
    """
    rows = read_table(file)
    fields = map_fields(file, [cells for _, cells in rows], FIELDS, given)
    roots = (folder or file.parent, (folder or file.parent) / "images")
    first: dict[Path, str] = {}
    for place, cells in rows:
        said = {role: text_of(cells, fields.get(role), place).strip() for role in FIELDS}
        path = image_below(roots, said["image"], file=place.file, item=place.item)
        if path is None:
            raise place.error(
                _(
                    "the image {!r} is missing",
                    said["image"],
                    hint="Put it there, or remove the line",
                )
            )
        if path in first:
            raise place.error(
                _("{} is in {} too", said["image"], first[path], hint="Keep one of them")
            )
        first[path] = place.item
        if not (said["description"] or may_be_empty):
            raise place.error(_("the description is empty", hint="Write it, or remove the line"))
        frequency = said["frequency"]
        if frequency and not (frequency.isascii() and frequency.isdigit()):
            raise place.error(
                _("the frequency {!r} is not a number", frequency[:20], hint="Write digits")
            )
        yield Description(
            path=path,
            place=place,
            description=said["description"],
            character=said["character"],
            subset=said["subset"],
            frequency=int(frequency) if frequency else None,
        )
