"""`Replay`: responses of other programs, read from files and added to a run like any model's.

Formats are JSON lines of ``{"item": …, "text": …}`` (keju's own responses are such lines), a list
of objects with ``ID`` and ``Response`` (RESPONSES.json), the result files of Inspect, lmms-eval and
VLMEvalKit (see `other_harnesses`), and tables with id and prediction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.errors import DataError, UsageError
from keju.files import bounded_bytes, sha256_bytes
from keju.items import Request
from keju.local_paths import check_local
from keju.models.base import MISSING, Answer, AskError, ItemPrompt, ModelOptions, status_of
from keju.models.capabilities import Capabilities
from keju.models.error_texts import is_error_text
from keju.models.other_harnesses import Entry, ReplayedAnswer
from keju.models.replay_entries import entries_in
from keju.models.replies import stated_status
from keju.models.response_files import ResponseFiles, response_files
from keju.models.row_matching import item_names
from keju.runs import RunFolder, RunManifest
from keju.texts import _

_Prompts = Callable[[], Sequence[ItemPrompt]] | None
_ANY = (None, None, None, None)


def check_files(file: str) -> ResponseFiles:
    """The response files of a file or directory.

    Raises:
        UsageError: no file is named, it is an address, or it does not exist.
    """
    if not file:
        raise UsageError("replay: needs a file or folder after it, as in replay:answers.jsonl")
    check_local(file, "replay:")
    found = response_files(Path(file))
    if not found.read:
        raise UsageError(
            "replay:{0}: no such file, or a folder without result files. For the .txt, PAGE-XML, "
            "ALTO or hOCR files of an OCR engine give the engine's name too: replay:NAME={0}",
            file,
        )
    return found


class _Slot(NamedTuple):
    item: str
    candidate: int
    setting: str | None
    script: str | None
    round: int | None
    wording: str | None


class Replay:
    """The responses of one file, or of all files of a directory.

    An entry with setting, script and round belongs only to that request; one without them belongs
    to every request of its item. In keju's own lines a later one replaces an earlier one.

    Raises:
        UsageError: no file is named, it is an address, or it does not exist.
        DataError: it has no known format, or contains two different answers for one item.
    """

    def __init__(self, file: str, options: ModelOptions) -> None:
        found = check_files(file)
        paths = found.read
        self.notes = found.report(Path(file))
        """Which files of a directory are read and which are skipped, one line each."""
        contents = [bounded_bytes(path) for path in paths]
        self._name = f"replay:{file}"
        hashes = [sha256_bytes(data) for data in contents]
        self._hash = hashes[0] if len(hashes) == 1 else sha256_bytes("".join(hashes).encode())
        self._entries = _index(zip(paths, contents, strict=True), options.prompts_of)
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

    @property
    def capabilities(self) -> Capabilities:
        """It repeats responses of runs, and reports which files it reads."""
        return Capabilities(pair_forms=self.pairs, notes=self.notes)

    def unsupported_reason(self, request: Request) -> str:
        """Supports everything: an item without an answer is a failure, to make it visible."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The stored answer.

        Raises:
            AskError: there is none (``missing-answer``), the file records a failure (its own kind),
                or it contains another harness's error message (``failed-elsewhere``).
        """
        del images
        found = (self._entry(name, request) for name in _names(request))
        entry = next(filter(None, found), None)
        if entry is None:
            raise AskError(MISSING, _("the file has no answer for this item"))
        if entry.error is not None:
            raise AskError(entry.error.kind, entry.error.message)
        text = entry.text or ""
        # In keju's own responses and the authors' rows, "Error: " may be the beginning of an
        # answer.
        if is_error_text(text, certain=entry.authors or bool(entry.key)):
            raise AskError("failed-elsewhere", " ".join(text.split())[:300])
        status = entry.status or stated_status(entry.finish_reason) or status_of(text)
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

    def _entry(self, name: str, request: Request) -> Entry | None:
        """The most specific entry of an item that belongs to a request."""
        place = (name, request.candidate)
        whole = _Slot(*place, request.setting, request.script, request.round, request.wording)
        entry = self._entries.get(whole)
        entry = entry or self._entries.get(whole._replace(script=None, wording=None))
        entry = entry or self._entries.get(_Slot(*place, None, None, request.round, None))
        return entry or self._entries.get(_Slot(*place, *_ANY))

    async def close(self) -> None:
        """Nothing to release."""


def _names(request: Request) -> Iterator[str]:
    """The possible names of an item's entry: its id, and its task with its ID there.

    An import adds the task before IDs that are numbered within each task: ``T7-12``.
    """
    yield request.item
    yield _within(request.task, request.item)
    yield _within(request.task, request.item.removeprefix(f"{request.task}-"))


def _within(task: str, name: str) -> str:
    return f"{task}\0{name}" if task else name


def _index(files: Iterable[tuple[Path, bytes]], prompts_of: _Prompts) -> dict[_Slot, Entry]:
    found: dict[_Slot, Entry] = {}
    for path, data in files:
        _add(found, path, data.removeprefix(b"\xef\xbb\xbf"), prompts_of)
    _add_without_task(found)
    return found


def _add_without_task(found: dict[_Slot, Entry]) -> None:
    """Let an ID that only one task has belong to an item of that id, whatever its task."""
    within = [(slot, slot.item.partition("\0")) for slot in found if "\0" in slot.item]
    tasks = Counter(name for name, _ in {(name, task) for _, (task, _, name) in within})
    for slot, (__, __, name) in within:
        if tasks[name] == 1:
            found.setdefault(slot._replace(item=name), found[slot])


def _run_of(path: Path) -> RunManifest | None:
    """The manifest of the run whose file of responses this is; None for any other file."""
    for folder in path.resolve().parents[:3]:
        run = RunFolder(folder)
        if run.exists():
            return run.manifest()
    return None


def _add(found: dict[_Slot, Entry], path: Path, data: bytes, prompts_of: _Prompts) -> None:
    for entry in _matched(path, entries_in(path, data), prompts_of):
        slot = _Slot(
            _within(entry.task, str(entry.item)), entry.candidate, entry.setting, entry.script,
            entry.round, entry.wording,
        )  # fmt: skip
        if entry.key:
            # keju omits defaults in its lines
            slot = slot._replace(
                setting=entry.setting or "image",
                script=entry.script or "released",
                wording=entry.wording or "released",
                round=entry.round or 1,
            )
        earlier = found.get(slot)
        if earlier and not entry.key and _texts_of(earlier) != _texts_of(entry):
            raise DataError(
                "two different answers to the same item",
                file=path,
                item=str(entry.item),
                hint="Keep one of them, or give each its number as round",
            )
        found[slot] = entry


def _texts_of(entry: Entry) -> tuple[str | None, str]:
    return entry.text, entry.not_text


def _matched(path: Path, answers: Iterable[Entry], prompts_of: _Prompts) -> Iterator[Entry]:
    """The entries of a file; those named by row number get the ids of their items.

    Raises:
        DataError: the items of the rows are ambiguous.
    """
    rows: list[ReplayedAnswer] = []
    for answer in answers:
        if isinstance(answer, ReplayedAnswer) and answer.by_row and prompts_of is not None:
            rows.append(answer)
        else:
            yield answer
    if rows and prompts_of is not None:
        for row, name in zip(rows, item_names(path, rows, prompts_of()), strict=True):
            yield replace(row, item=name)
