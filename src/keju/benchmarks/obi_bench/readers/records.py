"""`Records`: the images of a source by class, from their paths alone; no image is opened.

`read_descriptions` reads the table ``descriptions`` of a source: what its images show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.sources import SourceFolder, images_in
from keju.datasets.readers.base import files_under, kept_inside
from keju.datasets.readers.images import image_below
from keju.datasets.readers.records import Field, map_fields, text_of
from keju.datasets.readers.tables import all_rows, find_table, json_in
from keju.errors import DataError
from keju.text import all_han
from keju.texts import _, n_

CHARACTER_TABLES = ("id_to_chinese.json", "key&value.json")
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

DESCRIPTIONS = "descriptions"

_COLUMNS = {
    name: Field((name,), required=name in {"image", "description"})
    for name in ("image", "description", "character", "subset", "frequency")
}
_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""


class Crop(NamedTuple):
    """An image of a class: its source, its path in it, the part of the path for ids, its class."""

    place: SourceFolder
    name: str
    key: str
    label: str

    @property
    def path(self) -> Path:
        """Its file."""
        return self.place.folder / self.name

    @property
    def id(self) -> str:
        """Its name in ids and notes."""
        return f"{self.place.source.name}/{self.key}"

    @property
    def owner(self) -> str:
        """Its class, after its source."""
        return f"{self.place.source.name}/{self.label}"


class Records(NamedTuple):
    """The images of a source.

    `classes` maps each class to its images. `characters` are those of classes or ids. `notes` are
    for the user.
    """

    place: SourceFolder
    classes: Mapping[str, list[Crop]]
    characters: Mapping[str, str]
    notes: Sequence[str]

    @property
    def crops(self) -> list[Crop]:
        """All images."""
        return list(chain(*self.classes.values()))

    def character_of(self, *keys: str) -> str:
        """The character of the first of these ids or classes that has one; empty if unknown.

        The ids of merged classes are joined by ``_``: each has its character. A class that is
        called after its character needs no table.
        """
        for key in keys:
            if character := self.characters.get(key) or self.characters.get(key.lstrip("0")):
                return character
        for key in keys:
            parts = [self.characters.get(part, "") for part in key.split("_")]
            if joined := "".join(dict.fromkeys(parts)):
                return joined
        return next((key for key in keys if 0 < len(key) <= _LONGEST and all_han(key)), "")

    def about(self, crop: Crop) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        source = self.place.source
        _reason, groups = source.match(crop.name)
        code = groups.get("origin", "")
        known = {
            "class": crop.label,
            "file": crop.name,
            "character": self.character_of(groups.get("id", ""), crop.label),
            "origin": source.origins.get(code, code),
            "era": source.eras.get(groups.get("era", "").upper(), ""),
        }
        return source.about | {key: value for key, value in known.items() if value}


def read_records(place: SourceFolder, *, strict: bool = True) -> Records:
    """The images of a source by class, as the preset's expressions of paths say.

    Args:
        place: the source.
        strict: refuse an image whose path fits no expression; else it is in no class.

    Raises:
        DataError: no images, or none that is used; a name that is not UTF-8, a link that leads out
            of the folder, a table of characters that is not readable.
    """
    classes: dict[str, list[Crop]] = {}
    skipped: Counter[str] = Counter()
    names = sorted(images_in(place))
    for name in names:
        reason, groups = place.source.match(name)
        if reason:
            skipped[reason] += 1
        elif groups:
            crop = Crop(place, name, groups.get("key", name), groups["class"])
            classes.setdefault(crop.label, []).append(crop)
        elif strict:
            raise _unfit(place, name)
    if strict and not classes:
        raise _unfit(place, names[0])
    notes = [
        n_("skipped {n:,} image: {}", "skipped {n:,} images: {}", count, name)
        for name, count in sorted(skipped.items())
    ]
    file = _characters_file(place)
    characters = place.source.characters
    if file:
        content = json_in(file, dict[str, str | int])
        characters = {key: str(value) for key, value in content.items()}
    return Records(place, classes, characters, notes)


def _unfit(place: SourceFolder, name: str) -> DataError:
    return DataError(
        "the path of the image is not one of the layout of {}",
        place.source.name,
        file=place.folder / name,
        hint=_(
            "Move or remove it, or add what is missing. See: keju data formats obi-{}",
            place.source.task,
        ),
    )


def _characters_file(place: SourceFolder) -> Path | None:
    """The table of characters in a source: by its name, then the one least deep."""
    files = [
        path
        for path in files_under(place.folder, {"json"})
        if path.name.casefold() in CHARACTER_TABLES
        and not place.source.match(place.name_of(path))[0]
    ]
    # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
    beside = (path for path in place.src.iterdir() if path.name.casefold() in CHARACTER_TABLES)
    files = files or [kept_inside(path, place.src) for path in beside]

    def order(path: Path) -> tuple[int, int, Path]:
        return CHARACTER_TABLES.index(path.name.casefold()), len(path.parts), path

    return min(files, key=order, default=None)


def read_descriptions(place: SourceFolder) -> dict[Path, dict[str, str]] | None:
    """The lines of the table ``descriptions`` by their image; None if the source has no such table.

    A line has a text for each column; a missing cell is empty. Images are named from the source's
    folder on, or from the folder ``images`` in it.

    Raises:
        DataError: the source has several tables, a column or an image is missing, a frequency is
            not a whole number, or an image is listed twice.
    """
    file = find_table(place.folder, DESCRIPTIONS)
    if file is None:
        return None
    rows = all_rows(file)
    fields = map_fields(file, [cells for _place, cells in rows], _COLUMNS)
    folders = (place.folder, place.folder / "images")
    described: dict[Path, dict[str, str]] = {}
    for line, cells in rows:
        texts = {role: text_of(cells, fields.get(role), line).strip() for role in _COLUMNS}
        image, frequency = texts["image"], texts["frequency"]
        path = image_below(folders, image, file=line.file, item=line.item)
        if path is None:
            hint = _("Put it there, or remove the line")
            raise line.error(_("the image {!r} is missing", image), hint)
        if path in described:
            hint = _("Keep one of the two lines")
            raise line.error(_("{} is in an earlier line too", image), hint)
        if frequency and not (frequency.isascii() and frequency.isdigit()):
            problem = _("the frequency {!r} is not a number", frequency[:20])
            raise line.error(problem, _("Write digits"))
        described[path] = texts
    return described
