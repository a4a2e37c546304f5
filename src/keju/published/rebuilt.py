"""`Rebuilt`: a printed mean, and the same from printed tasks with the code that runs use."""

from __future__ import annotations

from keju.items import Record
from keju.published.tables import EPSILON

_ROUNDED = 0.01
"""The maximum difference by two roundings to two digits, of the parts and of their mean."""


class Rebuilt(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One printed mean, and the same from the printed tasks, both in percent."""

    table: str
    column: str
    row: str
    printed: float
    rebuilt: float

    @property
    def holds(self) -> bool:
        """Whether rounding explains the difference."""
        return abs(self.printed - self.rebuilt) <= _ROUNDED + EPSILON
