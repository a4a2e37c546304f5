"""`Records`: the images of a source by class, from their paths alone; no image is opened."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.sources import Rule, SourceFolder, no_images
from keju.datasets.readers.base import check_name, is_litter, join_names, kept_inside
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import Field, map_fields, text_of
from keju.datasets.readers.tables import all_rows, json_in
from keju.errors import DataError, number_of
from keju.images import EXTENSIONS
from keju.texts import _

_SUFFIXES = tuple(f".{suffix}" for suffix in EXTENSIONS)

CHARACTER_TABLES = (
    "id_to_chinese.json", "key&value.json", "key_value.json", "chinese_to_id.json", "classes.csv",
)  # fmt: skip
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

_FIELDS = {"class": Field(("class", "id", "label")), "character": Field(("character", "chinese"))}
_HAN = (("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""


class Record(NamedTuple):
    """The data in the path of an image: its class, the part for ids, and metadata."""

    label: str
    key: str
    fields: Mapping[str, str]


class Records(NamedTuple):
    """The images of a source.

    `classes` maps each class to the names of its images, which are paths from the source's folder
    on; `undeciphered` does so for classes of undeciphered characters. `characters` are those of
    classes or ids, from `characters_file`. `notes` are for the user.
    """

    place: SourceFolder
    rules: tuple[Rule, ...]
    classes: Mapping[str, list[str]]
    undeciphered: Mapping[str, list[str]]
    characters: Mapping[str, str]
    characters_file: Path | None
    notes: tuple[str, ...]

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.place.source.name

    def path(self, name: str) -> Path:
        """The file of an image."""
        return self.place.folder / name

    def record(self, name: str) -> Record:
        """The data in the path of an image."""
        match = _match(self.rules, name)
        if match is None:
            raise _unfit(self.place, name)
        return Record(_label(match), match.groups.get("key", name), match.groups)

    def draw_keys(self, label: str, names: Iterable[str]) -> dict[str, str]:
        """The images of a class by what decides the order in which they are drawn.

        That is the class and the file's name, so that the folders above a class (train, test) do
        not matter; where a file's name exists twice in the class, it is the path.
        """
        by_name = {name: name for name in names}
        short = {f"{label}/{name.rpartition('/')[2]}": name for name in by_name}
        return short if len(short) == len(by_name) else by_name

    def id(self, name: str) -> str:
        """The first part of an item's id."""
        return f"{self.source}/{self.record(name).key}"

    def characters_of(self, *keys: str) -> str:
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
        return next((key for key in keys if _is_han(key)), "")

    def about(self, name: str, label: str) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        source, fields = self.place.source, self.record(name).fields
        code = fields.get("origin", "")
        known = {
            "class": label,
            "file": name,
            "character": self.characters_of(fields.get("id", ""), label),
            "origin": source.origins.get(code, code),
            "era": source.era_of(fields.get("era", "")),
        }
        return source.about | {key: value for key, value in known.items() if value}


def read_records(place: SourceFolder, characters_file: Path | None = None) -> Records:
    """The images of a source by class, as the preset's expressions of paths say.

    Args:
        place: the source.
        characters_file: a table of the classes' characters; by default those in the source are
            used.

    Raises:
        DataError: no images, an image whose path fits no expression, a name that is not UTF-8, a
            link that leads out of the folder, a table of characters that is not readable.
    """
    images, tables = image_names(place.folder)
    if not images:
        raise no_images(place)
    rules = _rules_for(place, images)
    classes: dict[str, list[str]] = {}
    undeciphered: dict[str, list[str]] = {}
    skipped: Counter[str] = Counter()
    for name in images:
        match = _match(rules, name)
        if match is None:
            raise _unfit(place, name)
        if match.rule.skip:
            skipped[match.groups["skipped"]] += 1
            continue
        part = undeciphered if match.rule.undeciphered else classes
        part.setdefault(_label(match), []).append(name)
    if not classes and not undeciphered:
        raise _unfit(place, images[0])
    notes = [f"skipped {number_of(count, 'image')} in {name}" for name, count in skipped.items()]
    file = characters_file or _characters_file(place, tables)
    characters = _read_characters(file, frozenset(classes)) if file else place.source.characters
    return Records(place, rules, classes, undeciphered, characters, file, tuple(sorted(notes)))


def is_release(place: SourceFolder, images: Sequence[str]) -> bool:
    """Whether nine in ten paths have what the names of the release's files have: id or era."""
    rules = _rules_for(place, images)
    if not {"id", "era"} & {group for rule in rules for group in rule.pattern.groupindex}:
        return False
    fits = 0
    for name in images:
        if match := _match(rules, name):
            fits += match.rule.skip or bool(match.groups.keys() & {"id", "era"})
    return 10 * fits >= 9 * len(images)


def _label(match: _Match) -> str:
    label = match.rule.label
    return label.format_map(match.groups) if label else match.groups["class"]


