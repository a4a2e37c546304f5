"""`find_count` and `find_probability`: the number that a text states as its answer.

Nothing is guessed. A number is taken because the text is that number, because a phrase says that
it is the answer, or because the text states no other value; and what is taken says by which rule.
Bounds (at least 30, 三十多), ranges and lists of different numbers state no value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from keju.text import to_half_width
from keju.text.numerals import (
    ENGLISH_NUMBER,
    parse_english_number,
    parse_number,
)

_PREFIX = 120
_EDGE = " \t\r\n*_`$\"'“”「」#.。!！,，"
_LONE = frozenset({"one", "一"})

_HAN = "零〇○一二三四五六七八九十百千万萬亿億两兩廿卄卅卌壹贰貳叁參叄肆伍陆陸柒捌玖拾佰仟"
_MEASURES = "个個箇字枚种種块塊片件处處条條只隻颗顆"

_NUMERAL = re.compile(
    rf"""
    (?P<ordinal>第\s?[{_HAN}0-9]+ | \b[0-9]+(?:st|nd|rd|th)\b
        | (?:\b(?:figure|fig\.?|image|page|no\.)|[图圖表页頁])\s?[0-9]+\b(?!\s?[{_MEASURES}]))
    | (?P<arabic>(?<![A-Za-z0-9_])(?:(?<![0-9A-Za-z)\]\s])-|(?<=\s)-(?=[0-9])|(?<!.)-)?
        (?>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])|[0-9]{{1,15}})(?>\.[0-9]{{1,15}})?
        (?![A-Za-z0-9_])(?P<great>\s?[百千万萬亿億](?![{_HAN}]))?)
    | (?P<vague>[{_HAN}几幾数數]{{0,20}}[几幾数數][{_HAN}几幾数數]{{0,20}}(?=[{_MEASURES}]))
    | (?P<han>[{_HAN}]+)
    | (?P<english>\b{ENGLISH_NUMBER})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_A_COUNT = re.compile(
    r"\s?(?:%|年|世[纪紀]|[号號]|percent\b|centur|(?:b\.?c\.?(?:e\.?)?|c\.?e\.?|a\.?d\.?)(?![a-z]))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[。：:;；!！?？\n]|\.(?=\s|$)")
_RANGE = re.compile(rf"\s?[{_MEASURES}字]?\s?(?:or|to|and|[-–—~～/至到或])\s?", re.IGNORECASE)
_BOUND_AFTER = re.compile(
    r"\s?(?:[多余餘几幾]|来[个個字]|來[個字]|\+|以上|以下|or (?:more|fewer|less))"
)
_BOUND_BEFORE = re.compile(
    r"(?:at (?:least|most)|(?:more|less|fewer|greater) than|over|under|above|below|up to|nearly"
    r"|超[过過]|(?:至少|至多|最多|不少于|不多于)[有为為是]?|多[于於]|少[于於]|不到|不足|[<>≥≤])\s?$",
    re.IGNORECASE,
)
_HEDGE = (
    r"(?:\s|[*_`$\"'“「:：]|about|around|approximately|roughly|exactly|[约約]|大[约約]|[有为為是])*"
)
_COUNT_PHRASES = {
    "answer phrase": re.compile(
        rf"(?:\\boxed\{{|\banswer\s?(?:is|:|=)|\banswer\*\*:|答案|^\s*答\s?[：:]){_HEDGE}$",
        re.IGNORECASE | re.MULTILINE,
    ),
    "total": re.compile(
        rf"(?:\btotal(?:\s(?:number|count))?(?:\sof)?(?:\s[a-z]+){{0,5}}?(?:\s(?:is|are))?"
        rf"|\b(?:number|count)(?:\sof)?(?:\s[a-z]+){{0,9}}?\s?(?:is|are|:|=)"
        rf"|共|总共|總共|合[计計]|总[计計]|總計|共[计計]|总数|總數|数量|數量){_HEDGE}$",
        re.IGNORECASE,
    ),
    "statement": re.compile(
        rf"(?:\bthere\s(?:is|are|appears?\sto\sbe|seems?\sto\sbe)|\b(?:contains?|shows?|depicts?)"
        rf"|\bi\s(?:can\s)?(?:see|count)|[有含]){_HEDGE}$",
        re.IGNORECASE,
    ),
}
_TOTAL_AFTER = re.compile(
    r"[^.。,，;；\n]{0,60}?(?:in total\b|altogether\b|in all\b)", re.IGNORECASE
)
_CLOSED = re.compile(rf"\s?(?:[{_MEASURES}]|[*_`$}}.。,，;；!！)）]|$)")

