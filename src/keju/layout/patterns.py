"""Reading patterns: the systematic ways in which a page's columns are read out of order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

ReadingPattern = Literal[
    "rows across columns",
    "columns from left to right",
    "columns merged",
    "notes misplaced",
    "columns out of order",
    "no regular order",
]

_FEWEST = 12
"""The minimum number of anchors of a pattern."""

_MOVED = 0.05
"""Share of the anchors out of order from which a page is out of order."""

_NEAR = 6
"""Maximum distance in characters of the reference between two anchors that count as neighbours."""

_ROWS, _MERGED, _KEPT = 0.45, 0.15, 0.5
"""Minimum shares of neighbours that have the same distance, twice that distance, and remain
neighbours."""

_MIXED = 0.15
"""Minimum share of the anchors that merged columns put out of order; wrong characters put fewer."""

_LOCAL = 0.28
"""Share of pairs in the reverse order below which characters were mixed only within neighbouring
columns: rows across C columns reverse (1 - 1/C)/2 of the pairs, C/2 merged pairs 1/(2C)."""

_WIDE = 5
"""Minimum distance from which neighbours are not in merged columns, which contain at most two rows
of notes each; so rows are found even where the anchors are in a few columns only."""

_REVERSED_KEPT, _REVERSED = 0.3, 0.6
"""Minimum shares of neighbours that remain neighbours, and of pairs in the reverse order;
exchanging two blocks reverses half of the pairs at most."""

_NOTES = 0.7


def find_reading_pattern(
    reference: str, hypothesis: str, notes: Collection[int] = ()
) -> ReadingPattern | None:
    """The pattern in which a page was read; None where its characters are in order.

    The pattern is found from anchors: characters that occur once in both texts. It depends neither
    on line breaks nor on outlines (our reading). Neighbours in the reference are:

    * as many characters apart in the hypothesis as the page has columns: rows across columns;
    * further apart, but only within neighbouring columns: columns merged, the characters of two
      columns (or of their double-row notes) alternate;
    * still neighbours, in blocks most of which are in the reverse order: columns from left to
      right; otherwise columns out of order.

    Args:
        reference: the true text without line breaks, normalised for comparison.
        hypothesis: the text that was read, normalised in the same way.
        notes: positions in the reference of characters of notes, where they are known. The pattern
            is ``notes misplaced`` if most breaks of the order are at one.

    Returns:
        None also where fewer than twelve anchors are found, as on most pages of sutras and songs,
        whose characters are repeated.
    """
    by_truth = _out_of_order(reference, hypothesis)
    if not by_truth:
        return None
    by_reading = sorted(by_truth, key=lambda anchor: anchor.read)
    near = [(a, b) for a, b in pairwise(by_truth) if b.true - a.true <= _NEAR]
    kept = sum(_follows(a, b) for a, b in near)
    apart = [(b.read - a.read) / (b.true - a.true) for a, b in near if not _follows(a, b)]
    twice = sum(1.5 <= ratio <= 2.6 for ratio in apart)
    wide = [ratio for ratio in apart if ratio > 2.6]
    further = _alike(wide)
    turned = _reversed_pairs(by_reading)
    in_rows = further > twice and further >= _ROWS * len(near)
    if in_rows and (turned >= _LOCAL or median(wide) >= _WIDE):
        return "rows across columns"
    if kept >= _REVERSED_KEPT * len(near) and turned >= _REVERSED:
        return "columns from left to right"
    if notes and _breaks_at_notes(by_reading, frozenset(notes)):
        return "notes misplaced"
    merged = twice if turned >= _LOCAL else twice + further
    moved = len(by_truth) - _in_order(by_truth)
    if merged and merged >= _MERGED * len(near) and moved >= _MIXED * len(by_truth):
        return "columns merged"
    in_blocks = near and kept >= _KEPT * len(near)
    return _pattern_of_blocks(by_reading) if in_blocks else "no regular order"


class _Anchor(NamedTuple):
    """A character that occurs once in both texts: its positions."""

    true: int
    read: int


def _out_of_order(reference: str, hypothesis: str) -> list[_Anchor]:
    """The anchors in the order of the reference; none where too few are out of order."""
    in_reference, in_hypothesis = Counter(reference), Counter(hypothesis)
    anchors = [
        _Anchor(place, hypothesis.index(char))
        for place, char in enumerate(reference)
        if in_reference[char] == in_hypothesis[char] == 1
    ]
    moved = len(anchors) - _in_order(anchors)
    return anchors if len(anchors) >= _FEWEST and moved >= _MOVED * len(anchors) else []


def _follows(before: _Anchor, after: _Anchor) -> bool:
    """Whether two anchors have the same distance in both texts.

    One character more or less is tolerated.
    """
    true, read = after.true - before.true, after.read - before.read
    return read == true or (true > 1 and abs(read - true) <= 1)


def _alike(ratios: Sequence[float]) -> int:
    """How many of the ratios are close to the median."""
    middle = median(ratios) if ratios else 0.0
    return sum(0.6 * middle <= ratio <= 1.6 * middle for ratio in ratios)


def _in_order(anchors: Sequence[_Anchor]) -> int:
    """How many anchors are in order; all others would have to be moved."""
    return _longest_increasing([anchor.read for anchor in anchors])


def _longest_increasing(values: Sequence[int]) -> int:
    """Length of the longest increasing subsequence."""
    ends: list[int] = []
    for value in values:
        place = bisect_left(ends, value)
        ends[place : place + 1] = [value]
    return len(ends)


def _breaks_at_notes(by_reading: Sequence[_Anchor], notes: Collection[int]) -> bool:
    """Whether breaks of the order are at notes, much more often than by chance.

    A break is at a note if one end is in it, or if it was skipped.
    """
    breaks = [(a, b) for a, b in pairwise(by_reading) if not _goes_on(a, b)]
    share = sum(anchor.true in notes for anchor in by_reading) / len(by_reading)
    by_chance = 1 - (1 - share) ** 2
    at_notes = 0
    for before, after in breaks:
        passed = range(before.true + 1, after.true)
        is_skipped = 2 * sum(place in notes for place in passed) > len(passed)
        at_notes += before.true in notes or after.true in notes or is_skipped
    return at_notes >= max(_NOTES, (1 + by_chance) / 2) * len(breaks)


def _goes_on(before: _Anchor, after: _Anchor) -> bool:
    """Whether the reading continues in the reference, with a few wrong characters in between."""
    true, read = after.true - before.true, after.read - before.read
    return abs(true - read) <= 1 + read // 4


def _pattern_of_blocks(by_reading: Sequence[_Anchor]) -> ReadingPattern | None:
    """Whether columns are out of order when isolated anchors are ignored.

    A wrong character that happens to be one of the page's is isolated.
    """
    goes_on = [False, *(_goes_on(a, b) for a, b in pairwise(by_reading)), False]
    blocks = [anchor.true for at, anchor in enumerate(by_reading) if goes_on[at] or goes_on[at + 1]]
    in_order = _longest_increasing(blocks) > (1 - _MOVED) * len(blocks)
    return None if in_order else "columns out of order"


def _reversed_pairs(by_reading: Sequence[_Anchor]) -> float:
    """Share of all pairs of anchors that are in the reverse order."""
    seen: list[int] = []
    inversions = 0
    for anchor in by_reading:
        inversions += len(seen) - bisect_left(seen, anchor.true)
        insort(seen, anchor.true)
    return 2 * inversions / (len(seen) * (len(seen) - 1))
