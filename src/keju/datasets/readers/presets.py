"""`preset_reader`: a format of tables that a preset describes.

Its mapping is drafted, unless the preset has a whole one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from keju.datasets.readers.base import Detection, Reader
from keju.datasets.readers.draft import (
    LONGEST,
    MOST_BYTES,
    Drafted,
    Preset,
    draft,
    mapping_text,
    merge_keys,
)
from keju.datasets.readers.listing import LOWEST, Listing
from keju.datasets.readers.mapped import FileSettings, read_mapped
from keju.datasets.readers.mapping import Mapping, as_tuple, mapping_from, tasks_called
from keju.datasets.readers.records import JsonObject
from keju.datasets.readers.tables import SUFFIXES
from keju.datasets.readers.words import detect_command
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, shortened
from keju.files import read_toml
from keju.text import count_han
from keju.texts import _, n_


class PresetSettings(FileSettings, frozen=True, kw_only=True):
    """Keys of the drafted mapping that a person states, and what is imported."""

    fields: Annotated[
        dict[str, str],
        Meta(description='the column of the role NAME, a template, or a list ["A", "B"]'),
    ] = msgspec.field(default_factory=dict)
    constants: Annotated[
        dict[str, str], Meta(description="the text of the role NAME where no column has one")
    ] = msgspec.field(default_factory=dict)
    metadata: Annotated[dict[str, str], Meta(description="the column of the metadata NAME")] = (
        msgspec.field(default_factory=dict)
    )
    answer_is: Annotated[
        Literal["", "text", "from-0", "from-1"],
        Meta(description="what answers to questions with options are (default text)"),
    ] = ""
    only: Annotated[
        dict[str, str], Meta(description="the text of the column NAME that a record must have")
    ] = msgspec.field(default_factory=dict)
    newlines: Annotated[
        Literal["", "keep", "auto", "literal"],
        Meta(description="what a backslash and n in a text is (default keep)"),
    ] = ""


def preset_reader(file: Path) -> Reader[PresetSettings]:
    """The format of a preset."""
    return reader_of(read_toml(file, Preset, hint="Correct the preset"))


def reader_of(preset: Preset) -> Reader[PresetSettings]:
    """The format whose mapping a preset has, or that is drafted with it."""

    def read(src: Path, writer: DatasetWriter, settings: PresetSettings) -> Iterator[str]:
        drafted = _mapping_for(src, preset, settings)
        if todos := drafted.todos:
            command = detect_command(src, "--write-map", Path("mapping.toml"))
            hint = _("Write the mapping and complete it: {}", command)
            raise DataError("not certain: {} = TODO: {}", *todos[0], file=src, hint=hint)
        writer.declare(mapping=mapping_text(drafted))
        yield from drafted.notes
        yield from read_mapped(src, writer, drafted.mapping, settings)

    detect = _detect_whole if preset.whole else _detect_drafted
    return Reader(
        preset.name,
        preset.what,
        preset.layout,
        read,
        PresetSettings,
        partial(detect, preset) if preset.signs else None,
        group_option="--option fields.group=COLUMN",
        draft=lambda src: _mapping_for(src, preset, PresetSettings()),
    )


def _mapping_for(src: Path, preset: Preset, settings: PresetSettings) -> Drafted:
    """A preset's whole mapping with the keys that settings state, or else a draft.

    Raises:
        DataError: a table is not readable.
        UsageError: a list of columns is not one of TOML.
    """
    given: dict[str, Any] = {
        key: value
        for key, value in asdict(settings).items()
        if value and key not in FileSettings.__struct_fields__
    }
    if settings.fields:
        given["fields"] = {role: _columns(role, text) for role, text in settings.fields.items()}
    if not preset.whole:
        return draft(src, preset if preset.signs else None, given)
    keys = merge_keys({"preset": preset.name, **preset.mapping}, given)
    constant = settings.constants.keys() - settings.fields.keys()
    keys["fields"] = {r: names for r, names in keys.get("fields", {}).items() if r not in constant}
    return Drafted(mapping_from(keys, Path("--option")))


def _columns(role: str, text: str) -> object:
    if not text.startswith("["):
        return text
    try:
        return tomllib.loads(f"columns = {text}")["columns"]
    except tomllib.TOMLDecodeError:
        raise UsageError('option fields.{}={}: write a list as ["A", "B"]', role, text) from None


def _detect_drafted(preset: Preset, listing: Listing) -> Detection | None:
    """Recognise a source by the mapping that is drafted for it."""
    files = listing.ending(*(suffix.lstrip(".") for suffix in SUFFIXES))
    paths = filter(None, map(listing.path, files))
    if not files or sum(path.stat().st_size for path in paths) > MOST_BYTES * 256:
        return None
    drafted = draft(listing.src, preset)
    if not drafted.fit:
        return None
    what = _(
        "{}: {} in {}, {}",
        preset.benchmark or preset.name,
        n_("{n:,} question", "{n:,} questions", drafted.rows),
        n_("{n:,} file", "{n:,} files", len(files)),
        n_("{n:,} image", "{n:,} images", len(listing.images)),
    )
    todos = drafted.todos
    return Detection(drafted.fit, what, missing=_("{} = TODO: {}", *todos[0]) if todos else "")


def _detect_whole(preset: Preset, listing: Listing) -> Detection | None:
    """Recognise a source by the tables of a whole mapping, or the texts of its images.

    A table with texts of a benchmark needs Chinese ones. Images alone may be of any source, so they
    fit least.
    """
    mapping = mapping_from(preset.mapping, Path(preset.name))
    files = _fitting(listing, [table.path for table in mapping.tables] or preset.signs)
    fit, missing = float(bool(files)), ""
    if mapping.tables:
        tables = filter(None, map(listing.records, files))
        fit = min((_fit_of(records, preset, mapping) for records in tables), default=0)
    elif not _fitting(listing, [re.sub(r"\{\w+\}", "*", path) for path in as_tuple(mapping.texts)]):
        missing = _("images and texts with the paths {}", as_tuple(mapping.texts)[-1])
    if not fit:
        return None
    names = ", ".join(shortened(path.as_posix()) for path in files[:3])
    images = n_("{n:,} image", "{n:,} images", len(listing.images))
    what = _("{}: {}, {}", preset.benchmark or preset.name, names, images)
    return Detection(fit, what, missing=missing)


def _fitting(listing: Listing, patterns: Iterable[str]) -> list[PurePosixPath]:
    """The files of a source that fit a pattern."""
    several = list(patterns)
    return [file for file in listing.files if any(fnmatchcase(str(file), p) for p in several)]


def _fit_of(records: list[JsonObject], preset: Preset, mapping: Mapping) -> float:
    """How well the first records of a table fit a whole mapping, from 0 to 1."""
    columns = {column for record in records for column in record}
    signs = set(preset.signs)
    if not signs <= columns or (preset.only_signs and signs != columns):
        return 0.0
    values = [value for record in records for value in record.values() if isinstance(value, str)]
    if not values:
        return LOWEST
    if not preset.benchmark:
        return 0.95
    if not any(count_han(value[:LONGEST]) for value in values):
        return 0.0
    column = mapping.fields.get("task")
    names = mapping.values.get("task", {})
    words = {str(record.get(column, "")) for record in records} if isinstance(column, str) else ()
    task_lists = (tasks_called(names.get(word, word)) for word in words)
    return float(
        all(preset.benchmark in {kind.benchmark for kind in tasks} for tasks in task_lists)
    )


DRAFTED = reader_of(
    Preset(
        name="drafted",
        what="any table or image folder, by the mapping that keju drafts",
        layout="SRC/                any table with questions, and its images\n"
        "keju data detect SRC prints the mapping; import auto uses it where no other format fits.",
    )
)
"""Drafts the mapping of a source that no other format reads."""

_SHIPPED = Path(__file__).with_name("presets")

HISDOC = preset_reader(_SHIPPED / "hisdoc.toml")
VLMEVALKIT = preset_reader(_SHIPPED / "vlmevalkit-tsv.toml")
