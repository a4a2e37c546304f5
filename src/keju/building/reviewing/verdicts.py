"""`Verdict`: a person's decision about an item, the common format of every reviewing tool.

A file of verdicts is JSON lines, one verdict per line, appended as they are given; a person's later
verdict about the same item replaces the earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from keju.errors import DataError
from keju.files import read_jsonl, repair_torn_line, sha256_bytes, write_atomic
from keju.items import Box, Item, Record
from keju.messages import message

Decision = Literal["accept", "mend", "reject"]
"""Unchanged; with corrections; rejected."""

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Words = Annotated[str, Meta(max_length=10_000)]

_MOST_MENDED = 100_000


class Mended(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of an item that a person rewrote; the others stay as they are."""

    question: str | UnsetType = UNSET
    options: tuple[str, ...] | UnsetType = UNSET
    answer: str | UnsetType = UNSET
    also_accepted: tuple[str, ...] | UnsetType = UNSET
    transcription: str | UnsetType = UNSET
    boxes: tuple[Box, ...] | UnsetType = UNSET

    def fields(self) -> dict[str, object]:
        """The corrections, by the item's field names."""
        return {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(self, name)) is not UNSET
        }


class Verdict(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One person's decision about one item.

    Attributes:
        item: the item's id.
        person: the reviewer; any name or sign, always the same.
        decision: the decision.
        mended: the corrections; only with ``mend``, and then not empty.
        reason: why, in the person's words.
        marks: marks on the scales of a form, by the scale's name.
        seal: `seal_of` the item as the person saw it; empty where the tool does not know it. A
            verdict on an item that has changed since is rejected.
    """

    item: Annotated[str, Meta(min_length=1)]
    person: Name
    decision: Decision
    mended: Mended = field(default_factory=Mended)
    reason: Words = ""
    marks: dict[str, int] = field(default_factory=dict)
    seal: str = ""

    def fault(self) -> str:
        """What is wrong with the verdict itself, or an empty string."""
        told = self.mended.fields()
        if self.decision == "mend" and not told:
            return "it mends, but says nothing new"
        if self.decision != "mend" and told:
            return f"it does not mend, but gives a new {' and '.join(told)}"
        if any(len(str(value)) > _MOST_MENDED for value in told.values()):
            return f"a mended field has more than {_MOST_MENDED:,} characters"
        return ""


def seal_of(item: Item) -> str:
    """Sixteen hexadecimal digits that change when anything changes that a reviewer sees."""
    shown = (item.task, item.query, item.question, item.fields, item.verbatim, item.options,
             item.answer, item.also_accepted, item.transcription, item.boxes,
             [ref.sha256 for ref in item.images])  # fmt: skip
    return sha256_bytes(msgspec.json.encode(shown, order="deterministic"))[:16]


def read_verdicts(path: Path, *, appended: bool = False) -> list[Verdict]:
    """Every verdict of a file, in its order.

    Args:
        path: the file.
        appended: `add_verdict` wrote it, so that a last line without a newline is incomplete.

    Raises:
        DataError: a line is not a verdict, or is not valid.
    """
    verdicts = []
    try:
        for verdict in read_jsonl(path, Verdict, appended=appended):
            if fault := verdict.fault():
                raise DataError(
                    fault, file=path, item=verdict.item, hint=message("building.review-again")
                )
            verdicts.append(verdict)
    except OSError as error:
        raise DataError(
            message("building.image-not-readable", reason=error.strerror or error), file=path
        ) from None
    return verdicts


def add_verdict(path: Path, verdict: Verdict) -> None:
    """Append a verdict to a file in one write, so that a crash loses no earlier one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    repair_torn_line(path)
    with path.open("ab") as stream:
        stream.write(msgspec.json.encode(verdict) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write a whole file of verdicts."""
    write_atomic(path, (msgspec.json.encode(verdict) + b"\n" for verdict in verdicts))


def last_words(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """By item and person, the last verdict; items and persons in order of appearance."""
    said: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        said.setdefault(verdict.item, {})[verdict.person] = verdict
    return said
