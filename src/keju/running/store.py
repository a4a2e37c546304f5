"""Responses on disk: appended as they arrive, never lost, never stored twice.

A response is one line of ``responses/<model>/<task>.jsonl``, passed to the kernel with one
``write`` as soon as it arrives. From then on it survives the end of this process, whatever ends it:
kill -9, an exception, a full terminal. It survives a power loss once the kernel has written it out,
which takes about half a minute; a file is forced to disk (fsync) only when the store is closed,
because doing so for every answer costs more than the answer on a slow disk. An incomplete line left
by a power loss is repaired when the store is opened again.

A request has one line. Before it is sent again, the line of its failure is dropped.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError
from keju.files import encode_stored, locked_file, read_jsonl, read_jsonl_lines, write_atomic
from keju.items import Failure, Record, Request, Response, Status
from keju.running.requests import Slot, request_key
from keju.runs import RecordList, RunFolder
from keju.texts import _

_CHUNK = 1 << 20
"""Bytes that are read at a time in search of the last line."""


class Head(NamedTuple):
    """The status of a stored response, and the kind of its failure."""

    status: Status
    kind: str = ""


class _StoredHead(Record, frozen=True, kw_only=True):
    """The part of a stored response that a resume needs."""

    key: str
    item: str
    status: Status
    candidate: int = 0
    error: Failure | None = None

    @property
    def slot(self) -> Slot:
        return Slot(self.key, self.item, self.candidate)


_BUSY = _("{}: another keju is writing to this run. Wait for it to end, or choose another --out")
_RUN_AGAIN = _(
    "Correct this, then run the same command again, for example after freeing disk space. All "
    "earlier responses are stored"
)


@dataclass
class ResponseStore:
    """The responses of one run, open for appending by one writer.

    Used as a context manager. Opening it repairs what an earlier writer left incomplete.

    Raises:
        UsageError: another process is writing to this run.
        DataError: a stored line is damaged.
    """

    folder: RunFolder
    _files: dict[tuple[str, str | None], FileIO] = field(default_factory=dict)
    """The open files of responses, by model and task, and of transcriptions, by model."""
    _exit_stack: ExitStack = field(default_factory=ExitStack)
    """Holds the lock of the run."""

    def __enter__(self) -> ResponseStore:
        self.folder.path.mkdir(parents=True, exist_ok=True)
        lock = locked_file(self.folder.lock_path, self.folder.path, busy=_BUSY)
        with ExitStack() as stack:
            stack.callback(lock.release)
            for path in (*self.folder.response_files(), *self.folder.path.glob("readings/*.jsonl")):
                _complete_last_line(path)
            self._exit_stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        files, self._files = self._files, {}
        with self._exit_stack:
            for file in files.values():
                os.fsync(file.fileno())
                file.close()

    def known(self, model: str, *, readings: bool = False) -> dict[Slot, Head]:
        """The stored responses of a model, or its transcriptions, without their texts."""
        shared: dict[Head, Head] = {}
        heads: dict[Slot, Head] = {}
        files = self.folder.reading_files if readings else self.folder.response_files
        for path in files(model):
            for stored in read_jsonl(path, _StoredHead, appended=True):
                head = Head(stored.status, stored.error.kind if stored.error else "")
                heads[stored.slot] = shared.setdefault(head, head)
        return heads

    def append(self, response: Response, *, reading: bool = False) -> None:
        """Store one response, or a transcription of an item's images, made before a model answers.

        Raises:
            DataError: it cannot be written to disk; nothing of it remains in the file.
        """
        model, task = response.model, None if reading else response.task
        file = self._files.get((model, task))
        if file is None:
            folder = self.folder
            path = (
                folder.readings_path(model) if task is None else folder.responses_path(model, task)
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[model, task] = path.open("ab", buffering=0)
        line = msgspec.json.encode(response, enc_hook=encode_stored) + b"\n"
        written = 0
        try:
            # One write, unless the system takes only a part: then the next one says why.
            while written < len(line):
                written += os.write(file.fileno(), line[written:])
        except OSError as error:
            if written:
                file.truncate(os.fstat(file.fileno()).st_size - written)
            raise DataError(
                "a response could not be written: {}",
                error.strerror,
                file=Path(os.fsdecode(file.name)),
                item=response.item,
                hint=_RUN_AGAIN,
            ) from None

    def drop(self, model: str, slots: Collection[Slot], *, readings: bool = False) -> None:
        """Remove the responses of a model, or its transcriptions, in these places of the run.

        If a file cannot be written, it is still the old one.
        """
        if not slots:
            return
        for place in [place for place in self._files if place[0] == model]:
            self._files.pop(place).close()
        files = self.folder.reading_files if readings else self.folder.response_files
        for path in files(model):
            lines = read_jsonl_lines(path, _StoredHead, appended=True)
            write_atomic(path, (line for head, line in lines if head.slot not in slots))
            if not path.stat().st_size:
                path.unlink()


class StoredResponses:
    """Responses of a model, such as a judge's replies or the transcriptions of images.

    Many responses are on disk; in memory are their places, about 300 bytes each.
    """

    def __init__(self, responses: Iterable[Response]) -> None:
        self._responses: RecordList[Response] = RecordList(Response)
        self._places: dict[tuple[str, int, str, int], list[int]] = {}
        for place, response in enumerate(responses):
            self._responses.append(response)
            name = response.item, response.candidate, response.script, response.round
            self._places.setdefault(name, []).append(place)

    def find(
        self, request: Request, identity: Mapping[str, str], source_sha256: str | None = None
    ) -> Response | None:
        """The latest response to a request, or None.

        A stored response to another prompt, or of a model with another identity, is none, and so is
        one from another file than that with the hash `source_sha256`, unless that is None.
        """
        name = request.item, request.candidate, request.script, request.round
        for place in reversed(self._places.get(name, ())):
            response = self._responses[place]
            source = response.source_sha256
            is_same = source_sha256 in (None, source)
            if is_same and response.key == request_key(request, identity, source):
                return response
        return None

    def find_all(
        self, requests: Iterable[Request], identity: Mapping[str, str]
    ) -> Iterator[Response | None]:
        """The latest response to each request, or None."""
        return (self.find(request, identity) for request in requests)


def _complete_last_line(path: Path) -> None:
    """Complete the last line: a missing newline is added, a partial response is cut."""
    with path.open("rb+") as stream:
        size = start = stream.seek(0, os.SEEK_END)
        last = b""
        while start and b"\n" not in last:
            end, start = start, max(0, start - _CHUNK)
            stream.seek(start)
            last = stream.read(end - start) + last
        last = last.rpartition(b"\n")[2]
        if not last:
            return
        try:
            msgspec.json.decode(last, type=Response)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            stream.truncate(size - len(last))
        else:
            stream.seek(size)
            stream.write(b"\n")
