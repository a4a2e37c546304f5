"""Lists of item ids (``--items FILE``) that select exact items of a dataset."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from keju.datasets.readers.base import join_names
from keju.datasets.readers.tables import read_table
from keju.errors import DataError, UsageError, number_of, shortened
from keju.files import bounded_bytes, sha256_bytes
from keju.items import Item
from keju.texts import _, n_

COLUMNS = ("id", "item", "item_id", "ID")
"""The columns or keys that can contain a table's ids."""

_MOST_BYTES = 64 << 20
"""The maximum size of a list of items in bytes."""

_TABLES = frozenset({".csv", ".tsv", ".json", ".jsonl"})


def read_item_ids(file: Path) -> tuple[str, ...]:
    """Read the ids that a file lists, in its order.

    Forms: plain text, one id per line; CSV or TSV with a column of `COLUMNS`; JSON, a list of ids
    or of objects with one of those keys; JSON lines of such objects.

    Raises:
        DataError: the file is not readable, has no such column, lists no id, or lists an id twice.
    """
    ids = _ids_in(file)
    if not ids:
        raise DataError("no item id in the list", file=file, hint="Write one id per line")
    if twice := _repeated(ids):
        raise DataError("listed twice: {}", _some(twice), file=file, hint="List every item once")
    return ids


def listed_places(
    items: Sequence[Item], places: Sequence[int], ids: Sequence[str], dataset: Path
) -> Sequence[int]:
    """The indices, out of these, of the items that a list names.

    An entry is an item's id, or the id without its question form: an id such as ``x#QUERY`` belongs
    to a question form, and the entry ``x`` names the items of all question forms of that image.

    Raises:
        UsageError: an entry names no item of the dataset; the message names the entries.
    """
    wanted = set(ids)
    chosen, known = array("q"), set[str]()
    for place in places:
        names = _names_of(items[place])
        if wanted & names:
            chosen.append(place)
            known |= names
    if unknown := [each for each in ids if each not in known]:
        raise UsageError(
            n_(
                "{}: {:,} of the {n:,} id of --items are not in its test split: {}. The ids are "
                "in column id of its items.parquet",
                "{}: {:,} of the {n:,} ids of --items are not in its test split: {}. The ids are "
                "in column id of its items.parquet",
                len(ids),
                dataset,
                len(unknown),
                _some(unknown),
            )
        )
    return chosen


def list_label(ids: Sequence[str]) -> str:
    """A list of ids as a run's manifest records it: their number and the hash of the sorted ids."""
    digest = sha256_bytes("\n".join(sorted(ids)).encode("utf-8", "surrogatepass"))
    return f"{number_of(len(ids), 'id')}, sha256 {digest}"


def _names_of(item: Item) -> set[str]:
    suffix = f"#{item.query}"
    return {item.id, item.id.removesuffix(suffix)} if item.query else {item.id}


def _ids_in(file: Path) -> tuple[str, ...]:
    if file.suffix.lower() not in _TABLES:
        return tuple(line.strip() for line in _text(file).splitlines() if line.strip())
    if file.suffix.lower() == ".json" and (plain := _plain_list(file)) is not None:
        return plain
    rows = read_table(file)
    column = next((name for name in COLUMNS if name in rows[0].cells), None)
    if column is None:
        raise DataError(
            "no column of item ids; found {}",
            ", ".join(map(str, rows[0].cells)),
            file=file,
            hint=_("Name the column {}", COLUMNS[0]),
        )
    return tuple(str(row.cells.get(column, "")).strip() for row in rows if row.cells.get(column))


def _plain_list(file: Path) -> tuple[str, ...] | None:
    """The ids of a JSON list of strings; None for any other JSON."""
    try:
        return tuple(msgspec.json.decode(_text(file), type=list[str]))
    except msgspec.MsgspecError:
        return None


def _text(file: Path) -> str:
    try:
        return bounded_bytes(file, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the list of items is not UTF-8 text", file=file) from None


def _repeated(ids: Sequence[str]) -> list[str]:
    return [each for each, count in Counter(ids).items() if count > 1]


def _some(names: Sequence[str]) -> str:
    return join_names(map(shortened, names))
