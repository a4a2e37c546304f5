"""Which fragments adjoin, from the tables and lists of a source, and which bone one is from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.lists import NamedImages
from keju.benchmarks.obi_bench.readers.sources import SourceFolder, preset
from keju.datasets.readers.base import files_under, join_names, source_text
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import Place, map_fields, text_of
from keju.datasets.readers.tables import all_rows
from keju.errors import DataError, UsageError, number_of, shortened
from keju.texts import _, n_

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""

_YES, _NO = {"1", "true", "yes", "是"}, {"0", "false", "no", "否", ""}


class _Pair(NamedTuple):
    """Two fragments as a file names them; `adjoin` is false for a pair that does not."""

    place: Place
    one: str
    other: str
    adjoin: bool


def folder_of(name: str) -> str:
    """The folder of a fragment; ``.`` for the source's own."""
    return PurePosixPath(name).parent.as_posix()


def bone_in(name: str) -> str:
    """The bone that a fragment is named after, with its folder; empty if its name has no number."""
    match = re.fullmatch(preset("rejoining").fragments["bone"], name)
    return match["bone"] if match else ""


def whole_images(names: Iterable[str]) -> set[str]:
    """The images that show a whole bone; none if all of them seem to."""
    every = set(names)
    whole = re.compile(preset("rejoining").fragments["whole"])
    images = {name for name in every if whole.fullmatch(name)}
    return images if len(images) < len(every) else set()


def bones_by(rule: str, names: Iterable[str], folder: Path) -> dict[str, set[str]]:
    """The fragments of the bone of each fragment.

    Args:
        rule: ``folder``, ``name``, or empty: by name where all are in one folder.
        names: the fragments.
        folder: the source, for the error.

    Raises:
        DataError: by name, and a fragment's name does not end in a number or letter.
    """
    every = list(names)
    by_name = rule == "name" or (not rule and len(set(map(folder_of, every))) == 1)
    if by_name and (strange := [name for name in every if not bone_in(name)]):
        raise DataError(
            n_(
                "{n:,} fragment is not named after a bone: {}",
                "{n:,} fragments are not named after a bone: {}",
                len(strange),
                join_names(strange),
                hint="Name them as bone001_1.png, or put each bone's into a folder of its own",
            ),
            file=folder,
        )
    bones: dict[str, set[str]] = {}
    for name in every:
        bones.setdefault(bone_in(name) if by_name else folder_of(name), set()).add(name)
    return {name: bone for bone in bones.values() for name in bone}


def joins_in(
    place: SourceFolder,
    images: Mapping[str, Path],
    pattern: str = "",
    columns: Mapping[str, str] | None = None,
) -> tuple[Adjacency, list[str]]:
    """Which fragments adjoin, as the files of pairs say, and notes for the user.

    An image of a whole bone is a fragment only if a pair names it.

    Args:
        place: the source.
        images: all images, by their path under it.
        pattern: a regular expression of the files' paths, in place of the preset's.
        columns: names of columns by role, from the options ``field.ROLE=NAME``.

    Raises:
        UsageError: an option names a column of a role that this format has not.
        DataError: no file, one that names a fragment that is not there, or adjoins a fragment to
            itself or to another bone's.
    """
    suffixes = {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"}
    tables = {place.name_of(path): path for path in files_under(place.folder, suffixes)}
    try:
        patterns = [
            re.compile(each, re.IGNORECASE)
            for each in (pattern and [pattern]) or preset("rejoining").pairs
        ]
    except re.error as error:
        raise UsageError("option pairs={}: not a regular expression: {}", pattern, error) from None
    fitting = ([path for name, path in tables.items() if each.fullmatch(name)] for each in patterns)
    files = next(filter(None, fitting), [])
    if not files:
        unlike = _(". Not recognised as pairs: {}", join_names(tables)) if tables else ""
        raise DataError(
            "expected adjacency.csv, or another list of pairs; found none{}",
            unlike,
            file=place.folder,
            hint=_(
                "Write it, or name its file: --option pairs=FILE (see keju data formats "
                "obi-rejoining), or declare that the fragments of a bone adjoin one another: "
                "--option adjacency=all"
            ),
        )
    named = NamedImages(place.folder, images.values())
    whole = whole_images(images)
    joins: Adjacency = {name: set() for name in images if name not in whole}
    apart = 0
    for file in files:
        for pair in _pairs(file, columns or {}):
            paths = (named.find(name, pair.place) for name in (pair.one, pair.other))
            one, other = map(place.name_of, paths)
            _check_pair(one, other, pair.place)
            apart += not pair.adjoin
            if pair.adjoin:
                joins.setdefault(one, set()).add(other)
                joins.setdefault(other, set()).add(one)
    usual = files[0].stem.casefold() == "adjacency"
    notes = [] if usual else [f"pairs read from {join_names(map(place.name_of, files))}"]
    if apart:
        notes.append(f"skipped {number_of(apart, 'pair')} declared not to adjoin")
    return {name: joins[name] for name in images if name in joins}, notes


def _pairs(file: Path, columns: Mapping[str, str]) -> Iterator[_Pair]:
    """The pairs of a table, or of a text by the preset's expression of a line."""
    if file.suffix.casefold() == ".txt":
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            if line.strip() and not line.startswith(("#", "img_source")):
                place = Place(file, f"line {number}")
                match = re.fullmatch(preset("rejoining").fragments["line"], line.strip())
                if not match:
                    raise place.error(
                        _("{!r} is not a pair of names", shortened(line)),
                        _("Write two names a line, or a CSV with the columns fragment and adjoins"),
                    )
                yield _pair(match.groupdict(), place)
        return
    rows = all_rows(file)
    roles = preset("rejoining").fields("fragment", "adjoins")
    fields = map_fields(file, [cells for _place, cells in rows], roles, columns)
    import_log().columns(fields, rows[0].cells)
    for place, cells in rows:
        yield _pair({role: text_of(cells, key, place) for role, key in fields.items()}, place)


def _pair(cells: Mapping[str, str | None], place: Place) -> _Pair:
    label, apart = cells.get("label"), cells.get("apart")
    adjoin = _truth("1" if label is None else label, place) and not _truth(apart or "0", place)
    one, other = ((cells[role] or "").strip() for role in ("fragment", "adjoins"))
    return _Pair(place, one, other, adjoin)


def _truth(word: str, place: Place) -> bool:
    plain = word.strip().casefold().removesuffix(".0")
    if plain not in _YES | _NO:
        raise place.error(
            _("{!r} does not say whether the two adjoin", word[:40], hint="Write 1 or 0")
        )
    return plain in _YES


def _check_pair(one: str, other: str, place: Place) -> None:
    wrong = ""
    if one == other:
        wrong = _("{} adjoins itself", one)
    elif folder_of(one) != folder_of(other):
        wrong = _("{} and {} are in folders of different bones", one, other)
    if wrong:
        raise place.error(wrong, hint=_("Remove the pair"))
