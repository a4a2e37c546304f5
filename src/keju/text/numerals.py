"""Values of numerals: Arabic and Chinese ones of half and full width, and English words."""

from __future__ import annotations

import re
import unicodedata

_CHARACTERS = "零〇○ 一壹弌 二贰貳兩两弍 三叁參叄弎 四肆 五伍 六陆陸 七柒 八捌 九玖"
_DIGITS = {char: value for value, chars in enumerate(_CHARACTERS.split()) for char in chars}
_UNITS = {
    "十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000,
    "廿": 20, "卄": 20, "卅": 30, "丗": 30, "卌": 40,
}  # fmt: skip

_GREAT = {"亿": 10**8, "億": 10**8, "万": 10**4, "萬": 10**4}
_TENS = "廿卄卅丗卌"
_CHINESE = "".join([*_DIGITS, *_UNITS, *_GREAT])
CHINESE_NUMBER = f"[{_CHINESE}]+"
"""A pattern of Chinese numerals; `parse_number` has their value, if they have one."""
_ARABIC = r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?"
_LONGEST = 30

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
_TEENS += ["eighteen", "nineteen"]
_DECADES = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = dict(zip(["zero", *_ONES, *_TEENS], range(20), strict=True))
_WORDS |= zip(_DECADES, range(20, 100, 10), strict=True)
_ONE, _TEEN, _TEN = (f"(?:{'|'.join(words)})" for words in (_ONES, _TEENS, _DECADES))
_SMALL = rf"(?:{_TEN}(?:[-\s]{_ONE}\b)?|{_TEEN}|{_ONE}|zero)"
ENGLISH_NUMBER = rf"(?:(?:{_ONE}|a)\s+hundred\b(?:\s+(?:and\s+)?{_SMALL}\b)?|{_SMALL}\b)"
"""A pattern of the English words for 0 to 999."""

_IN_ENGLISH = re.compile(ENGLISH_NUMBER, re.IGNORECASE)


def parse_number(text: str) -> float | None:
    """The value of a text that is a number and nothing else, or None.

    ``12``, ``１２``, ``1,200``, ``3.5``, ``十二``, ``二百零五``, ``廿四``, ``一九八〇``, ``壹萬``.
    A text with two readings (两三, 一百一, 三万五) has no value.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if not plain or len(plain) > _LONGEST:
        return None
    if re.fullmatch(_ARABIC, plain):
        return float(plain.replace(",", ""))
    return _chinese(plain)


def parse_english_number(words: str) -> float | None:
    """The value of English words below a thousand (three, a hundred and twelve), or None."""
    if not _IN_ENGLISH.fullmatch(words.strip()):
        return None
    total = 0
    for word in re.split(r"[-\s]+", words.strip().lower()):
        total = max(total, 1) * 100 if word == "hundred" else total + _WORDS.get(word, 0)
    return float(total)


def _chinese(text: str) -> float | None:
    if not text or any(char not in _CHINESE for char in text):
        return None
    if all(char in _DIGITS for char in text):
        plain = len(text) != 2 or not _DIGITS.keys() - set("零〇○") >= set(text)
        return float("".join(str(_DIGITS[char]) for char in text)) if plain else None
    for mark, worth in _GREAT.items():
        if mark in text:
            before, _, after = text.partition(mark)
            high = _chinese(before) if before else None
            low = _chinese(after.lstrip("零〇")) if after.strip("零〇") else 0.0
            if high is None or low is None or low >= worth:
                return None
            skipped = bool(low) and low < worth / 10 and after[0] not in "零〇"
            return None if skipped else high * worth + low
    return _under_ten_thousand(text)


def _under_ten_thousand(text: str) -> float | None:
    total, last_unit = 0, 10_000
    digit: int | None = None
    zero = False
    for char in text:
        if char in _DIGITS:
            if digit is not None and (digit or not _DIGITS[char]):
                return None
            zero = digit == 0
            digit = _DIGITS[char]
            continue
        worth = _UNITS[char]
        unit = 10 if char in _TENS else worth
        if unit >= last_unit or digit == 0 or (char in _TENS and digit):
            return None
        total += worth if char in _TENS else worth * (digit or 1)
        digit, last_unit, zero = None, unit, False
    if digit and last_unit > 10 and not zero:
        return None
    return float(total + (digit or 0))
