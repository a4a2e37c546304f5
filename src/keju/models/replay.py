"""`Replay`: answers from files, added to a run like the answers of any model.

A file is a table: JSON lines, a JSON list, CSV, TSV, XLSX or parquet. A record is a response of
keju (``{"item": …, "text": …}``), a row of the authors' RESPONSES.json (``ID`` and ``Response``),
or a row with a column for the item's id and one for the answer. Readers of plug-ins read other
files (`READERS`).
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from glob import iglob
from hashlib import blake2b
from itertools import chain, count, islice
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, field

from keju.datasets.readers.base import join_names, plain_file
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import SUFFIXES, Row, rows
from keju.errors import DataError, UsageError
from keju.files import decode_json, sha256_bytes, sha256_file
from keju.items import Failure, Item, Line, Request, Status, Usage
from keju.local_paths import check_local
from keju.models.base import MISSING, Answer, AskError, Model, ModelOptions, status_of
from keju.models.disk_index import DiskIndex
from keju.models.error_texts import is_error_text
from keju.models.replies import stated_status
from keju.registry import PluginError, Registry
from keju.runs import RunFolder
from keju.text import read_content
from keju.texts import _, listed

T = TypeVar("T")

LONGEST_CELL = 32_767
"""Characters; a spreadsheet cuts longer cells, so that a cell of this length is truncated."""

_LINES = frozenset({".jsonl", ".ndjson"})
_JSON = frozenset({".json", *_LINES})
_IDS = ("id", "item")
_ANSWERS = ("prediction", "response", "output", "text", "answer")

_ReadRow = Callable[[Place, JsonObject], "StoredAnswer | None"]
_Number = Annotated[int, Meta(ge=0, le=1 << 31)]


class StoredAnswer(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One answer in a file. Only `item` is required; keju writes most of the other fields.

    `setting`, `script`, `wording` and `round` are those of the request; an answer belongs to every
    request of the item that has its values. `key` and `model` are set in keju's own responses,
    `task` where ids may be numbered within each task, `authors` in the authors' rows. `tokens` are
    the tokens that lmms-eval counted.
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
    authors: bool = False
    tokens: int | None = None


def parse_columns(text: str) -> tuple[str, ...]:
    """The columns of ``ID,ANSWER`` or ``ID,ANSWER,ANSWER``; none of an empty text.

    Raises:
        UsageError: the text does not have at least two names.
    """
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    if text and (len(names) < 2 or not all(names)):
        raise UsageError("--replay-columns {}: needs two names or more, as in id,resps", text)
    return names


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
        paths = files_of(file)
        self._answers = _AnswerIndex()
        columns = parse_columns(options.replay_columns)
        hashes = []
        for path in paths:
            before = path.stat()
            hashes.append(sha256_file(path))
            self._answers.add(path, answers_in(path, columns))
            after = path.stat()
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise DataError("the file changed while it was read", file=path)
        self._answers.check()
        sha256 = hashes[0] if len(hashes) == 1 else sha256_bytes("".join(hashes).encode())
        note = _("{}: files with responses: {}", self.name, join_names(map(str, paths)))
        self.pair_forms = frozenset(form for path in paths for form in _pair_form(path))
        self.notes = (note,) if len(paths) > 1 else ()
        self.identity = {"kind": "replay", "sha256": sha256}
        if options.replay_columns:
            self.identity["columns"] = options.replay_columns

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The stored answer.

        Raises:
            AskError: there is none (``missing-answer``), the file records a failure (its own kind),
                or it contains another harness's error message (``failed-elsewhere``).
        """
        del images
        stored = self._answers.find(request)
        if stored is None:
            raise AskError(MISSING, _("the file has no answer for this item"))
        if stored.error is not None:
            raise AskError(stored.error.kind, stored.error.message)
        text = stored.text or ""
        # In keju's own responses and the authors' rows, "Error: " may begin an answer.
        if is_error_text(text, certain=stored.authors or bool(stored.key)):
            raise AskError("failed-elsewhere", _one_line(text))
        return Answer(
            text=text,
            not_text=stored.not_text,
            status=stored.status or stated_status(stored.finish_reason) or status_of(text),
            thinking=stored.thinking,
            finish_reason=stored.finish_reason,
            usage=stored.usage,
            lines=stored.lines,
            decoding=stored.decoding,
            refused=stored.refused,
        )

    async def close(self) -> None:
        """Delete the temporary index."""
        self._answers.close()


def _pair_form(path: Path) -> Iterator[str]:
    """The pair form of the run that a file of responses belongs to, if it belongs to one."""
    for folder in path.resolve().parents[:3]:
        run = RunFolder(folder)
        if run.exists():
            yield run.manifest().pairs
            return


