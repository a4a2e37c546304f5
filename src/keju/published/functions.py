"""`PaperFunctions`: functions of a benchmark on its paper's tables that data cannot declare.

A bundled benchmark names them in `PROVIDES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import NamedTuple

from keju.errors import UsageError
from keju.items import Record
from keju.published.papers import papers
from keju.published.tables import EPSILON, PrintedTable
from keju.registry import list_provided
from keju.texts import _

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


class PaperFunctions(NamedTuple):
    """Functions of a benchmark on its paper's tables.

    `implied` makes tables that the printed ones and the tasks imply; `rebuild` makes the printed
    means again with the code that runs use, and `rebuilt_title` is the heading of that.
    """

    implied: Callable[[Mapping[str, PrintedTable]], Iterable[PrintedTable]] | None = None
    rebuild: Callable[[], Iterable[Rebuilt]] | None = None
    rebuilt_title: str = ""


def paper_functions(benchmark: str) -> PaperFunctions:
    """The functions that a benchmark registers; without any, an empty `PaperFunctions`."""
    module, __, name = list_provided("papers").get(benchmark, "").partition(":")
    found: PaperFunctions = getattr(import_module(module), name) if module else PaperFunctions()
    return found


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
        raise UsageError("no printed means of {} are rebuilt", benchmark or _("any paper"))
    return tables
