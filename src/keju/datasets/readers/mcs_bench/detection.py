"""Recognising MCS-Bench's questions in a source, by the records of its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from keju.datasets.readers.base import Detection
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.mcs_bench.conversations import has_conversation
from keju.datasets.readers.mcs_bench.entries import Entry, entries_in, joined
from keju.datasets.readers.mcs_bench.images import names_file
from keju.datasets.readers.mcs_bench.items import index_origin
from keju.datasets.readers.mcs_bench.sources import SUFFIXES, tables_in
from keju.datasets.readers.mcs_bench.words import named_tasks, names, plain, tasks_of_path
from keju.errors import DataError, UsageError

MOST_BYTES = 64 << 20
"""Bytes of all tables that detection reads as a whole; of larger ones it reads the beginnings."""

_MOST_TABLES = 2000
_HEADS = 60
"""Files of which the first records are looked at."""

_KNOWN = frozenset({"taskid", "answersimplified", "questionsimplified", "任务编号", "任务id"})
_RESPONSES = frozenset({"response", "answersimplified"})
_HAN = range(0x4E00, 0xA000)


def detect_mcs_bench(listing: Listing) -> Detection | None:
    """Recognise questions of MCS-Bench's tasks, by fields, names of tasks or names of files.

    Questions in Chinese that name no task are recognised with a low fit; the task is then missing.
    """
    tables = listing.ending(*SUFFIXES)
    heads = {path: records for path in tables[:_HEADS] if (records := listing.records(path))}
    asking = {path: each for path, each in heads.items() if _asks(each[0])}
    if not asking:
        asking = {path: each for path, each in heads.items() if _nested(each[0])}
    if not asking:
        return None
    fit = max(_fit(listing, path, records) for path, records in asking.items())
    if not fit:
        return None
    where = f"in {len(tables)} file{'s' * (len(tables) > 1)}, {len(listing.images)} images"
    if _are_responses(asking) and not listing.images:
        return Detection(
            fit,
            f"responses in the form of MCS-Bench's authors {where}",
            missing="images: this is no dataset. Score it with: keju score FILE",
        )
    sizes = sum((listing.root / path).stat().st_size for path in tables)
    if sizes > MOST_BYTES or len(tables) > _MOST_TABLES:
        return Detection(fit, f"questions of MCS-Bench {where}")
    try:
        entries = list(_entries(listing))
        origin = index_origin(entries, "")
    except (DataError, UsageError) as error:
        problem = getattr(error, "problem", str(error))
        hint = getattr(error, "mend", None)
        return Detection(
            min(fit, 0.6),
            f"questions like MCS-Bench's {where}",
            missing=". ".join(filter(None, (problem, hint))),
        )
    del origin
    kinds = {entry.kind for entry in entries}
    missing = _missing_images(entries, listing)
    return Detection(
        fit,
        f"MCS-Bench: {len(entries):,} questions of {len(kinds)} of its 45 tasks {where}",
        missing=missing,
    )


def _entries(listing: Listing) -> Iterator[Entry]:
    tables, _ = tables_in(listing.src)
    found, _ = joined(each for table in tables for each in entries_in(table, {}))
    yield from found


def _asks(record: Mapping[str, object]) -> bool:
    asked = {plain(name) for role in ("question", "question_simplified", "question_traditional")
             for name in names().roles[role]}  # fmt: skip
    return not asked.isdisjoint(plain(str(key)) for key in record) or has_conversation(record)


def _nested(record: Mapping[str, object]) -> bool:
    """Whether an object has questions inside it, such as records by their ID."""
    return any(isinstance(value, dict) and (_asks(value) or any(
        isinstance(inner, dict) and _asks(inner) for inner in value.values()
    )) for value in list(record.values())[:20])  # fmt: skip


def _fit(listing: Listing, path: PurePosixPath, records: Sequence[Mapping[str, object]]) -> float:
    """How sure it is that records are of this benchmark; 0 if they are of another."""
    keys = {plain(str(key)) for record in records for key in record}
    roles = {plain(name) for role in ("task", "task_name") for name in names().roles[role]}
    said = [
        str(value)
        for record in records
        for key, value in record.items()
        if plain(str(key)) in roles and value not in (None, "")
    ]
    if said and any(map(named_tasks, said)):
        return 1.0
    if not _KNOWN.isdisjoint(keys):
        return 0.95
    if said:
        return 0.7 if all(each.upper().removeprefix("T").isdigit() for each in said) else 0.0
    return _fit_of_place(listing, path, keys) or (
        0.3 if any(ord(char) in _HAN for char in str(records[0])) else 0.0
    )


def _fit_of_place(listing: Listing, path: PurePosixPath, keys: Iterable[str]) -> float:
    """How sure it is by the names of the file, of its folders, and of lists in it."""
    words = (path.stem, *reversed(path.parent.parts), listing.root.name)
    if tasks_of_path(words):
        return 0.9 if any(map(named_tasks, words)) else 0.8
    return 0.8 if any(tasks_of_path((key,)) for key in keys) else 0.0


def _are_responses(asking: Mapping[PurePosixPath, Sequence[Mapping[str, object]]]) -> bool:
    return all(set(map(plain, map(str, records[0]))) >= _RESPONSES for records in asking.values())


def _missing_images(entries: Sequence[Entry], listing: Listing) -> str:
    """What is missing where no image can be found; empty where images may be."""
    if listing.images or any(not names_file(value) for entry in entries for value in entry.images):
        return ""
    return (
        "images: there are none beside the questions. Put them into a folder images, "
        "or give their folder: --option images=FOLDER"
    )
