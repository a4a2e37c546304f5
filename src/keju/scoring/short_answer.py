"""Whether a short answer is the true one, and names as they are compared."""

from __future__ import annotations

import re

from keju.text import counted, has_han, parse_english_number, parse_number, to_half_width

_EDGE = " \t\r\n\u3000*_`#。.，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》"
_MEASURES = (
    "个個位人名只隻条條匹头頭棵朵座艘张張幅件把本枚片株尾对對双雙群处處层層行列字章枝根间間次种種"
)
_COUNTED = re.compile(
    rf"(?P<number>.+?)[{_MEASURES}](?P<things>(?:(?![不没沒非无無未错錯误誤])[\u4e00-\u9fff]){{0,3}})"
)
"""A number with what is counted, which nothing denies (not 三章不是, 3个错误)."""
_DYNASTIES = "夏商周秦汉漢晋晉隋唐宋元明清梁陈陳齐齊魏辽遼金"
_COLOURS = "红紅黄黃蓝藍绿綠白黑紫青灰褐金银銀橙粉棕赤朱"
_KIND = re.compile(
    rf"(?<=[{_DYNASTIES}])[代朝]$|(?<=^[^\W汉漢文])字$|(?<=[{_COLOURS}])色$|(?<=..)[省市县縣府]$"
    r"|(?<=\w)\s(?:dynasty|period|character|script|style|province|city)$",
    re.IGNORECASE,
)
"""The kind of thing that a name names, where the name alone says the same (明代, 羊字, 南昌市)."""
_KINDS = (
    "人名|人物|地名|地点|官职|官名|职官|书名|典籍|作品|朝代|时间|年号|国名|民族|组织|机构|器物|名物"
)
_NOTE = re.compile(rf"(?<=.)\s*(?:[(（][^()（）]*[)）]|[:：]\s*(?:{_KINDS}))\s*$")
_SEPARATORS = re.compile(r"[、，,;；\n\r\t|/]|\s{2,}")
_NUMBERING = re.compile(r"^\s*(?:[-*•·]\s*|[(（]?\d{1,3}[)）.．、]\s*|[①-⑳]\s*)")
_EDGE_OUTSIDE = " \t\r\n\u3000*_`#。.，,、:：;；!！'\"‘’“”"
_NOTED = re.compile(r"(?P<said>[^()（）]+?)\s*[(（](?P<note>[^()（）]{1,20})[)）]")
_ENGLISH_COUNTED = re.compile(
    r"(?P<number>[a-z]+(?:-[a-z]+)?|\d{1,6})\s(?P<things>[a-z]+)", re.IGNORECASE
)
_LABEL = re.compile(r"^[^：:]{1,6}[：:]\s*")


def same_short(truth: str, answer: str) -> bool:
    """Whether a short answer is the true one: equal after normalisation, or equal by value.

    White space, punctuation, case, width, variants and script make no difference, but marks between
    digits do (1.2 is not 12), nor does the kind of what is named (明, 明代; 红, 红色). A number
    equals itself in other digits, and with a measure word and what is counted after it (3, three,
    三, ３, 三匹, 三匹马).
    """
    number = _value(truth)
    said = None if number is None else _value(answer, things=True)
    if said is not None:
        return number == said
    if (noted := _NOTED.fullmatch(answer.strip(_EDGE_OUTSIDE))) and not _NOTED.search(truth):
        # 3（三）, 红色（red）: the note says the same thing again, or explains it.
        return same_short(truth, noted["said"])
    left, right = _name(truth), _name(answer)
    if left == right and _digits(truth) == _digits(answer):
        return bool(left) or truth.strip() == answer.strip()
    return False


def _name(text: str) -> str:
    """A text without white space, punctuation, case and the kind of what it names."""
    core = "".join(text.split()) if has_han(text) else text
    return counted(_KIND.sub("", core.strip(_EDGE))).casefold()


def _digits(text: str) -> list[str]:
    return re.findall(r"[0-9]+", to_half_width(text))


def entity_set(joined: str) -> frozenset[str]:
    """The set of names in a list, normalised to standard simplified characters."""
    names = (counted(name_in(part)) for part in _SEPARATORS.split(joined))
    return frozenset(name for name in names if name)


def name_in(part: str) -> str:
    """A name without its number, label and note."""
    return _LABEL.sub("", _NOTE.sub("", _NUMBERING.sub("", part))).strip(_EDGE)


def _value(text: str, *, things: bool = False) -> float | None:
    """A number, with a measure word after it, and where `things` is set with what is counted."""
    core = text.strip(_EDGE)
    number = parse_number(core)
    if number is None:
        number = parse_english_number(core)
    if number is None and (found := _COUNTED.fullmatch(core)) and (things or not found["things"]):
        return parse_number(found["number"])
    if number is None and things and (found := _ENGLISH_COUNTED.fullmatch(core)):
        said = found["number"]
        return parse_english_number(said) if said[0].isalpha() else parse_number(said)
    return number
