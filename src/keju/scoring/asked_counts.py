"""The count that a question asks for, where a response counts several things (`strict`)."""

from __future__ import annotations

import re

from keju.scoring.count_statements import EQUATION, stated_count
from keju.scoring.counted_things import (
    MEASURED,
    AskedThing,
    find_asked_count,
    find_asked_thing,
    without_bounds,
    without_ranges,
    write_dozens_in_digits,
)
from keju.scoring.extraction import Extracted, strict_body
from keju.scoring.json_answers import json_phrase
from keju.scoring.numeric_answer import (
    CONDITIONAL,
    LONGEST,
    SUPPOSED,
    extract_count,
    without_first_sight,
)
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import parse_english_number, parse_number, to_half_width

_N = (
    r"(?P<n>[0-9]{1,6}(?:,[0-9]{3})*|[零〇一二三四五六七八九十百千两廿卅卌]{1,9}"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?))"
)
_UNIT = (
    r"\s?(?:个|個|枚|处)?\s?(?:(?:清晰|可辨|可见|完整|可识)[^,。;0-9]{0,3})?的?(?:甲骨|古|汉|漢|刻)?(?:文|辞)?(?:字(?!体|形)|文字|刻字)"
    r"|\s(?:[a-z]+\s){0,4}?(?:characters?|inscriptions?|glyphs?|graphs?)\b"
)
_OF_CHARACTERS = re.compile(
    rf"(?<![0-9.,第])(?:\b|(?<=[^A-Za-z0-9])){_N}(?:{_UNIT})", re.IGNORECASE
)
_CHARACTERS_OF = re.compile(
    rf"(?:刻字|文字|字数|字)(?:共|有|约|为|是|计|总数|:|\s){{0,4}}{_N}(?![0-9年])"
)
_TOTAL = re.compile(
    rf"(?:\btotal(?:\s(?:count|number))?|\b(?:in\stotal|altogether)|总计|總計|总数|總數|合计|合計|共计|共計|总共|總共|一共|共)"
    rf"\s{{0,2}}(?:is|of|=|:|,|为|是|约|有|:)?\s{{0,2}}(?:about\s)?{_N}"
    r"(?=\s{0,2}(?:(?:个|個|枚|处)?\s?(?:甲骨|古|汉)?文?字|个|個|枚|左右|(?:[a-z]+\s){0,3}(?:characters|inscriptions)|[.。,;!)]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_TOTAL_AFTER = re.compile(
    rf"(?<![0-9.,]){_N}\s(?:[a-z]+\s){{0,4}}?(?:in\stotal|altogether|in\sall|overall)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    rf"(?:不是|并非|不止|\bnot)\s{{0,2}}{_N}\s?(?:个|個)?字?[,\s]{{0,3}}(?=而|是|but|\d)",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"(?:每[^,。;]{0,8}|\beach[^,.;]{0,20}|其中[^。;]{0,20}|包括[^。;]{0,20}|[满每一,。;][行列][^,。;]{0,3}|[另还]有[^,。;]{0,6}"
    r"|只能[^,。;0-9]{0,8})$",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:图中|图片中|画面中|图像中|该图|这张图)?(?:并)?(?:没有|无|未见|未发现)(?:任何|可见的?|发现)?(?:甲骨|文字|刻字|字|刻辞)"
    r"|\W*there (?:are|is) no (?:visible )?(?:oracle|inscri|character)",
    re.IGNORECASE,
)
_COUNT_ALONE = re.compile(
    rf"(?:一?共(?:计|有)?|总共|合计|there (?:are|is) |there['’]s )?(?:only |just |exactly )?{_N}\s?"
    r"(?P<unit>[个名位只条枚处匹头棵座朵艘张幅件把片株尾根间人方行列字]?)"
    r"(?P<things>[\u4e00-\u9fff]{0,4}|\s[a-z]+(?:\s[a-z]+)?)"
)
_EDGE = " \t\r\n*_`#>。.，,、:：;；!！\"'“”"
_MOST_CORRECTIONS = 3
_TAGS = re.compile(r"</?[a-z_]{1,20}\s?/?>", re.IGNORECASE)
_TIMES = re.compile(r"\W*(?:only |just |exactly )?(once|twice|thrice)\b", re.IGNORECASE)
_HOW_OFTEN = {"once": 1, "twice": 2, "thrice": 3}
_SHORT = 16
_BOLD = re.compile(r"\*\*([^*\n]{1,40})\*\*")
_GLOSS = re.compile(r"\s?[(][^()]{0,80}[)]")
_PER = re.compile(r"\s(?:each|per)\b")
_FIRST_NUMBER = re.compile(
    rf"\W*(?:(?:only|just|exactly|about|around) )?{_N}(?=\s?(?:[.,;!(]|-\s|—|$))"
)
_ABOUT = re.compile(r"左右|上下|(?<=[0-9个字])许")


