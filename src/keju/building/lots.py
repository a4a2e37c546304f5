"""Drawing one of many, some of them left out, without walking through the many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def outside(at: int, gone: Sequence[int]) -> int:
    """The number at place `at` among the whole numbers from 0 that are not `gone`.

    Args:
        at: the place, from 0.
        gone: the numbers that are left out, in order.
    """
    return at + bisect_right(range(len(gone)), at, key=lambda place: gone[place] - place)
