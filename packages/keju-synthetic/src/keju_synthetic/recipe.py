"""The recipe of a synthetic set, as TOML in one file or with parts beside it.

A recipe has a head (name, licence, seed …), hands, and one section for each family of images.
A family declares the keys of its entries as an `ImageSpec` and reads
its section with `Recipe.read_section`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, field

from keju.errors import DataError, unknown_name
from keju.files import read_toml, sha256_file
from keju.items import Record
from keju.messages import message

FORMAT = "keju-synth-1"

Scan = Literal["colour", "grey", "bitonal"]

Split = Literal["test", "reference"]

PictureId = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]
"""Small letters, digits and hyphens; items are named after it."""

Difficulty = Annotated[float, Meta(ge=0, le=1)]
Height = Annotated[int, Meta(ge=64, le=6000)]
"""Pixels of an image from top to bottom."""

Places = Annotated[int, Meta(ge=1, le=100)]
"""Columns of a page, or characters of a column."""

Ratio = Annotated[float, Meta(gt=0, le=10)]
Amount = Annotated[float, Meta(ge=0, le=1000)]

T = TypeVar("T")
S = TypeVar("S", bound="ImageSpec")


class ImageSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of every image of a recipe: a unique id, and a split."""

    id: PictureId
    split: Split = "test"


class HandSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hand: a font, and its typesetting.

    `width` squeezes the character (1 = as designed), `fill` is the em against the cell, `weight`
    thickens (> 0) or thins (< 0) the strokes, `sway` is how far characters leave the middle and
    the upright (in parts of the em), `vary` how far the corners of each character are pulled out
    of shape, so that no two alike are equal. `forms` are characters that this hand writes in
    another form; the reference follows what is drawn. `script` is the name of the script style in
    simplified Chinese.
    """

    family: str
    style: str
    licence: str
    script: str = "楷书"
    width: Ratio = 1.0
    fill: Ratio = 1.0
    weight: Annotated[float, Meta(ge=-0.4, le=0.4)] = 0.0
    sway: Annotated[float, Meta(ge=0, le=0.5)] = 0.01
    vary: Annotated[float, Meta(ge=0, le=0.2)] = 0.02
    forms: dict[str, str] = field(default_factory=dict)


class _Head(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: str
    name: str
    version: str
    licence: str
    seed: Annotated[int, Meta(ge=0)]
    quality: Annotated[int, Meta(ge=1, le=95)] = 78
    include: tuple[str, ...] = ()


class _Entry(NamedTuple):
    """One entry of a file, not yet read by its family."""

    file: Path
    place: str
    values: dict[str, Any]


class Recipe(NamedTuple):
    """A whole synthetic set.

    `sections` are the entries by family, in their order in the files; `files` is the SHA-256 of the
    recipe and of its parts, by the names that the recipe uses.
    """

    name: str
    version: str
    licence: str
    seed: int
    quality: int
    hands: Mapping[str, HandSpec]
    sections: Mapping[str, tuple[_Entry, ...]]
    files: Mapping[str, str]

    def read_section(self, section: str, shape: type[S]) -> tuple[S, ...]:
        """The entries of a section, each as its family declares it.

        Raises:
            DataError: an entry does not fit; names the file, the entry and the key.
        """
        return tuple(_convert_entry(entry, shape) for entry in self.sections.get(section, ()))

    def find_hand(self, name: str, *, image_id: str) -> HandSpec:
        """The hand called `name`.

        Raises:
            DataError: the recipe has no such hand.
        """
        try:
            return self.hands[name]
        except KeyError:
            raise DataError(unknown_name(name, self.hands, "hand"), item=image_id) from None


def read_recipe(path: Path, sections: Iterable[str]) -> Recipe:
    """Read a recipe and the parts that it includes.

    Args:
        path: the recipe; its parts are in its folder or below it.
        sections: the names of the known sections.

    Raises:
        DataError: the file is not a recipe of this format, a section is unknown, a hand or an id
            occurs twice, or a part is missing or outside the recipe's folder.
    """
    known = frozenset(sections)
    whole = read_toml(path, dict[str, Any])
    head = _read_head(
        path, {key: whole[key] for key in whole if key not in known | {"hands"}}, known
    )
    bodies = [(path, whole)]
    files = {path.name: sha256_file(path)}
    for name in head.include:
        part = _resolve_part(path, name)
        body = read_toml(part, dict[str, Any])
        for key in body:
            if key not in known and key != "hands":
                raise _make_key_error(part, key, {"hands", *known})
        bodies.append((part, body))
        files[name] = sha256_file(part)
    entries = {
        section: tuple(e for file, body in bodies for e in _list_entries(file, section, body))
        for section in sorted(known)
    }
    _check_unique(entry for each in entries.values() for entry in each)
    return Recipe(
        head.name, head.version, head.licence, head.seed, head.quality,
        _read_hands(bodies), entries, files,
    )  # fmt: skip


def _read_head(path: Path, values: dict[str, Any], known: frozenset[str]) -> _Head:
    for key in values:
        if key not in _Head.__struct_fields__:
            raise _make_key_error(path, key, {*_Head.__struct_fields__, "hands", *known})
    head = _convert(values, _Head, path)
    if head.format != FORMAT:
        raise DataError(
            message("synthetic.recipe-format", format=head.format, expected=FORMAT), file=path
        )
    return head


def _make_key_error(path: Path, key: str, known: Iterable[str]) -> DataError:
    names = ", ".join(sorted(known))
    return DataError(
        message("synthetic.recipe-key-unknown", key=key, known=names), file=path, item=key
    )


def _resolve_part(recipe: Path, name: str) -> Path:
    where = PurePosixPath(name)
    if where.is_absolute() or ".." in where.parts or not where.name:
        raise DataError(message("synthetic.file-outside", name=name), file=recipe)
    return recipe.parent / where


def _list_entries(file: Path, section: str, body: dict[str, Any]) -> Iterable[_Entry]:
    found = body.get(section, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        problem = message("synthetic.not-a-list-of-tables", section=section)
        raise DataError(problem, file=file, item=section)
    for number, values in enumerate(found, start=1):
        named = values.get("id")
        place = named if isinstance(named, str) and named.strip() else f"{section} {number}"
        yield _Entry(file, place, values)


def _check_unique(entries: Iterable[_Entry]) -> None:
    seen: set[object] = set()
    for entry in entries:
        if "id" in entry.values and entry.place in seen:
            raise DataError(message("synthetic.id-twice"), file=entry.file, item=entry.place)
        seen.add(entry.place)


def _read_hands(bodies: list[tuple[Path, dict[str, Any]]]) -> dict[str, HandSpec]:
    hands: dict[str, HandSpec] = {}
    for file, body in bodies:
        for name, hand in _convert(body.get("hands", {}), dict[str, HandSpec], file).items():
            if name in hands:
                raise DataError(message("synthetic.hand-twice"), file=file, item=name)
            hands[name] = hand
    return hands


def _convert_entry(entry: _Entry, shape: type[S]) -> S:
    try:
        return msgspec.convert(entry.values, type=shape)
    except msgspec.ValidationError as error:
        problem = message("synthetic.entry-invalid", reason=str(error))
        raise DataError(problem, file=entry.file, item=entry.place) from None


def _convert(values: object, shape: type[T], path: Path) -> T:
    try:
        return msgspec.convert(values, type=shape)
    except msgspec.ValidationError as error:
        raise DataError(message("synthetic.recipe-invalid", reason=str(error)), file=path) from None
