"""A count or a probability, as a response states it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from keju.scoring.extraction import Extracted, body_of, json_value, strict_body, without_fence
from keju.scoring.stated_numbers import StatedNumber, find_count, find_probability
from keju.scoring.wordings import fold, wording
from keju.text import parse_number

LONGEST = 50_000
"""Longer answers are not searched for a number: none is so long, and a million digits take long."""

_MOST_CORRECTIONS = 3
_TENTHS = re.compile(
    r"(?<![0-9零一二三四五六七八九十])([1-9一二三四五六七八九])成(?![功为立员语年])"
)
_OUT_OF_ONE = re.compile(r"(?<=\.[0-9]|[0-9][0-9])\s?(?:/|out of)\s?1(?:\.0)?(?![0-9]|\.[0-9])")
_PERCENT_OF = re.compile(r"百分之([0-9]{1,3}(?:\.[0-9]+)?)")
_SENTENCE = re.compile(r"[。!！?？;；\n]|\.(?=\s|$)")
_LABEL = re.compile(r"^[^:：0-9]{1,40}[:：]\s*(?=[*_`]*[0-9])")
_CONFIDENCE = re.compile(r"confiden|置信|把握", re.IGNORECASE)
_CHANCE_RANGE = re.compile(
    r"[0-9]%?\s?(?:[-–—~～至到]|to|or|或)\s?[0-9]|\bbetween\b|之间", re.IGNORECASE
)
_MOST_SENTENCES = 40
CONDITIONAL = re.compile(
    r"[（(][^（()）]{0,6}(?:如果|若|\bif\b|alternatively)[^（()）]{0,120}[）)]"
    r"|,? or [^,.;]{1,12} if [^.;\n]{1,80}"
    r"|(?:,? (?:as opposed to|rather than|instead of)\b|而不是|而非)[^,.;，。；\n]{1,60}",
    re.IGNORECASE | re.MULTILINE,
)
"""A part that a response adds for another case than the one it answers."""
SUPPOSED = re.compile(
    r"(?:(?<=[，。；,;])|^)(?:若|如果|倘若|假如|要是)[^。；;\n]{0,80}", re.MULTILINE
)
"""A sentence about another case, in Chinese."""
_PROBABILITY_KEY = re.compile(r"prob(?:ability)?|likelihood|answer|概率|可能性|答案", re.IGNORECASE)
_CLAUSE = re.compile(r"[,，](?!\d)|[。;；!！?？\n]|\.(?=\s)|(?=\bbut\b)")


def extract_count(text: str) -> Extracted:
    """The whole number that a response states after its reasoning (`find_count`)."""
    return _extracted(text, find_count)


def extract_probability(text: str) -> Extracted:
    """The probability, 0 to 1, that a response states after its reasoning."""
    return _extracted(text, find_probability)


def extract_final_probability(text: str) -> Extracted:
    """The probability that a response states last: the corrected one, else the only one.

    What follows a correction (修正为, "I revise it to") comes before earlier text, and a clause
    that reports a first sight (起初, "at first") is skipped (`strict`).
    """
    if (keyed := _probability_in_json(text)) is not None:
        return keyed
    text = SUPPOSED.sub("", CONDITIONAL.sub("", body_of(text)[-LONGEST:])) or text
    body = _TENTHS.sub(lambda found: f"{parse_number(found[1]):.0f}0%", body_of(text)[-LONGEST:])
    body = _OUT_OF_ONE.sub("", _PERCENT_OF.sub(r"\1%", body))
    flat = fold(body)
    back = list(wording("discourse", "correction").finditer(flat))
    back += wording("counts", "revised").finditer(flat)
    starts = sorted({each.end() for each in back if each.start() > 1})
    for start in reversed(starts[-_MOST_CORRECTIONS:]):
        found = extract_probability(body[start:])
        if found.answer is not None:
            return found
    body = without_first_sight(body) if body.strip() else text
    found = extract_probability(body)
    return found if found.answer is not None else _of_last_sentence(body) or found


def _of_last_sentence(body: str) -> Extracted | None:
    """The probability of the last sentence that has one, where others have other numbers."""
    for sentence in reversed(_SENTENCE.split(body)[-_MOST_SENTENCES:]):
        found = extract_probability(_LABEL.sub("", sentence))
        if found.answer is not None and found.rule in {"whole", "answer phrase", "statement"}:
            return None if _CONFIDENCE.search(sentence) else found
        if _CHANCE_RANGE.search(sentence):
            return None
    return None


def _probability_in_json(text: str) -> Extracted | None:
    """The probability under its own key of a JSON object, or None where it has no such key."""
    value = json_value(strict_body(text))
    if not isinstance(value, dict):
        return None
    named = [each for key, each in value.items() if _PROBABILITY_KEY.fullmatch(str(key))]
    if len(named) != 1:
        return None
    said = f"{named[0]}".strip()
    found = find_probability(said)
    return Extracted(f"{found.value:.15g}", "JSON key", said) if found else None


def without_first_sight(text: str) -> str:
    """A text of the same length without the clauses that report a first guess."""
    flat = fold(text)
    kept = []
    for start, end in pairwise([0, *(each.end() for each in _CLAUSE.finditer(flat)), len(flat)]):
        first = wording("counts", "first_sight").search(flat[start:end])
        kept.append(" " * (end - start) if first else text[start:end])
    return "".join(kept)


def _extracted(text: str, stated: Callable[[str], StatedNumber | None]) -> Extracted:
    body = body_of(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    if len(body) > LONGEST:
        return Extracted(None, f"{len(body):,} characters, not a number")
    inside = without_fence(body)
    found = stated(inside)
    if found is None:
        return Extracted(None, "no one number stated")
    around = inside[max(0, found.start - 20) : found.start + len(found.text) + 10]
    return Extracted(f"{found.value:.15g}", found.rule, around)
