"""Alterations of a page's text: replace, swap or remove characters at some places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np

from keju.text import all_han, is_han, normalise

Alteration = Literal["look-alike", "other", "swapped", "blanked"]
"""A character that differs by a stroke; one as frequent in the collection; two neighbours swapped;
a blank."""

BLANK = "\u3000"

_EDGE = 2
"""Characters at the ends of a line that are not altered: a place is located by its context."""
_APART = 8
"""The minimum distance between two altered places of a line."""
_NEAR = 25
"""The largest difference of frequency ranks at which two characters count as equally frequent."""


class Alphabet:
    """The characters of a collection in the order of their frequency."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = Counter(sign for text in texts for sign in text if is_han(sign))
        self._order = sorted(counts, key=lambda sign: (-counts[sign], sign))
        self._rank = {sign: place for place, sign in enumerate(self._order)}

    def find_as_frequent(self, sign: str, rng: np.random.Generator) -> str:
        """Find another character of similar frequency, not a variant or look-alike.

        Empty if there is none.
        """
        at = self._rank.get(sign)
        if at is None:
            return ""
        near = self._order[max(0, at - _NEAR) : at + _NEAR + 1]
        avoid = {normalise(each) for each in (sign, *load_look_alikes().get(sign, ""))}
        fit = [each for each in near if normalise(each) not in avoid]
        return fit[int(rng.integers(len(fit)))] if fit else ""


@cache
def load_look_alikes() -> dict[str, str]:
    """Load the look-alikes of each character: those that differ by a stroke or a component."""
    text = files("keju.building.perturbing").joinpath("look_alikes.txt").read_text("utf-8")
    found: dict[str, str] = {}
    for group in (line for line in text.splitlines() if not line.startswith("#")):
        for sign in group:
            others = (each for each in group if each != sign and each not in found.get(sign, ""))
            found[sign] = found.get(sign, "") + "".join(others)
    return found


class _Replacement(NamedTuple):
    """A place in the lines, and its new text."""

    line: int
    start: int
    end: int
    text: str


def alter_lines(
    lines: Sequence[str],
    kind: Alteration,
    rng: np.random.Generator,
    *,
    share: float,
    alphabet: Alphabet,
) -> tuple[list[str], int]:
    """Alter some characters of lines.

    `share` is the share of characters to alter; at least one is altered if any can be.

    Returns:
        The lines, and the number of altered places; 0 where none could be altered.
    """
    spots = [
        spot
        for at in range(len(lines))
        for spot in _find_places(lines[at], at, kind, rng, alphabet)
    ]
    wanted = max(1, round(share * sum(map(len, lines))))
    chosen = _choose(spots, wanted, rng)
    new = list(lines)
    for spot in sorted(chosen, reverse=True):
        text = new[spot.line]
        new[spot.line] = text[: spot.start] + spot.text + text[spot.end :]
    return new, len(chosen)


def _find_places(
    line: str, at: int, kind: Alteration, rng: np.random.Generator, alphabet: Alphabet
) -> Iterable[_Replacement]:
    wide = 2 if kind == "swapped" else 1
    for start in range(_EDGE, len(line) - _EDGE - wide + 1):
        old = line[start : start + wide]
        around = line[start - _EDGE : start + wide + _EDGE]
        if not all_han(around):
            continue
        if kind == "swapped":
            new = old[::-1] if normalise(old[0]) != normalise(old[1]) else ""
        elif kind == "blanked":
            new = BLANK
        elif kind == "look-alike":
            choices = load_look_alikes().get(old, "")
            new = choices[int(rng.integers(len(choices)))] if choices else ""
        else:
            new = alphabet.find_as_frequent(old, rng)
        if new:
            yield _Replacement(at, start, start + wide, new)


def _choose(
    spots: Sequence[_Replacement], wanted: int, rng: np.random.Generator
) -> list[_Replacement]:
    """Choose some of the places at random, none too close to another of its line."""
    chosen: list[_Replacement] = []
    for place in rng.permutation(len(spots)):
        spot = spots[int(place)]
        if all(spot.line != other.line or abs(spot.start - other.start) >= _APART
               for other in chosen):  # fmt: skip
            chosen.append(spot)
        if len(chosen) == wanted:
            break
    return chosen
