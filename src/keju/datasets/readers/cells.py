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
from keju.texts import _, n_

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


# ---- conversations: of OpenAI, LLaVA, ShareGPT, and Qwen-VL with ``<img>``

CONVERSATION = ("messages.user", "messages.assistant", "messages.images")
"""The columns that a conversation becomes."""

_SPEAKERS = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
             "system": "system"}  # fmt: skip
_IN_TEXT = re.compile(r"(?:Picture \d{1,3}: ?)?<img>([^<]{1,1000})</img>\n?")
_MARK = re.compile(r"<\|?image(?:_\d{1,3}|_pad)?\|?>\n?|<ImageHere>\n?")


def with_conversation(cells: JsonObject, column: str, place: Place) -> JsonObject:
    """The cells with the columns of `CONVERSATION` in place of the one with the conversation.

    Raises:
        DataError: the cell is not a list of messages with one question and at most one answer.
    """
    messages = cells.get(column)
    if isinstance(messages, str):
        messages = written_value(messages)
    if not messages or not isinstance(messages, list):
        messages = [None]
    texts: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
    images: list[object] = []
    for message in messages:
        if not isinstance(message, dict):
            problem = _("the conversation is not a list of messages", hint="Write [{…}, {…}]")
            raise place.error(problem)
        speaker = _SPEAKERS.get(str(message.get("role", message.get("from", ""))).casefold())
        if speaker is None:
            raise place.error(_("a message without its role"), _("Write user or assistant"))
        text, message_images = _content(message.get("content", message.get("value")), place)
        texts[speaker].append(text)
        images += message_images
    if len(texts["user"]) != 1 or len(texts["assistant"]) > 1:
        problem = _(
            "{} and {} in a conversation",
            n_("{n:,} question", "{n:,} questions", len(texts["user"])),
            n_("{n:,} answer", "{n:,} answers", len(texts["assistant"])),
        )
        raise place.error(problem, _("Write one question and its answer"))
    values = (texts["user"][0], "".join(texts["assistant"]), images)
    other_cells = {name: cell for name, cell in cells.items() if name != column}
    return other_cells | {
        name: value for name, value in zip(CONVERSATION, values, strict=True) if value
    }


def _content(content: object, place: Place) -> tuple[str, list[object]]:
    """The text of a message, and its images as names, data URLs or objects."""
    images: list[object] = []
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            image = part.get("image_url", part.get("image"))
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif image:
                images.append(image.get("url") if isinstance(image, dict) else image)
        elif part is not None:
            raise place.error(_("a message that is not text", hint="Write a text or parts"))
    text = "\n".join(texts)
    images += _IN_TEXT.findall(text)
    return _MARK.sub("", _IN_TEXT.sub("", text)).strip(), images
