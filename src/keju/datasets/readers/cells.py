"""`Record`: one record of a source, whose cells are looked up by columns and templates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from keju.datasets.readers.choices import written_value
from keju.datasets.readers.mapping import Columns, as_tuple
from keju.datasets.readers.records import JsonObject, Place, cell_text
from keju.texts import _

_DEEPEST = 5
"""Objects inside each other whose fields are columns."""

_BLANK = re.compile(r"\{([^{}:]+)(?::0?([0-9]{1,2}))?\}")


class Record(NamedTuple):
    """One record: its place, its cells by column, and the task of its table.

    `added` are the columns that keju gives it, such as parts of its path; one of the source comes
    first.
    """

    place: Place
    cells: JsonObject
    added: JsonObject
    task: str = ""

    def with_cells(self, cells: JsonObject) -> Record:
        """The record with further cells, which replace those of the same columns."""
        return self._replace(cells={**self.cells, **cells})

    def with_added(self, **added: object) -> Record:
        """The record with further columns of keju."""
        return self._replace(added={**self.added, **added})

    def cell(self, column: str) -> object:
        """The cell of a column; of a column with an object in it, the object."""
        for cells in (self.cells, self.added):
            if column in cells:
                return cells[column]
        prefix = f"{column}."
        fields = {key[len(prefix) :]: cell for key, cell in self.cells.items()
                  if key.startswith(prefix)}  # fmt: skip
        return fields or None

    def has(self, columns: Columns) -> bool:
        """Whether one of some columns, or of the blanks of templates, is not empty."""
        cells = {**self.added, **self.cells}
        return any(str(cells.get(column, "")).strip() for column in named_columns(columns))

    def text(self, columns: Columns, *, needed: bool = False) -> str:
        """The text of the first column or template that has one; empty if none has.

        Of several, a template counts if all its blanks have values; the blanks of the last one may
        be empty, unless it is `needed`.

        Raises:
            DataError: a cell is not a text, or a blank that needs a value has none.
        """
        several = as_tuple(columns)
        for number, column in enumerate(several, start=1):
            if not blanks_of(column):
                text = cell_text(self.cell(column), column, self.place)
            elif number == len(several) or all(map(self.has, blanks_of(column))):
                text = self._filled(column, needed=needed)
            else:
                continue
            if text.strip():
                return text
        return ""

    def values(self, column: str, *, needed: bool = False) -> list[object]:
        """The values of a column: its cell, or those of its list; of a template, its text."""
        if blanks_of(column):
            text = self._filled(column, needed=needed)
            return [text] if text.strip() else []
        return list(_values_in(self.cell(column)))

    def texts(self, columns: Columns) -> list[str]:
        """The texts of the first column that has any: one, or those of its list.

        Raises:
            DataError: a value is not a text or number.
        """
        for column in as_tuple(columns):
            texts = [cell_text(value, column, self.place) for value in self.values(column)]
            if texts := [text for text in texts if text.strip()]:
                return texts
        return []

    def _filled(self, template: str, *, needed: bool) -> str:
        """A template with its blanks ``{COLUMN}`` filled; ``{COLUMN:04}`` adds zeros in front.

        Raises:
            DataError: there is no value for a blank, and it is `needed`, or a value is not a text
                or number.
        """

        def value(blank: re.Match[str]) -> str:
            column = blank[1]
            text = cell_text(self.cell(column), column, self.place).strip()
            if not text and needed and column != "folder":
                hint = _("Columns: {}", ", ".join(list(self.cells)[:30]))
                problem = _("no value in the column {!r} for {!r}", column, template)
                raise self.place.error(problem, hint)
            return text.zfill(int(blank[2])) if blank[2] else text

        text = _BLANK.sub(value, template)
        if not needed and text == _BLANK.sub("", template):
            return ""  # No blank has a value, so the text around them says nothing.
        return text.removeprefix("/") if template.startswith("{folder}/") else text


def _values_in(cell: object) -> Iterator[object]:
    """The values of a cell: itself, or each of its list, also as JSON or Python writes one."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        written = written_value(cell)
        cell = cell if written is None else written
    if isinstance(cell, list):
        for value in cell:
            yield from _values_in(value)
    elif not (cell is None or (isinstance(cell, str) and not cell.strip())):
        yield cell


@cache
def blanks_of(template: str) -> tuple[str, ...]:
    """The columns that a template names; none of a column's name."""
    return tuple(blank[1] for blank in _BLANK.finditer(template))


def named_columns(columns: Columns) -> list[str]:
    """Some columns, with those that the templates among them name."""
    return [name for column in as_tuple(columns) for name in blanks_of(column) or (column,)]


def flat(cells: JsonObject, prefix: str = "", depth: int = 0) -> JsonObject:
    """The cells of a record without empty ones; a field of an object in it is ``OUTER.INNER``.

    Images in Hugging Face's form, an object with bytes and path, stay whole; the path is a column
    too.
    """
    found: JsonObject = {}
    for key, value in cells.items():
        if isinstance(value, dict) and value and depth < _DEEPEST and not _is_image(value):
            found |= flat(value, f"{prefix}{key}.", depth + 1)
        elif not (value is None or (isinstance(value, float) and math.isnan(value))):
            found[f"{prefix}{key}"] = value
            if isinstance(value, dict) and isinstance(value.get("path"), str):
                found[f"{prefix}{key}.path"] = value["path"]
    return found


def _is_image(value: JsonObject) -> bool:
    return {"bytes", "path"} >= set(value) and isinstance(value.get("bytes"), bytes)
