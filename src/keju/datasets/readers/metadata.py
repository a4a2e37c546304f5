"""Fields of a source that no role has: those with short values become metadata of the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import JsonObject

LONGEST = 200
"""Characters of a value that becomes metadata. Longer ones are texts, which no breakdown uses."""


def other_metadata(rows: Sequence[JsonObject], fields: Iterable[str]) -> tuple[str, ...]:
    """The fields that become metadata: those whose every value is a short text or a number.

    Both these and the others are recorded in the import log.
    """
    kept = []
    for field in fields:
        values = [row[field] for row in rows if row.get(field) not in (None, "")]
        if values and all(_short(value) for value in values):
            kept.append(field)
            import_log().kept(field)
        else:
            import_log().ignored(field)
    return tuple(kept)


def metadata_of(row: JsonObject, fields: Iterable[str]) -> dict[str, str]:
    """Those fields of a record as texts, without empty ones."""
    return {field: str(row[field]).strip() for field in fields if row.get(field) not in (None, "")}


def _short(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    return len(str(value)) <= LONGEST and "\n" not in str(value).strip()
