"""`read_pairs`: which fragments adjoin, from tables, lists of pairs and JSON of any name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from keju.benchmarks.obi_bench.readers.item_list import names_in
from keju.datasets.readers.base import files_under, source_text
from keju.datasets.readers.import_log import ImportLog, import_log
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.errors import DataError, shortened
from keju.texts import _, n_

FIELDS = {
    "fragment": Field(
        ("fragment", "fragment_a", "fragment1", "a", "image1", "left", "image_a", "img1", "img_a",
         "img_source", "source", "piece1", "piece_a", "first", "query", "碎片1", "碎片A", "残片1")
    ),
    "adjoins": Field(
        ("adjoins", "fragment_b", "fragment2", "b", "image2", "right", "image_b", "img2", "img_b",
         "img_target", "target", "piece2", "piece_b", "second", "candidate", "碎片2", "碎片B",
         "残片2")
    ),
    "label": Field(
        ("label", "match", "rejoinable", "rejoin", "is_pair", "y", "标签"), required=False
    ),
    "apart": Field(("not_rejoining", "not_rejoinable"), required=False),
}  # fmt: skip

NAME = "adjacency"
"""The name of a table that is always read."""

_TABLES = frozenset({"csv", "tsv", "jsonl", "ndjson", "parquet", "xlsx"})
_TEXTS = frozenset({"txt"})
SUFFIXES = _TABLES | _TEXTS | {"json"}

_YES, _NO = {"1", "true", "yes", "是"}, {"0", "false", "no", "否", ""}
_FLAGS = 5
"""Numbers after the names in a list of RejoinViG: four directions, and whether they are apart."""


class Pair(NamedTuple):
    """Two fragments as a file names them; `adjoin` is false for a pair that does not.

    `one_way` marks a pair of a mapping in which each fragment names all that it adjoins.
    """

    place: Place
    one: str
    other: str
    adjoin: bool = True
    one_way: bool = False


def pair_files(
    folder: Path, is_fragment: Callable[[str], bool], given: Mapping[str, str]
) -> list[Path]:
    """The files of a folder that name pairs: those called adjacency, else all that are so inside.

    Args:
        folder: the source.
        is_fragment: whether a name is that of a fragment.
        given: names of columns; they are looked for.
    """
    files = list(files_under(folder, SUFFIXES))
    if named := [path for path in files if path.stem.casefold() == NAME]:
        return named
    return [path for path in files if _has_pairs(path, is_fragment, given)]


def read_pairs(
    file: Path, given: Mapping[str, str], log: ImportLog | None = None
) -> Iterator[Pair]:
    """The pairs of a file.

    Args:
        file: the file.
        given: names of columns by role, from the options ``field.ROLE=NAME``.
        log: records the use of the columns; by default the log of the import that runs.

    Raises:
        UsageError: an option names a role that this format has not.
        DataError: the file is not readable, or a line does not have two names.
    """
    suffix = file.suffix.casefold().lstrip(".")
    log = log or import_log()
    if suffix in _TABLES:
        yield from _table(file, given, log)
    elif suffix == "json":
        yield from _json(file, given, log)
    else:
        yield from _lines(file)


def _has_pairs(file: Path, is_fragment: Callable[[str], bool], given: Mapping[str, str]) -> bool:
    """Whether one of the first pairs of a file is a pair of fragments."""
    try:
        first = islice(read_pairs(file, given, ImportLog()), _LOOKED_AT)
        return any(is_fragment(pair.one) and is_fragment(pair.other) for pair in first)
    except DataError:
        return False


_LOOKED_AT = 20


def _table(file: Path, given: Mapping[str, str], log: ImportLog) -> Iterator[Pair]:
    rows = read_table(file)
    fields = map_fields(file, [cells for _, cells in rows], FIELDS, given)
    log.columns(fields, rows[0].cells)
    for place, cells in rows:
        said = {role: text_of(cells, key, place).strip() for role, key in fields.items()}
        yield _pair(said, place)


def _pair(said: Mapping[str, str], place: Place) -> Pair:
    adjoin = _truth(said.get("label", "1"), place) and not _truth(said.get("apart", "0"), place)
    return Pair(place, said["fragment"], said["adjoins"], adjoin)


def _truth(word: str, place: Place) -> bool:
    plain = word.casefold().removesuffix(".0")
    if plain not in _YES | _NO:
        raise place.error(
            _("{!r} does not say whether the two adjoin", word[:40], hint="Write 1 or 0")
        )
    return plain in _YES


def _lines(file: Path) -> Iterator[Pair]:
    """Two names a line, then perhaps 1 or 0, or the five numbers of RejoinViG's lists."""
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        words = names_in(line.strip()) if line.strip() and not line.startswith("#") else ()
        place = Place(file, f"line {number}")
        if not words or words[0] == "img_source":
            continue
        if len(words) not in {2, 3, 2 + _FLAGS}:
            raise DataError(
                n_(
                    "expected two names; found {n:,} word",
                    "expected two names; found {n:,} words",
                    len(words),
                    hint="Write two names a line, with a tab between them if they have spaces",
                ),
                file=file,
                item=place.item,
            )
        one, other, *flags = words
        if len(flags) == _FLAGS:
            yield Pair(place, one, other, not _truth(flags[-1], place))
        else:
            yield Pair(place, one, other, _truth(flags[0], place) if flags else True)


