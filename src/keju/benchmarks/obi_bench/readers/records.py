"""`Records`: the images of a source by class, from their paths alone; no image is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.sources import Rule, SourceFolder, images_in
from keju.datasets.readers.base import files_under, kept_inside
from keju.datasets.readers.tables import json_in
from keju.errors import DataError
from keju.text import all_han
from keju.texts import _, n_

CHARACTER_TABLES = ("id_to_chinese.json", "key&value.json")
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

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
    notes: tuple[str, ...]

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.place.source.name

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
        character_keys = (key for key in keys if 0 < len(key) <= _LONGEST and all_han(key))
        return next(character_keys, "")

    def about(self, crop: Crop) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        source = self.place.source
        _rule, fields = next(_matches(source.paths, crop.name))
        code = fields.get("origin", "")
        known = {
            "class": crop.label,
            "file": crop.name,
            "character": self.character_of(fields.get("id", ""), crop.label),
            "origin": source.origins.get(code, code),
            "era": source.eras.get(fields.get("era", "").upper(), ""),
        }
        return source.about | {key: value for key, value in known.items() if value}


def read_records(place: SourceFolder) -> Records:
    """The images of a source by class, as the preset's expressions of paths say.

    Raises:
        DataError: no images, an image whose path fits no expression, a name that is not UTF-8, a
            link that leads out of the folder, a table of characters that is not readable.
    """
    images = sorted(images_in(place))
    classes: dict[str, list[Crop]] = {}
    skipped: Counter[str] = Counter()
    for name in images:
        first = next(_matches(place.source.paths, name), None)
        if first is None:
            raise _unfit(place, name)
        rule, groups = first
        if rule.skip:
            skipped[rule.skip.format_map(groups)] += 1
            continue
        crop = Crop(place, name, groups.get("key", name), groups["class"])
        classes.setdefault(crop.label, []).append(crop)
    if not classes:
        raise _unfit(place, images[0])
    notes = [
        n_("skipped {n:,} image: {}", "skipped {n:,} images: {}", count, name)
        for name, count in skipped.items()
    ]
    file = _characters_file(place)
    characters = _read_characters(file) if file else place.source.characters
    return Records(place, classes, characters, tuple(sorted(notes)))


def is_release(place: SourceFolder, images: Sequence[str]) -> bool:
    """Whether nine in ten paths have what the names of the release's files have: id or era."""
    firsts = (next(_matches(place.source.paths, name), None) for name in images)
    fits = (first and (first[0].skip or first[1].keys() & {"id", "era"}) for first in firsts)
    return 10 * sum(map(bool, fits)) >= 9 * len(images)


def _matches(rules: Iterable[Rule], name: str) -> Iterator[tuple[Rule, dict[str, str]]]:
    """The expressions that fit a path, each with its groups that are not empty."""
    for rule in rules:
        if found := rule.pattern.fullmatch(name):
            yield rule, {key: text for key, text in found.groupdict().items() if text}


def _unfit(place: SourceFolder, name: str) -> DataError:
    return DataError(
        "the path of the image fits no expression of the preset, such as {}",
        next(rule.path for rule in place.source.paths if not rule.skip),
        file=place.folder / name,
        hint=_(
            "Move it into its class's folder, or give an expression: --option paths={}",
            "'(.*/)?(?P<class>[^/]+)/[^/]+'",
        ),
    )


def _characters_file(place: SourceFolder) -> Path | None:
    """The table of characters in a source: by its name, then the one least deep."""
    files = [
        path
        for path in files_under(place.folder, {"json"})
        if path.name.casefold() in CHARACTER_TABLES and not place.source.skips(place.name_of(path))
    ]
    # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
    table_paths = (path for path in place.src.iterdir() if path.name.casefold() in CHARACTER_TABLES)
    files = files or [kept_inside(path, place.src) for path in table_paths]

    def order(path: Path) -> tuple[int, int, Path]:
        return CHARACTER_TABLES.index(path.name.casefold()), len(path.parts), path

    return min(files, key=order, default=None)


def _read_characters(file: Path) -> dict[str, str]:
    """The characters of classes or ids."""
    content = json_in(file, dict[str, str | int])
    return {key: str(value) for key, value in content.items()}
