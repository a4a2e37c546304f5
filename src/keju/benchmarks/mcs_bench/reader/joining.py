"""Records of the same item in both scripts made one, and IDs made unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from keju.benchmarks.mcs_bench.reader.entries import Entry
from keju.datasets.readers.base import join_names
from keju.errors import DataError, number_of
from keju.items import Script
from keju.text import in_script
from keju.texts import _

_LONGEST_NAME = 500
"""Characters of the name of an image; a longer text is the image itself."""


def with_own_ids(entries: Sequence[Entry]) -> tuple[list[tuple[str, Entry]], list[str]]:
    """The entries with unique IDs, and what was done for that.

    IDs that start again in every task get the task before them, ``T7-12``. Entries without ID get
    the task and their number in it.
    """
    notes: list[str] = []
    counts = Counter(entry.name for entry in entries if entry.name)
    tasks_of: dict[str, set[str]] = {}
    for entry in entries:
        tasks_of.setdefault(entry.name, set()).add(entry.kind.id)
    again = [name for name, count in counts.items() if count > 1 and len(tasks_of[name]) > 1]
    if again:
        first = next(entry for entry in entries if entry.name == again[0])
        notes.append(
            f"IDs start again in other tasks ({join_names(again, 3)}): "
            "the task was put before each "
            f"ID, as in {first.kind.id}-{first.name[:20]}"
        )
    numbers: Counter[str] = Counter()
    found: list[tuple[str, Entry]] = []
    for entry in entries:
        numbers[entry.kind.id] += 1
        if entry.name:
            name = f"{entry.kind.id}-{entry.name}" if again else entry.name
        else:
            name = f"{entry.kind.id}-{numbers[entry.kind.id]}"
        found.append((name, entry))
    if unnamed := sum(not entry.name for entry in entries):
        notes.append(
            f"{number_of(unnamed, 'record has', 'records have')} no ID: they are numbered "
            "in each task, as in "
            f"{entries[0].kind.id}-1"
        )
    return found, notes


def join_scripts(entries: Iterable[Entry]) -> tuple[list[Entry], list[str]]:
    """Entries of which the simplified and the traditional one of the same task and ID are one.

    Nothing is joined unless both scripts are named by files, folders or a field.
    """
    entries = _both_named(list(entries))
    pairs: dict[tuple[str, str], dict[Script, Entry]] = {}
    for entry in entries:
        if entry.script and entry.name:
            pairs.setdefault((entry.kind.id, entry.name), {}).setdefault(entry.script, entry)
    scripts = {entry.script for entry in entries if entry.script}
    if len(scripts) < 2:
        return entries, []
    found: list[Entry] = []
    alone: dict[Script, list[str]] = {"simplified": [], "traditional": []}
    for entry in entries:
        both = pairs.get((entry.kind.id, entry.name), {}) if entry.script else {}
        mine = entry.script and both.get(entry.script) is entry
        if mine and len(both) == 2:
            if entry is next(iter(both.values())):
                found.append(_both(both["simplified"], both["traditional"]))
            continue
        if entry.script:
            alone[entry.script].append(entry.name or entry.place.item)
        found.append(entry)
    notes = [
        f"{number_of(len(names_), 'item')} in {script} script only: {join_names(names_)}"
        for script, names_ in alone.items()
        if names_
    ]
    done = sum(len(both) == 2 for both in pairs.values())
    return found, [f"joined {number_of(done, 'item')} of both scripts by task and ID", *notes]


def _check_same(simplified: Entry, traditional: Entry) -> None:
    """Refuse two records of one task and ID that are not the same item.

    Raises:
        DataError: they name other images, other right letters, or the same options in other order.
    """
    wrong = ""
    if _names_of(simplified) and _names_of(traditional) != _names_of(simplified):
        wrong = _("other images") if _names_of(traditional) else ""
    first, second = (
        tuple(in_script(each, "simplified") for each in entry.options)
        for entry in (simplified, traditional)
    )
    if first != second and sorted(first) == sorted(second):
        wrong = _("their options in another order")
    letters = [_letter_in(entry) for entry in (simplified, traditional)]
    if all(letters) and letters[0] != letters[1]:
        wrong = wrong or _("another right option")
    if wrong:
        raise DataError(
            "the records of both scripts with this task and ID have {}; the traditional one is "
            "in {}",
            wrong,
            traditional.place.file.name,
            file=simplified.place.file,
            item=simplified.name,
            hint="Number the items of both files alike, or import each file alone",
        )


def _names_of(entry: Entry) -> list[str]:
    """The file names of its images without suffix; none where an image is not a name."""
    if not all(isinstance(each, str) and len(each) < _LONGEST_NAME for each in entry.images):
        return []
    return [PurePosixPath(str(each).replace("\\", "/")).stem.casefold() for each in entry.images]


def _letter_in(entry: Entry) -> str:
    """Its answer, if that is a letter alone."""
    texts = entry.texts
    said = texts["answer"] or texts["answer_simplified"] or texts["answer_traditional"]
    said = said.strip().upper()
    is_letter = entry.kind.queries[0].form == "letter" and len(said) == 1 and said.isascii()
    return said if is_letter and said.isalpha() else ""


def _both_named(entries: list[Entry]) -> list[Entry]:
    """The entries, where files of one script are named and their counterparts are not.

    Such are ``data.json`` and ``data_traditional.json``.
    """
    named = {entry.script for entry in entries if entry.script}
    keys = {(entry.kind.id, entry.name) for entry in entries if entry.script}
    if len(named) != 1 or not any(
        (entry.kind.id, entry.name) in keys for entry in entries if not entry.script
    ):
        return entries
    other: Script = "simplified" if "traditional" in named else "traditional"
    return [entry if entry.script else entry._replace(script=other) for entry in entries]


def _both(simplified: Entry, traditional: Entry) -> Entry:
    """One entry of the two that are the same in two scripts."""
    texts = dict(simplified.texts) | {
        "question_simplified": simplified.texts["question"],
        "question_traditional": traditional.texts["question"],
        "answer": traditional.texts["answer"] or simplified.texts["answer"],
        "answer_simplified": simplified.texts["answer"],
        "transcription": traditional.texts["transcription"] or simplified.texts["transcription"],
    }
    _check_same(simplified, traditional)
    return simplified._replace(
        texts=texts,
        images=simplified.images or traditional.images,
        options_traditional=traditional.options,
        metadata={**traditional.metadata, **simplified.metadata},
        answers=tuple(dict.fromkeys((*traditional.answers, *simplified.answers))),
    )
