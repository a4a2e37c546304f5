"""`Verification`: the result of verifying a bundle, which is also the statement that is stored."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from keju.items import Record
from keju.texts import Text, _

FORMAT = "keju-verification-1"

TOLERANCE = 1e-4
"""Values of metrics with an encoder may differ by this much, because machines round differently.
Values of all other metrics must be equal to the last bit."""

MAX_LISTED = 200
"""The maximum number of differences that a verification lists; the others are only counted."""

Outcome = Literal["verified", "incomplete", "differs"]


class Difference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A difference in a bundle: its member, item (or field, or line) and problem."""

    member: str
    item: str
    problem: str


class NotVerified(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A part that could not be verified, why, and how many values it has.

    If a part is `needed`, the result cannot be ``verified`` without it.
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
    """The dataset from which the scores were computed; `included` if the bundle contains it."""

    name: str
    version: str
    hash: str
    included: bool


class Verification(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a verification, with who verified, when and with which keju.

    `result` is ``verified`` (all scores follow from the responses), ``incomplete`` (nothing
    differs, but a needed part could not be verified) or ``differs``. `verified_by` is the name that
    the user gave, or empty. `more_differences` counts the differences beyond `MAX_LISTED`.
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


def meaning_of_verified() -> Text:
    """The sentence that is shown wherever a result is called verified."""
    return _(
        '"Verified" means that the scores follow from the stored responses. It does not mean '
        "that the named model produced the responses"
    )


class Findings:
    """Collects comparisons, differences and parts that cannot be verified."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.difference_count = 0
        self._compared: Counter[str] = Counter()
        self._differ: Counter[str] = Counter()
        self._not_verified: dict[tuple[str, str], NotVerified] = {}

    def add_compared(self, check: str, count: int = 1) -> None:
        """Count comparisons of a kind."""
        self._compared[check] += count

    def add_difference(self, check: str, member: str, item: str, problem: str) -> None:
        """Record a comparison that failed."""
        self._differ[check] += 1
        self.difference_count += 1
        if len(self.differences) < MAX_LISTED:
            self.differences.append(Difference(member=member, item=item, problem=problem))

    def add_not_verified(
        self, part: str, reason: str, *, count: int = 0, needed: bool = True
    ) -> None:
        """Record a part that cannot be verified; counts of the same part and reason are added."""
        before = self._not_verified.get((part, reason))
        count += before.count if before else 0
        self._not_verified[part, reason] = NotVerified(
            part=part, reason=reason, count=count, needed=needed
        )

    @property
    def not_verified(self) -> tuple[NotVerified, ...]:
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
        if self.difference_count:
            return "differs"
        return "incomplete" if any(each.needed for each in self.not_verified) else "verified"
