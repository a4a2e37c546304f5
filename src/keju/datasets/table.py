"""Items as a parquet table with columns of declared types, without loss."""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
from msgspec.structs import force_setattr

from keju.datasets.frame_files import write_frame, write_frames
from keju.datasets.parts import iter_frames, open_file, reporting_damage, table_files
from keju.datasets.schema import SCHEMA
from keju.errors import DataError
from keju.items import ImageRef, Item, Provenance

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_REPEATED = ("benchmark", "task", "query", "group", "split")
"""Values that many items share, so that each is in memory once."""

_FEW = 64
"""The number of items that exist as Python rows at a time: those of a gallery are large."""

_KNOWN_IMAGES = 1 << 16
"""The number of images whose references are shared by the items that follow."""


def write_items(path: Path, items: list[Item]) -> None:
    """Write items as parquet, in their order, atomically.

    Raises:
        DataError: an item contains something that cannot be stored (see `as_stored`).
    """
    write_frame(path, stored_frame(path, [as_stored(item) for item in items]))


def stored_frame(path: Path, items: Sequence[Item]) -> pl.DataFrame:
    """Items that are `as_stored` as a table with the columns of `SCHEMA`, in their order.

    Raises:
        DataError: an item contains something that cannot be stored.
    """
    try:
        return pl.concat(_frame_of(few) for few in _few_at_a_time(items))
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DataError("items that cannot be stored: {}", error, file=path) from None


def copy_items(source: Path, target: Path, ids: Iterable[str]) -> None:
    """Copy those items of a table into another, in their order and unchanged.

    The rows are not converted to items, which for a large table would take ten times as long.

    Raises:
        DataError: the source is missing or damaged, or the target cannot be written.
    """
    chosen = frozenset(ids)
    frames = (
        frame.filter(pl.Series([name in chosen for name in frame["id"]], dtype=pl.Boolean))
        for frame in iter_frames(source)
    )
    write_frames(target, frames)


def copy_ordered_items(source: Path, target: Path, ids: Iterable[str]) -> None:
    """Copy items as `copy_items`, whose ids are in the order of the source and not all in memory.

    Raises:
        ValueError: an id is not in the source, or not in its order.
        DataError: as `copy_items`.
    """
    following = iter(ids)
    next_id = next(following, None)

    def chosen_rows() -> Iterator[pl.DataFrame]:
        nonlocal next_id
        for frame in iter_frames(source):
            rows = []
            for row, name in enumerate(frame["id"]):
                if name == next_id:
                    rows.append(row)
                    next_id = next(following, None)
            yield frame[rows]

    write_frames(target, chosen_rows())
    if next_id is not None:
        raise ValueError(f"{next_id} is not in the table, or not in its order")


def iter_ids(path: Path) -> Iterator[str]:
    """The ids of a table's items, in their order.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    return (str(name) for frame in iter_frames(path, ["id"]) for name in frame["id"])


def read_items(path: Path) -> list[Item]:
    """Read items that `write_items` wrote.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    return list(iter_items(path))


