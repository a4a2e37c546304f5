"""The records of a release in one form: each with its task, its ID and what its fields have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from keju.benchmarks.mcs_bench.reader.choices import options_from
from keju.benchmarks.mcs_bench.reader.conversations import without_conversation
from keju.benchmarks.mcs_bench.reader.fields import FieldMap, field_map, lift_metadata
from keju.benchmarks.mcs_bench.reader.settings import McsBenchSettings
from keju.benchmarks.mcs_bench.reader.sources import Table
from keju.benchmarks.mcs_bench.reader.words import (
    domains_in,
    load_names,
    named_tasks,
    numbered_task,
    plain_key,
    script_in,
    task_of_number,
    tasks_of_path,
    tasks_within,
)
from keju.datasets.readers.base import join_names
from keju.datasets.readers.records import JsonObject, Place, text_of
from keju.definitions import Task, is_task_word
from keju.errors import DataError
from keju.files import decode_json
from keju.items import Script
from keju.texts import _, n_


class Entry(NamedTuple):
    """One record.

    Attributes:
        place: its file, and its ID or, without one, its number.
        kind: its task.
        name: its ID; empty if it has none.
        script: the script of its texts, where the file or a field says so.
        texts: its texts by role: question, answer_simplified, transcription …
        images: values of the fields with images: names, bytes, data URLs, objects.
        answers: further accepted answers.
        options: its options, and those in traditional script where they are released.
        metadata: what breakdowns count by.
        words: of its place, from the inside out.
    """

    place: Place
    kind: Task
    name: str
    script: Script | None
    texts: Mapping[str, str]
    images: tuple[object, ...]
    answers: tuple[str, ...]
    options: tuple[str, ...]
    options_traditional: tuple[str, ...]
    metadata: Mapping[str, str]
    words: tuple[str, ...]


_TEXTS = (
    "question", "question_simplified", "question_traditional", "transcription", "group",
)  # fmt: skip
_ANSWERS = ("answer", "answer_simplified", "answer_traditional", "answer_index")


def entries_in(table: Table, settings: McsBenchSettings) -> list[Entry]:
    """The records of a table.

    Raises:
        UsageError: an option maps a role that this format does not have.
        DataError: a record is not in any known form, or its task is unknown.
    """
    records = [lift_metadata(without_conversation(row.cells, row.place)) for row in table.rows]
    fields = field_map(table.file, records, settings.field)
    reader = _Reader(table, fields, settings.task)
    return [
        reader.entry(record, row.place) for record, row in zip(records, table.rows, strict=True)
    ]


class _Reader:
    """Reads the records of one table."""

    def __init__(self, table: Table, fields: FieldMap, task: str) -> None:
        self._fields = fields
        self._words = table.words
        self._script = table.script
        self._of_path = tasks_of_path(table.words)
        self._given = task

    def entry(self, record: JsonObject, place: Place) -> Entry:
        name = self._text(record, "id", place).strip()
        if not name and "id" in self._fields.roles:
            raise place.error(_("without an ID", hint="Add an ID"))
        place = Place(place.file, name or place.item)
        kind = self._task(record, place)
        texts = {role: self._text(record, role, place) for role in _TEXTS}
        answers = {role: _accepted(self._fields.role(record, role), role, kind, place)
                   for role in _ANSWERS}  # fmt: skip
        texts |= {role: found[0] if found else "" for role, found in answers.items()}
        more = _accepted(
            self._fields.role(record, "also_accepted"), "answer", kind, place, more=True
        )
        letter = kind.queries[0].form == "letter"
        columns = [record.get(field) for field in self._fields.options]
        return Entry(
            place=place,
            kind=kind,
            name=name,
            script=self._script_of(record),
            texts=texts,
            images=tuple(self._images(record)),
            answers=tuple(dict.fromkeys((*answers["answer"][1:], *more))),
            options=options_from(self._fields.role(record, "options"), columns, place)
            if letter
            else (),
            options_traditional=options_from(
                self._fields.role(record, "options_traditional"), (), place
            )
            if letter
            else (),
            metadata=dict(self._metadata(record, kind, place)),
            words=self._words,
        )

    def _text(self, record: JsonObject, role: str, place: Place) -> str:
        return text_of(record, self._fields.roles.get(role), place)

    def _images(self, record: JsonObject) -> Iterator[object]:
        fields = [self._fields.roles.get("image"), *self._fields.images]
        for value in (record.get(field) for field in fields if field):
            if isinstance(value, list):
                yield from (each for each in value if each not in (None, ""))
            elif value not in (None, "") and not (isinstance(value, str) and not value.strip()):
                yield value

    def _script_of(self, record: JsonObject) -> Script | None:
        value = self._fields.role(record, "language")
        said = script_in(value) if isinstance(value, str) else None
        return said or self._script

    def _metadata(self, record: JsonObject, kind: Task, place: Place) -> Iterator[tuple[str, str]]:
        for field, key in self._fields.metadata.items():
            value = text_of({"": _short(record.get(field))}, "", place).strip()
            if value:
                yield key, value
        for role, key in (("domain", "Domain"), ("task_name", "Task_Name")):
            said = self._text(record, role, place).strip()
            if said and not _is_of(kind, said, role):
                yield key, said

    def _task(self, record: JsonObject, place: Place) -> Task:
        value, name, domain = (
            self._text(record, role, place).strip() for role in ("task", "task_name", "domain")
        )
        kind = _numbered(value)
        if kind is None and value.lstrip("+-").replace(".", "").isdigit():
            raise _no_task(value, place)
        if kind is not None:
            _check_names(kind, value, name, domain, place)
            return kind
        domains = domains_in(domain) or next(filter(None, map(domains_in, self._words)), ())
        for word in filter(None, (name, value)):
            found = named_tasks(word)
            found = tasks_within(found, domains) if len(found) > 1 or domains_in(domain) else found
            if len(found) == 1:
                return found[0]
            if is_task_word(word) or found:
                several = tasks_within(named_tasks(word), domains_in(domain)) or ()
                raise place.error(
                    _(
                        "expected the name of one task; {!r} names {}{}",
                        word[:20],
                        join_names(each.id for each in several) or _("no task"),
                        _(" of the domain {}", domain[:20]) if domain and not several else "",
                    ),
                    hint=_("Give Task_ID, or Domain too. See: keju tasks"),
                )
        return self._task_of_place(value, name, place)

    def _task_of_place(self, value: str, name: str, place: Place) -> Task:
        """The task that the file's or folder's name says, or the user.

        Raises:
            DataError: none of them names one task.
        """
        if len(self._of_path) == 1:
            return self._of_path[0]
        if self._given and (kind := _numbered(self._given) or _named(self._given)):
            return kind
        if name and not value:
            raise place.error(
                _(
                    "expected the name of one task; {!r} names no task",
                    name[:20],
                    hint="Give Task_ID, or Domain too. See: keju tasks",
                )
            )
        if value:
            raise _no_task(value, place)
        if self._of_path:
            several = join_names(each.id for each in self._of_path)
            problem = _("the name of the file or folder may mean {}", several)
            hint = _("Put it into a folder with the name of its domain, or give --option task=T7")
        else:
            problem = _(
                "no field for the task (expected Task_ID or Task or Task_Name), and neither the "
                "file nor a folder is named after it"
            )
            hint = _("Give its name: --option field.task=NAME, or the task: --option task=T7")
        raise place.error(problem, hint=hint)


def _numbered(value: str) -> Task | None:
    """The task of a value such as ``7``, ``"T7"``, ``7.0`` or ``T07 判断出处``."""
    digits = value.strip().upper().removeprefix("T").removesuffix(".0")
    if digits.isascii() and digits.isdigit():
        return task_of_number(int(digits)) if len(digits) < 4 else None
    return numbered_task(value) if len(value) < 60 else None


def _named(value: str) -> Task | None:
    found = named_tasks(value)
    return found[0] if len(found) == 1 else None


def _no_task(value: str, place: Place) -> DataError:
    return place.error(
        _("expected a task from 1 to 45; found {!r}", value[:20], hint="See: keju tasks")
    )


def _check_names(kind: Task, value: str, name: str, domain: str, place: Place) -> None:
    """Refuse a record whose names of task and domain contradict its number."""
    for said, of in ((name, (kind.name_zh, kind.name_en)), (domain, (kind.domain_zh, kind.domain))):
        if is_task_word(said) and said not in of:
            raise place.error(
                _(
                    "Task_ID {} is {}, but the record names {}",
                    value[:20],
                    " ".join(of),
                    said[:20],
                    hint="Correct one of them",
                )
            )


def _is_of(kind: Task, said: str, role: str) -> bool:
    own = (kind.name_zh, kind.name_en) if role == "task_name" else (kind.domain_zh, kind.domain)
    others = load_names().domains.get(kind.domain, ()) if role == "domain" else ()
    return (
        plain_key(said) in {plain_key(each) for each in (*own, *others)}
        or numbered_task(said) == kind
    )


def _short(value: object) -> object:
    """A fraction as its digits; any other value as it is."""
    return str(value) if isinstance(value, float | bool) and not _whole(value) else value


def _whole(value: float) -> bool:
    return not isinstance(value, bool) and float(value).is_integer()


def _accepted(
    value: object, role: str, kind: Task, place: Place, *, more: bool = False
) -> list[str]:
    """The accepted answers of a value, the first one first.

    A list has one answer, several that are accepted, all names of the entities, or the lines of a
    transcription, as the form of the task says.

    Raises:
        DataError: it is neither a text nor a list of texts.
    """
    if isinstance(value, str) and value.startswith('["') and value.endswith('"]'):
        value = _from_json(value)
    if not isinstance(value, list):
        text = text_of({role: value}, role, place)
        return [text] if text else []
    texts = [text_of({role: each}, role, place) for each in value]
    texts = [text for text in texts if text.strip()]
    form = kind.queries[0].form
    if more or len(texts) < 2:
        return texts
    if form == "entities":
        return ["、".join(texts)]
    if form in {"transcription", "punctuated"}:
        return ["\n".join(texts)]
    if form == "letter":
        raise place.error(
            n_(
                "{n:,} answer to a question with one right option",
                "{n:,} answers to a question with one right option",
                len(texts),
                hint="Keep the right one",
            )
        )
    return texts


def _from_json(value: str) -> object:
    try:
        return decode_json(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return value
