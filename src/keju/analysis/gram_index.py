"""`GramIndex`: the texts of a report by their runs of consecutive characters, 16 bytes for each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]


class GramIndex:
    """Finds texts that share runs of consecutive characters (grams) with another text.

    Args:
        length: the length of the runs in characters.
        most: the number of occurrences of a run that are reported, in the order of the texts.
        text: returns the text with a number.
    """

    def __init__(self, length: int, *, most: int, text: Callable[[int], str]) -> None:
        self._length = length
        self._most = most
        self._text = text
        self._hashes = array("Q")
        self._numbers = array("I")
        self._starts = array("I")
        self._sorted: tuple[Hashes, npt.NDArray[np.uint32], npt.NDArray[np.uint32]] | None = None

    def add(self, number: int) -> None:
        """Add the text with a number; call it for all texts before `find`."""
        hashes = _hash_grams(self._text(number), self._length)
        self._hashes.frombytes(hashes.tobytes())
        self._numbers.frombytes(np.full(len(hashes), number, np.uint32).tobytes())
        self._starts.frombytes(np.arange(len(hashes), dtype=np.uint32).tobytes())

    def find(self, said: str, own: int) -> Iterator[tuple[str, list[int]]]:
        """The runs of a text that other texts than number `own` have, with the numbers of those.

        Only the first `most` occurrences of a run are examined, those in `own` included. A text
        that has a run several times is listed as often.
        """
        hashes, numbers, _ = self._sort()
        grams = _hash_grams(said, self._length)
        first = np.searchsorted(hashes, grams, "left")
        end = np.minimum(np.searchsorted(hashes, grams, "right"), first + self._most)
        elsewhere = np.zeros(len(grams), np.bool_)
        for step in range(self._most):
            place = first + step
            there = place < end
            elsewhere[there] |= numbers[place[there]] != own
        for start in np.flatnonzero(elsewhere).tolist():
            gram = said[start : start + self._length]
            if others := [
                each for each in self._occurrences(gram, int(first[start])) if each != own
            ]:
                yield gram, others

    def _occurrences(self, gram: str, place: int) -> list[int]:
        """The numbers of the texts at the first occurrences; equal hashes are compared as texts."""
        hashes, numbers, starts = self._sort()
        found: list[int] = []
        value = hashes[place]
        while len(found) < self._most and place < len(hashes) and hashes[place] == value:
            number, start = int(numbers[place]), int(starts[place])
            if self._text(number)[start : start + self._length] == gram:
                found.append(number)
            place += 1
        return found

    def _sort(self) -> tuple[Hashes, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        if self._sorted is None:
            hashes = np.array(self._hashes, np.uint64)
            order = np.argsort(hashes, kind="stable")
            numbers = np.array(self._numbers, np.uint32)[order]
            self._sorted = hashes[order], numbers, np.array(self._starts, np.uint32)[order]
            self._hashes, self._numbers, self._starts = array("Q"), array("I"), array("I")
        return self._sorted


def _hash_grams(text: str, length: int) -> Hashes:
    """A 64-bit hash of each run of that length, in order."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    count = len(codes) - length + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    found = np.zeros(count, np.uint64)
    for step in range(length):
        found = found * _FACTOR + codes[step : step + count]
    return found
