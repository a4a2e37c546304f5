"""A count or a probability, as a response states it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from keju.metrics import parse_number
from keju.metrics.counts import Stated, stated_count, stated_probability
from keju.scoring.extraction import Extracted, body_of, unfenced
from keju.scoring.wordings import folded, wording

LONGEST = 50_000
"""Longer answers are not searched for a number: none is so long, and a million digits take long."""

_MOST_CORRECTIONS = 3
_TENTHS = re.compile(
    r"(?<![0-9零一二三四五六七八九十])([1-9一二三四五六七八九])成(?![功为立员语年])"
)
_CLAUSE = re.compile(r"[,，](?!\d)|[。;；!！?？\n]|\.(?=\s)|(?=\bbut\b)")


def extract_count(text: str) -> Extracted:
    """The whole number that a response states after its reasoning (`stated_count`)."""
    return _extracted(text, stated_count)


def extract_probability(text: str) -> Extracted:
    """The probability, 0 to 1, that a response states after its reasoning."""
    return _extracted(text, stated_probability)


def extract_final_probability(text: str) -> Extracted:
    """The probability that a response states last: the corrected one, else the only one.

    What follows a correction (修正为, "I revise it to") comes before what stands earlier, and what
    a clause reports of a first sight (起初, "at first") is passed over (`strict`).
    """
    body = _TENTHS.sub(lambda found: f"{parse_number(found[1]):.0f}0%", body_of(text)[-LONGEST:])
    flat = folded(body)
    back = list(wording("discourse", "correction").finditer(flat))
    back += wording("counts", "revised").finditer(flat)
    starts = sorted({each.end() for each in back if each.start() > 1})
    for start in reversed(starts[-_MOST_CORRECTIONS:]):
        found = extract_probability(body[start:])
        if found.answer is not None:
            return found
    return extract_probability(without_first_sight(body) if body.strip() else text)


def without_first_sight(text: str) -> str:
    """A text of the same length without the clauses that report a first guess."""
    flat = folded(text)
    kept = []
    for start, end in pairwise([0, *(each.end() for each in _CLAUSE.finditer(flat)), len(flat)]):
        first = wording("counts", "first_sight").search(flat[start:end])
        kept.append(" " * (end - start) if first else text[start:end])
    return "".join(kept)


def _extracted(text: str, stated: Callable[[str], Stated | None]) -> Extracted:
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    if len(body) > LONGEST:
        return Extracted(None, f"{len(body):,} characters, which is no number")
    inside = unfenced(body)
    found = stated(inside)
    if found is None:
        return Extracted(None, "no one number stated")
    around = inside[max(0, found.start - 20) : found.start + len(found.text) + 10]
    return Extracted(f"{found.value:.15g}", found.rule, around)
