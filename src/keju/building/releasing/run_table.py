"""`RunTable`: pairs of a hash and the number of a text, sorted by hash, on disk if many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.files import read_at

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.uint32]

MOST_PAIRS = 1 << 20
"""Pairs that are sorted at once, and up to which a table is in memory (12 bytes each)."""

_RANGES = 1024
"""Ranges of hashes, of equal width, that can be read by themselves."""

_SHIFT = np.uint64(64 - 10)
_RUN, _NUMBER = np.dtype("<u8"), np.dtype("<u4")


class _Chunk(NamedTuple):
    """Sorted pairs in the file: the place of their bytes, and where each range begins."""

    start: int
    edges: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        return int(self.edges[-1])


class RunTable:
    """Pairs of a 64-bit hash and the number of a text.

    Up to `MOST_PAIRS` pairs are in memory. The others are sorted chunk by chunk into a temporary
    file in the directory of `tempfile`, which the system removes with the process.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Hashes, Numbers]] = []
        self._count = 0
        self._chunks: list[_Chunk] = []
        self._file: Any = None
        self._end = 0

    def __len__(self) -> int:
        return self._count + sum(chunk.pairs for chunk in self._chunks)

    def add(self, runs: Hashes, numbers: Numbers | int) -> None:
        """Add pairs: hashes, and the number of the text of each, or of all."""
        if not len(runs):
            return
        if isinstance(numbers, int):
            numbers = np.full(len(runs), numbers, np.uint32)
        self._waiting.append((runs, numbers))
        self._count += len(runs)
        if self._count >= MOST_PAIRS:
            self._write(*self._sort_waiting())
            self._waiting, self._count = [], 0

    def between(self, first: int, after: int) -> tuple[Hashes, Numbers]:
        """The pairs of the ranges from `first` to before `after`, in the order of hash and adding.

        Args:
            first: a range, 0 to 1023.
            after: the range after the last one, 1 to 1024.
        """
        found = [self._read(chunk, first, after) for chunk in self._chunks]
        if self._waiting:
            runs, numbers = self._sort_waiting()
            self._waiting = [(runs, numbers)]
            start, end = _edges(runs)[[first, after]]
            found.append((runs[start:end], numbers[start:end]))
        runs = np.concatenate([np.empty(0, np.uint64), *(runs for runs, _ in found)])
        numbers = np.concatenate([np.empty(0, np.uint32), *(numbers for _, numbers in found)])
        if len(found) < 2:
            return runs, numbers
        order = np.argsort(runs, kind="stable")
        return runs[order], numbers[order]

    def _sort_waiting(self) -> tuple[Hashes, Numbers]:
        runs = np.concatenate([runs for runs, _ in self._waiting])
        numbers = np.concatenate([numbers for _, numbers in self._waiting])
        order = np.argsort(runs, kind="stable")
        return runs[order], numbers[order]

    def _write(self, runs: Hashes, numbers: Numbers) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the table
        self._chunks.append(_Chunk(self._end, _edges(runs)))
        for data in (runs.astype(_RUN).tobytes(), numbers.astype(_NUMBER).tobytes()):
            self._end += self._file.write(data)
        self._file.flush()

    def _read(self, chunk: _Chunk, first: int, after: int) -> tuple[Hashes, Numbers]:
        start, end = int(chunk.edges[first]), int(chunk.edges[after])
        numbers_at = chunk.start + chunk.pairs * _RUN.itemsize
        runs = self._array(chunk.start, start, end, _RUN).astype(np.uint64)
        return runs, self._array(numbers_at, start, end, _NUMBER).astype(np.uint32)

    def _array(self, place: int, start: int, end: int, kind: np.dtype[Any]) -> NDArray[Any]:
        size = (end - start) * kind.itemsize
        data = read_at(self._file, size, place + start * kind.itemsize)
        return np.frombuffer(data, kind)


def ranges_of(*tables: RunTable) -> Iterator[tuple[int, int]]:
    """Divide all ranges into steps, such that a step of these tables fits into memory."""
    steps = min(_RANGES, 1 + sum(map(len, tables)) // MOST_PAIRS)
    yield from pairwise(number * _RANGES // steps for number in range(steps + 1))


def _edges(runs: Hashes) -> NDArray[np.int64]:
    """Where each range begins in sorted hashes, and where the last one ends."""
    starts = np.arange(1, _RANGES, dtype=np.uint64) << _SHIFT
    inner = np.searchsorted(runs, starts)
    return np.concatenate([[0], inner, [len(runs)]]).astype(np.int64)
