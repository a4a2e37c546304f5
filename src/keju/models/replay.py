"""Answers made elsewhere, read from a file and put into a run like any model's.

Read are JSON lines of ``{"item": …, "text": …}`` (keju's own responses are such lines), the
MCS-Bench authors' RESPONSES.json, a list of objects with ``ID`` and ``Response``, and the result
files of Inspect, lmms-eval and VLMEvalKit (see `other_harnesses`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import Failure, Line, Request, Status, Usage
from keju.models.base import Answer, AskError, ModelOptions
from keju.models.error_texts import is_error_text
from keju.models.other_harnesses import (
    LmmsSample,
    Told,
    archive,
    inspect_log,
    row_of,
    tab_separated,
)
from keju.runs import FORMAT_1, RunFolder, RunManifest, setting_of_format_1
from keju.text import content_of

_SUFFIXES = frozenset({".eval", ".json", ".jsonl", ".tsv", ".xlsx"})
_ANY = (None, None, None, None)


class _Entry(Struct):
    """A line of a file of responses. Only `item` and `text` are required; keju writes the rest.

    `authors` is set for rows of the authors' form;
    `task` is the task of such a row, since their IDs may start again in every task.
    """

    item: str | int
    text: str | None = None
    not_text: str = ""
    key: str = ""
    setting: str | None = None
    script: str | None = None
    wording: str | None = None
    round: int | None = None
    candidate: int = 0
    status: Status | None = None
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: Failure | None = None
    lines: tuple[Line, ...] = ()
    decoding: dict[str, str] | None = None
    refused: tuple[str, ...] = ()
    authors: bool = False
    task: str = ""


class _Slot(NamedTuple):
    item: str
    candidate: int
    setting: str | None
    script: str | None
    round: int | None
    wording: str | None


class Replay:
    """The answers of one file, or of all files of a folder.

    An entry that names its setting, script and round answers only that request; one that names none
    answers every request for its item. In keju's own lines a later one replaces an earlier one.

    Raises:
        UsageError: no file is named, or it isn't there.
        DataError: it is of neither form, or gives two different answers for one item.
    """

    def __init__(self, file: str, options: ModelOptions) -> None:
        del options
        if not file:
            raise UsageError("replay: needs a file or folder after it, as in replay:answers.jsonl")
        paths = _files(Path(file))
        if not paths:
            raise UsageError(f"replay:{file}: no such file, or a folder without result files")
        contents = [path.read_bytes() for path in paths]
        self._name = f"replay:{file}"
        hashes = [sha256_bytes(data) for data in contents]
        self._hash = hashes[0] if len(hashes) == 1 else sha256_bytes("".join(hashes).encode())
        self._entries = _index(zip(paths, contents, strict=True))
        runs = [run for path in paths if (run := _run_of(path)) is not None]
        self.pairs = frozenset(run.pairs for run in runs)
        """The pair forms (`PairForm`) of the runs whose files these are; the full form is empty."""

    @property
    def name(self) -> str:
        """``replay:FILE``."""
        return self._name

    @property
    def identity(self) -> dict[str, str]:
        """The hash of the file."""
        return {"kind": "replay", "sha256": self._hash}

    @property
    def concurrency(self) -> int:
        """One: an answer takes no time."""
        return 1

    def declines(self, request: Request) -> str:
        """Nothing: an item without an answer is a failure, so that it isn't overlooked."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The stored answer.

        Raises:
            AskError: there is none (``missing-answer``), the file says that it failed there (its
                own kind), or it holds another harness's failure text (``failed-elsewhere``).
        """
        del images
        found = (self._entry(name, request) for name in _names(request))
        entry = next(filter(None, found), None)
        if entry is None:
            raise AskError("missing-answer", "the file has no answer for this item")
        if entry.error is not None:
            raise AskError(entry.error.kind, entry.error.message)
        text = entry.text or ""
        # keju's own responses and the authors' rows may begin with "Error: " by their own right.
        if is_error_text(text, certain=entry.authors or bool(entry.key)):
            raise AskError("failed-elsewhere", " ".join(text.split())[:300])
        status = entry.status or ("answered" if text.strip() else "empty")
        return Answer(
            text=text,
            not_text=entry.not_text,
            status=status,
            thinking=entry.thinking,
            finish_reason=entry.finish_reason,
            usage=entry.usage,
            lines=entry.lines,
            decoding=entry.decoding,
            refused=entry.refused,
        )

    def _entry(self, name: str, request: Request) -> _Entry | None:
        """The entry of an item that answers a request, the most specific one."""
        place = (name, request.candidate)
        whole = _Slot(*place, request.setting, request.script, request.round, request.wording)
        entry = self._entries.get(whole)
        entry = entry or self._entries.get(whole._replace(script=None, wording=None))
        entry = entry or self._entries.get(_Slot(*place, None, None, request.round, None))
        return entry or self._entries.get(_Slot(*place, *_ANY))

    async def close(self) -> None:
        """Nothing to give back."""


def _names(request: Request) -> Iterator[str]:
    """The names under which an item's entry may be: its id, and its task with its ID there.

    An import puts the task before IDs that start again in every task: ``T7-12``.
    """
    yield request.item
    yield _within(request.task, request.item)
    yield _within(request.task, request.item.removeprefix(f"{request.task}-"))


def _within(task: str, name: str) -> str:
    return f"{task}\0{name}" if task else name


def _files(path: Path) -> list[Path]:
    """The file, or those of a folder that may hold answers."""
    if path.is_file():
        return [path]
    return sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file())


def _index(files: Iterable[tuple[Path, bytes]]) -> dict[_Slot, _Entry]:
    found: dict[_Slot, _Entry] = {}
    for path, data in files:
        _add(found, path, data.removeprefix(b"\xef\xbb\xbf"))
    _add_without_task(found)
    return found


def _add_without_task(found: dict[_Slot, _Entry]) -> None:
    """Let an ID that only one task has answer an item of that id, whatever its task."""
    within = [(slot, slot.item.partition("\0")) for slot in found if "\0" in slot.item]
    tasks = Counter(name for name, _ in {(name, task) for _, (task, _, name) in within})
    for slot, (_, _, name) in within:
        if tasks[name] == 1:
            found.setdefault(slot._replace(item=name), found[slot])


def _run_of(path: Path) -> RunManifest | None:
    """The manifest of the run whose file of responses this is; None for any other file."""
    for folder in path.resolve().parents[:3]:
        run = RunFolder(folder)
        if run.exists():
            return run.manifest()
    return None


def _add(found: dict[_Slot, _Entry], path: Path, data: bytes) -> None:
    run = _run_of(path)
    for entry in _entries(path, data):
        if run is not None and run.format == FORMAT_1:
            # In a run of keju 0.1.0 the settings have another meaning.
            entry.setting = setting_of_format_1(entry.setting or "image")
            entry.script = entry.script or run.scripts[0]
        slot = _Slot(
            _within(entry.task, str(entry.item)), entry.candidate, entry.setting, entry.script,
            entry.round, entry.wording,
        )  # fmt: skip
        if entry.key:
            # keju leaves defaults out of its lines
            slot = slot._replace(
                setting=entry.setting or "image",
                script=entry.script or "released",
                wording=entry.wording or "released",
                round=entry.round or 1,
            )
        earlier = found.get(slot)
        if earlier and not entry.key and _said(earlier) != _said(entry):
            raise DataError(
                "two different answers",
                file=path,
                item=str(entry.item),
                mend="Keep one of them, or give each its round",
            )
        found[slot] = entry


def _said(entry: _Entry) -> tuple[str | None, str]:
    return entry.text, entry.not_text


def _entries(path: Path, data: bytes) -> Iterator[_Entry]:
    """The entries of a file of any form that is read."""
    start = data[:4096].lstrip()
    if start.startswith(b"PK\x03\x04"):
        yield from map(_entry_of, archive(path, data))
    elif start.startswith(b"["):
        yield from _list(path, data)
    elif not start.startswith(b"{") and b"\t" in start.partition(b"\n")[0]:
        yield from map(_entry_of, tab_separated(path, data.decode("utf-8", "replace")))
    elif path.suffix == ".pkl":
        raise DataError(
            "a pickle is a program and is not read", file=path, mend="Use .xlsx or .tsv"
        )
    elif (log := inspect_log(data)) is not None:
        yield from map(_entry_of, log)
    else:
        yield from _json_lines(path, data)


def _entry_of(told: Told) -> _Entry:
    return _Entry(
        item=told.item,
        text=told.text,
        setting=told.setting,
        script=told.script,
        wording=told.wording,
        round=told.round,
        candidate=told.candidate,
        status=told.status,
        thinking=told.thinking,
        finish_reason=told.finish_reason,
        usage=told.usage,
        error=told.error,
        not_text=told.not_text,
        lines=told.lines,
        decoding=told.decoding,
        refused=told.refused,
    )


def _json_lines(path: Path, data: bytes) -> Iterator[_Entry]:
    ours, lmms = msgspec.json.Decoder(_Entry), msgspec.json.Decoder(LmmsSample)
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            if b'"filtered_resps"' in line and b'"doc_id"' in line:
                yield _entry_of(lmms.decode(line).told())
            else:
                yield ours.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(
                f"not an object with item and text: {error}", file=path, item=f"line {number}"
            ) from None


def _list(path: Path, data: bytes) -> Iterator[_Entry]:
    """A list of objects: the MCS-Bench authors' form, or VLMEvalKit's table."""
    try:
        rows = msgspec.json.decode(data, type=list[dict[str, Any]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not a list of objects: {error}", file=path) from None
    for number, row in enumerate(rows, start=1):
        if "prediction" in row:
            yield _entry_of(row_of(row, path, number))
            continue
        name = row.get("ID")
        if not isinstance(name, str | int):
            raise DataError("an object needs an ID", file=path, item=f"object {number}")
        if "Response" in row:
            content = content_of(row["Response"])
            yield _Entry(
                item=name,
                text=content.text,
                not_text=content.not_text,
                authors=True,
                task=_task_of(row.get("Task_ID")),
            )


def _task_of(value: object) -> str:
    """The task of the authors' ``Task_ID``: 7, "7", "T7" or 7.0; empty if it is none of these."""
    digits = str(value).strip().upper().removeprefix("T").removesuffix(".0")
    return f"T{int(digits)}" if digits.isascii() and digits.isdigit() and len(digits) < 4 else ""
