"""`read_mapped`: a source as its mapping says; what the mapping does not name is refused.

The path of an item whose mapping a preset drafts::

    import_dataset                        __init__.py
      read                                presets.py         drafts the mapping
        read_mapped                       mapped.py
          NamedColumns.checked            mapped_records.py
            _table_records < rows         tables.py
          _ItemMaker.items_of < _item
            RecordFiles.images            record_files.py
              ImageFinder.find            images.py
              DatasetWriter.add_image     ../writing.py
          DatasetWriter.add
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.import_log import import_log
from keju.datasets.newlines import Newlines
from keju.datasets.readers.base import Reader, join_names, source_text
from keju.datasets.readers.boxes import boxes_in
from keju.datasets.readers.choices import insert_options, known_letter, options_from, unlettered
from keju.datasets.readers.mapped_records import (
    OCCURRENCE,
    NamedColumns,
    Record,
    records_of,
)
from keju.datasets.readers.mapping import (
    TEXTS,
    Columns,
    Mapping,
    Part,
    as_tuple,
    check_complete,
    read_mapping,
    tasks_called,
)
from keju.datasets.readers.record_files import MissingFileError, RecordFiles
from keju.datasets.readers.records import Place, not_text, place_words
from keju.datasets.readers.saved_pages import SavedPage
from keju.datasets.store import DatasetWriter
from keju.definitions import (
    Query,
    Task,
    is_task_word,
    options_in,
    prompt_of,
    query_of,
)
from keju.definitions.references import NO_BOXES
from keju.errors import DataError, UsageError, english_problem, error_text, shortened
from keju.items import AnswerForm, ImageRef, Item, Line, Provenance, Script
from keju.settings import Settings
from keju.text import in_script
from keju.texts import _, n_

LAYOUT = """\
SRC/                      any table (CSV, TSV, JSON, JSON lines, parquet, XLSX), any folder of
                          images, or both
mapping.toml              what its columns, file names and folders mean, in a file of yours:
  [[tables]]              path = "labels.csv" (one for each file, or each list in a file); without
                          tables each image is a record
  [fields]                image = "images/{ID}.*"; question = "题目"; options = ["A", "B"];
                          answer = ["答案_繁", "答案_简"]; id = "{task}-{ID}"
  [metadata]              dynasty = "朝代"
  [values.task]           "单选" = "T7"
  ignored                 = ["model_answer"]: every table and column is mapped or named here
