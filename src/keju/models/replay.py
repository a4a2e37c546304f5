"""`Replay`: answers from files, added to a run like the answers of any model.

A file is a table: JSON lines, a JSON list, CSV, TSV, XLSX or parquet. A record is a response of
keju (``{"item": …, "text": …}``), a row of the authors' RESPONSES.json (``ID`` and ``Response``),
or a row with a column for the item's id and one for the answer. Readers of plug-ins read other
files (`READERS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from glob import iglob
from itertools import chain, count, islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, field
from msgspec.structs import replace

from keju.datasets.readers.base import join_names
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import SUFFIXES, rows
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file, shipped_toml
from keju.items import Failure, Item, Line, Request, Status, Usage
from keju.local_paths import check_local
from keju.models.base import MISSING, Answer, AskError, Model, ModelOptions, status_of
from keju.models.disk_index import DiskIndex
from keju.models.replies import stated_status
from keju.registry import PluginError, Registry
from keju.runs import RunFolder
from keju.text import read_content
from keju.texts import _, listed

LONGEST_CELL = 32_767
"""Characters; a spreadsheet cuts longer cells, so that a cell of this length is truncated."""

_BEGINNING = 400
"""The number of characters at the beginning of an answer that are searched for an error."""

_JSON = frozenset({".json", ".jsonl", ".ndjson"})
_IDS = ("id", "item")
_ANSWERS = ("prediction", "response", "output", "text", "answer")
_OF_REQUEST = ("setting", "script", "wording", "round")
_USUAL = {"setting": "image", "script": "released", "wording": "released", "round": 1}
"""The values of a request that keju omits in its own lines."""

_ReadRow = Callable[[Place, JsonObject], "StoredAnswer | None"]
_Number = Annotated[int, Meta(ge=0, le=1 << 31)]


class StoredAnswer(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One answer in a file. Only `item` is required; keju writes most of the other fields.

    `setting`, `script`, `wording` and `round` are those of the request; an answer belongs to every
    request of the item that has its values. `key` and `model` are set in keju's own responses,
    `task` where ids may be numbered within each task.
    """

    item: str | int
    text: str | None = None
    not_text: str = ""
    model: str = ""
    key: str = ""
    task: str = ""
    candidate: _Number = 0
    setting: str | None = None
    script: str | None = None
    wording: str | None = None
    round: _Number | None = None
    status: Status | None = None
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: Failure | None = None
    lines: tuple[Line, ...] = ()
    decoding: dict[str, str] | None = None
    refused: tuple[str, ...] = ()

    @property
    def request_values(self) -> tuple[object, ...]:
        """The values of the requests that it answers; None for any."""
        return tuple(getattr(self, name) for name in _OF_REQUEST)


