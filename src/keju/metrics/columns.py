"""Order-free CER: how well the columns of a page were read, whatever order they came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from keju.metrics.assignment import assign
from keju.metrics.base import UndefinedMetricError
from keju.metrics.edit import distance

_CODE_OF_NOTHING = -1
_NOWHERE = -1
_SHORTEST_LINE = 5
_MOST_CELLS = 500_000_000
_MOST_STEPS = 50_000
_MOST_PAIRS = 4_000_000
_SHIFT = 1 << 24
_EDIT = 2 * _SHIFT

_Grid = npt.NDArray[np.int64]


class OrderFree(NamedTuple):
    """Edits once every column may stand anywhere, and the length they are measured against."""

    edits: int
    expected: int

    @property
    def rate(self) -> float:
        """The order-free CER."""
        return self.edits / self.expected


def order_free_cer(reference: Sequence[str], hypothesis: Sequence[str]) -> OrderFree:
    """The fewest edits when whole columns may stand anywhere (our reading).

    Each column is paired with at most one stretch of the hypothesis and each stretch with at most
    one column; a pair costs its edit distance, a column without a stretch its length, and a
    stretch without a column too. The pairing is the cheapest (Hungarian assignment). What columns
    and stretches are is tried in four ways, and the cheapest counts:

    * the lines of both sides;
    * the hypothesis cut to fit the columns of the reference, so that it may split columns or run
      them together; the cuts that fit best are found by a dynamic programme (one-pass, as in
      connected-word recognition);
    * the reference cut to fit the lines of the hypothesis, so that a reference without line breaks
      will do; lines must have five characters on average, since moving shorter ones about would
      forgive any order of characters;
    * nothing moved, so that it never exceeds the plain CER.

    Moving a whole line is the only thing that is free: characters within it keep their order, no
    stretch is used twice, and what fits nothing is counted in full. So it is never less than the
    distance of the two bags of characters. Texts too long for that (as a runaway answer of a
    million characters is) are compared with fewer ways of cutting, or as they stand.

    Args:
        reference: the true columns in reading order, or the whole text as one.
        hypothesis: the columns, or lines, or the one block of text that was read.

    Raises:
        UndefinedMetricError: the reference is empty.
    """
    columns = [column for column in reference if column]
    lines = [line for line in hypothesis if line]
    truth, read = "".join(columns), "".join(lines)
    if not truth:
        raise UndefinedMetricError("the reference is empty")
    edits = distance(truth, read)
    if edits and len(columns) > 1 and lines:
        edits = min(edits, _paired(columns, lines))
        if _affordable(columns, read):
            edits = min(edits, _paired(columns, _cut(columns, read)))
    long_lines = len(lines) > 1 and len(read) >= _SHORTEST_LINE * len(lines)
    if edits and long_lines and _affordable(lines, truth):
        edits = min(edits, _paired(_cut(lines, truth), lines))
    return OrderFree(edits, len(truth))


def _affordable(columns: Sequence[str], whole: str) -> bool:
    cells = len(columns) * max(map(len, columns)) * len(whole)
    return len(whole) <= _MOST_STEPS and cells <= _MOST_CELLS


def _paired(columns: Sequence[str], stretches: Sequence[str]) -> int:
    """Cost of the cheapest pairing of columns with stretches, the unpaired counted in full."""
    if len(columns) * len(stretches) > _MOST_PAIRS:
        return sum(map(len, columns)) + sum(map(len, stretches))
    alone = np.array([len(column) for column in columns], dtype=np.float64)
    junk = np.array([len(stretch) for stretch in stretches], dtype=np.float64)
    costs = cdist(columns, stretches, scorer=Levenshtein.distance, dtype=np.float64)
    # A pair never costs more than its two parts alone, so pairing as many as can be loses nothing.
    change = costs - alone[:, None] - junk
    total = alone.sum() + junk.sum() + sum(change[pair] for pair in assign(change))
    return round(float(total))


def _cut(columns: Sequence[str], whole: str) -> list[str]:
    """Cut a text where stretches fit columns best, if each column could be used again.

    `best[j]` is the least cost of the first j characters: an edit costs 2, a character in no
    stretch 2, and a stretch earns the length of its column, so that only a stretch with more
    matches than errors is worth cutting out. All columns advance together by one character a
    step; each cell holds cost and start of its stretch in one integer.
    """
    codes, ends = _grid(columns)
    rows = np.arange(len(columns))
    slope = np.arange(codes.shape[1] + 1, dtype=np.int64) * _EDIT
    cells: _Grid = np.broadcast_to(slope, (len(columns), len(slope))).copy()
    best = [0]
    cut_from = [0]
    for place, char in enumerate(whole, start=1):
        step = cells + _EDIT
        match = np.where(codes == ord(char), 0, _EDIT)
        np.minimum(step[:, 1:], cells[:, :-1] + match, out=step[:, 1:])
        step -= slope
        np.minimum.accumulate(step, axis=1, out=step)
        step += slope
        cost, start = divmod(int((step[rows, ends] - ends * _SHIFT).min()), _SHIFT)
        alone = best[-1] + _EDIT // _SHIFT
        best.append(min(cost, alone))
        cut_from.append(start if cost <= alone else _NOWHERE)
        # The next stretch begins here; it enters after stretches were closed, so none is empty.
        cells = np.minimum(step, best[-1] * _SHIFT + place + slope)
    return _stretches(whole, cut_from)


def _grid(columns: Sequence[str]) -> tuple[_Grid, npt.NDArray[np.int64]]:
    """The columns as code points, one a row, filled up with a code that nothing equals."""
    ends = np.array([len(column) for column in columns])
    codes = np.full((len(columns), int(ends.max())), _CODE_OF_NOTHING, dtype=np.int64)
    for row, column in enumerate(columns):
        codes[row, : len(column)] = [ord(char) for char in column]
    return codes, ends


def _stretches(whole: str, cut_from: Sequence[int]) -> list[str]:
    """The stretches, and between them the runs of characters that are in none."""
    found = []
    end = len(whole)
    while end:
        start = cut_from[end]
        if start == _NOWHERE:
            start = end - 1
            while start and cut_from[start] == _NOWHERE:
                start -= 1
        found.append(whole[start:end])
        end = start
    return found
