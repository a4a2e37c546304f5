"""Printed means, rebuilt from printed tasks with the code that runs use."""

from __future__ import annotations

from keju.errors import UsageError
from keju.items import Record
from keju.messages import message
from keju.published.checks.outcome import EPSILON
from keju.published.functions import paper_functions
from keju.published.papers import papers

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


def rebuild(benchmark: str = "") -> dict[str, tuple[Rebuilt, ...]]:
    """The printed means that are rebuilt from printed tasks, by the title of their table.

    Args:
        benchmark: one benchmark; all that rebuild means by default.

    Raises:
        UsageError: no means of that benchmark's paper are rebuilt.
    """
    names = (benchmark,) if benchmark else papers()
    found = map(paper_functions, names)
    tables = {each.rebuilt_title: tuple(each.rebuild()) for each in found if each.rebuild}
    if not tables:
        raise UsageError(
            message(
                "published.no-means-rebuilt", benchmark=benchmark or message("published.any-paper")
            )
        )
    return tables
