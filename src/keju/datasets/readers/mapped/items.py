"""`ItemMaker`: makes items from records by a mapping."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import cast

import msgspec
from msgspec.structs import replace

from keju.datasets.boxes import box_fault
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.letters import known_letter
from keju.datasets.readers.mapped.mapping import JOINERS, Mapping
from keju.datasets.readers.mapped.records import as_tuple
from keju.datasets.readers.option_lines import insert_options
from keju.datasets.readers.records import JsonObject, Place, text_of
from keju.datasets.readers.tables import Row
from keju.definitions import (
    Task,
    has_task,
    options_in,
    prompt_of,
    query_of,
    task,
    tasks_named,
)
from keju.definitions.references import NO_BOXES
from keju.errors import DataError, UsageError, error_text, shortened
from keju.items import Box, ImageRef, Item, Script
from keju.texts import _, hint_of

_LONGEST = 10_000
"""Maximum length of a text that becomes metadata by default."""

_LABELLED = re.compile(r"\A[(（\[【]?([A-Za-z])(?:[)）\]】、.．:：。\s]|\Z)")
PLACE_COLUMNS = frozenset({"file", "folder", "name", "stem", "text"})
"""Columns that keju adds; they never become metadata by default."""


class ItemMaker:
    """Makes an item from a record."""

    def __init__(self, mapping: Mapping, columns: tuple[str, ...]) -> None:
        self._mapping = mapping
        self._rest = self._others(columns)

    def item(self, row: Row, name: str, images: tuple[ImageRef, ...]) -> Item:
        """The item of a record; `name` is its id, unless the mapping gives one.

        Raises:
            DataError: the task is missing or unknown, the prompt cannot be filled, an answer names
                none of the options.
        """
        place = row.place
        texts = {role: self._text(row, role) for role in JOINERS if role != "answer"}
        kind = self._task(texts["task"], place)
        pattern = Item(
            id=texts["id"] or name,
            benchmark=kind.benchmark,
            task=kind.id,
            query=self._query(kind, texts["query"], place),
            images=images,
        )
        form = query_of(pattern).form
        boxes: tuple[Box, ...] = ()
        if form == "boxes":
            texts["answer"], boxes = self._boxes(row, images)
        else:
            texts["answer"] = self._text(row, "answer")
        options = self._options(row) if form == "letter" else ()
        verbatim = self._is_verbatim(texts["question"])
        question = texts["question"]
        if verbatim and question and options and not options_in(question):
            question = insert_options(question, options, kind)
        shown = options or (options_in(question) if form == "letter" else ())
        answer = self._letter(texts["answer"], shown, place) if shown else texts["answer"]
        known = texts["transcription"] or (answer if form == "transcription" else "")
        made = replace(
            pattern,
            question=question,
            question_in=_released(texts),
            verbatim=verbatim,
            fields=self._blanks(row),
            options=options,
            answer=answer,
            boxes=boxes,
            answer_simplified=texts["answer_simplified"],
            also_accepted=tuple(self._listed(row, "also_accepted")),
            transcription=known or None,
            group=texts["group"] or (images[0].sha256 if images else ""),
            split=self._split(texts["split"], place),
            metadata=dict(self._metadata(row)),
        )
        self._check_prompt(made, place)
        return made

    def _others(self, columns: tuple[str, ...]) -> list[str]:
        """The columns that become metadata by default; logs the use of every column."""
        log, used = import_log(), set[str]()
        for role, given in self._mapping.fields.items():
            for column in as_tuple(given):
                log.used(role, column)
                used.add(column)
        for blank, column in self._mapping.blanks.items():
            log.used(blank, column)
            used.add(column)
        for column in self._mapping.metadata.values():
            log.kept(column)
            used.add(column)
        others = [each for each in columns if each not in used and each not in PLACE_COLUMNS]
        kept = self._mapping.rest == "metadata"
        for column in others:
            (log.kept if kept else log.ignored)(column)
        return others if kept else []

    def _text(self, row: Row, role: str) -> str:
        columns = as_tuple(self._mapping.fields.get(role, ()))
        texts = [_cell_text(row.cells, column, row.place) for column in columns]
        text = JOINERS[role].join(each for each in texts if each)
        text = text or self._mapping.constants.get(role, "")
        return self._mapping.values.get(role, {}).get(text, text)

    def _listed(self, row: Row, role: str) -> list[str]:
        """The texts of a role that may have several; a cell may contain a list of them."""
        found = []
        for column in as_tuple(self._mapping.fields.get(role, ())):
            value = row.cells.get(column)
            if isinstance(value, str) and value.strip().startswith("["):
                value = _decoded(value)
            values = value if isinstance(value, list) else [value]
            found += [_cell_text({column: each}, column, row.place) for each in values]
        known = self._mapping.values.get(role, {})
        return [known.get(text, text) for text in found]

    def _boxes(self, row: Row, images: tuple[ImageRef, ...]) -> tuple[str, tuple[Box, ...]]:
        """The reference of an item that asks for boxes: an answer, or boxes."""
        columns = as_tuple(self._mapping.fields.get("answer", ()))
        values = [row.cells.get(column) for column in columns]
        given = [each for each in values if each not in (None, "")]
        boxes = _boxes_in(given[0], images, row.place) if given else ()
        return NO_BOXES if given and not boxes else "", boxes

    def _options(self, row: Row) -> tuple[str, ...]:
        columns = as_tuple(self._mapping.fields.get("options", ()))
        if len(columns) == 1 and isinstance(row.cells.get(columns[0]), dict):
            value = cast("JsonObject", row.cells[columns[0]])
            return tuple(_cell_text(value, letter, row.place) for letter in sorted(value))
        texts = self._listed(row, "options")
        if len(texts) == 1:
            return options_in(texts[0]) or tuple(
                part.strip() for part in re.split(r"[\n;；|]", texts[0]) if part.strip()
            )
        while texts and not texts[-1]:
            texts.pop()
        labels = [_LABELLED.match(text) for text in texts]
        letters = "".join(label[1] if label else "?" for label in labels)
        if letters == ascii_uppercase[: len(texts)]:
            return tuple(_LABELLED.sub("", text).strip() for text in texts)
        return tuple(texts)

    def _letter(self, answer: str, options: tuple[str, ...], place: Place) -> str:
        letters = ascii_uppercase[: len(options)]
        text = answer.strip()
        if self._mapping.answer_is != "text" and text:
            number = int(text) if re.fullmatch("[0-9]{1,3}", text) else -1
            number -= self._mapping.answer_is == "from-1"
            if 0 <= number < len(letters):
                return letters[number]
            raise _wrong(_("the answer {!r} is not the number of an option", text[:20]), place)
        return known_letter(text, options, place)

    def _task(self, text: str, place: Place) -> Task:
        name = text.strip()
        if not name:
            raise _wrong(
                _("the mapping does not give a task", hint="Set [constants] task or [fields] task"),
                place,
            )
        for each in (name, f"T{name.upper().removeprefix('T').removesuffix('.0')}"):
            if has_task(each):
                return task(each)
        named = tasks_named(name)
        if len(named) != 1:
            why = _("several tasks have") if named else _("no task has")
            raise _wrong(
                _(
                    "{} the name {!r}",
                    why,
                    name[:20],
                    hint=(
                        "Map it to an id in [values.task] (ids: keju tasks), or define it: "
                        "--benchmark"
                    ),
                ),
                place,
            )
        return named[0]

    def _query(self, kind: Task, name: str, place: Place) -> str:
        names = [query.name for query in kind.queries]
        if name in names:
            return name
        if not name and len(names) == 1:
            return names[0]
        raise _wrong(
            _(
                "task {} has no query {!r}",
                kind.id,
                name[:20],
                hint=_("Set [constants] query to one of: {}", ", ".join(names)),
            ),
            place,
        )

    def _is_verbatim(self, question: str) -> bool:
        return self._mapping.prompt == "verbatim" or bool(question and not self._mapping.prompt)

    def _blanks(self, row: Row) -> dict[str, str]:
        found = {
            blank: _cell_text(row.cells, column, row.place)
            for blank, column in self._mapping.blanks.items()
        }
        return {blank: text for blank, text in found.items() if text}

    def _split(self, text: str, place: Place) -> str:
        if text not in ("", "test", "reference"):
            raise _wrong(
                _(
                    "the split {!r} is neither test nor reference",
                    text[:20],
                    hint="Map it in [values.split], or omit split",
                ),
                place,
            )
        return text or "test"

    def _metadata(self, row: Row) -> Iterator[tuple[str, str]]:
        values = self._mapping.values
        yield from self._mapping.constant_metadata.items()
        for name, column in self._mapping.metadata.items():
            if text := _cell_text(row.cells, column, row.place):
                yield name, values.get(name, {}).get(text, text)
        for column in self._rest:
            text = _plain(row.cells.get(column))
            if text and len(text) <= _LONGEST:
                yield column, values.get(column, {}).get(text, text)

    def _check_prompt(self, item: Item, place: Place) -> None:
        try:
            prompt_of(item)
        except (DataError, UsageError) as error:
            problem = error.problem if isinstance(error, DataError) else error_text(error)
            raise _wrong(
                problem, place, _("Set [fields] question, [constants] question, or [blanks]")
            ) from None


def _released(texts: dict[str, str]) -> dict[Script, str]:
    both: dict[Script, str] = {
        "simplified": texts["question_simplified"],
        "traditional": texts["question_traditional"],
    }
    return {script: text for script, text in both.items() if text}


def _cell_text(cells: JsonObject, column: str, place: Place) -> str:
    value = cells.get(column)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return f"{value}"
    return text_of(cells, column, place).strip()


def _plain(value: object) -> str:
    """A value as metadata; empty for objects, bytes and lists of anything but texts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError:
        return text


def _wrong(problem: str, place: Place, hint: str = "") -> DataError:
    hint = hint or hint_of(problem) or _("Correct the mapping")
    return place.error(problem, hint=hint)


def _boxes_in(value: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    if isinstance(value, str):
        text = value
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise _not_boxes(
                _("the answer {!r} is not a list of boxes", shortened(text)), place
            ) from None
    if isinstance(value, list) and len(value) == 4 and all(map(_is_number, value)):
        value = [value]
    if not isinstance(value, list):
        raise _not_boxes(_("the answer {!r} is not a list of boxes", str(value)[:80]), place)
    boxes = []
    for number, each in enumerate(value, 1):
        if not isinstance(each, list) or len(each) != 4 or not all(map(_is_number, each)):
            raise _not_boxes(_("box {} of the answer is not four numbers", number), place)
        boxes.append(Box(**dict(zip(("x0", "y0", "x1", "y1"), map(float, each), strict=True))))
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise _not_boxes(_("the box {}", fault), place)
    return tuple(boxes)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _not_boxes(problem: str, place: Place) -> DataError:
    return place.error(
        problem, _("Write [[left, top, right, bottom], …] in pixels, or [] if the image has none")
    )
