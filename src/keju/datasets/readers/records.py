"""Sources of JSON objects whose field names may differ between releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import plain_name
from keju.errors import DataError
from keju.texts import _

JsonObject = dict[str, object]


class Place(NamedTuple):
    """The position of a record, for errors and for paths inside it."""

    file: Path
    item: str

    def error(self, problem: str, hint: str | None = None) -> DataError:
        """An error in this record; `hint` is as in `DataError`."""
        return DataError(problem, file=self.file, item=place_words(self.item) or None, hint=hint)


def place_words(item: str) -> str:
    """A place such as ``line 3`` or ``sheet A, line 3`` as a text of every language."""
    outer, comma, inner = item.rpartition(", ")
    kind, __, number = inner.rpartition(" ")
    words = {
        "line": _("line {}", number),
        "object": _("object {}", number),
        "record": _("record {}", number),
        "after line": _("after line {}", number),
    }
    if not number.isdecimal() or kind not in words:
        return item
    return _("{}, {}", outer, words[kind]) if comma else words[kind]


def map_fields(
    file: Path,
    records: Sequence[JsonObject],
    roles: Mapping[str, Sequence[str]],
    optional: Collection[str],
) -> dict[str, str]:
    """The name of each field in these records, by role; of an `optional` one only if it exists.

    It is the first known name that exists, compared as by `plain_name`.

    Raises:
        DataError: a required field is missing; the error shows expected and found.
    """
    keys = list(dict.fromkeys(key for record in records for key in record))
    plain = {plain_name(key): key for key in reversed(keys)}
    names_of: dict[str, str] = {}
    for role, known in roles.items():
        names = [plain[name] for name in map(plain_name, known) if name in plain]
        if names:
            names_of[role] = names[0]
        elif role not in optional:
            problem = _(
                "no field for the {} (expected {}); found the fields {}",
                role,
                " or ".join(known),
                ", ".join(keys[:30]) or _("none"),
            )
            raise DataError(problem, file=file, hint=_("Rename it to {}", known[0]))
    return names_of


def cell_text(value: object, column: str, place: Place) -> str:
    """A cell as text: of a list of texts its lines, of a whole number its digits.

    Raises:
        DataError: it is an object, bytes, or a list of anything but texts.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise not_text(value, column, place)


def not_text(value: object, column: str, place: Place) -> DataError:
    """The error of a cell that is not a text."""
    problem = _("expected text in {!r}; found {}", column, type(value).__name__)
    return place.error(problem, _("Write it as a text, or name a column inside it: OUTER.INNER"))
