"""Alignment of two texts: their spans, their punctuation, and a pattern within a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Postfix, Prefix

from keju.metrics.base import HitCounts

Kind = Literal["equal", "substitute", "delete", "insert"]

_CELLS = 4_000_000

_Row = npt.NDArray[np.signedinteger]


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
    start = Prefix.similarity(reference, hypothesis)
    end = Postfix.similarity(reference[start:], hypothesis[start:])
    left, right = reference[start : len(reference) - end], hypothesis[start : len(hypothesis) - end]
    unit = min(len(left), len(right)) + 2
    steps = "=" * start + _steps(left, right, unit) + "=" * end
    return _spans(steps)


def partial_distance(pattern: str, text: str) -> int:
    """The fewest edits between a pattern and any substring of a text (Sellers 1980).

    Returns:
        0 if the text contains the pattern; at most the pattern's length.
    """
    if pattern in text:
        return 0
    # As in `best_edits`, so many substitutions cost less than one more edit.
    unit = len(pattern) + 2
    return int(_last_row(pattern, text, unit, anywhere=True).min()) // unit


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


def _fill_next(row: _Row, gains: _Row, step: _Row) -> None:
    """Write the costs after one more reference character, from the costs before it.

    Costs are given without the `unit` that each character on either side would cost if nothing were
    paired, so that deletions and insertions add nothing. `gains` is what pairing the reference
    character with each one of the hypothesis adds (`_gains`), and is overwritten. The first cost of
    `row` and `step` is equal.
    """
    gains += row[:-1]
    np.minimum(row[1:], gains, out=step[1:])
    np.minimum.accumulate(step, out=step)


def _gains(equal: npt.NDArray[np.bool_], unit: int) -> _Row:
    """The costs that pairing two characters adds; below 0, since it saves two edits or one."""
    # Of `_CELLS` cells no cost is above 2**31.
    return np.where(equal, np.int32(-2 * unit), np.int32(1 - unit))


def _last_row(reference: str, hypothesis: str, unit: int, *, anywhere: bool = False) -> _Row:
    """Cost of aligning the whole reference with each beginning of the hypothesis.

    With `anywhere`, characters of the hypothesis before the alignment cost nothing.
    """
    codes = _codes(hypothesis)
    slope = np.arange(len(hypothesis) + 1, dtype=np.int64) * unit
    row = -slope if anywhere else np.zeros_like(slope)
    step = row.copy()
    for code in _codes(reference):
        _fill_next(row, _gains(codes == code, unit).astype(np.int64), step)
        row, step = step, row
    return row + slope + len(reference) * unit


def _walk(reference: str, hypothesis: str, unit: int) -> str:
    gains = _gains(_codes(reference)[:, np.newaxis] == _codes(hypothesis), unit)
    costs = np.zeros((len(reference) + 1, len(hypothesis) + 1), dtype=np.int32)
    for row, of_row, step in zip(costs, gains, costs[1:], strict=False):
        _fill_next(row, of_row, step)
    cost = costs.data  # its single numbers are read in half the time
    steps: list[str] = []
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            steps.append("=")
        elif cost[i, j] == cost[i - 1, j - 1] + 1 - unit:
            steps.append("~")
        elif cost[i, j] == cost[i - 1, j]:
            steps.append("-")
        else:
            steps.append("+")
        i -= steps[-1] != "+"
        j -= steps[-1] != "-"
    return "-" * i + "+" * j + "".join(reversed(steps))


_KINDS: dict[str, Kind] = {"=": "equal", "~": "substitute", "-": "delete", "+": "insert"}


def _spans(steps: str) -> list[Span]:
    spans: list[Span] = []
    i = j = 0
    for sign, run in groupby(steps):
        length = len(list(run))
        i_end = i + (length if sign != "+" else 0)
        j_end = j + (length if sign != "-" else 0)
        spans.append(Span(_KINDS[sign], i, i_end, j, j_end))
        i, j = i_end, j_end
    return spans


def punctuation_counts(
    reference: str, hypothesis: str, *, fold: Callable[[str], str] = str
) -> HitCounts:
    """Marks matched one to one on aligned positions (our reading).

    The texts without their marks are aligned. A mark belongs to the gap between two characters;
    two marks match if they are alike (half or full width, any style of quotation mark), are in
    the same gap, and at least one of the two characters beside it is the same on both sides.
    White space is ignored. `fold` is applied to each character that is not a mark, before the texts
    are aligned.
    """
    true_text, true_marks = _without_marks(reference, fold)
    text, marks_by_gap = _without_marks(hypothesis, fold)
    gaps = _same_gaps(true_text, text)
    predicted, expected = (
        sum(marks.total() for marks in by_gap.values()) for by_gap in (marks_by_gap, true_marks)
    )
    hits = 0
    for gap, marks in marks_by_gap.items():
        unmatched = true_marks.get(gaps.get(gap, -1), Counter())
        same = marks & unmatched
        unmatched.subtract(same)
        hits += same.total()
    return HitCounts(hits, predicted, expected)


def _without_marks(text: str, fold: Callable[[str], str]) -> tuple[str, dict[int, Counter[str]]]:
    """The characters of a text, and its marks by the number of characters before them."""
    chars: list[str] = []
    marks: dict[int, Counter[str]] = {}
    for char in text:
        if mark := _CLASSES.get(char):
            marks.setdefault(len(chars), Counter())[mark] += 1
        elif not char.isspace():
            chars += fold(char)
    return "".join(chars), marks


def _same_gaps(reference: str, hypothesis: str) -> dict[int, int]:
    """Gap in the hypothesis → gap in the reference, where an equal character is beside it."""
    gaps: dict[int, int] = {}
    for span in align(reference, hypothesis):
        if span.kind == "equal":
            shift = span.reference_start - span.hypothesis_start
            # An earlier span's last gap is kept: it follows the character that it belongs to.
            for gap in range(span.hypothesis_start, span.hypothesis_end + 1):
                if gap > span.hypothesis_start or gap not in gaps:
                    gaps[gap] = gap + shift
    return gaps


_ALIKE = (
    "，,", "。．.｡", "、､", "；;", "：:", "？?", "！!", '“”「」＂"〝〞〟', "‘’『』＇'",
    "（(", "）)", "《〈", "》〉", "—―─…⋯", "·‧・•",
)  # fmt: skip
"""Punctuation marks that differ in width or style only."""
_CLASSES = {mark: marks[0] for marks in _ALIKE for mark in marks}
