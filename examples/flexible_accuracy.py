"""Metric ``FlexCharAcc``: character accuracy that hardly depends on the order of lines.

keju score RUN --plugin examples/flexible_accuracy.py
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

import keju

MOST_WORK = 100_000
"""Maximum work on one text, in units: 1 for each compared segment, `_STEP` for each match, and 1
for each `_PENALTIES` penalties. It takes about 0.2 s on one core."""

_STEP, _PENALTIES = 20, 200

_EDITS, _DIFFERENCES, _OFFSETS, _LENGTHS = range(15, 31, 5), range(0, 24, 3), range(4), range(6)
_FIRST = (25, 21, 1, 4)
"""The set of coefficients that is tried first. (25, 20, 1 and 4 is the former default of PRImA's
program.)"""

Numbers = NDArray[np.float64]


@keju.metric(
    name="FlexCharAcc",
    form="transcription",
    rule="flexible character accuracy: 1 - edits / true characters if lines, and parts of lines, "
    "may be in any order; it depends on the line breaks of both texts, and is neither recognition "
    "nor layout error",
    rule_zh="灵活字符准确率：行和行的片段可以按任何顺序排列时，1 减去编辑次数与参考字符数之比；"
    "与两边文本的换行有关，既不是识别错误率，也不是版面错误率",
    prepare="script",
    source="Clausner, Pletschacher and Antonacopoulos 2020",
)
def flexible_accuracy(reference: str, answer: str) -> float:
    """The accuracy of the lines of both texts, from 0 to 1, without white space and punctuation.

    Raises:
        ValueError: the reference has no character, so that the page has no value.
    """
    return flexible_edits(_counted_lines(reference), _counted_lines(answer)).accuracy


def _counted_lines(text: str) -> list[str]:
    """The lines of a text: letters, digits, combining marks and private-use characters."""
    return ["".join(char for char in line if _is_counted(char)) for line in text.split("\n")]


def _is_counted(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LNM" or category == "Co"


class FlexibleEdits(NamedTuple):
    """The smallest number of edits found, for a reference of `expected` characters.

    `complete` is false if not all coefficients were tried because that would exceed `MOST_WORK`.
    `edits` is then an upper bound. It is never more than the edit distance.
    """

    edits: int
    expected: int
    complete: bool

    @property
    def accuracy(self) -> float:
        """1 - edits / expected, at least 0."""
        return max(0.0, 1 - self.edits / self.expected)


def flexible_edits(reference: Sequence[str], hypothesis: Sequence[str]) -> FlexibleEdits:
    """Count the edits of flexible character accuracy as the authors' program does.

    Clausner, Pletschacher and Antonacopoulos 2020, "Flexible character accuracy measure for
    reading-order-independent evaluation", Pattern Recognition Letters 131; details that the paper
    leaves open are those of the class FlexCharacterAccuracy of PRImA's Text Evaluation:

    1. Of all pairs of a reference line (longest first) and a hypothesis line, the pair with the
       smallest penalty is matched. The shorter line is compared with the segments of the longer
       one. The penalty is a · edits + b · difference in length + c · offset - d · length of the
       shorter line; the offset is the distance of the segment from the nearer end of the longer
       line.
    2. The parts of the longer line before and after the segment become new lines.
    3. Steps 1 and 2 are repeated until one side has no line left. All characters of the remaining
       lines of the other side are edits.
    4. Steps 1 to 3 are done with 768 sets of coefficients (a 15 to 30, b 0 to 21, c 0 to 3, d 0 to
       5). The result is the smallest number of edits among them and the edit distance of the texts
       without line breaks.

    In the program a segment is one character shorter than the line that it is compared with. So a
    match within a longer line costs one edit, and the character before the segment is dropped.
    keju does both as well: with segments of the full length, single remaining characters match by
    chance, and the example in the paper's figure 3 has 9 edits instead of 15.

    Line breaks of both texts matter. The time grows with the cube of the number of lines, so long
    texts are not tried with all coefficients (`FlexibleEdits.complete`).

    Args:
        reference: the lines of the reference.
        hypothesis: the lines of the hypothesis.

    Raises:
        ValueError: the reference is empty.
    """
    lines = tuple(sorted(filter(None, reference), key=len, reverse=True))
    read = tuple(filter(None, hypothesis))
    expected = sum(map(len, lines))
    if not expected:
        raise ValueError("the reference has no characters")
    best = Levenshtein.distance("".join(reference), "".join(hypothesis))
    search = _Search()
    for edits in search.results(lines, read):
        best = min(best, edits)
        if not best:
            break
    return FlexibleEdits(best, expected, not best or search.left >= 0)


class _State(NamedTuple):
    """The remaining lines, the features of their pairs, the edits so far, and the coefficients.

    `pairs` has for each reference line and hypothesis line: edits, difference, offset, length of
    the shorter one (negative), and the place of the segment. Each column of `coefficients` is one
    set that led to this state.
    """

    reference: tuple[str, ...]
    hypothesis: tuple[str, ...]
    pairs: Numbers
    edits: int
    coefficients: Numbers


class _Search:
    """Matches lines with all sets of coefficients. Sets that choose the same pairs share a state.

    `left` is the remaining work (`MOST_WORK`); it is negative if the work was not enough.
    """

    def __init__(self) -> None:
        self.left = MOST_WORK
        self._known: dict[tuple[str, str], tuple[int, ...]] = {}

    def results(self, reference: tuple[str, ...], hypothesis: tuple[str, ...]) -> Iterator[int]:
        """Yield the edits with each group of coefficients, as long as work is left."""
        # Checked first: for a long text, comparing the pairs alone can exceed the limit.
        if len(reference) * len(hypothesis) > self.left:
            self.left = -1
            return
        pairs = self._pairs(reference, hypothesis)
        others, first = _coefficients()
        states = [_State(reference, hypothesis, pairs, 0, each) for each in (others, first)]
        while states and self.left >= 0:
            state = states.pop()
            if state.reference and state.hypothesis:
                states += self._next(state)
            else:
                yield state.edits + sum(map(len, state.reference + state.hypothesis))

    def _next(self, state: _State) -> Iterator[_State]:
        self.left -= _STEP + state.pairs[..., 0].size * state.coefficients.shape[1] // _PENALTIES
        features = state.pairs[..., :4].reshape(-1, 4)
        chosen = (features @ state.coefficients).argmin(axis=0)
        for at in dict.fromkeys(chosen.tolist()):
            one, other = divmod(at, len(state.hypothesis))
            yield self._after(state, one, other, chosen == at)

    def _after(self, state: _State, one: int, other: int, chose: NDArray[np.bool_]) -> _State:
        """The state after two lines are matched."""
        edits, difference, _, length, place = (int(value) for value in state.pairs[one, other])
        longer = len(state.reference[one]) > len(state.hypothesis[other])
        line = state.reference[one] if longer else state.hypothesis[other]
        rest = _rest(line, place, -length) if difference else ()
        more, also = (rest, ()) if longer else ((), rest)
        kept = _dropped(state.reference, one)
        others = _dropped(state.hypothesis, other)
        pairs = np.delete(np.delete(state.pairs, one, axis=0), other, axis=1)
        pairs = np.concatenate([pairs, self._pairs(more, others)], axis=0)
        kept += more
        pairs = np.concatenate([pairs, self._pairs(kept, also)], axis=1)
        order = sorted(range(len(kept)), key=lambda at: -len(kept[at]))
        return _State(
            tuple(kept[at] for at in order), others + also, pairs[order], state.edits + edits,
            state.coefficients[:, chose],
        )  # fmt: skip

    def _pairs(self, reference: Sequence[str], hypothesis: Sequence[str]) -> Numbers:
        found = [self._pair(one, other) for one in reference for other in hypothesis]
        return np.array(found, dtype=np.float64).reshape(len(reference), len(hypothesis), 5)

    def _pair(self, one: str, other: str) -> tuple[int, ...]:
        if (known := self._known.get((one, other))) is not None:
            return known
        short, long = (one, other) if len(one) < len(other) else (other, one)
        difference, place = len(long) - len(short), 0
        self.left -= difference + 1
        if self.left < 0:
            edits = len(long)  # Not used, because the search ends here.
        elif not difference:
            edits = Levenshtein.distance(short, long)
        else:
            size = len(short) - 1
            segments = [long[at : at + size] for at in range(difference + 1)]
            found = cdist([short], segments, scorer=Levenshtein.distance)[0]
            place = int(found.argmin())
            edits = int(found[place])
        offset = difference // 2 - abs(place - difference // 2) if difference > 1 else 0
        self._known[one, other] = match = (edits, difference, offset, -len(short), place)
        return match


def _rest(line: str, place: int, length: int) -> tuple[str, ...]:
    """The parts of a line before and after a segment, without white space at the ends."""
    parts = line[: max(place - 1, 0)], line[place + length :]
    return tuple(part for each in parts if (part := each.strip()))


def _dropped(lines: tuple[str, ...], at: int) -> tuple[str, ...]:
    return lines[:at] + lines[at + 1 :]


@cache
def _coefficients() -> tuple[Numbers, Numbers]:
    """The sets of coefficients, one per column: those that are tried later, and the first."""
    found = np.array([*product(_EDITS, _DIFFERENCES, _OFFSETS, _LENGTHS)], dtype=np.float64)
    first = (found == _FIRST).all(axis=1)
    return found[~first].T.copy(), found[first].T.copy()