def extract_asked_count(text: str, question: str = "") -> Extracted:
    """The count of the asked thing that a response states, beside counts of other things.

    A number that is the whole answer decides; then the last sentence that commits to a count
    (`stated_count`); then the number of the thing that the question counts (2块甲骨上有12个字), if
    there is one value; then `extract_count`.
    """
    body = strict_body(text)
    if len(body) > LONGEST:
        return extract_count(body)
    plain = _ABOUT.sub("", re.sub(r"[*_`$\u2600-\u27bf\U0001f300-\U0001faff]", "", body))
    plain = CONDITIONAL.sub("", _TAGS.sub(" ", plain))
    plain = EQUATION.sub("", write_dozens_in_digits(_DENIED.sub(" ", to_half_width(plain))))
    if wording("counts", "none_at_all").fullmatch(fold(plain).strip(_EDGE)):
        return Extracted("0", "none there", plain)
    if wording("counts", "uncountable").search(fold(plain)) and not _later(
        plain, "discourse", "although"
    ):
        return Extracted(None, "said to be uncountable", plain[:80])
    if wording("counts", "none_first").match(fold(plain).strip()) and not re.search("[0-9]", plain):
        return Extracted("0", "first words", plain[:80])
    if times := _TIMES.match(plain):
        return Extracted(str(_HOW_OFTEN[times[1].lower()]), "first words", plain[:80])
    asked = find_asked_thing(question, in_english=is_mostly_latin(plain))
    found = stated_count(without_bounds(plain), asked)
    plain = without_bounds(SUPPOSED.sub("", plain))
    if not found and wording("counts", "cannot_count").search(fold(plain)):
        found = Extracted(None, "said to be uncountable", plain[:80])
    sure = without_first_sight(plain)
    return (
        _from_json(body, question)
        or _alone(_GLOSS.sub("", plain), asked)
        or found
        or _concluded(sure, asked)
        or _bold(body, asked)
        or _of_text(sure if sure.strip() else plain, question, asked)
    )


def _bold(body: str, asked: AskedThing | None) -> Extracted | None:
    """The one count in bold type."""
    found = [_alone(each[1], asked) for each in _BOLD.finditer(to_half_width(body))]
    values = {each.answer: each for each in found if each}
    return values.popitem()[1]._replace(rule="bold type") if len(values) == 1 else None


def _alone(said: str, asked: AskedThing | None) -> Extracted | None:
    """The count that is a whole text, alone or with what is asked."""
    alone = extract_count(said)
    if alone.answer is not None and alone.rule == "whole":
        return alone
    found = _COUNT_ALONE.fullmatch(fold(said).strip(_EDGE))
    if (
        found
        and found[0][:1].isalpha()
        and found[0].isascii()
        and not found["unit"]
        and not found["things"]
        and found.start("n")
    ):
        return Extracted(f"{_number(found['n']):.0f}", "whole", said)
    if not found or not asked or find_asked_count(found[0], asked) != _number(found["n"]):
        return None
    return Extracted(f"{_number(found['n']):.0f}", "whole", said)