_DECIMAL = r"(?:[0-9]{1,15}(?:\.[0-9]{1,15})?|\.[0-9]{1,15})"
_HAN_DECIMAL = rf"[{_HAN}]+(?:[点點][{_HAN}]+)?"
_CHANCE = re.compile(
    rf"""
    百分之(?P<han_percent>{_HAN_DECIMAL})
    | (?<![{_HAN}])(?P<han_whole>[{_HAN}]{{1,8}})分之(?P<han_part>[{_HAN}]{{1,8}})
    | (?<![A-Za-z0-9_./])(?P<part>[0-9]{{1,6}})\s?(?:/|out\sof)\s?(?P<whole>[0-9]{{1,6}})
        (?![0-9/]|\.[0-9])
    | (?P<han>[零〇][点點][{_HAN}]+)
    | (?<![A-Za-z0-9_.])(?P<arabic>-?{_DECIMAL})(?![A-Za-z0-9_]|\.[0-9])
        (?P<percent>\s?(?:%|percent\b|per\scent\b))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHANCE_WORD = r"(?:probability|likelihood|chance|confidence|score|概率|可能性|几率|機率|机率)"
_CHANCE_PHRASES = {
    "answer phrase": _COUNT_PHRASES["answer phrase"],
    "statement": re.compile(
        rf"{_CHANCE_WORD}(?:[^.。;；\n0-9]{{0,80}}?(?:\bis|\bof|\bas|\bat|\bbe|[:：=为為是]))?{_HEDGE}$",
        re.IGNORECASE,
    ),
}
_CHANCE_AFTER = re.compile(rf"\s?(?:的)?{_CHANCE_WORD}", re.IGNORECASE)


class StatedNumber(NamedTuple):
    """A number that a text states.

    Attributes:
        value: the number; a probability is 0 to 1.
        text: the characters that were read as it.
        start: where they begin in the text.
        rule: why it was taken: ``whole``, ``answer phrase``, ``total``, ``statement``, ``only``.
    """

    value: float
    text: str
    start: int
    rule: str


class _Numeral(NamedTuple):
    value: float | None
    text: str
    start: int
    end: int
    plain: bool


def find_count(text: str) -> StatedNumber | None:
    r"""The whole number, 0 or more, that a text states, or None where that would be a guess.

    Read are Arabic, full-width and Chinese numerals and English words below a thousand. Ordinals
    (第三, 3rd), numbers of figures, years and percentages are not counts. In running text a
    Chinese numeral needs a measure word (三个) or a phrase before it, since 一般 and 十分 are not
    numbers; and a lone 一 or "one" counts only as the whole text or after a phrase.

    Of several numbers, those that an answer phrase introduces decide (``answer is``, ``答案``,
    ``\boxed``); else those said to be a total (``in total``, ``共``); else those of a statement
    (``there are``, ``有``) that has no other number in its sentence. If the ones that decide
    differ in value, the text states none.
    """
    flat = to_half_width(text)
    found = _alternatives_voided(flat, list(_counts_in(flat)))
    for each in found[:1]:
        rest = flat[each.end :].strip(_EDGE)
        if not flat[: each.start].strip(_EDGE) and (not rest or rest in _MEASURES):
            return _quoted(text, _agreed([each], "whole"))
    by_rule = {
        rule: [each for each in found if _introduced(flat, each, phrase)]
        for rule, phrase in _COUNT_PHRASES.items()
    }
    by_rule["total"] += [each for each in found if _TOTAL_AFTER.match(flat, each.end)]
    return _quoted(text, _decided(flat, found, by_rule))


def find_probability(text: str) -> StatedNumber | None:
    """The probability, 0 to 1, that a text states, or None where that would be a guess.

    Read are decimals (0.8, .8), percentages (80%, 80 percent, 百分之八十), 零点八 and shares (8/10,
    8 out of 10, 十分之八). A whole
    number without a percent sign is one only as the whole text, or after a phrase, and only if it
    is 0 or 1: 80 is not taken for 80%. Of several numbers one is chosen as in `find_count`.
    """
    flat = to_half_width(text)
    found = _alternatives_voided(flat, list(_chances_in(flat)))
    for each in found[:1]:
        if not flat[: each.start].strip(_EDGE) and not flat[each.end :].strip(_EDGE):
            return _quoted(text, _agreed([each], "whole"))
    by_rule = {
        rule: [each for each in found if phrase.search(_before(flat, each.start))]
        for rule, phrase in _CHANCE_PHRASES.items()
    }
    by_rule["statement"] += [
        each for each in found if each.plain and _CHANCE_AFTER.match(flat, each.end)
    ]
    return _quoted(text, _decided(flat, found, by_rule))


def _counts_in(flat: str) -> Iterable[_Numeral]:
    for match in _NUMERAL.finditer(flat):
        kind = match.lastgroup if match.lastgroup != "great" else "arabic"
        if kind == "ordinal" or _NOT_A_COUNT.match(flat, match.end()):
            continue
        if kind == "english" and flat.startswith(" of", match.end()):
            continue
        value = None if kind == "vague" or _is_bound(flat, match) else _value(match)
        if value is not None and (value < 0 or value != int(value)):
            value = None
        plain = match[0].lower() not in _LONE
        if kind == "han":
            plain = plain and flat[match.end() : match.end() + 1] in set(_MEASURES)
        yield _Numeral(value, match[0], match.start(), match.end(), plain)


def _value(match: re.Match[str]) -> float | None:
    if match["english"]:
        return parse_english_number(match["english"])
    if match["great"]:
        number = parse_number(match["arabic"].removesuffix(match["great"]))
        worth = parse_number("一" + match["great"].strip())
        return None if number is None or worth is None else number * worth
    return parse_number(match[0])


def _is_bound(flat: str, match: re.Match[str]) -> bool:
    before = _before(flat, match.start())
    return bool(_BOUND_AFTER.match(flat, match.end()) or _BOUND_BEFORE.search(before))


def _introduced(flat: str, numeral: _Numeral, phrase: re.Pattern[str]) -> bool:
    closed = numeral.plain or numeral.text.isascii() or _CLOSED.match(flat, numeral.end)
    return bool(closed and phrase.search(_before(flat, numeral.start)))


def _before(flat: str, start: int) -> str:
    return flat[max(0, start - _PREFIX) : start]


def _chances_in(flat: str) -> Iterable[_Numeral]:
    for match in _CHANCE.finditer(flat):
        value = None if _is_bound(flat, match) else _chance(match)
        if value is not None and not 0 <= value <= 1:
            value = None
        plain = not match["arabic"] or bool(match["percent"]) or "." in match["arabic"]
        yield _Numeral(value, match[0], match.start(), match.end(), plain)


def _chance(match: re.Match[str]) -> float | None:
    if match["arabic"]:
        number = float(match["arabic"])
        return number / 100 if match["percent"] else number
    if match["part"]:
        return _share(float(match["part"]), float(match["whole"]))
    if match["han_part"]:
        return _share(parse_number(match["han_part"]), parse_number(match["han_whole"]))
    number_or_none = _han_decimal(match["han_percent"] or match["han"])
    if number_or_none is None or match["han"]:
        return number_or_none
    return number_or_none / 100


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _han_decimal(text: str) -> float | None:
    whole, _, rest = text.replace("點", "点").partition("点")
    digits = [parse_number(char) for char in rest]
    units = parse_number(whole)
    if units is None or any(digit is None or digit > 9 for digit in digits):
        return None
    return float(f"{units:.0f}.{''.join(f'{digit:.0f}' for digit in digits)}")


def _alternatives_voided(flat: str, numerals: list[_Numeral]) -> list[_Numeral]:
    """Take the value from the numbers of a range or a choice (10-15, 12 or 13), unless equal."""
    voided = list(numerals)
    for place, (left, right) in enumerate(pairwise(numerals)):
        if left.value != right.value and _RANGE.fullmatch(flat, left.end, right.start):
            voided[place] = left._replace(value=None)
            voided[place + 1] = right._replace(value=None)
    return voided


def _decided(
    flat: str, found: Sequence[_Numeral], by_rule: Mapping[str, Sequence[_Numeral]]
) -> StatedNumber | None:
    for rule, said in by_rule.items():
        if said and (rule != "statement" or _alone(flat, said, found)):
            return _agreed(said, rule)
    said = by_rule["statement"]
    return _agreed([each for each in found if each.plain or each in said], "only")


def _alone(flat: str, said: Sequence[_Numeral], found: Sequence[_Numeral]) -> bool:
    """Whether the sentences of some numbers hold no other value."""
    ends = [end.start() for end in _SENTENCE_END.finditer(flat)]
    values = {bisect_left(ends, each.start): each.value for each in said}
    return all(
        values.get(bisect_left(ends, each.start), each.value) == each.value
        for each in found
        if each.plain
    )


def _agreed(numerals: Sequence[_Numeral], rule: str) -> StatedNumber | None:
    """The first of some numerals if all have the same value."""
    values = {each.value for each in numerals}
    if len(values) != 1:
        return None
    first = numerals[0]
    return None if first.value is None else StatedNumber(first.value, first.text, first.start, rule)


def _quoted(text: str, stated: StatedNumber | None) -> StatedNumber | None:
    """The same with the characters of the text as they are, before widths were made one."""
    if stated is None:
        return None
    return stated._replace(text=text[stated.start : stated.start + len(stated.text)])
