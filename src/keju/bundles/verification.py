"""`Verification`: the result of verifying a bundle, which is also the statement that is stored."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from keju.items import Record
from keju.messages import Message, message

FORMAT = "keju-verification-1"

TOLERANCE = 1e-4
"""The largest difference of a value of an encoder that counts as equal: machines round otherwise.
Values of all other metrics must be equal to the last bit."""

MOST_LISTED = 200
"""Differences that a verification lists; more are only counted."""

Outcome = Literal["verified", "incomplete", "differs"]


class Difference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A place of a bundle that is not as it must be: member, item (or field, line) and problem."""

    member: str
    item: str
    problem: str


class NotVerified(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A part that could not be verified, why, and how many values it has.

    With `needed` the bundle is not verified without it.
    """

    part: str
    reason: str
    count: int = 0
    needed: bool = True


class Check(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A kind of comparison: how many were made, and how many differ."""

    id: str
    compared: int
    differ: int


class AuditFinding(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A finding of ``keju audit`` on the verified run."""

    check: str
    severity: str
    place: str
    says: str


class DatasetUsed(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The data from which the scores were computed; `included` if it is the bundle's own."""

    name: str
    version: str
    hash: str
    included: bool


class Verification(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a verification, with who verified, when and with which keju.

    `result` is ``verified`` (all scores follow from the responses), ``incomplete`` (nothing
    differs, but a needed part could not be verified) or ``differs``. `verified_by` is the name that
    the user gave, or empty. `more_differences` are those beyond `MOST_LISTED`.
    """

    format: str = FORMAT
    bundle: str
    bundle_sha256: str
    result: Outcome
    meaning: str
    verified_by: str = ""
    verified: str
    keju: str
    command: str
    environment: dict[str, str]
    dataset: DatasetUsed | None = None
    tolerance: float = TOLERANCE
    models: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    differences: tuple[Difference, ...] = ()
    more_differences: int = 0
    not_verified: tuple[NotVerified, ...] = ()
    audit: tuple[AuditFinding, ...] = ()


def meaning_of_verified() -> Message:
    """The sentence that is shown wherever a result is called verified."""
    return message("bundles.meaning")


class Findings:
    """Collects comparisons, differences and parts that cannot be verified."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.count = 0
        self._compared: Counter[str] = Counter()
        self._differ: Counter[str] = Counter()
        self._not_verified: dict[tuple[str, str], NotVerified] = {}

    def compared(self, check: str, count: int = 1) -> None:
        """Count comparisons of a kind."""
        self._compared[check] += count

    def differs(self, check: str, member: str, item: str, problem: str) -> None:
        """Record a comparison that failed."""
        self._differ[check] += 1
        self.count += 1
        if len(self.differences) < MOST_LISTED:
            self.differences.append(Difference(member=member, item=item, problem=problem))

    def not_verified(self, part: str, reason: str, *, count: int = 0, needed: bool = True) -> None:
        """Record a part that cannot be verified; counts of the same part and reason are added."""
        before = self._not_verified.get((part, reason))
        count += before.count if before else 0
        self._not_verified[part, reason] = NotVerified(
            part=part, reason=reason, count=count, needed=needed
        )

    @property
    def missing(self) -> tuple[NotVerified, ...]:
        """The parts that could not be verified."""
        return tuple(self._not_verified.values())

    @property
    def checks(self) -> tuple[Check, ...]:
        """The comparisons by kind."""
        names = dict.fromkeys([*self._compared, *self._differ])
        return tuple(
            Check(id=name, compared=self._compared[name], differ=self._differ[name])
            for name in names
        )

    @property
    def result(self) -> Outcome:
        """The result of all comparisons."""
        if self.count:
            return "differs"
        return "incomplete" if any(each.needed for each in self.missing) else "verified"