_decode = msgspec.msgpack.Decoder(StoredAnswer).decode


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression of texts that programs store in place of an answer; error_texts.toml."""

    pattern: str
    examples: tuple[str, ...]
    certain: bool = False
    program: str = ""
    source: str = ""

    def matches(self, text: str) -> bool:
        """Whether a text has this wording; letter case and outer spaces do not count."""
        return re.search(self.pattern, text.strip(), re.IGNORECASE) is not None


@cache
def error_texts() -> dict[str, tuple[Wording, ...]]:
    """The wordings of error_texts.toml: `errors` are failures, `suspects` look like one."""
    return shipped_toml("keju.models", "error_texts.toml", dict[str, tuple[Wording, ...]])


def is_error_text(text: str, *, certain: bool = False) -> bool:
    """Whether a text is one that a program stores when it got no answer.

    With `certain` only wordings count that the programs themselves search for anywhere; others are
    beginnings that a model's own answer could have.
    """
    wordings = error_texts()["errors"]
    return any(wording.matches(text) for wording in wordings if wording.certain or not certain)


def looks_like_error(text: str) -> bool:
    """Whether an answer is an error text or begins like one."""
    beginning = text.strip()[:_BEGINNING]
    suspects = error_texts()["suspects"]
    return is_error_text(text) or any(wording.matches(beginning) for wording in suspects)


def files_of(file: str) -> list[Path]:
    """The files of a path, a folder or a pattern: of a folder the JSON lines in it.

    Raises:
        UsageError: no file is named, it is an address, or there is no such file.
    """
    if not file:
        raise UsageError("replay: needs a file or folder after it, as in replay:answers.jsonl")
    check_local(file, "replay:")
    path = Path(file)
    if path.is_dir():
        run = RunFolder(path)
        paths = run.response_files() if run.exists() else sorted(path.rglob("*.jsonl"))
    else:
        # `Path.glob` takes no absolute pattern.
        names = [file] if path.exists() else sorted(iglob(file, recursive=True))  # noqa: PTH207
        paths = [path for name in names if (path := Path(name)).is_file()]
    if not paths:
        raise UsageError(
            "replay:{0}: no such file, or a folder without JSON lines (.jsonl). Name other tables "
            "by a pattern, as in replay:FOLDER/*.xlsx. For the .txt, PAGE-XML, ALTO or hOCR files "
            "of an OCR engine give the engine's name too: replay:NAME={0}",
            file,
        )
    return paths


class Replay(Model):
    """The answers of one file, or of several files of a folder or pattern.

    Raises:
        UsageError: there is no such file.
        DataError: a file has no known format, or two different answers to one item.
    """

    def __init__(self, file: str, options: ModelOptions) -> None:
        self.name = f"replay:{file}"
        column_names = options.replay_columns
        columns = [name.strip() for name in column_names.split(",")] if column_names else []
        if column_names and not (len(columns) > 1 and all(columns)):
            raise UsageError(
                "--replay-columns {}: needs two names or more, as in id,resps", column_names
            )
        paths = files_of(file)
        self._index = DiskIndex(
            "CREATE TABLE answers (item, candidate, place, answer)",
            "CREATE INDEX items ON answers (item, candidate)",
        )
        for path in paths:
            self._add(path, answers_in(path, columns))
        hashes = [sha256_file(path) for path in paths]
        sha256 = hashes[0] if len(hashes) == 1 else sha256_bytes("".join(hashes).encode())
        self.identity = {"kind": "replay", "sha256": sha256}
        if column_names:
            self.identity["columns"] = column_names
        if len(paths) > 1:
            names = join_names(map(str, paths))
            self.notes = (_("{}: files with responses: {}", self.name, names),)
        # A file of a run is in RUN/responses/MODEL.
        runs = map(RunFolder, {folder for path in paths for folder in path.resolve().parents[:3]})
        self.pair_forms = frozenset(run.manifest().pairs for run in runs if run.exists())

    def _add(self, path: Path, answers: Iterable[tuple[str, StoredAnswer]]) -> None:
        """Add the answers of a file, each with its place in the file.

        Raises:
            DataError: there is another answer to the same request. Of keju's own responses the
                last one counts.
        """
        for place, answer in answers:
            for row, other_place, other in self._rows(str(answer.item), answer.candidate):
                if (other.task, other.request_values) != (answer.task, answer.request_values):
                    continue
                same_text = (other.text, other.not_text) == (answer.text, answer.not_text)
                is_own = answer.key and other.key
                if other.model != answer.model or not (is_own or same_text):
                    raise DataError(
                        "two different answers to the same item {}; the other one is in {}",
                        answer.item,
                        other_place,
                        file=path,
                        item=place,
                        hint="Keep one of them, or give each its number as round",
                    )
                self._index.rows("DELETE FROM answers WHERE rowid = ?", row)
            values = (str(answer.item), answer.candidate, f"{path}, {place}")
            data = msgspec.msgpack.encode(answer)
            self._index.rows("INSERT INTO answers VALUES (?, ?, ?, ?)", *values, data)

    def _rows(self, item: str, candidate: int) -> list[tuple[int, str, StoredAnswer]]:
        """The answers to an item with their row and place, the last one first."""
        rows = self._index.rows(
            "SELECT rowid, place, answer FROM answers WHERE item = ? AND candidate = ? "
            "ORDER BY rowid DESC",
            item,
            candidate,
        )
        return [(row, place, _decode(data)) for row, place, data in rows]

    def _find(self, request: Request) -> StoredAnswer | None:
        """The answer to a request: of several that fit, the one with most of its values."""
        # An import adds the task before ids that are numbered within each task: T7-12.
        numbered = request.item.removeprefix(f"{request.task}-")
        for name in dict.fromkeys((request.item, numbered)):
            answers = [answer for *_row, answer in self._rows(name, request.candidate)]
            tasks = {answer.task for answer in answers} - {""}
            right_tasks = {request.task}
            if name == request.item:
                # An id that only one task has belongs to an item of that id, whatever its task.
                right_tasks |= {""} | (tasks if len(tasks) == 1 else set())
            fitting = [
                answer
                for answer in answers
                if answer.task in right_tasks
                and all(
                    getattr(answer, part) in {None, getattr(request, part)} for part in _OF_REQUEST
                )
            ]
            if fitting:
                return min(fitting, key=lambda answer: answer.request_values.count(None))
        return None

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The stored answer."""
        del images
        stored = self._find(request)
        if stored is None:
            raise AskError(MISSING, _("the file has no answer for this item"))
        if stored.error is not None:
            raise AskError(stored.error.kind, stored.error.message)
        text = stored.text or ""
        status = stored.status or stated_status(stored.finish_reason) or status_of(text)
        complete = replace(stored, text=text, status=status)
        return msgspec.convert(complete, Answer, from_attributes=True)

    async def close(self) -> None:
        """Delete the temporary index."""
        self._index.close()