class _Match(NamedTuple):
    """The first expression that fits a path, and its groups that are not empty."""

    rule: Rule
    groups: dict[str, str]


def _match(rules: Sequence[Rule], name: str) -> _Match | None:
    for rule in rules:
        if found := rule.pattern.fullmatch(name):
            return _Match(rule, {key: text for key, text in found.groupdict().items() if text})
    return None


def _rules_for(place: SourceFolder, images: Sequence[str]) -> tuple[Rule, ...]:
    """The expressions of a source; a fallback is among them if no image fits the others."""
    rules = place.source.paths
    first = tuple(rule for rule in rules if not rule.fallback)
    classes = [rule.pattern for rule in first if not rule.skip]
    fits = any(pattern.fullmatch(name) for name in images for pattern in classes)
    return first if fits else rules


def _unfit(place: SourceFolder, name: str) -> DataError:
    expected = next(rule.path for rule in place.source.paths if not rule.skip)
    return DataError(
        "the path of the image fits no expression of the preset, such as {}",
        expected,
        file=place.folder / name,
        hint=_(
            "Move it into its class's folder, or give an expression: --option paths={}",
            "'(.*/)?(?P<class>[^/]+)/[^/]+'",
        ),
    )


def image_names(folder: Path) -> tuple[list[str], list[str]]:
    """The images in a folder, and its tables of characters: paths from the folder on, sorted.

    Raises:
        DataError: a link leads out of the folder, a name is not UTF-8, a folder is not readable.
    """
    images: list[str] = []
    tables: list[str] = []
    links: list[str] = []
    for name, is_link in _walk(folder):
        (images if name.casefold().endswith(_SUFFIXES) else tables).append(name)
        if is_link:
            links.append(name)
    images.sort()
    tables.sort()
    for name in [*tables, *images]:
        if not name.isascii():
            for part in name.split("/"):
                check_name(part, folder / name)
    for name in sorted(links):
        kept_inside(folder / name, folder)
    return images, tables


def _walk(top: Path) -> Iterator[tuple[str, bool]]:
    """The files with a wanted name, from the folder on, and whether each is a link."""
    waiting = [""]
    while waiting:
        before = waiting.pop()
        try:
            entries = list(os.scandir(top / before))
        except OSError as error:
            raise DataError(
                "not readable: {}",
                error.strerror or error,
                file=top / before,
                hint="Change the permissions of the file",
            ) from None
        for entry in entries:
            name = entry.name.casefold()
            if is_litter(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{before}{entry.name}/")
            # `os.DirEntry.is_dir` raises for a loop of links.
            elif (name.endswith(_SUFFIXES) or name in CHARACTER_TABLES) and not (
                entry.is_symlink() and Path(entry.path).is_dir()
            ):
                yield before + entry.name, entry.is_symlink()


def _characters_file(place: SourceFolder, tables: Iterable[str]) -> Path | None:
    """The table of characters in a source: by its name, then the one least deep."""
    files = [place.folder / name for name in tables if not place.source.skips(name)]
    if not files and place.src != place.folder:
        # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
        beside = (path for path in place.src.iterdir() if path.name.casefold() in CHARACTER_TABLES)
        files = [kept_inside(path, place.src) for path in beside]
    order = {name: rank for rank, name in enumerate(CHARACTER_TABLES)}
    return min(
        files,
        key=lambda path: (order[path.name.casefold()], len(path.parts), path),
        default=None,
    )


def _read_characters(file: Path, classes: frozenset[str]) -> dict[str, str]:
    """The characters of classes or ids; in JSON the classes decide which of the two is the key."""
    if file.suffix.casefold() in {".csv", ".tsv"}:
        rows = all_rows(file)
        fields = map_fields(file, [cells for _place, cells in rows], _FIELDS)
        for role, field in fields.items():
            import_log().used(role, field)
        pairs = (
            [text_of(cells, fields[role], place).strip() for role in _FIELDS]
            for place, cells in rows
        )
        return {label: character for label, character in pairs if label}
    content = json_in(file, object)
    if not isinstance(content, dict):
        raise DataError(
            "expected an object of ids and characters", file=file, hint='Write {"0001": "王"}'
        )
    wrong = [key for key, value in content.items() if not isinstance(value, str | int)]
    if wrong:
        raise DataError(
            "expected a text under {}",
            join_names(map(repr, wrong), 3),
            file=file,
            hint='Write {"0001": "王"}',
        )
    characters = {str(key): str(value) for key, value in content.items()}
    forward = sum(key in classes for key in characters)
    backward = sum(value in classes for value in characters.values())
    if backward > forward or (backward == forward and "chinese_to" in file.name.casefold()):
        return {value: key for key, value in characters.items()}
    return characters


def _is_han(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and all(
        any(first <= char <= last for first, last in _HAN) for char in text
    )
