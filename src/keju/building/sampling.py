"""Sample an index while excluding some, or by weight (`Weights`), in O(log n)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence


def sample_excluding(at: int, gone: Sequence[int]) -> int:
    """Return the number at position `at` among the whole numbers from 0 that are not in `gone`.

    Positions count from 0; `gone` is sorted.
    """
    return at + bisect_right(range(len(gone)), at, key=lambda place: gone[place] - place)


class Weights:
    """A sequence of integer weights; updates, prefix sums and searches take O(log n).

    After Fenwick, "A new data structure for cumulative frequency tables" (1994).
    """

    def __init__(self, weights: Iterable[int]) -> None:
        self._each = list(weights)
        self._sums = [0, *self._each]
        for at in range(1, len(self._sums)):
            above = at + (at & -at)
            if above < len(self._sums):
                self._sums[above] += self._sums[at]
        self._top = 1 << len(self._each).bit_length() >> 1

    def __setitem__(self, at: int, weight: int) -> None:
        more = weight - self._each[at]
        self._each[at] = weight
        at += 1
        while at < len(self._sums):
            self._sums[at] += more
            at += at & -at

    def sum_before(self, at: int) -> int:
        """The sum of the weights before an index."""
        total = 0
        while at:
            total += self._sums[at]
            at &= at - 1
        return total

    def find(self, weight: int) -> int:
        """The index at which the cumulative sum, including its own weight, first exceeds a number.

        Args:
            weight: 0 or more, and less than the sum of all.
        """
        at, step = 0, self._top
        while step:
            if at + step < len(self._sums) and self._sums[at + step] <= weight:
                at += step
                weight -= self._sums[at]
            step >>= 1
        return at