def _concluded(sure: str, asked: AskedThing | None) -> Extracted | None:
    """The count of the asked thing, or the number alone, after the last word that concludes."""
    for start in _later(sure, "counts", "concludes"):
        value = find_asked_count(fold(sure[start:]), asked) if asked else None
        if value is not None:
            return Extracted(f"{value:.0f}", "conclusion", sure[start : start + 80])
        if len(rest := sure[start:].strip()) <= _SHORT and extract_count(rest).answer is not None:
            return extract_count(rest)._replace(rule="conclusion")
    return None


def _from_json(body: str, question: str) -> Extracted | None:
    """The count under the key of a JSON object that answers the question."""
    found = json_phrase(body, question) or json_phrase(body, question, number=True)
    if found is None or found.answer is None:
        return None
    return extract_asked_count(found.answer)._replace(rule=found.rule)


def _later(plain: str, file: str, name: str) -> list[int]:
    """Where the last wordings of a kind end, the last first."""
    found = [each for each in wording(file, name).finditer(fold(plain)) if each.start() > 1]
    return [each.end() for each in reversed(found[-_MOST_CORRECTIONS:])]


def _of_text(plain: str, question: str, asked: AskedThing | None) -> Extracted:
    stated = extract_count(plain)
    if stated.answer is not None and stated.rule in {"whole", "answer phrase"}:
        return stated
    if asked and not asked.characters:
        value = find_asked_count(fold(plain), asked)
        if value is None:
            last = fold(re.split(r"(?<=[。！!?？\n])", plain.strip())[-1])
            concludes = wording("discourse", "conclusion").match(last)
            value = find_asked_count(last, asked) if concludes else None
        if value is None and stated.answer is None and asked.noun.isascii():
            value = find_asked_count(fold(plain), MEASURED)
        if value is not None:
            return Extracted(f"{value:.0f}", "count of what is asked", plain[:80])
        return stated if stated.answer is not None else _first_number(plain, stated)
    words = question.lower().replace("数字", "").replace("數字", "")
    if question and not asked and not re.search(r"字|character|inscription|甲骨文", words):
        return stated
    return _of_characters(plain, stated, asked)


def _first_number(plain: str, stated: Extracted) -> Extracted:
    """The number that the first words of an answer are (only one, the lady on the right)."""
    found = _FIRST_NUMBER.match(fold(plain))
    value = _number(found["n"]) if found else None
    return Extracted(f"{value:.0f}", "first words", plain[:80]) if value is not None else stated


def _of_characters(plain: str, stated: Extracted, asked: AskedThing | None) -> Extracted:
    if asked and asked.each and (value := find_asked_count(fold(plain), asked)) is not None:
        return Extracted(f"{value:.0f}", "count of what is asked", plain[:80])
    plain = without_ranges(fold(plain))
    totals = [
        match for pattern in (_TOTAL, _TOTAL_AFTER) for match in pattern.finditer(plain)
        if _number(match["n"]) is not None
    ]  # fmt: skip
    found = _characters(plain)
    values = {_number(match["n"]) for match in totals}
    if len(values) == 1 or (totals and re.search("total|总|合|共计", totals[-1][0], re.IGNORECASE)):
        return Extracted(f"{_number(totals[-1]['n']):.0f}", "total", totals[-1][0])
    if len({_number(match["n"]) for match in found}) == 1:
        return Extracted(f"{_number(found[-1]['n']):.0f}", "number of characters", found[-1][0])
    if _NONE.match(plain) and stated.answer is None:
        return Extracted("0", "none there", plain[:40])
    return stated


def _characters(flat: str) -> list[re.Match[str]]:
    found = [*_OF_CHARACTERS.finditer(flat), *_CHARACTERS_OF.finditer(flat)]
    return [
        match
        for match in found
        if _number(match["n"]) is not None
        and not _EACH.search(flat[max(0, match.start() - 24) : match.start()])
        and not _PER.match(flat, match.end())
    ]


def _number(text: str) -> float | None:
    return (
        parse_number(text)
        if not text[0].isalpha() or not text.isascii()
        else parse_english_number(text)
    )
