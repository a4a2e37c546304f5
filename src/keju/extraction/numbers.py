"""Counts: the one whole number that a response states for what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.extraction.answer import Answer, Reading, unclear
from keju.extraction.words import fold, has, pattern_of, words
from keju.text import has_han, parse_english_number, parse_number

MEASURE = (
    "[个位人名只条匹头棵朵座艘张幅件把本枚片株尾对双群处层行列字章枝根间次种首句卷篇颗栋辆"
    "顶块道方家代联组页册部段类笔]"
)
_DIVISIONS = "行列层页卷章句段首"
_WINDOW = 200
"""Characters before and behind a number that may say what it counts."""
_HAN_DIGITS = "[零〇一二两三四五六七八九十百千万廿卅]{1,12}"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9.第])(?:(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?)(?![\d:])"
    rf"|\b(?:a dozen|a single|once|twice|zero|(?:{_TENS})(?:[- ](?:{_ONES}))?|{_ONES}|ten|eleven"
    rf"|twelve|\w+teen)\b)|(?<![第\d]){_HAN_DIGITS}(?=\s?{MEASURE})",
    re.IGNORECASE,
)
_SPECIAL = {"a dozen": 12.0, "a single": 1.0, "once": 1.0, "twice": 2.0}
_ABOUT = re.compile(rf"^[\s\W]*(?:{pattern_of('about')}|[\s\W])*", re.IGNORECASE)
_TOTAL = re.compile(
    rf"(?:{pattern_of('total')})[\s:约=]*(?:there (?:are|is) )?"
    r"(?:about |approximately |roughly )?$",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A number in a text; `is_open` where it is an end of a range or a bound."""

    value: float
    start: int
    end: int
    is_open: bool


class CountQuestion(NamedTuple):
    """The thing that a question counts: what follows its number in an answer, and its noun."""

    after: re.Pattern[str]
    noun: str


def _numbers(text: str) -> Iterator[Number]:
    """The numbers of a folded text, without those of lists, ordinals, sums and parts."""
    text = words("ordinal").sub(lambda match: " " * len(match[0]), text)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        digits, before, behind = match[0].lower(), text[:start][-60:], text[end:][:60]
        number = _SPECIAL.get(digits) or parse_number(digits)
        number = parse_english_number(digits) if number is None else number
        is_part = words("summand_after").match(behind) or has("part", before)
        if number is not None and number == int(number) and not is_part:
            is_open = words("open_after").match(behind) or has("open_before", before)
            yield Number(number, start, end, bool(is_open))


def value(text: str, answer: Answer) -> str | None:  # noqa: ARG001  as all readers
    """The value of a text that is a number with at most a measure word and what is counted."""
    if len(text) > _WINDOW:
        return None
    core = re.sub(r"\s?\([^()]*\)", "", _ABOUT.sub("", fold(text))).rstrip(" .。!*`")
    number = parse_number(core)
    number = parse_english_number(core) if number is None else number
    if number is None and (
        match := re.fullmatch(rf"({_HAN_DIGITS})(?![几余多来])[\u4e00-\u9fff]{{1,2}}", core)
    ):
        number = parse_number(match[1])
    numbers = list(_numbers(core)) if number is None else []
    behind = core[numbers[0].end :] if len(numbers) == 1 and numbers[0].start == 0 else "?"
    counted = rf"\s?{MEASURE}?[\u4e00-\u9fff]{{0,6}}|(?:\s[a-z\-]+){{0,4}}"
    if re.fullmatch(counted, behind, re.IGNORECASE) and not numbers[0].is_open:
        number = numbers[0].value
    return None if number is None or number != int(number) else str(int(number))


