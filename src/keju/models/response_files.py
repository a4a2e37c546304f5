"""`response_files`: find the files of a directory that contain responses.

List the others with reasons.

Programs write aggregates, logs and states beside the responses: lmms-eval ``*_results.json``,
VLMEvalKit ``status.json``, ``*_acc.csv``, tables with the verdicts of its evaluation, and pickles.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from keju.csv_files import FilledLines
from keju.datasets.readers.base import join_names
from keju.datasets.readers.workbooks import Workbook
from keju.errors import number_of, shortened
from keju.files import bounded_bytes, decode_json
from keju.models.other_harnesses import columns_of
from keju.models.replay_entries import LONGEST_HEAD, separator_in, table_text

_TABLES = {".xlsx", ".tsv", ".csv"}
_JSON = {".json", ".jsonl", ".ndjson"}
_SUFFIXES = frozenset({".eval", ".parquet", *_TABLES, *_JSON})
_STATES = frozenset({".pkl", ".lock", ".log", ".xls"})
_AGGREGATE = "an aggregate or state, not responses"
_SEVERAL = 6
"""The maximum number of file names in a report."""


class ResponseFiles(NamedTuple):
    """The files with responses, and each skipped file with the reason."""

    read: list[Path]
    skipped: dict[Path, str]
    filtered: tuple[str, ...] = ()
    """Tasks of lmms-eval whose responses are the results of a filter."""

    def report(self, folder: Path) -> tuple[str, ...]:
        """Which files are read and which are skipped, one line each; empty if none is skipped."""
        if not self.skipped:
            return ()
        read = [str(path.relative_to(folder)) for path in self.read]
        skipped = [f"{path.relative_to(folder)} ({why})" for path, why in self.skipped.items()]
        tasks = _some(self.filtered)
        filtered = f"{folder}: responses of {tasks}: only what a filter of the task took"
        return (
            *([filtered] if self.filtered else []),
            f"{folder}: {number_of(len(read), 'file')} with responses: {_some(read)}",
            f"{folder}: {number_of(len(skipped), 'file')} skipped: {_some(skipped)}",
        )


def response_files(path: Path) -> ResponseFiles:
    """A file, or the files of a folder; a file that may have responses is never skipped.

    Raises:
        DataError: a table is damaged.
    """
    if path.is_file():
        return ResponseFiles([path], {})
    found = [each for each in sorted(path.rglob("*")) if each.is_file()]
    skipped = {each: "a pickle or a state" for each in found if each.suffix in _STATES}
    heads: dict[Path, frozenset[str]] = {}
    read: list[Path] = []
    filtered: list[str] = []
    for each in found:
        if each.suffix not in _SUFFIXES:
            continue
        if each.suffix in _TABLES:
            heads[each] = frozenset(_heads(each))
            reason = "" if columns_of(heads[each]) else "no column with responses"
        else:
            reason = _no_responses(bounded_bytes(each)) if each.suffix in _JSON else ""
        if reason:
            skipped[each] = reason
            filtered += _filtered(each.read_bytes()) if reason == _AGGREGATE else ()
        else:
            read.append(each)
    for each in read:
        if base := _evaluated(each, heads):
            skipped[each] = f"{base.name} with more columns"
    kept = [each for each in read if each not in skipped]
    return ResponseFiles(kept, skipped, tuple(dict.fromkeys(filtered)))


def _heads(path: Path) -> list[str]:
    """The column names of a table."""
    if path.suffix == ".xlsx":
        sheets = Workbook(path, bounded_bytes(path)).sheets(1)
        return sheets[0].rows[0].cells if sheets else []
    with path.open("rb") as stream:
        text = table_text(path, stream.read(LONGEST_HEAD))
    lines = io.StringIO(text, newline="")
    return next(iter(FilledLines(lines, separator_in(path, text) or ",", strict=False)), [])


def _no_responses(data: bytes) -> str:
    """Why a JSON file has no responses: it is an object, or a list, of another kind."""
    start = data.lstrip()
    if not start.startswith((b"{", b"[")):
        return ""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        content: Any = decode_json(data)
        if isinstance(content, list):
            rows = [each for each in content if isinstance(each, dict)]
            return "" if not content or any(map(_may_answer, rows)) else "a list without responses"
        return "" if _may_answer(content) else _AGGREGATE
    return ""


def _filtered(data: bytes) -> list[str]:
    """The tasks with a filter in an aggregate of lmms-eval."""
    content: Any = decode_json(data)
    configs = content.get("configs")
    tasks = configs.items() if isinstance(configs, dict) else ()
    return [name for name, task in tasks if isinstance(task, dict) and task.get("filter_list")]


def _may_answer(record: dict[str, Any]) -> bool:
    """Whether an object may be a response or an Inspect log."""
    known = {"text", "Response", "ID", "filtered_resps", "samples", "item"} & set(record)
    return bool(known) or columns_of(record) is not None


def _evaluated(path: Path, heads: dict[Path, frozenset[str]]) -> Path | None:
    """The table of responses from which VLMEvalKit made this one by adding verdicts."""
    bases = (
        base
        for base in heads
        if base.parent == path.parent and path.stem.startswith(f"{base.stem}_")
    )
    return next((base for base in bases if path in heads and heads[base] < heads[path]), None)


def _some(names: Iterable[str]) -> str:
    return join_names((shortened(name, 120) for name in names), _SEVERAL)
