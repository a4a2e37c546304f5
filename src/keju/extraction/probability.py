"""Probabilities from 0 to 1, also in percent or tenths (七成)."""

from __future__ import annotations

import re

from keju.extraction.answer import Answer, Reading, unclear
from keju.extraction.words import fold, has, pattern_of, refuses
from keju.text import parse_number

_CHANCE = re.compile(
    r"(?<![\d.])(?:(?P<percent>\d{1,3}(?:\.\d+)?)\s?\\?%|(?P<hundredths>\d{1,3})\s?/\s?100(?!\d)"
    r"|(?P<decimal>[01]?\.\d+|[01](?:\.0+)?(?=\s*(?:$|[。\n]|[.,;]\s)))(?![\d.]*[\d%]))"
    r"|百分之(?P<han>[零一二三四五六七八九十百\d.]+)|(?P<tenths>[一二三四五六七八九])成(?![立为])"
)
_BESIDE = re.compile(rf"{pattern_of('about')}|{pattern_of('chance')}", re.IGNORECASE)


def _probabilities(text: str) -> set[float | None]:
    """The probabilities that a folded text names; None for one that cannot be read."""
    values: set[float | None] = set()
    for match in _CHANCE.finditer(text):
        digits = match[match.lastgroup or 0]
        number = float(digits) if digits.startswith(".") else parse_number(digits)
        scale = {"decimal": 1, "tenths": 10}.get(match.lastgroup or "", 100)
        values.add(None if number is None else round(number / scale, 9))
    return values


def value(text: str, answer: Answer) -> str | None:  # noqa: ARG001  as all readers
    """The one probability of a text; ``several`` where it has a range or two of them."""
    folded = fold(text).replace("\\approx", "=")
    values = _probabilities(folded)
    if not values or len(re.findall(r"\w", _BESIDE.sub("", _CHANCE.sub("", folded)))) > 8:
        return None
    number = next(iter(values))
    if len(values) > 1 or has("chance_range", folded) or number is None or not 0 <= number <= 1:
        return "several"
    return f"{number:.9g}"


def alone(text: str, answer: Answer) -> str | None:
    """The probability of a text without any other words."""
    is_bare = not re.search(r"\w", _BESIDE.sub("", _CHANCE.sub("", fold(text))))
    return value(text, answer) if is_bare else None


def contradicts(number: str, quote: str, answer: Answer) -> bool:  # noqa: ARG001  as letters
    """Whether the last sentence says that it is another probability."""
    values = _probabilities(fold(answer.sentences[-1]))
    return any(value != float(number) for value in values)


def otherwise(answer: Answer) -> Reading:
    """The only probability of the response, or of a last sentence that speaks of it."""
    text, last = answer.folded, fold(answer.sentences[-1])
    if has("chance", last) and not has("chance_range condition", last) and not refuses(last):
        concluded = list(_probabilities(last))
        if len(concluded) == 1 and concluded[0] is not None and concluded[0] <= 1:
            return Reading("read", f"{concluded[0]:.9g}", "concluded", last)
    if refuses(last) or (has("draft", text) and not has("final", text)):
        return unclear("refusal")
    values = _probabilities(text)
    number = next(iter(values), None)
    if len(values) != 1 or number is None or number > 1 or has("chance_range condition", text):
        return unclear("several" if values else "silent")
    return Reading("read", f"{number:.9g}", "only probability", text[:60])
