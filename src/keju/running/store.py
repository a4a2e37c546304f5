"""Responses on disk: appended as they arrive, never lost, never stored twice.

A response is one line of ``responses/<model>/<task>.jsonl``, passed to the kernel with one
``write`` as soon as it arrives. From then on it survives the end of this process, whatever ends it:
kill -9, an exception, a full terminal. It survives a power loss once the kernel has written it out,
which takes about half a minute; a file is forced to disk (fsync) only when the store is closed,
because doing so for every answer costs more than the answer on a slow disk. An incomplete line left
by a power loss is repaired when the store is opened again.

Only an answer that was requested again after a failure is in a file twice, and only until the store
is next opened or closed; readers take the later one (`RunFolder.responses`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec
from filelock import FileLock

from keju.errors import DataError
from keju.files import (
    encode_stored,
    locked_file,
    open_append,
    read_jsonl,
    repair_torn_line,
    write_atomic,
)
from keju.items import Failure, PromptScript, Request, Response, Setting, Status
from keju.runs import ResponsePlace, RunFolder, superseded
from keju.texts import _

_MODE = 0o644


class RequestId(NamedTuple):
    """Request id within a run: each has one response."""

    item: str
    query: str
    setting: Setting
    script: PromptScript
    round: int
    candidate: int = 0
    wording: str = "released"

    @classmethod
    def of(cls, record: Request | Response | ResponsePlace) -> RequestId:
        """The id of a request, or of the request that a response belongs to."""
        return cls(
            record.item, record.query, record.setting, record.script, record.round,
            record.candidate, record.wording,
        )  # fmt: skip


class StoredResponse(NamedTuple):
    """The metadata of a stored response, without its text."""

    key: str
    status: Status
    kind: str
    source_sha256: str = ""


class _Head(ResponsePlace, frozen=True, kw_only=True):
    """The part of a response that a resume needs."""

    key: str
    status: Status
    source_sha256: str = ""
    error: Failure | None = None


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FREE_SPACE = _(
    "Free disk space, then run the same command again. All earlier responses are stored"
)
_RUN_AGAIN = _("Correct this, then run the same command again. All earlier responses are stored")


class ResponseStore:
    """The responses of one run, open for appending by one writer.

    Used as a context manager. Opening it repairs what an earlier writer left incomplete.

    Raises:
        UsageError: another process is writing to this run.
        DataError: a stored line is damaged.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._files: dict[Path, int] = {}
        self._lock: FileLock | None = None

    def __enter__(self) -> ResponseStore:
        self.folder.path.mkdir(parents=True, exist_ok=True)
        self._lock = locked_file(
            self.folder.lock_path,
            busy=_(
                "{}: another keju is writing to this run. Wait for it to end, or choose another "
                "--out",
                self.folder.path,
            ),
        )
        try:
            for path in [*self.folder.response_files(), *self.folder.reading_files()]:
                _complete_last_line(path)
                compact(path)
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        finally:
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def known(self, model: str) -> dict[RequestId, StoredResponse]:
        """The stored responses of a model, by request id."""
        found: dict[RequestId, StoredResponse] = {}
        for path in self.folder.response_files(model):
            for head in read_jsonl(path, _Head, appended=True):
                kind = head.error.kind if head.error else ""
                stored = StoredResponse(head.key, head.status, kind, head.source_sha256)
                found[RequestId.of(head)] = stored
        return found

    def append(self, response: Response) -> None:
        """Store one response.

        Raises:
            DataError: it cannot be written to disk; nothing of it remains in the file.
        """
        self._append(self.folder.responses_path(response.model, response.task), response)

    def append_reading(self, response: Response) -> None:
        """Store the transcription of an item's images, made before a model answers it.

        Raises:
            DataError: see `append`.
        """
        self._append(self.folder.readings_path(response.model), response)

    def replace(self, model: str, responses: Iterable[Response]) -> None:
        """Replace all responses of a model with these: people may withdraw an answer.

        Raises:
            DataError: they cannot be written to disk; each file is then the old one or the new one.
        """
        files: dict[Path, list[bytes]] = {}
        for response in responses:
            path = self.folder.responses_path(model, response.task)
            files.setdefault(path, []).append(_encode(response))
        for path in self.folder.response_files(model):
            if path not in files:
                path.unlink()
        for path, lines in files.items():
            write_atomic(path, lines)

    def _append(self, path: Path, response: Response) -> None:
        file = self._file(path)
        line = _encode(response)
        written = 0
        try:
            # One write, unless the system takes only a part: then the next one says why.
            while written < len(line):
                written += os.write(file, line[written:])
        except OSError as error:
            if written:
                os.ftruncate(file, os.fstat(file).st_size - written)
            raise DataError(
                "a response could not be written: {}",
                error.strerror,
                file=path,
                item=response.item,
                hint=_FREE_SPACE if error.errno in _FULL else _RUN_AGAIN,
            ) from None

    def close(self) -> None:
        """Force everything written to disk, and keep one line for each response."""
        files, self._files = self._files, {}
        for path, file in files.items():
            os.fsync(file)
            os.close(file)
            compact(path)

    def _file(self, path: Path) -> int:
        file = self._files.get(path)
        if file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open_append(path, _MODE)
            self._files[path] = file
        return file


def compact(path: Path) -> int:
    """Rewrite a file of responses without the lines that later ones replaced.

    Returns:
        The number of lines removed; 0 leaves the file untouched.
    """
    old = superseded(path)
    if old:
        write_atomic(path, b"".join(_lines_without(path, old)))
    return len(old)


def _lines_without(path: Path, numbers: set[int]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        lines = (line for line in stream if line.strip())
        yield from (line for number, line in enumerate(lines, start=1) if number not in numbers)


def _complete_last_line(path: Path) -> None:
    """Complete the last line: a missing newline is added, a partial response is cut."""
    with path.open("rb") as stream:
        last = b""
        for line in stream:
            last = line
    if not last or last.endswith(b"\n"):
        return
    try:
        msgspec.json.decode(last, type=Response)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        repair_torn_line(path)
    else:
        with path.open("ab") as stream:
            stream.write(b"\n")


def _encode(response: Response) -> bytes:
    return msgspec.json.encode(response, enc_hook=encode_stored) + b"\n"