def answers_in(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, StoredAnswer]]:
    """The answers of a file, each with its place.

    Args:
        path: the file.
        columns: of a table, the column of the item's id and those that may have its answer, of
            which the first one with a value counts.

    Raises:
        DataError: the file has no known format, a record is not an answer, or the columns are not
            clear.
    """
    try:
        return _begun(_table_answers(path, columns))
    except DataError:
        for read in READERS.list_usable():
            with suppress(DataError):
                places = (f"record {number}" for number in count(1))
                return _begun(zip(places, map(_plugin_answer, read(path)), strict=False))
        raise


def _begun(answers: Iterator[tuple[str, StoredAnswer]]) -> Iterator[tuple[str, StoredAnswer]]:
    """The same answers, of which the first is read at once, to see whether the form fits."""
    return chain(list(islice(answers, 1)), answers)


def _table_answers(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, StoredAnswer]]:
    suffix = path.suffix.casefold()
    if suffix not in SUFFIXES:
        raise DataError(
            "the name has none of the endings of a table ({})",
            ", ".join(SUFFIXES),
            file=path,
            hint="Save it in one of these formats",
        )
    if suffix == ".jsonl" and not path.stat().st_size:
        return  # A run has such files where all responses of a task failed and were dropped.
    read: _ReadRow | None = None
    # VLMEvalKit stores an answer that begins with = as a formula.
    for place, cells in rows(path, formulas=True):
        read = read or _reading_of(place, cells, columns)
        if (answer := read(place, cells)) is not None:
            yield place.item, _without_error_text(answer, certain=read is _authors_answer)


def _reading_of(place: Place, cells: JsonObject, columns: Sequence[str]) -> _ReadRow:
    """How the rows of a file are read, by its first row and the columns that the user named."""
    if columns and columns[0] in cells and cells.keys() & {*columns[1:]}:
        return partial(_row_answer, columns)
    if place.file.suffix.casefold() in _JSON:
        # keju omits an empty text in its own lines, which have a key.
        if "item" in cells and cells.keys() & {"text", "key"}:
            return _own_answer
        if "ID" in cells and not cells.keys() & {*_IDS}:
            return _authors_answer
    ids = [name for name in _IDS if name in cells]
    answers = [name for name in _ANSWERS if name in cells]
    if len(answers) > 1 and answers[-1] == "answer":
        answers.pop()  # It is the reference where another column has the answer.
    if columns or len(ids) != 1 or len(answers) != 1:
        wanted = (
            _("the columns {} and {}", columns[0], listed(columns[1:]))
            if columns
            else _("one column id or item, and one of prediction, response, output, text, answer")
        )
        raise _unclear(place, _("the table needs {}; it has {}", wanted, join_names(cells, 20)))
    return partial(_row_answer, (*ids, *answers))