_REQUEST = "item, candidate, task, setting, script, wording, round"
"""The columns that say to which requests an answer belongs; NULL is any value."""


class _AnswerIndex(DiskIndex):
    """Answers by item, on disk."""

    def __init__(self) -> None:
        super().__init__(f"answers ({_REQUEST}, is_own, model, content, file, place, answer)")
        self._paths: list[Path] = []
        self._counting: set[int] = set()

    def add(self, path: Path, answers: Iterable[tuple[str, StoredAnswer]]) -> None:
        """Add the answers of a file, each with its place in the file."""
        self._paths.append(path)
        self.insert(
            f"INSERT INTO answers VALUES ({', '.join('?' * 13)})",  # noqa: S608
            (self._record(place, answer) for place, answer in answers),
        )

    def _record(self, place: str, answer: StoredAnswer) -> tuple[object, ...]:
        file = len(self._paths) - 1
        if answer.tokens:
            self._counting.add(file)
        values: tuple[object, ...] = (answer.setting, answer.script, answer.wording, answer.round)
        if answer.key:
            # keju omits defaults in its lines.
            defaults = ("image", "released", "released", 1)
            values = tuple(value or usual for value, usual in zip(values, defaults, strict=True))
        content = msgspec.msgpack.encode((answer.text, answer.not_text))
        return (
            str(answer.item),
            answer.candidate,
            answer.task,
            *values,
            bool(answer.key),
            answer.model,
            blake2b(content, digest_size=16).digest(),
            file,
            place,
            msgspec.msgpack.encode(answer),
        )

    def check(self) -> None:
        """Check that no request has two different answers.

        Raises:
            DataError: one has. Of keju's own responses of one model the later one replaces the
                earlier one.
        """
        self.rows(f"CREATE INDEX requests ON answers ({_REQUEST}, is_own, model, content)")
        for (answer,) in self.rows(
            f"SELECT min(rowid) FROM answers GROUP BY {_REQUEST} HAVING count(*) > 1 AND "  # noqa: S608
            "(count(DISTINCT model) > 1 OR min(is_own) = 0 AND count(DISTINCT content) > 1) "
            "ORDER BY 1 LIMIT 1"
        ):
            rows = self.iterate(
                f"SELECT item, file, place, model, content FROM answers WHERE ({_REQUEST}) IS "  # noqa: S608
                f"(SELECT {_REQUEST} FROM answers WHERE rowid = ?) ORDER BY rowid",
                answer,
            )
            item, file, place, *first = next(rows)
            other_file, other = next(row[1:3] for row in rows if list(row[3:]) != first)
            raise DataError(
                "two different answers to the same item {}; the other one is in {}",
                item,
                other if other_file == file else f"{self._paths[other_file]}, {other}",
                file=self._paths[file],
                item=place,
                hint="Keep one of them, or give each its number as round",
            )

    def find(self, request: Request) -> StoredAnswer | None:
        """The answer to a request: of several that fit, the one with most of its values."""
        fitting = (
            "FROM answers WHERE item = ?1 AND candidate = ?2 AND ifnull(setting, ?4) = ?4 AND "
            "ifnull(script, ?5) = ?5 AND ifnull(wording, ?6) = ?6 AND ifnull(round, ?7) = ?7 AND "
        )
        # An id that only one task has belongs to an item of that id, whatever its task.
        one_task = (
            "(task IN (?3, '') OR 1 = (SELECT count(DISTINCT task) FROM answers "
            "WHERE item = ?1 AND candidate = ?2 AND task <> ''))"
        )
        # An import adds the task before ids that are numbered within each task: T7-12.
        numbered = request.item.removeprefix(f"{request.task}-")
        for name, task in ((request.item, one_task), (numbered, "task = ?3")):
            for file, data in self.rows(
                f"SELECT file, answer {fitting} {task} ORDER BY (setting IS NOT NULL) + "
                "(script IS NOT NULL) + (wording IS NOT NULL) + (round IS NOT NULL) DESC, "
                "rowid DESC LIMIT 1",
                name, request.candidate, request.task, request.setting, request.script,
                request.wording, request.round,
            ):  # fmt: skip
                answer = msgspec.msgpack.decode(data, type=StoredAnswer)
                if answer.tokens == 0 and file in self._counting:
                    # lmms-eval counts no tokens for a request that failed, and its filters extract
                    # a letter even from an error message.
                    message = _one_line(f"no tokens counted: {answer.text}")
                    answer.error = Failure(kind="failed-elsewhere", message=message)
                return answer
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def answers_in(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, StoredAnswer]]:
    """The answers of a file, each with its place.

    Args:
        path: the file.
        columns: of a table, the column of the item's id and those that may have its answer. The
            answer is in the first one that has a value: lmms-eval writes ``resps`` only where it
            removed reasoning from ``filtered_resps``.

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


def _begun(answers: Iterator[T]) -> Iterator[T]:
    """The same answers, of which the first is read at once, to see whether the form fits."""
    return chain(list(islice(answers, 1)), answers)


def _table_answers(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, StoredAnswer]]:
    read: _ReadRow | None = None
    for place, cells in _rows(path):
        read = read or _reading_of(place, cells, columns)
        if (answer := read(place, cells)) is not None:
            yield place.item, answer


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
    hint = _("Name the columns: --replay-columns ID,ANSWER")
    return DataError(problem, file=place.file, item=place.item, hint=hint)


def _rows(path: Path) -> Iterator[Row]:
    suffix = path.suffix.casefold()
    if suffix in _LINES:
        with plain_file(path).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield _line_row(Place(path, f"line {number}"), line.removeprefix(BOM_UTF8))
    elif suffix in SUFFIXES:
        # VLMEvalKit stores an answer that begins with = as a formula.
        yield from rows(path, formulas=True)
    else:
        raise DataError(
            "the name has none of the endings of a table ({})",
            ", ".join(SUFFIXES),
            file=path,
            hint="Save it in one of these formats",
        )


def _line_row(place: Place, line: bytes) -> Row:
    try:
        return Row(place, decode_json(line, dict[str, object]))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise place.error(_("not an object of JSON: {}", error)) from None


def _own_answer(place: Place, cells: JsonObject) -> StoredAnswer:
    try:
        answer = msgspec.convert(cells, StoredAnswer)
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
    return StoredAnswer(
        item=_id_in(place, cells, "ID"),
        text=content.text,
        not_text=content.not_text,
        task=_task_of(cells.get("Task_ID")),
        authors=True,
    )


def _task_of(value: object) -> str:
    """The task of a ``Task_ID``: 7, "7", "T7" or 7.0; empty if it is none of these."""
    digits = str(value).strip().upper().removeprefix("T").removesuffix(".0")
    return f"T{int(digits)}" if digits.isascii() and digits.isdigit() and len(digits) < 4 else ""


def _row_answer(columns: Sequence[str], place: Place, cells: JsonObject) -> StoredAnswer:
    values = [(name, _only(cells.get(name))) for name in columns[1:]]
    name, text = next((value for value in values if value[1] is not None), values[0])
    thinking = cells.get("thinking")
    if not isinstance(text, str | None):
        raise _unclear(place, _("the column {} does not have one text", name))
    return StoredAnswer(
        item=_id_in(place, cells, columns[0]),
        text=text or "",
        status="truncated" if text is not None and len(text) == LONGEST_CELL else None,
        thinking=thinking if isinstance(thinking, str) else "",
        tokens=_tokens_in(cells.get("token_counts")),
    )


def _id_in(place: Place, cells: JsonObject, column: str) -> str:
    name = cells.get(column)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise _unclear(place, _("the column {} does not have the id of an item", column))
    return str(name)


def _only(value: object) -> object:
    """The text in nested lists of one element, as lmms-eval writes them; None of an empty list."""
    while isinstance(value, list) and len(value) < 2:
        value = value[0] if value else None
    return value


def _tokens_in(counts: object) -> int | None:
    """The tokens that lmms-eval counted for an item; None where it counted nothing."""
    numbers = [
        number
        for count in (counts if isinstance(counts, list) else ())
        if isinstance(count, dict)
        for number in (count.get("input_tokens"), count.get("output_tokens"))
        if isinstance(number, int)
    ]
    return sum(numbers) if numbers else None


ReadAnswers = Callable[[Path], Iterable[StoredAnswer | tuple[Item, str | None]]]
"""Reads a file, or raises `DataError` before the first answer where it is not in its form."""


def _plugin_answer(record: object) -> StoredAnswer:
    """The answer of a record: an answer itself, or an item and its response as `keju score` needs.

    Raises:
        PluginError: it is something else.
    """
    if isinstance(record, StoredAnswer):
        return record
    item, text = record if isinstance(record, tuple | list) and len(record) == 2 else (None, None)
    if not isinstance(item, Item) or not isinstance(text, str | None):
        raise PluginError(
            "a form of response files returned {}, not answers or pairs of an Item and a str",
            type(record).__name__,
        )
    missing = Failure(kind=MISSING) if text is None else None
    return StoredAnswer(item=item.id, task=item.task, text=text, error=missing)


READERS: Registry[ReadAnswers] = Registry("form of response files", "responses", {})
"""Readers of files that are not tables, such as logs of another harness."""
