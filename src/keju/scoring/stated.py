"""A count or a probability, as a response states it."""

from __future__ import annotations

from collections.abc import Callable

from keju.metrics.counts import Stated, stated_count, stated_probability
from keju.scoring.answers import Extracted, body_of, unfenced

LONGEST = 50_000
"""Longer answers are not searched for a number: none is so long, and a million digits take long."""


def extract_count(text: str) -> Extracted:
    """The whole number that a response states after its reasoning (`stated_count`)."""
    return _extracted(text, stated_count)


def extract_probability(text: str) -> Extracted:
    """The probability, 0 to 1, that a response states after its reasoning."""
    return _extracted(text, stated_probability)


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
