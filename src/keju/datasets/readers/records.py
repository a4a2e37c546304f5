"""`Place`: the position of a record; and the text of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
