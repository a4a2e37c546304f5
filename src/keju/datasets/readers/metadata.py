"""Fields of a source without a role: those with short values become metadata of the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import JsonObject

LONGEST = 200
"""Maximum length of a value that becomes metadata. Longer ones are texts, which no breakdown uses.
"""


def other_metadata(rows: Sequence[JsonObject], fields: Iterable[str]) -> tuple[str, ...]:
    """The fields that become metadata: those with only short texts or numbers.

    The import log records these and the others.
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
