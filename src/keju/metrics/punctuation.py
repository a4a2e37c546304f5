"""Punctuation: precision and recall of the marks that a model adds to a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from keju.metrics.alignment import align


class MarkCounts(NamedTuple):
    """Marks matched one to one, and how many there are on either side."""

    hits: int
    predicted: int
    expected: int


def punctuation_counts(
    reference: str, hypothesis: str, *, fold: Callable[[str], str] = str
) -> MarkCounts:
    """Marks matched one to one on aligned positions (our reading).

    The texts without their marks are aligned. A mark belongs to the gap between two characters;
    two marks match if they are alike (half or full width, any style of quotation mark), are in
    the same gap, and at least one of the two characters beside it is the same on both sides.

    Args:
        reference: the true text with its marks; its white space is ignored.
        hypothesis: the predicted text.
        fold: applied to each character that is not a mark, before the texts are aligned.
    """
    left, right = _Marked(reference, fold), _Marked(hypothesis, fold)
    gaps = _same_gaps(left.text, right.text)
    hits = 0
    for gap, marks in right.marks.items():
        unmatched = left.marks.get(gaps.get(gap, -1), Counter())
        same = marks & unmatched
        unmatched.subtract(same)
        hits += same.total()
    return MarkCounts(hits, right.total, left.total)


class _Marked:
    """A text parted into characters and, by the number of characters before them, marks."""

    def __init__(self, source: str, fold: Callable[[str], str]) -> None:
        chars: list[str] = []
        self.marks: dict[int, Counter[str]] = {}
        for char in source:
            mark = mark_class(char)
            if mark:
                self.marks.setdefault(len(chars), Counter())[mark] += 1
            elif not char.isspace():
                chars += fold(char)
        self.text = "".join(chars)
        self.total = sum(marks.total() for marks in self.marks.values())


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


_CLASSES = {
    **dict.fromkeys("，,", "，"),
    **dict.fromkeys("。．.｡", "。"),
    **dict.fromkeys("、､", "、"),
    **dict.fromkeys("；;", "；"),
    **dict.fromkeys("：:", "："),
    **dict.fromkeys("？?", "？"),
    **dict.fromkeys("！!", "！"),
    **dict.fromkeys('“”「」＂"〝〞〟', "“"),
    **dict.fromkeys("‘’『』＇'", "‘"),
    **dict.fromkeys("（(", "（"),
    **dict.fromkeys("）)", "）"),
    **dict.fromkeys("《〈", "《"),
    **dict.fromkeys("》〉", "》"),
    **dict.fromkeys("—―─…⋯", "—"),
    **dict.fromkeys("·‧・•", "·"),
}


def mark_class(char: str) -> str:
    """The class of a punctuation mark, the same for its widths and styles; empty for no mark."""
    return _CLASSES.get(char, "")