keju data detect SRC --write-map mapping.toml drafts it; keju data detect SRC --map mapping.toml
shows the items that it gives."""

SOURCE_ID = "ID in the release: "
"""The beginning of the note of provenance with the ID of the source, where the item has another."""

MOST_MISSING = 1000
"""Missing files after which an import stops: the folder must be wrong."""

_NUMBER = "\0"
"""The place in an id where its number among those that are the same without it follows."""

_ONE_TEXT = [role for role in TEXTS if role not in {"task", "answer"}]
"""Roles whose text is looked up in the same way; a task is known before, an answer has a form."""

_QUESTIONS = frozenset({"question", "question_simplified", "question_traditional"})
_WHOLE = _QUESTIONS | {"answer_simplified", "transcription"}
"""Roles whose text keeps the spaces at its ends."""

_AS_THEY_ARE = frozenset({"id", "source_id"})
"""Roles in which a backslash and an n stay as they are."""

_TRANSCRIBED: tuple[AnswerForm, ...] = ("transcription", "punctuated")
"""Forms of answers that are, or contain, the text on the image."""


class FileSettings(Settings, frozen=True, kw_only=True):
    """Where the files of records are, and what happens without them."""

    images: Annotated[Path | None, Meta(description="the folder from which image names start")] = (
        None
    )
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip records whose image or text file is missing (default no)"),
    ] = False
    skip_invalid: Annotated[
        bool,
        Meta(description="yes: leave out records that are not valid, and list them (default no)"),
    ] = False


class MappedSettings(FileSettings, frozen=True, kw_only=True):
    """The mapping file of a source."""

    map: Annotated[Path | None, Meta(description="the mapping file (--map FILE)")] = None


def _read_file(src: Path, writer: DatasetWriter, settings: MappedSettings) -> Iterator[str]:
    """Read a source as a mapping file says."""
    if settings.map is None:
        raise UsageError(
            "format mapped needs a mapping file: --map FILE. Draft one with: keju data detect "
            "SRC --write-map FILE"
        )
    mapping = read_mapping(settings.map)
    writer.declare(mapping=source_text(settings.map))
    yield from read_mapped(src, writer, mapping, settings)


READER = Reader(
    "mapped",
    "any table or image folder, described by a mapping file",
    LAYOUT,
    _read_file,
    MappedSettings,
    group_option='[fields] group = "COLUMN"',
)


def read_mapped(
    src: Path, writer: DatasetWriter, mapping: Mapping, settings: FileSettings
) -> Iterator[str]:
    """Read a source as its mapping, which has no TODO, says; yields notes.

    Raises:
        DataError: the mapping or a record is not valid, a column or table is neither mapped nor
            ignored, or files are missing.
        UsageError: a regular expression cannot be used.
    """
    check_complete(mapping)
    columns = NamedColumns(mapping)
    files = RecordFiles(src, writer, mapping, settings.images)
    failures = _Failures(settings)
    matches = Counter[bool]()

    def read_records() -> Iterator[Record]:
        return columns.checked(records_of(src, mapping, files.path_of, matches))

    texts: dict[tuple[str, ...], tuple[int, str]] = {}
    if mapping.shared_transcriptions:
        # The text of an image may follow the questions about it, and a million items would fill
        # the memory: the records are read twice.
        maker = _ItemMaker(mapping, files, writer)
        for record in read_records():
            with suppress(DataError, UsageError):  # They are reported in the second pass.
                for item in maker.items_of(record):
                    _learn_text(texts, item)
    maker = _ItemMaker(mapping, files, writer)
    places: dict[str, Place] = {}
    for record in read_records():
        try:
            items = maker.items_of(record)
        except (DataError, UsageError) as error:
            failures.take(record.place, error)
            continue
        for item in items:
            if (first := places.setdefault(item.id, record.place)) is not record.place:
                failures.take(record.place, _same_id(item, record.place, first))
                continue
            __, text = texts.get(_hashes(item), (0, None))
            writer.add(replace(item, transcription=item.transcription or text))
    if not places and (dropped := import_log().dropped):
        place, reason = dropped[0]
        raise DataError("no record is valid. The first error: {}", reason, file=src, item=place)
    for missing in files.missing_images():
        failures.take(missing.place, missing)
    failures.check()
    yield from files.notes()
    if matches[False]:
        total = matches.total()
        yield _("skipped {} of {} records, since names does not match", matches[False], total)
    yield from maker.notes()


class _Failures:
    """The errors of records: each is raised, or its record is dropped, as the settings say.

    Missing files are counted, so that one error names several.
    """

    def __init__(self, settings: FileSettings) -> None:
        self._settings = settings
        self._missing: dict[str, Place] = {}

    def take(self, place: Place, error: DataError | UsageError) -> None:
        """Raise the error of a record, drop the record, or remember its missing file."""
        is_missing = isinstance(error, MissingFileError)
        if self._settings.skip_invalid or (is_missing and self._settings.skip_missing):
            import_log().dropped.append((place.item, english_problem(error)))
        elif isinstance(error, MissingFileError):
            self._missing.setdefault(error.name, place)
            if len(self._missing) == MOST_MISSING:
                self.check(" …")
        else:
            raise error

    def check(self, more: str = "") -> None:
        """Raise an error about the missing files, if there are any."""
        if not self._missing:
            return
        names = join_names(
            _("{} (of {})", shortened(name), place_words(place.item))
            for name, place in self._missing.items()
        )
        count = len(self._missing)
        problem = n_(
            "{n:,} file is missing: {}", "{n:,} files are missing: {}", count, names + more
        )
        hint = _(
            "Correct image or texts in the mapping, give --option images=FOLDER, or skip these "
            "records: --option skip-missing=yes"
        )
        file = next(iter(self._missing.values())).file
        raise DataError(problem, file=file, hint=hint)


def _same_id(item: Item, place: Place, other: Place) -> DataError:
    """The error of a record that gives the same id as another one."""
    where = other.item if other.file == place.file else f"{other.file.name}, {other.item}"
    problem = _("the id {!r} is also that of {}", shortened(item.id), place_words(where))
    hint = _(
        'Make it of several columns: id = "{COLUMN}-{COLUMN}", or omit id; put both scripts of a '
        "question into one record"
    )
    return place.error(problem, hint)


def _learn_text(texts: dict[tuple[str, ...], tuple[int, str]], item: Item) -> None:
    """Remember the transcription of an item's images, with its rank.

    Of several, a whole transcription counts before one without its punctuation, then the first.
    """
    if item.transcription and item.images:  # Without images nothing says that pages are one.
        form = query_of(item).form
        rank = (*_TRANSCRIBED, form).index(form)
        if rank < texts.get(_hashes(item), (len(_TRANSCRIBED) + 1, ""))[0]:
            texts[_hashes(item)] = (rank, item.transcription)


def _hashes(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)


class _ItemMaker:
    """Makes the items of records."""

    def __init__(self, mapping: Mapping, files: RecordFiles, writer: DatasetWriter) -> None:
        self._mapping = mapping
        self._files = files
        self._writer = writer
        parts = mapping.items or (Part(),)
        self._parts = [(part, {**mapping.fields, **part.columns}) for part in parts]
        self._newlines = Newlines(mapping.newlines)
        self._tasks: dict[tuple[str, str], Task] = {}
        self._records = 0
        self._numbers: Counter[str] = Counter()
        self._occurrences: Counter[str] = Counter()
        self._empty: Counter[str] = Counter()
        self._without: Counter[str] = Counter()

    def notes(self) -> Iterator[str]:
        """The notes on line breaks, on what records lack, and on [[items]] without a text."""
        yield from self._newlines.notes()
        if count := self._without["options"]:
            yield n_(
                "{n:,} question with one right option has no options",
                "{n:,} questions with one right option have no options",
                count,
            )
        if self._empty:
            counts = [f"{name}: {count:,}" for name, count in sorted(self._empty.items())]
            yield _("no item where the question or answer is empty: {}", ", ".join(counts))
        if count := self._without["answer"]:
            yield n_(
                "{n:,} item without an answer: they can be run, but not scored",
                "{n:,} items without an answer: they can be run, but not scored",
                count,
            )

    def items_of(self, record: Record) -> list[Item]:
        """The items of a record.

        Raises:
            DataError: the record is not valid, or a file is missing.
        """
        self._records += 1
        lines: tuple[Line, ...] = ()
        if self._mapping.texts:
            text, lines = self._files.text(record)
            if self._mapping.text_form == "quads" and not text:
                return []
            record = record.with_cells({"text": text})
        items: list[Item] = []
        for part, fields in self._parts:
            if item := self._item(record, part, fields, lines):
                items.append(item)
        return items

    def _item(
        self, record: Record, part: Part, fields: dict[str, Columns], lines: tuple[Line, ...]
    ) -> Item | None:
        """One item of a record; None if `[[items]]` names a question or answer that is empty."""
        mapping, place = self._mapping, record.place
        if not all(record.has(columns) for columns in (part.question, part.answer) if columns):
            self._empty[part.task] += 1
            return None
        kind = self._task_of(record, part, fields)
        self._numbers[kind.id] += 1
        record = record.with_added(task=kind.id, number=self._numbers[kind.id])
        if "task" in as_tuple(mapping.fields.get("task", ())):
            # In templates the id of the task, however the source calls it.
            record = record.with_cells({"task": kind.id})
        images = self._files.images(record, kind)
        texts = defaultdict(str)
        for role in _ONE_TEXT:
            if role in fields or role in mapping.constants:
                texts[role] = self._text(record, role, fields)
        _check_words(kind, texts, place)
        query = _query(kind, texts["query"], place)
        question = texts["question"]
        verbatim = mapping.prompt == "verbatim" or bool(question and not mapping.prompt)
        if mapping.prompt == "own":
            verbatim = bool(question) and question.strip() != query.template
            question = question if verbatim else ""
        options: tuple[str, ...] = ()
        if query.form == "letter" and not (options := options_in(texts["question"])):
            options = self._options(record, as_tuple(fields.get("options", ())))
            if options and question and verbatim:
                question = insert_options(question, options, kind)
        answer = (
            _boxed(record, fields, images)
            if query.form == "boxes"
            else self._answer(record, fields, texts["answer_simplified"], query.form, options)
        )
        pages = self._pages(record)
        name = self._name(record, fields, texts["id"])
        has_answer = any(answer.get(key) for key in ("answer", "answer_simplified", "boxes"))
        item = Item(
            id=name,
            benchmark=kind.benchmark,
            task=kind.id,
            query=query.name,
            images=images,
            question=question,
            question_in=_wordings(texts, options, kind),
            verbatim=verbatim,
            fields={
                blank: text
                for blank, column in mapping.blanks.items()
                if (text := record.text(column).strip())
            },
            transcription=texts["transcription"]
            or _transcribed(query.form, answer["answer"])
            or (None if images else "\n\n".join(page.text for page in pages) or None),
            lines=lines,
            group=texts["group"] or (images[0].sha256 if images else ""),
            split=_split(texts["split"], place),
            options=options,
            metadata=dict(self._metadata(record, texts, kind, pages if images else [])),
            provenance=tuple(self._provenance(texts, name, pages, with_images=bool(images))),
            draft=mapping.drafts and not has_answer,
            **answer,
        )
        self._without["answer"] += not (item.draft or has_answer)
        try:
            prompt_of(item)
        except (DataError, UsageError) as error:
            problem = error.problem if isinstance(error, DataError) else error_text(error)
            hint = _("Set question in [fields] or [constants], or set [blanks]")
            raise place.error(problem, hint) from None
        return item

    # ---- the texts of a record

    def _text(self, record: Record, role: str, fields: dict[str, Columns]) -> str:
        """The text of a role: of the first of its columns that has one, else the constant one."""
        columns = fields.get(role, ())
        if role == "id":
            record = record.with_added(**{OCCURRENCE: _NUMBER})
        if role in _QUESTIONS:
            # The lines of a transcription may be a list; of several questions none is the right.
            for column in as_tuple(columns):
                if isinstance(cell := record.cell(column), list):
                    raise not_text(cell, column, record.place)
        text = record.text(columns, needed=role == "id")
        text = self._replaced(role, text or self._mapping.constants.get(role, ""))
        return text if role in _WHOLE else text.strip()

    def _replaced(self, role: str, text: str) -> str:
        """A text as the mapping writes it."""
        text = self._mapping.values.get(role, {}).get(text.strip(), text)
        return text if role in _AS_THEY_ARE else self._newlines.convert(text)

    def _name(self, record: Record, fields: dict[str, Columns], name: str) -> str:
        """The id of an item, made of the name of its table or file where it has none."""
        if not name and "id" in fields:
            hint = _("Write its ID, or correct id in [fields]")
            raise record.place.error(_("without an ID"), hint)
        if _NUMBER in name:
            self._occurrences[name] += 1
            return name.replace(_NUMBER, str(self._occurrences[name]))
        if name:
            return name
        if self._mapping.tables:
            return f"{record.place.file.stem}-{self._records:06}"
        path = str(record.added["file"])
        return path.rpartition(".")[0] or path

    def _listed(self, record: Record, role: str) -> list[str]:
        """The texts of a role in all of its columns."""
        columns = as_tuple(self._mapping.fields.get(role, ()))
        return [text.strip() for column in columns for text in record.texts(column)]

    def _pages(self, record: Record) -> list[SavedPage]:
        """The saved web pages that a record names; one cell may name several, with | between."""
        names = [name.strip() for text in self._listed(record, "page") for name in text.split("|")]
        return [self._files.page(name, record.place) for name in names if name]

    def _metadata(
        self, record: Record, texts: dict[str, str], kind: Task, pages: list[SavedPage]
    ) -> Iterator[tuple[str, str]]:
        """The metadata of an item: the source's, and known facts about its image."""
        values = self._mapping.values
        yield from self._mapping.constant_metadata.items()
        for name, columns in self._mapping.metadata.items():
            if text := record.text(columns).strip():
                yield name, values.get(name, {}).get(text, text)
        of_task = {
            "Domain": (texts["domain"], kind.domain_zh, kind.domain),
            "Task_Name": (texts["task_name"], kind.name_zh, kind.name_en),
        }
        for name, (text, *own) in of_task.items():
            if text and text not in own and values.get("task", {}).get(text, text) != kind.id:
                yield name, text
        facts = {
            "notes": "\n\n".join(filter(None, (texts["notes"], *(page.text for page in pages)))),
            "description": texts["description"],
            "keywords": "、".join(self._listed(record, "keywords")),
        }
        yield from ((name, text) for name, text in facts.items() if text)

    def _provenance(
        self, texts: dict[str, str], name: str, pages: list[SavedPage], *, with_images: bool
    ) -> Iterator[Provenance]:
        """The ID of the source where the item has another, and licences and sources of its own."""
        step = self._mapping.preset or "mapped"
        if texts["source_id"] not in ("", name):
            yield Provenance(step=step, note=f"{SOURCE_ID}{texts['source_id']}")
        if texts["licence"] or texts["source"] or (pages and with_images):
            yield Provenance(
                step=step,
                licence=texts["licence"] or self._writer.licence,
                source=texts["source"] or self._writer.source,
            )
        yield from (page.provenance for page in pages)

    # ---- its task

    def _task_of(self, record: Record, part: Part, fields: dict[str, Columns]) -> Task:
        """The task of a record: of `[[items]]`, a column, its table, else the constant one."""
        name = part.task or record.text(self._mapping.fields.get("task", ())).strip()
        name = name or record.task or self._mapping.constants.get("task", "")
        domain = "" if part.task else self._text(record, "domain", fields)
        if (name, domain) not in self._tasks:
            self._tasks[name, domain] = self._task_called(name, domain, record.place)
        return self._tasks[name, domain]

    def _task_called(self, text: str, domain: str, place: Place) -> Task:
        name = self._mapping.values.get("task", {}).get(text, text)
        if not name:
            hint = _("Set task in [constants] or [fields]")
            raise place.error(_("the mapping does not give a task"), hint)
        tasks = tasks_called(name, domain)
        if len(tasks) != 1:
            why = _("several tasks have") if tasks else _("no task has")
            hint = _(
                "Add to [values.task]: {} = the id of a task (ids: keju tasks), set task in "
                "[constants] (--option constants.task=T7), or define it: --benchmark",
                f'"{text[:20]}"',
            )
            raise place.error(_("{} the name {!r}", why, name[:20]), hint)
        return tasks[0]

    # ---- its answer

    def _answer(
        self,
        record: Record,
        fields: dict[str, Columns],
        simplified: str,
        form: AnswerForm,
        options: tuple[str, ...],
    ) -> dict[str, Any]:
        """The fields of the answer of an item: the letters of options, or accepted texts."""
        answer, *others = self._accepted(record, fields, form) or [""]
        if form == "letter":
            answer, simplified = (
                known_letter(text, options, record.place, self._mapping.answer_is)
                for text in (answer, simplified)
            )
            self._without["options"] += not options
        if not options:
            also = record.texts(fields.get("also_accepted", ()))
            others += [self._replaced("also_accepted", text) for text in also]
        accepted = tuple(text for text in dict.fromkeys(others) if text != answer)
        return {"answer": answer, "answer_simplified": simplified, "also_accepted": accepted}

    def _accepted(self, record: Record, fields: dict[str, Columns], form: AnswerForm) -> list[str]:
        """The accepted answers, the first one first.

        A list has several that are accepted, all names of the entities, or the lines of a
        transcription, as the form of the answer says.
        """
        constants = filter(None, [self._mapping.constants.get("answer")])
        texts = record.texts(fields.get("answer", ())) or constants
        texts = [self._replaced("answer", text) for text in texts]
        if len(texts) > 1 and form == "letter":
            problem = n_(
                "{n:,} answer to a question with one right option",
                "{n:,} answers to a question with one right option",
                len(texts),
            )
            raise record.place.error(problem, _("Keep the right one"))
        between = {"entities": "、", "transcription": "\n", "punctuated": "\n"}.get(form)
        return [between.join(texts)] if between and texts else texts

    def _options(self, record: Record, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The options of a record: in one column, or each in one of its own."""
        if len(columns) == 1:
            options = options_from(record.cell(columns[0]), record.place)
        else:
            texts = [record.text(column).strip() for column in columns]
            while texts and not texts[-1]:
                texts.pop()
            if not all(texts):
                # Dropping it would change the letters of the options after it.
                raise record.place.error(_("an option between others is empty", hint="Fill it in"))
            options = unlettered(texts, record.place)
        known = self._mapping.values.get("options", {})
        return tuple(known.get(text, text) for text in options)


def _boxed(
    record: Record, fields: dict[str, Columns], images: tuple[ImageRef, ...]
) -> dict[str, Any]:
    """The fields of an answer of boxes; of an empty list, that there are none."""
    cells = (record.cell(column) for column in as_tuple(fields.get("answer", ())))
    cell = next((cell for cell in cells if cell not in (None, "")), None)
    if cell is None:
        return {"answer": ""}
    boxes = boxes_in(cell, images, record.place)
    return {"answer": "" if boxes else NO_BOXES, "boxes": boxes}


def _wordings(texts: dict[str, str], options: tuple[str, ...], kind: Task) -> dict[Script, str]:
    """The question as released in each script; none unless it was released in both.

    Options that a wording does not print are put under it, converted to its script.
    """
    wordings: dict[Script, str] = {
        "simplified": texts["question_simplified"],
        "traditional": texts["question_traditional"],
    }
    if not all(text.strip() for text in wordings.values()):
        return {}
    for script, text in wordings.items():
        if options and not options_in(text):
            converted = tuple(in_script(option, script) for option in options)
            wordings[script] = insert_options(text, converted, kind)
    return wordings


def _check_words(kind: Task, texts: dict[str, str], place: Place) -> None:
    """Refuse a record whose name of the task or domain contradicts its task."""
    known = {
        "task_name": (kind.name_zh, kind.name_en),
        "domain": (kind.domain_zh, kind.domain),
    }
    for role, names in known.items():
        name = texts[role]
        if name and name not in names and is_task_word(name):
            known_names = " ".join((kind.id, *names))
            problem = _("its task is {}, but it names {!r}", known_names, name[:20])
            raise place.error(problem, _("Correct one of them"))


def _query(kind: Task, name: str, place: Place) -> Query:
    for query in kind.queries:
        if query.name == name or (not name and len(kind.queries) == 1):
            return query
    hint = _("Set query in [constants] to one of: {}", ", ".join(q.name for q in kind.queries))
    raise place.error(_("task {} has no query {!r}", kind.id, name[:20]), hint)


def _split(text: str, place: Place) -> Literal["test", "reference"]:
    if text == "reference":
        return "reference"
    if text not in ("", "test"):
        problem = _("the split {!r} is neither test nor reference", text[:20])
        raise place.error(problem, _("Map it in [values.split], or omit split"))
    return "test"


def _transcribed(form: AnswerForm, answer: str) -> str:
    """The text on the image if the answer has it: for punctuation it is without its marks."""
    if form == "transcription":
        return answer
    if form == "punctuated":
        return "".join(char for char in answer if unicodedata.category(char)[0] not in "PZ")
    return ""
