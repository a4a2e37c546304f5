"""Lists of item ids (``--items FILE``) that select exact items of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from keju.datasets.readers.base import join_names
from keju.datasets.readers.tables import all_rows
from keju.errors import DataError, number_of, shortened
from keju.files import bounded_bytes, sha256_bytes
from keju.texts import _

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
    if repeated := [name for name, count in Counter(ids).items() if count > 1]:
        names = join_names(map(shortened, repeated))
        raise DataError("listed twice: {}", names, file=file, hint="List every item once")
    return ids


def list_label(ids: Sequence[str]) -> str:
    """A list of ids as a run's manifest records it: their number and the hash of the sorted ids."""
    digest = sha256_bytes("\n".join(sorted(ids)).encode("utf-8", "surrogatepass"))
    return f"{number_of(len(ids), 'id')}, sha256 {digest}"


def _ids_in(file: Path) -> tuple[str, ...]:
    suffix = file.suffix.lower()
    if suffix not in _TABLES:
        return tuple(line.strip() for line in _text(file).splitlines() if line.strip())
    if suffix == ".json":
        with suppress(msgspec.MsgspecError):  # It may be a list of objects, which is a table.
            return tuple(msgspec.json.decode(_text(file), type=list[str]))
    rows = all_rows(file)
    column = next((name for name in COLUMNS if name in rows[0].cells), None)
    if column is None:
        raise DataError(
            "no column of item ids; found {}",
            ", ".join(map(str, rows[0].cells)),
            file=file,
            hint=_("Name the column {}", COLUMNS[0]),
        )
    return tuple(str(row.cells.get(column, "")).strip() for row in rows if row.cells.get(column))


def _text(file: Path) -> str:
    try:
        return bounded_bytes(file, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the list of items is not UTF-8 text", file=file) from None
