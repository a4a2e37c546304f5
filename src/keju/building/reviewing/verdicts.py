"""`Verdict`: a person's decision about an item, the common format of every reviewing tool.

A file of verdicts is JSON lines, one verdict per line; a person's later verdict about the same item
replaces the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from keju.files import sha256_bytes, write_atomic
from keju.items import Box, Item, Record
from keju.texts import Text, _, both


class Decision(StrEnum):
    """A person's decision: accepted as it is, accepted with corrections, rejected."""

    ACCEPT = "accept"
    CORRECT = "correct"
    REJECT = "reject"


Name = Annotated[str, Meta(min_length=1, max_length=100)]
Words = Annotated[str, Meta(max_length=10_000)]

CORRECTIONS = "mended"
"""Name of the field `corrections` in files of verdicts."""

_LONGEST_CORRECTION = 100_000
"""Maximum length of a corrected field, in characters."""


class Corrections(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The new values of the fields that a person corrected; other fields keep their values."""

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
        corrections: the corrections; only with the decision ``correct``, and then not empty.
        reason: why, in the person's words.
        marks: marks on the scales of a form, by the scale's name.
        seal: the result of `compute_seal` for the item as the person saw it; empty if the tool does
            not know it. A verdict on an item that has changed since is rejected.
    """

    item: Annotated[str, Meta(min_length=1)]
    person: Name
    decision: Decision
    corrections: Corrections = field(default_factory=Corrections, name=CORRECTIONS)
    reason: Words = ""
    marks: dict[str, int] = field(default_factory=dict)
    seal: str = ""

    def find_fault(self) -> Text | None:
        """The contradiction in the verdict, or None if it is valid."""
        corrected = self.corrections.fields()
        if self.decision == Decision.CORRECT and not corrected:
            return _(
                "the decision is `correct`, but there is no correction",
                hint="Write the correction, or decide `accept`",
            )
        if self.decision != Decision.CORRECT and corrected:
            return _(
                "the decision is `{}`, but there are corrections ({})",
                self.decision,
                both(corrected),
                hint="Decide `correct`, or remove the corrections",
            )
        for name, value in corrected.items():
            if len(str(value)) > _LONGEST_CORRECTION:
                return _(
                    "the corrected {} has more than {:,} characters",
                    name,
                    _LONGEST_CORRECTION,
                    hint="Shorten it",
                )
        return None


def compute_seal(item: Item) -> str:
    """A hash of everything that a reviewer sees of an item: sixteen hexadecimal digits."""
    shown = (item.task, item.query, item.question, item.fields, item.verbatim, item.options,
             item.answer, item.also_accepted, item.transcription, item.boxes,
             [ref.sha256 for ref in item.images])  # fmt: skip
    return sha256_bytes(msgspec.json.encode(shown, order="deterministic"))[:16]


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write a whole file of verdicts."""
    write_atomic(path, (msgspec.json.encode(verdict) + b"\n" for verdict in verdicts))


def select_latest(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """The last verdict of each person about each item, by item and person, in the given order."""
    latest: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        latest.setdefault(verdict.item, {})[verdict.person] = verdict
    return latest