def _json(file: Path, given: Mapping[str, str], log: ImportLog) -> Iterator[Pair]:
    """A mapping of each fragment to those it adjoins; or a list of pairs, perhaps under one key."""
    try:
        content = msgspec.json.decode(source_text(file))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(
            "not readable as JSON: {}", error, file=file, hint="Correct it, or write a CSV"
        ) from None
    if isinstance(content, dict) and not isinstance(content.get("pairs"), list):
        yield from _mapped(file, content)
        return
    pairs = content["pairs"] if isinstance(content, dict) else content
    if not isinstance(pairs, list):
        raise _no_pairs(Place(file, ""))
    if pairs and isinstance(pairs[0], dict):
        yield from _objects(file, pairs, given, log)
        return
    for number, pair in enumerate(pairs, start=1):
        place = Place(file, f"pair {number}")
        yield Pair(place, *_two(pair, place))


def _mapped(file: Path, content: Mapping[str, object]) -> Iterator[Pair]:
    for name, others in content.items():
        place = Place(file, shortened(name))
        if not isinstance(others, list) or not all(isinstance(each, str) for each in others):
            raise _no_pairs(place)
        for other in others:
            yield Pair(place, name, other, one_way=True)


def _objects(
    file: Path, pairs: Sequence[object], given: Mapping[str, str], log: ImportLog
) -> Iterator[Pair]:
    records = [pair for pair in pairs if isinstance(pair, dict)]
    if len(records) < len(pairs):
        raise _no_pairs(Place(file, ""))
    fields = map_fields(file, records, FIELDS, given)
    log.columns(fields, records[0])
    for number, record in enumerate(records, start=1):
        place = Place(file, f"pair {number}")
        said = {
            role: str(record[key]).casefold()
            if isinstance(record.get(key), bool)
            else text_of(record, key, place).strip()
            for role, key in fields.items()
        }
        yield _pair(said, place)


def _two(pair: object, place: Place) -> tuple[str, str]:
    if isinstance(pair, list) and len(pair) == 2:
        one, other = pair
        if isinstance(one, str) and isinstance(other, str):
            return one, other
    raise _no_pairs(place)


def _no_pairs(place: Place) -> DataError:
    return place.error(
        _(
            'expected {"fragment": ["those it adjoins", …]} or [["one", "other"], …]',
            hint="Write it so, or as a CSV with the columns fragment and adjoins",
        )
    )


def known_names(fragments: Iterable[str]) -> dict[str, str]:
    """The fragments by their path, with and without suffix."""
    every = list(fragments)
    without = {PurePosixPath(name).with_suffix("").as_posix(): name for name in every}
    return without | {name: name for name in every}
