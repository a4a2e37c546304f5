"""Sample an index while excluding some, in O(log n)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def sample_excluding(at: int, gone: Sequence[int]) -> int:
    """Return the number at position `at` among the whole numbers from 0 that are not in `gone`.

    Positions count from 0; `gone` is sorted.
    """
    return at + bisect_right(range(len(gone)), at, key=lambda place: gone[place] - place)