def otherwise(answer: Answer) -> Reading:
    """A total, the number of a conclusion, of what was asked, or none at all."""
    text, first, last = answer.folded, fold(answer.sentences[0]), fold(answer.sentences[-1])
    numbers, counted_thing = list(_numbers(text)), _parse_question(answer.query)
    fitting = [
        number for number in numbers if counted_thing and _counts(text, number, counted_thing.after)
    ]
    names_counted = counted_thing and (
        re.search(counted_thing.noun, first, re.IGNORECASE) or len(first) < 6
    )
    if names_counted and words("none").search(first):
        return unclear("several") if fitting else Reading("read", "0", "none", first)
    if answer.refuses:
        return unclear("refusal")
    totals = [number for number in numbers if _is_total(text, number, counted_thing)]
    if totals:
        end = totals[-1].end + len(re.split(r"[.。!?\n]", text[totals[-1].end :])[0])
        if any(number.start > end and number.value != totals[-1].value for number in fitting):
            return unclear("several")
    clause = re.split(r"[,;:]", last)[-1]
    start = text.rfind(clause) if has("conclusion", clause) else len(text)
    concluded = [number for number in numbers if number.start >= start]
    is_first = len(fitting) > 2 and fitting[0].start < len(first)
    if is_first and fitting[0].value == sum(number.value for number in fitting[1:]):
        # 9 characters: 4 on the right, 3 in the middle, 2 on the left.
        del fitting[1:]
    for rule, candidates in (("total", totals), ("concluded", concluded), ("asked", fitting)):
        if candidates:
            return _common(candidates, rule, text)
    return unclear("silent")


def _common(numbers: list[Number], rule: str, text: str) -> Reading:
    """The value that several numbers have in common; unclear where one is open or two differ."""
    values = {number.value for number in numbers}
    if len(values) > 1 or any(number.is_open for number in numbers):
        return unclear("several" if len(values) > 1 else "range")
    quote = text[max(numbers[0].start - 10, 0) : numbers[0].end + 10]
    return Reading("read", str(int(values.pop())), rule, quote)


def _parse_question(question: str) -> CountQuestion | None:
    """The thing that a question counts, or None where that is not plain."""
    if match := re.search(rf"(?:几|多少)\s*({MEASURE})?([\u4e00-\u9fff]{{0,8}})", question):
        noun = words("after_noun").sub("", match[2])[-2:].replace("人物", "人")
        noun = "文?字" if noun == "文字" else noun
        unit = match[1] if match[1] and match[1] not in "个位只" else ""
        counted = rf"{MEASURE}?(?:[\u4e00-\u9fff]{{0,5}}的?)?{noun}" if noun else ""
        if not noun or (unit and unit in _DIVISIONS):
            # 7位人物 does not count the women of 女性有几位; 7行 is not 60个字.
            counted = "" if unit else rf"{match[1] or MEASURE}(?![\u4e00-\u9fff])"
        alone = rf"{match[1]}(?![\u4e00-\u9fff])" if match[1] else ""
        pattern = "|".join(part for part in (unit, counted, alone) if part)
        return CountQuestion(re.compile(rf"\s*(?:{pattern})"), noun or unit or MEASURE)
    match = re.search(r"(?:how many|number of)\s+((?:[a-z\-]+\s?){1,5})", question)
    nouns = words("after_noun").split(match[1] + " ")[0].split() if match else []
    stem = nouns[-1].rstrip("s").replace("people", "(?:people|person|figure)") if nouns else ""
    after = re.compile(rf"(?:\s+(?!per\b|each\b)[\w\-()]+){{0,4}}?\s+{stem}", re.IGNORECASE)
    return CountQuestion(after, stem) if stem else None


def _counts(text: str, number: Number, after: re.Pattern[str]) -> bool:
    """Whether a number is said to count what was asked; 一 may be an article (一座桥)."""
    before, digits = text[: number.start][-_WINDOW:], text[number.start : number.end]
    behind = text[number.start :][:_WINDOW]
    sentence = re.split(r"[.。!?\n]", before)[-1] + re.split(r"[.。!?\n]", behind)[0]
    stated = has_han(sentence) and has("counting", before[-4:] or "有")
    stated = stated or has("says", sentence)
    is_part = sentence.lstrip()[:1] in ("-", "*", "•")
    article = digits in ("一", "one") and not re.search("(?:[只仅共]有?|only |just )$", before)
    return bool(stated and after.match(text, number.end)) and not (
        is_part or article or has("miscount draft hedge condition sides", sentence)
    )


def _is_total(text: str, number: Number, counted_thing: CountQuestion | None) -> bool:
    """Whether a number is said to be the total, of what was asked or of nothing else."""
    is_alone = re.match(r"[ *)]*(?:$|[.。,;!(\n:])", text[number.end :]) is not None
    fits = counted_thing.after.match(text, number.end) is not None if counted_thing else is_alone
    if words("in_total").match(text, number.end):
        return fits
    total = _TOTAL.search(text[: number.start])
    return total is not None and (fits or (is_alone and total[0].isascii()))
