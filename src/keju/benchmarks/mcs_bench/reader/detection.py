"""Recognising MCS-Bench's questions in a source, by the records of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from keju.benchmarks.mcs_bench.reader.entries import Entry, entries_in
from keju.benchmarks.mcs_bench.reader.images import names_file
from keju.benchmarks.mcs_bench.reader.items import index_origin
from keju.benchmarks.mcs_bench.reader.joining import join_scripts, with_own_ids
from keju.benchmarks.mcs_bench.reader.settings import McsBenchSettings
from keju.benchmarks.mcs_bench.reader.sources import SUFFIXES, asks, tables_in
from keju.benchmarks.mcs_bench.reader.words import (
    load_names,
    named_tasks,
    plain_key,
    tasks_of_path,
)
from keju.datasets.readers.base import Detection, join_names
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import NoFieldError
from keju.errors import DataError, UsageError, error_text, number_of
from keju.text import count_han
from keju.texts import _, join_sentences

MOST_BYTES = 32 << 20
"""Bytes of all tables that detection reads as a whole; of larger ones it reads the beginnings."""

_MOST_TABLES = 2000
_HEADS = 60
"""Files of which the first records are looked at."""

_KNOWN = frozenset({"taskid", "answersimplified", "questionsimplified", "任务编号", "任务id"})
_RESPONSES = frozenset({"response", "answersimplified"})
_LONGEST = 10_000
"""Characters of a record in which Chinese ones are looked for."""


def detect_mcs_bench(listing: Listing) -> Detection | None:
    """Recognise questions of MCS-Bench's tasks, by fields, names of tasks or names of files.

    Questions in Chinese that name no task are recognised with a low fit; the task is then missing.
    """
    files = listing.ending(*SUFFIXES)
    heads = [
        ((path.stem, *reversed(path.parent.parts), listing.root.name), records)
        for path in files[:_HEADS]
        if (records := listing.records(path)) and _may_ask(records[0])
    ]
    if not heads or not _is_chinese(record for _, records in heads for record in records[:20]):
        return None
    fit = max(_fit(words, records) for words, records in heads)
    where = (
        f"in {len(files)} file{'s' * (len(files) > 1)}, {number_of(len(listing.images), 'image')}"
    )
    if fit and not listing.images and all(_is_response(records[0]) for _, records in heads):
        return Detection(
            fit,
            f"responses in the form of MCS-Bench's authors {where}",
            missing="images: this is not a dataset. Score it with: keju score FILE",
        )
    if _is_large(listing, files):
        return Detection(fit, f"questions of MCS-Bench {where}") if fit else None
    return _read_whole(listing, where, fit)


def _is_chinese(records: Iterable[Mapping[str, object]]) -> bool:
    """Whether any of these records has a Chinese character."""
    return any(count_han(str(record)[:_LONGEST]) for record in records)


def _read_whole(listing: Listing, where: str, fit: float) -> Detection | None:
    """The result of reading all records; None if they belong to another benchmark."""
    try:
        tables, __ = tables_in(listing.src)
        fit = max(fit, *(_fit(each.words, [row.cells for row in each.rows]) for each in tables))
        settings = McsBenchSettings()
        entries, __ = join_scripts(each for table in tables for each in entries_in(table, settings))
        index_origin(entries, "")
        _check_unlike(name for name, _ in with_own_ids(entries)[0])
    except (DataError, UsageError) as error:
        if not fit:
            return None
        what = f"questions like MCS-Bench's {where}"
        return Detection(min(fit, 0.6), what, missing=_missing(error))
    if not fit:
        return None
    kinds = {entry.kind for entry in entries}
    what = (
        f"MCS-Bench: {number_of(len(entries), 'question')} of {len(kinds)} of its 45 tasks {where}"
    )
    return Detection(fit, what, missing=_missing_images(entries, listing))


def _missing(error: DataError | UsageError) -> str:
    """The reason why an import refuses a source, as the end of "it needs"."""
    if not isinstance(error, DataError):
        return error_text(error)
    no_field = isinstance(error, NoFieldError)
    needed = _("the {}", error.values[0]) if no_field else _("a correction")
    problem = _("{}: {}", needed, error.problem)
    return join_sentences([problem, error.hint]) if error.hint else problem


def _check_unlike(names: Iterable[str]) -> None:
    """Refuse items with the same ID.

    Raises:
        DataError: two items have it.
    """
    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        raise DataError(
            "{} IDs are used twice: {}", len(again), join_names(again), hint="Change them"
        )


def _is_large(listing: Listing, files: Sequence[PurePosixPath]) -> bool:
    """Whether there is too much to read as a whole."""
    paths = [path for file in files if (path := listing.path(file))]
    return len(files) > _MOST_TABLES or sum(path.stat().st_size for path in paths) > MOST_BYTES


def _may_ask(record: Mapping[str, object]) -> bool:
    known = not _KNOWN.isdisjoint(plain_key(str(key)) for key in record)
    return known or asks(record) or _nested(record)


def _nested(record: Mapping[str, object]) -> bool:
    """Whether an object has questions inside it, such as records by their ID."""
    return any(isinstance(value, dict) and (asks(value) or any(
        isinstance(inner, dict) and asks(inner) for inner in value.values()
    )) for value in list(record.values())[:20])  # fmt: skip


def _fit(words: Sequence[str], records: Sequence[Mapping[str, object]]) -> float:
    """How sure it is that records are of this benchmark; 0 if they are of another."""
    records = records[:20]
    keys = {plain_key(str(key)) for record in records for key in record}
    roles = {plain_key(name) for role in ("task", "task_name") for name in load_names().roles[role]}
    said = [
        str(value)
        for record in records
        for key, value in record.items()
        if plain_key(str(key)) in roles and value not in (None, "")
    ]
    if said and any(map(named_tasks, said)):
        return 1.0
    if not _KNOWN.isdisjoint(keys):
        return 0.95
    if said:
        return 0.7 if all(each.upper().removeprefix("T").isdigit() for each in said) else 0.0
    return _fit_of_place(words) or (0.3 if _is_chinese(records[:1]) else 0.0)


def _fit_of_place(words: Sequence[str]) -> float:
    """How sure it is by the names of the file, of its folders, and of a list in it."""
    if not tasks_of_path(words):
        return 0.0
    return 0.9 if any(map(named_tasks, words)) else 0.8


def _is_response(record: Mapping[str, object]) -> bool:
    return {plain_key(str(key)) for key in record} >= _RESPONSES


def _missing_images(entries: Sequence[Entry], listing: Listing) -> str:
    """A note on missing images if none can be found; empty if there may be images."""
    if listing.images or any(not names_file(value) for entry in entries for value in entry.images):
        return ""
    return (
        "images: there are none beside the questions. Put them into a folder images, "
        "or give their folder: --option images=FOLDER"
    )