def _unclear(place: Place, problem: str) -> DataError:
    return place.error(problem, _("Name the columns: --replay-columns ID,ANSWER"))


def _own_answer(place: Place, cells: JsonObject) -> StoredAnswer:
    """The answer in a line of keju's, which has a key, or of item and text."""
    try:
        answer = msgspec.convert({**_USUAL, **cells} if "key" in cells else cells, StoredAnswer)
    except msgspec.ValidationError as error:
        raise place.error(_("not a response with item and text: {}", error)) from None
    if answer.text is None and not answer.key and answer.error is None:
        raise place.error(_("the response has no text"))
    return answer


def _authors_answer(place: Place, cells: JsonObject) -> StoredAnswer | None:
    """The answer in a row of RESPONSES.json; None where it has none, which is a failure."""
    if "Response" not in cells:
        return None
    content = read_content(cells["Response"])
    number = str(cells.get("Task_ID")).strip().upper()
    task = re.fullmatch(r"T?0*(\d{1,3})(?:\.0)?", number, re.ASCII)
    return StoredAnswer(
        item=_id_in(place, cells, "ID"),
        text=content.text,
        not_text=content.not_text,
        task=f"T{task[1]}" if task else "",
    )


def _row_answer(columns: Sequence[str], place: Place, cells: JsonObject) -> StoredAnswer:
    values = [(name, cells.get(name)) for name in columns[1:]]
    name, text = next((value for value in values if value[1] is not None), (columns[1], ""))
    if not isinstance(text, str):
        raise _unclear(place, _("the column {} does not have one text", name))
    error = None
    # A filter of lmms-eval may have read a letter from the message of a failure.
    counts = re.findall(r"\d+", str(cells.get("token_counts")))
    if counts and not any(map(int, counts)):
        error = Failure(kind="failed-elsewhere", message=f"no tokens counted: {text}"[:300])
    status: Status | None = "truncated" if len(text) == LONGEST_CELL else None
    item = _id_in(place, cells, columns[0])
    # VLMEvalKit moves reasoning to a column of its own (SPLIT_THINK=1).
    reasoning = cells.get("thinking")
    thinking = reasoning if isinstance(reasoning, str) else ""
    return StoredAnswer(item=item, text=text, thinking=thinking, status=status, error=error)


def _id_in(place: Place, cells: JsonObject, column: str) -> str:
    name = cells.get(column)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise _unclear(place, _("the column {} does not have the id of an item", column))
    return str(name)


def _without_error_text(answer: StoredAnswer, *, certain: bool = False) -> StoredAnswer:
    """The answer, or a failure whose text another program stored in the place of an answer.

    In keju's own responses and the authors' rows "Error: " may begin an answer, so only `certain`
    wordings count there.
    """
    text = answer.text or ""
    if answer.error is None and is_error_text(text, certain=certain or bool(answer.key)):
        message = " ".join(text.split())[:300]
        return replace(answer, error=Failure(kind="failed-elsewhere", message=message))
    return answer


ReadAnswers = Callable[[Path], Iterable[StoredAnswer | tuple[Item, str | None]]]
"""Reads a file, or raises `DataError` before the first answer where it is not in its form."""


def _plugin_answer(record: object) -> StoredAnswer:
    """The answer of a record: an answer itself, or an item and its response."""
    if isinstance(record, StoredAnswer):
        return _without_error_text(record)
    item, text = record if isinstance(record, tuple | list) and len(record) == 2 else (None, None)
    if not isinstance(item, Item) or not isinstance(text, str | None):
        raise PluginError(
            "a form of response files returned {}, not answers or pairs of an Item and a str",
            type(record).__name__,
        )
    missing = Failure(kind=MISSING) if text is None else None
    answer = StoredAnswer(item=item.id, task=item.task, text=text, error=missing)
    return _without_error_text(answer)


READERS: Registry[ReadAnswers] = Registry("form of response files", "responses", {})
"""Readers of files that are not tables, such as logs of another harness."""
