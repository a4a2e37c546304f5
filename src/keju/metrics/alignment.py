"""`align`: the spans in which two texts agree and differ."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Kind = Literal["equal", "substitute", "delete", "insert"]

_CELLS = 4_000_000

_Row = npt.NDArray[np.int64]


class Span(NamedTuple):
    """A stretch of an alignment; `delete` has no hypothesis, `insert` no reference characters."""

    kind: Kind
    reference_start: int
    reference_end: int
    hypothesis_start: int
    hypothesis_end: int


def align(reference: str, hypothesis: str) -> list[Span]:
    """An alignment with the fewest edits and, of these, the most matches (as `best_edits`).

    Returns:
        Spans in order, each as long as can be, which cover both texts without a gap. In a
        ``substitute`` span both sides have one length.
    """
    start = _common_prefix(reference, hypothesis)
    end = _common_prefix(reference[start:][::-1], hypothesis[start:][::-1])
    left, right = reference[start : len(reference) - end], hypothesis[start : len(hypothesis) - end]
    unit = min(len(left), len(right)) + 2
    steps = "=" * start + _steps(left, right, unit) + "=" * end
    return _spans(steps)


def _common_prefix(a: str, b: str) -> int:
    for place, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return place
    return min(len(a), len(b))


def _steps(reference: str, hypothesis: str, unit: int) -> str:
    """One sign a step: ``=`` equal, ``~`` substitute, ``-`` delete, ``+`` insert."""
    if not reference or not hypothesis:
        return "-" * len(reference) + "+" * len(hypothesis)
    if len(reference) == 1 or len(reference) * len(hypothesis) <= _CELLS:
        return _walk(reference, hypothesis, unit)
    # Hirschberg 1975: part the reference in the middle and the hypothesis where the two halves
    # together cost least, so that no whole matrix is ever held.
    middle = len(reference) // 2
    before = _last_row(reference[:middle], hypothesis, unit)
    after = _last_row(reference[middle:][::-1], hypothesis[::-1], unit)[::-1]
    cut = int(np.argmin(before + after))
    return _steps(reference[:middle], hypothesis[:cut], unit) + _steps(
        reference[middle:], hypothesis[cut:], unit
    )


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _next_row(row: _Row, equal: npt.NDArray[np.bool_], unit: int, slope: _Row) -> _Row:
    """The costs after one more reference character, from the costs before it."""
    step = row + unit
    np.minimum(step[1:], row[:-1] + np.where(equal, 0, unit + 1), out=step[1:])
    step -= slope
    np.minimum.accumulate(step, out=step)
    step += slope
    return step


def _last_row(reference: str, hypothesis: str, unit: int) -> _Row:
    """Cost of aligning the whole reference with each beginning of the hypothesis."""
    codes = _codes(hypothesis)
    slope = np.arange(len(hypothesis) + 1, dtype=np.int64) * unit
    row = slope
    for code in _codes(reference):
        row = _next_row(row, codes == code, unit, slope)
    return row


def _walk(reference: str, hypothesis: str, unit: int) -> str:
    codes = _codes(hypothesis)
    slope = np.arange(len(hypothesis) + 1, dtype=np.int64) * unit
    costs = np.empty((len(reference) + 1, len(hypothesis) + 1), dtype=np.int64)
    costs[0] = slope
    for place, code in enumerate(_codes(reference)):
        costs[place + 1] = _next_row(costs[place], codes == code, unit, slope)
    steps: list[str] = []
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            steps.append("=")
        elif costs[i, j] == costs[i - 1, j - 1] + unit + 1:
            steps.append("~")
        elif costs[i, j] == costs[i - 1, j] + unit:
            steps.append("-")
        else:
            steps.append("+")
        i -= steps[-1] != "+"
        j -= steps[-1] != "-"
    return "-" * i + "+" * j + "".join(reversed(steps))


_KINDS: dict[str, Kind] = {"=": "equal", "~": "substitute", "-": "delete", "+": "insert"}


def _spans(steps: str) -> list[Span]:
    spans: list[Span] = []
    i = j = place = 0
    while place < len(steps):
        sign = steps[place]
        length = 1
        while place + length < len(steps) and steps[place + length] == sign:
            length += 1
        i_end = i + (length if sign != "+" else 0)
        j_end = j + (length if sign != "-" else 0)
        spans.append(Span(_KINDS[sign], i, i_end, j, j_end))
        i, j = i_end, j_end
        place += length
    return spans
