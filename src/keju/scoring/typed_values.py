"""Values that are known by their form: one character, the title of a work, a text that is read.

Where a question asks for one of these (对应哪个汉字, 出自哪部书, 印文是什么), the value in a clause
is what is marked as such (“女”, 《出师表》, 「石渠宝笈」) after words that commit the model to it.
"""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.phrase_marks import GLOSS, OUTSIDE, without_quoted
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording

_HAN = r"[□\u3400-\u9fff\U00020000-\U0003ffff]"
_MARKED = {
    "title": r"(?P<value>《[^《》]{1,40}》|[“「『][^“”「」『』《》]{1,20}[”」』])",
    "text": r"[“「『\"‘](?P<value>[^“”「」『』\"‘’]{1,80})[”」』\"’]",
}
_DIMENSIONS = (
    r"\blong\b|\blength\b|长",
    r"\bhigh\b|\bheight\b|\btall\b|高",
    r"\bwide\b|\bwidth\b|宽",
)
_STOPS = " \t\r\n*_`#。.，,、:：;；!！—–-"
_ASKED_MEASURE = re.compile(r"(?:几|多少)(?P<measure>[年岁天日月次卷篇首章回里尺])")
_BEFORE_NUMBER = (
    r"(?:^|(?<=[^\u4e00-\u9fff0-9.])|(?<=[了共计达有满约近长过已为是历整余等活住享寿龄]))"
)
_NUMBER = r"[0-9〇一二三四五六七八九十百千]+"
_TWO, _NEAR = 2, 14
_BEFORE = 24


def typed_value(clause: str, question: str) -> str | None:
    """The value of the asked form to which a clause commits itself, or None.

    Of several the last; a value that is denied, compared or named as a part of the sign is none.
    """
    asked = fold(question)
    built = _construction(clause, asked)
    if built is not None and without_quoted(built) == built:
        return built
    found = _size(clause, asked)
    found = counted_value(clause, asked) if found is None else found
    found = _marked(clause, question) if found is None else found
    found = built if found is None else found
    return _in_other_script(clause, question) if found is None else found


def _marked(clause: str, question: str) -> str | None:
    """The last value in the marks of its kind (“女”, 《出师表》) after words that commit to it."""
    kinds = find_asked_phrase(question).kinds
    for kind, form in _MARKED.items():
        if kind not in kinds:
            continue
        bare = GLOSS.sub("", clause)
        text = bare if kind != "text" and re.search(form, bare) else clause
        found = [
            each["value"] for each in re.finditer(form, text)
            if _is_committed(fold(text[max(0, each.start() - _BEFORE) : each.start()]), kind,
                             near="《" not in each[0])
            and fold(each["value"]) not in fold(question)
        ]  # fmt: skip
        if found:
            return found[-1]
    return None


def _in_other_script(clause: str, question: str) -> str | None:
    """The only text in Han characters of an English clause."""
    kinds, asked = find_asked_phrase(question).kinds, fold(question)
    if not is_mostly_latin(clause) or wording("short", "denied").search(fold(clause)):
        return None
    plain = GLOSS.sub("", clause)
    runs: list[str] = re.findall(rf"{_HAN}+", plain)
    marked = "*" in plain or without_quoted(plain) != plain
    if not marked and kinds & {"text", "title"} and len(runs) == 1 and fold(runs[0]) not in asked:
        return runs[0]
    return None


def _size(clause: str, asked: str) -> str | None:
    """The number of the asked dimension among several (528.7 cm long and 24.8 cm high)."""
    dimension = next((each for each in _DIMENSIONS if re.search(each, asked)), "")
    numbers = list(re.finditer(r"[0-9]+(?:\.[0-9]+)?", clause))
    if not dimension or len(numbers) < _TWO:
        return None
    for each in numbers:
        after = clause[each.end() : each.end() + _NEAR]
        if re.match(rf"[^0-9]*?(?:{dimension})", fold(after)):
            return each[0]
    return None


def counted_value(clause: str, asked: str) -> str | None:
    """The one number of the asked measure in a clause (多少年 – 流亡共十九年)."""
    found = _ASKED_MEASURE.search(asked)
    measure = found["measure"] if found else ""
    if not measure and wording("short", "asks_age_in_years").search(asked):
        measure = "岁"
    if not measure:
        return None
    form = rf"{_BEFORE_NUMBER}{_NUMBER}(?={measure}(?![前后初末中时级号代]))"
    said = [each for each in re.finditer(form, fold(clause)) if len(clause) > len(each[0]) + 3]
    return clause[said[0].start() : said[0].end() + 1] if len(said) == 1 else None


def _construction(clause: str, asked: str) -> str | None:
    """The value that is elsewhere than after a link (X无疑, 以X为主色), or None."""
    core = clause.lstrip(OUTSIDE).rstrip(_STOPS)
    flat = without_quoted(fold(core))
    for found in wording("short", "construction").finditer(flat):
        named = {name: group for name, group in found.groupdict().items() if group}
        after = named.pop("asked_after", "") or named.pop("asked_after_teacher", "")
        (name,) = named
        if (not after or after[-2:] in asked) and not wording("short", "denied").search(found[0]):
            return core[found.start(name) : found.end(name)]
    return None


def _is_committed(before: str, kind: str, *, near: bool) -> bool:
    if wording("short", "not_this", r"{}\W*$").search(before):
        return False
    around = r"{}\W*$" if near else r"{}.*$"
    return wording("short", f"commits_{kind}", around).search(before) is not None
