"""Values of a known form in a phrase: a year, a number, a dynasty, a proper name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.scoring.wordings import fold, wording
from keju.text import parse_number

_CAPITALISED = re.compile(
    r"(?<![A-Za-z])[A-Z][\w’'-]+(?: (?:(?:of|the|and|in|de) )*[A-Z][\w’'-]+)*"
)
_ERA_YEAR = re.compile(r"[\u4e00-\u9fff]{2}[元一二三四五六七八九十廿卅]{1,4}年")
_WESTERN_YEAR = re.compile(r"(?<![0-9])[0-9]{3,4}(?![0-9])")
_CENTURY = re.compile(r"[0-9]{1,2}(?:st|nd|rd|th)(?= century|-century)", re.IGNORECASE)


def years_of(trimmed: str, question: str) -> Iterator[str]:
    """The one year in a longer date, by its era or in digits, where a year is asked for."""
    if not wording("short", "asks_for_a_year").search(fold(question)):
        return
    for form in (_ERA_YEAR, _WESTERN_YEAR, _CENTURY):
        found = form.findall(trimmed)
        if len(found) == 1:
            yield found[0]


def number_of(trimmed: str, question: str) -> Iterator[str]:
    """The one number in digits of a phrase, where a number is asked for."""
    if wording("short", "asks_for_number").search(fold(question)):
        found = re.findall(r"(?<![0-9.])[0-9]{1,6}(?:\.[0-9]{1,3})?(?![0-9])", trimmed)
        if len(found) == 1:
            yield found[0]
        plain = re.sub(r"(?<=十)[有又](?=[一二三四五六七八九])", "", fold(trimmed))
        han = re.findall(r"[零〇一二三四五六七八九十百千万]+", plain)
        if len(han) == 1 and (value := parse_number(han[0])) is not None:
            yield f"{value:.0f}"


def proper_name(trimmed: str) -> Iterator[str]:
    """The one capitalised name in an English phrase (a scene from the Diamond Sutra)."""
    found = list(_CAPITALISED.finditer(trimmed))
    if len(found) == 1 and trimmed[:1].islower() and found[0].end() == len(trimmed):
        yield found[0][0]


def one_dynasty(trimmed: str, question: str) -> str:
    """The dynasty in a longer date (北宋徽宗大观年间), where one is asked for."""
    if not wording("categories", "dynasty").search(fold(question)):
        return ""
    found = {
        each[0]: each for each in wording("categories", "dynasty_values").finditer(fold(trimmed))
    }
    if len(found) != 1:
        return ""
    (only,) = found.values()
    return trimmed[only.start() : only.end()]
