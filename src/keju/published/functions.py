"""`PaperFunctions`: what a benchmark computes of its paper that data cannot declare.

A benchmark registers them under its name in the entry-point group ``keju.papers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from keju.published.tables import PrintedTable
from keju.registry import Plugin, Registry, guarded, provided

if TYPE_CHECKING:
    from keju.published.rebuilt import Rebuilt

T = TypeVar("T")

_GROUP = "keju.papers"


class PaperFunctions(NamedTuple):
    """What a benchmark computes of its paper.

    `implied` makes tables that the printed ones and the tasks imply; `rebuild` makes the printed
    means again with the code that runs use, and `rebuilt_title` is the heading of that.
    """

    implied: Callable[[Mapping[str, PrintedTable]], Iterable[PrintedTable]] | None = None
    rebuild: Callable[[], Iterable[Rebuilt]] | None = None
    rebuilt_title: str = ""


def paper_functions(benchmark: str) -> PaperFunctions:
    """What a benchmark computes of its paper; nothing if it registers no functions."""
    return _FUNCTIONS[benchmark] if benchmark in _FUNCTIONS else PaperFunctions()


def _checked(_: str, found: object) -> PaperFunctions:
    if not isinstance(found, PaperFunctions):
        raise TypeError("expected a PaperFunctions")
    return found


def _guarded(found: PaperFunctions, plugin: Plugin) -> PaperFunctions:
    from keju.published.rebuilt import Rebuilt  # noqa: PLC0415 - it imports this module

    implied, rebuild = found.implied, found.rebuild
    return found._replace(
        implied=implied and guarded(implied, plugin, _GROUP, then=partial(_all_of, PrintedTable)),
        rebuild=rebuild and guarded(rebuild, plugin, _GROUP, then=partial(_all_of, Rebuilt)),
    )


def _all_of(kind: type[T], found: Iterable[object]) -> list[T]:
    things = []
    for each in found:
        if not isinstance(each, kind):
            raise TypeError(f"it returned {type(each).__name__}, not {kind.__name__}")
        things.append(each)
    return things


_FUNCTIONS = Registry("paper", _GROUP, partial(provided, _GROUP), _checked, guard=_guarded)