def iter_items(path: Path) -> Iterator[Item]:
    """The items that `read_items` reads, one after the other.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    refs: dict[tuple[object, ...], ImageRef] = {}
    before = 0
    for frame in iter_frames(path):
        yield from _items_of(frame.iter_rows(named=True, buffer_size=_FEW), path, refs, before)
        before += frame.height


def _items_of(
    rows: Iterable[dict[str, Any]],
    path: Path,
    refs: dict[tuple[object, ...], ImageRef],
    before: int = 0,
) -> Iterator[Item]:
    texts: dict[str, str] = {}  # Keys and values of dicts, so that each text is in memory once.
    steps: dict[tuple[Provenance, ...], tuple[Provenance, ...]] = {}
    for number, row in enumerate(rows, start=before + 1):
        if len(refs) > _KNOWN_IMAGES:
            refs.clear()
        try:
            images = []
            for ref in row.get("images") or ():
                # One object for each image: galleries repeat each hundreds of times.
                place = tuple(ref.values())
                if place not in refs:
                    refs[place] = msgspec.convert(ref, ImageRef)
                images.append(refs[place])
            row["images"] = images
            # `msgspec.convert` expects dicts, and no absent values.
            values = {name: value for name, value in row.items() if value is not None}
            for name in _REPEATED:
                if isinstance(value := values.get(name), str):
                    values[name] = sys.intern(value)
            for name in ("fields", "metadata", "question_in"):
                values[name] = {
                    texts.setdefault(entry["key"], entry["key"]): texts.setdefault(
                        entry["value"], entry["value"]
                    )
                    for entry in row.get(name) or ()
                }
            item = msgspec.convert(values, Item)
        except (msgspec.ValidationError, TypeError) as error:
            raise DataError(
                "not an item: {}", error, file=path, item=f"row {number} ({row['id']})"
            ) from None
        # Steps and metadata are the same for many items, and would be most of their memory.
        force_setattr(item, "provenance", steps.setdefault(item.provenance, item.provenance))
        yield item


class ItemTable:
    """A table of items from which single ones are read; opening it reads only the ids.

    Raises:
        DataError: the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        self._groups: list[tuple[int, ParquetFile, int]] = []
        first = 0
        with reporting_damage(path):
            for file in map(open_file, table_files(path)):
                for group in range(file.num_row_groups):
                    self._groups.append((first, file, group))
                    ids = file.read_row_group(group, columns=["id"]).column(0).to_pylist()
                    self._places.update(zip(ids, itertools.count(first)))
                    first += len(ids)

    def item(self, name: str) -> Item:
        """The item of that id; reads the rows of its group.

        Raises:
            DataError: there is none, or it is damaged.
        """
        place = self._places.get(name)
        if place is None:
            raise DataError("no item has this id", file=self._path, item=name)
        first, file, group = self._groups[bisect_right(self._groups, place, key=itemgetter(0)) - 1]
        with reporting_damage(self._path):
            rows = file.read_row_group(group, use_threads=False).slice(place - first, 1).to_pylist()
        return next(_items_of(rows, self._path, {}))


def _few_at_a_time(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The items in batches of `_FEW`; one empty batch where there are none."""
    return (items[start : start + _FEW] for start in range(0, max(1, len(items)), _FEW))


def as_stored(item: Item) -> Item:
    """The item as it is read back from disk: lists as tuples, whole coordinates as floats.

    Raises:
        DataError: text that is not valid Unicode (a lone surrogate), a coordinate that is not a
            number, a value of the wrong type.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(item), type=Item)
    except (UnicodeEncodeError, TypeError, msgspec.MsgspecError) as error:
        raise DataError(
            "the item cannot be stored: {}",
            error,
            item=ascii(item.id),
            hint="Correct it in the source",
        ) from None


def _frame_of(items: Sequence[Item]) -> pl.DataFrame:
    """Items as a table, by way of JSON: polars reads nested lists far faster from it."""
    rows = [msgspec.json.encode(_row(item)).decode() for item in items]
    return pl.Series(rows, dtype=pl.String).str.json_decode(pl.Struct(SCHEMA)).struct.unnest()


def _row(item: Item) -> dict[str, object]:
    row = {name: getattr(item, name) for name in SCHEMA}
    row["images"] = [msgspec.structs.asdict(ref) for ref in item.images]
    row["boxes"] = [msgspec.structs.asdict(box) for box in item.boxes]
    row["lines"] = [msgspec.structs.asdict(line) for line in item.lines]
    row["provenance"] = [msgspec.structs.asdict(step) for step in item.provenance]
    row["fields"] = _entries(item.fields)
    row["question_in"] = [{"key": key, "value": text} for key, text in item.question_in.items()]
    row["metadata"] = _entries(item.metadata)
    return row


def _entries(mapping: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in mapping.items()]
