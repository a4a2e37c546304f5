"""The count of the thing that a question asks for, among counts of other things (`strict`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from keju.metrics import english_number, parse_number
from keju.scoring.wordings import folded, wording

_NUMBER = (
    r"(?P<n>[0-9]{1,6}|[零〇一二三四五六七八九十百千两廿卅卌]{1,9}|(?:twenty|thirty|forty|fifty)(?:-[a-z]+)?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen)"
)
_GENERIC = "个|名|位|只|条|枚|处"
_OPEN = re.compile(
    r"(?:[0-9零一二三四五六七八九十百]\s?(?:到|至|-|–|—|~|或|to|or|、)\s?"
    r"|至少|最多|不少于|不到|超过|多于|at least |at most |more than |up to |less than |over )$"
)
_LEFT = 24
_DOZENS = {"half": "6", "two": "24", "one": "12", "han": "12"}


class Asked(NamedTuple):
    """What a question counts: an expression of its measure word and noun, and the noun."""

    unit: str
    noun: str


def asked_thing(question: str) -> Asked | None:
    """The thing that a question asks to count; None where it names none."""
    found = wording("counts", "asked").search(folded(question))
    if not found:
        return None
    word = found["english"] or found["english_of"]
    if word:
        stem = re.escape(word[:-1] if word.endswith("s") and len(word) > 3 else word)
        if word.endswith("ies"):
            stem = re.escape(word[:-3])
        irregular = {"people": "(?:people|persons?|figures?)", "geese": "(?:geese|goose)"}
        noun = irregular.get(word, stem + r"[a-z]{0,3}")
        return Asked(rf"\s(?:[a-z-]+\s){{0,3}}?{noun}\b", noun)
    measure, noun = found["measure"] or "", found["noun"] or ""
    noun = re.sub(r"^(?:个|种)", "", noun)[:2]
    if not measure and not noun:
        return None
    things = [f"{measure}" if measure else "", rf"(?:{_GENERIC})?的?{noun[:1]}" if noun else ""]
    return Asked(r"\s?(?:" + "|".join(each for each in things if each) + ")", noun[:1] or measure)


def dozens(flat: str) -> str:
    """A text with dozens in digits."""
    return wording("counts", "dozen").sub(lambda found: _DOZENS[str(found.lastgroup)], flat)


def count_of(flat: str, asked: Asked) -> float | None:
    """The one count of the asked thing: its total, else the only value; None where values differ.

    0 where the text says first that there is none.
    """
    totals: set[float] = set()
    others: set[float] = set()
    for found in re.finditer(rf"(?<![0-9a-z第.]){_NUMBER}{asked.unit}", flat):
        value = _value(found["n"])
        before = flat[max(0, found.start() - _LEFT) : found.start()]
        if value is None or _OPEN.search(before) or wording("counts", "part", "{}$").search(before):
            continue
        (totals if wording("counts", "total", "{}$").search(before) else others).add(value)
    for values in (totals, others):
        if values:
            return values.pop() if len(values) == 1 else None
    if re.match(rf"\W*{wording('counts', 'none').pattern}{asked.noun}", flat):
        return 0.0
    return None


def _value(text: str) -> float | None:
    if text.isascii() and text[0].isalpha():
        return english_number(text)
    return parse_number(text)
