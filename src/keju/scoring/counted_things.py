"""The count of the thing that a question asks for, among counts of other things (`strict`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.metrics import english_number, parse_number
from keju.scoring.wordings import folded, wording

_NUMBER = (
    r"(?P<n>[0-9]{1,6}|[零〇一二三四五六七八九十百千两廿卅卌]{1,9}|(?:twenty|thirty|forty|fifty)(?:-[a-z]+)?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen)"
)
_GENERIC = "个名位只条枚处"
_CONTAINERS = frozenset("行列章卷页块首篇层")
_RANGES = re.compile(
    rf"(?<![0-9a-z第.]){_NUMBER.replace('?P<n>', '')}\s?(?:[个名位只条枚处字匹人]|[a-z]+)?"
    r"\s?(?:到|至|-|–|—|~|或|和(?=[^,。]{1,6}之?间)|或者|\bto\b|\band\b|\bor\b)\s?"
    rf"(?<![a-z]){_NUMBER.replace('?P<n>', '')}(?=\s?[个名位只条枚处字匹人行列]|之间|\s[a-z]|\W|$)"
)
_AFTER_NOUN = (
    r"(?:实际上?|其实|一共|总共|共计|合计|共|只|仅|应该?|确实|的|总?数量?|人数|则|就|在图中|图中){0,4}"
    r"(?:为|有|是|:|应为|应是|剩)?(?:约|大约)?"
)
_SINGLE = re.compile(r"\b(?:only |just )?an? (?:single|lone|solitary|sole)\b")
_PAIR = re.compile(r"\ba pair of\b")
_OPEN = re.compile(
    r"(?:[0-9零一二三四五六七八九十百]\s?(?:到|至|-|–|—|~|或|to|or|、)\s?"
    r"|至少|最多|不少于|不到|超过|多于|at least |at most |more than |up to |less than |over )$"
)
_LEFT = 24
_BETWEEN = r"(?!(?:in|on|of|at|by|per|with|each|every|and|or|from|to|for|the|this|that|has|have)\s)"
_IRREGULAR = {
    "people": "(?:people|persons?|figures?|individuals?)",
    "persons": "(?:people|persons?|figures?|individuals?)",
    "figures": "(?:people|persons?|figures?|individuals?)",
    "women": "(?:women|woman|ladies|lady)",
    "men": "(?:men|man|males?)",
    "children": "(?:children|child|kids?|boys?)",
    "geese": "(?:geese|goose)",
    "oxen": "(?:oxen|ox)",
    "sheep": "sheep",
    "fish": "fish(?:es)?",
    "columns": "(?:columns?|vertical lines?)",
}
_DOZENS = {"half": "6", "two": "24", "one": "12", "han": "12"}


class Asked(NamedTuple):
    """What a question counts.

    Attributes:
        unit: an expression of its measure word and noun, as they follow a number.
        noun: an expression of the noun.
        each: what it is counted per (行 in 每行多少字), or an empty text.
        characters: whether it is characters of a text.
    """

    unit: str
    noun: str
    each: str = ""
    characters: bool = False


def asked_thing(question: str) -> Asked | None:
    """The thing that a question asks to count; None where it names none."""
    found = wording("counts", "asked").search(folded(question))
    if not found:
        return None
    each = wording("counts", "each").search(folded(question))
    per = next((group for group in each.groups() if group), "") if each else ""
    word = found["english"] or found["english_of"]
    return _english(word, per) if word else _chinese(found["measure"], found["noun"], per)


MEASURED = Asked(r"\s?[个名位只条枚匹头棵座朵艘张幅件把片株尾根间]", "")
"""Whatever stands after a measure word: for an answer in another language than the question."""


def _english(word: str, per: str) -> Asked:
    stem = re.escape(word[:-1] if word.endswith("s") and len(word) > 3 else word)
    if word.endswith("ies"):
        stem = re.escape(word[:-3])
    noun = _IRREGULAR.get(word, stem + r"[a-z]{0,3}")
    characters = bool(re.match(r"character|inscription|glyph|graph", word))
    return Asked(rf"\s(?:{_BETWEEN}[a-z'’-]+\s){{0,3}}?{noun}\b", noun, per, characters)


def _chinese(measure: str | None, noun: str | None, per: str) -> Asked | None:
    measure, noun = measure or "", re.sub(r"^(?:个|种)", "", noun or "")
    if not measure and not noun:
        return None
    characters = bool(re.search(r"字|甲骨文|刻辞", measure + noun)) and measure not in _CONTAINERS
    if measure in _CONTAINERS and (not noun or re.search(r"字|文|诗|书", noun)):
        return Asked(rf"\s?{measure}", measure, per)
    short = noun[:2]
    things = [
        measure,
        rf"[{_GENERIC}]?[^,。;0-9一二三四五六七八九十两]{{0,4}}?{short[:1]}" if noun else "",
    ]
    return Asked(
        r"\s?(?:" + "|".join(each for each in things if each) + ")",
        short or measure,
        per,
        characters,
    )


def dozens(flat: str) -> str:
    """A text with dozens in digits."""
    return wording("counts", "dozen").sub(lambda found: _DOZENS[str(found.lastgroup)], flat)


def without_ranges(flat: str) -> str:
    """A text with a mark in the place of each range (20 to 30, 十至十二), which counts nothing."""
    return _RANGES.sub("…", flat)


def count_of(flat: str, asked: Asked) -> float | None:
    """The one count of the asked thing: its total, else the only value; None where values differ.

    Of three values or more, the first is the total where the others add up to it (3条船：左边1条，
    中间2条). 0 where the text says that there is none.
    """
    flat = without_ranges(_PAIR.sub("two", _SINGLE.sub("one", flat)))
    totals: list[float] = []
    others: list[float] = []
    for place, value in _counts(flat, asked):
        before = flat[max(0, place - _LEFT) : place]
        if _OPEN.search(before) or _is_part(before, asked):
            continue
        (totals if wording("counts", "total", "{}$").search(before) else others).append(value)
    for values in (totals, others):
        if values:
            return values[0] if len(set(values)) == 1 else _sum_of_parts(values)
    if not asked.noun:
        return None
    none = rf"(?:^|[,。;:]|\.\s|\bbut )\W{{0,4}}(?:{wording('counts', 'none').pattern}){asked.noun}"
    return 0.0 if re.search(none, flat) else None


def _sum_of_parts(values: list[float]) -> float | None:
    first, *parts = values
    return first if len(parts) > 1 and sum(parts) == first else None


def _counts(flat: str, asked: Asked) -> Iterator[tuple[int, float]]:
    """The counts of a thing, with their places: before its name, or after it (马只有3匹)."""
    after = rf"(?<![0-9a-z第.]){_NUMBER}{asked.unit}"
    noun = re.escape(asked.noun) if not asked.noun.isascii() else asked.noun
    before = (
        rf"{noun}{_AFTER_NOUN}{_NUMBER}\s?[{_GENERIC}匹头棵座朵艘张幅件把片株尾根间人方行字]"
        if not asked.noun.isascii()
        else rf"\bnumber of (?:[a-z-]+ ){{0,3}}?{noun}\b[^.,;0-9]{{0,40}}?\b(?:is|are|was|=|:)\s"
        rf"(?:actually |therefore |thus |really |about |only )?{_NUMBER}\b"
    )
    for expression in (after,) if not asked.noun or asked.noun in _CONTAINERS else (after, before):
        for found in re.finditer(expression, flat):
            value = _value(found["n"])
            if value is not None:
                yield found.start(), value


def _is_part(before: str, asked: Asked) -> bool:
    """Whether a number counts a part, or per something else than the question asks for."""
    part = wording("counts", "part", "{}$").search(before)
    if part and asked.each and part[0].startswith(("每", "each", "per", "every")):
        return asked.each not in part[0]
    return bool(part)


def _value(text: str) -> float | None:
    if text.isascii() and text[0].isalpha():
        return english_number(text)
    return parse_number(text)
