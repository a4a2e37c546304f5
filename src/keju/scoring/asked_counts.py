"""The count that a question asks for, where a response counts several things (`strict`)."""

from __future__ import annotations

import re

from keju.metrics import english_number, parse_number
from keju.scoring.answers import Extracted, spoken
from keju.scoring.counted_things import asked_thing, count_of, dozens
from keju.scoring.stated import LONGEST, extract_count
from keju.scoring.wordings import folded, wording
from keju.text import narrowed

_N = (
    r"(?P<n>[0-9]{1,6}(?:,[0-9]{3})*|[零〇一二三四五六七八九十百千两廿卅卌]{1,9}"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty)(?:-[a-z]+)?))"
)
_UNIT = (
    r"\s?(?:个|個|枚|处)?\s?(?:清晰|可辨|可见|完整)?的?(?:甲骨|古|汉|漢|刻)?(?:文|辞)?(?:字(?!体|形)|文字|刻字)"
    r"|\s(?:[a-z]+\s){0,4}?(?:characters?|inscriptions?|glyphs?|graphs?)\b"
)
_OF_CHARACTERS = re.compile(
    rf"(?<![0-9.,第])(?:\b|(?<=[^A-Za-z0-9])){_N}(?:{_UNIT})", re.IGNORECASE
)
_CHARACTERS_OF = re.compile(
    rf"(?:刻字|文字|字数|字)(?:共|有|约|为|是|计|总数|:|\s){{0,4}}{_N}(?![0-9年])"
)
_TOTAL = re.compile(
    rf"(?:\btotal(?:\s(?:count|number))?|\bin\stotal|总计|總計|总数|總數|合计|合計|共计|共計|总共|總共|一共|共)"
    rf"\s{{0,2}}(?:is|of|=|:|,|为|是|约|有|:)?\s{{0,2}}(?:about\s)?{_N}"
    r"(?=\s{0,2}(?:(?:个|個|枚|处)?\s?(?:甲骨|古|汉)?文?字|个|個|枚|左右|characters|inscriptions|[.。,;!)]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_DENIED = re.compile(
    rf"(?:不是|并非|不止|\bnot)\s{{0,2}}{_N}\s?(?:个|個)?字?[,\s]{{0,3}}(?=而|是|but|\d)",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"(?:每[^,。;]{0,8}|\beach[^,.;]{0,20}|其中[^。;]{0,20}|包括[^。;]{0,20})$", re.IGNORECASE
)
_NONE = re.compile(
    r"\W*(?:图中|图片中|画面中|图像中|该图|这张图)?(?:并)?(?:没有|无|未见|未发现)(?:任何|可见的?|发现)?(?:甲骨|文字|刻字|字|刻辞)"
    r"|\W*there (?:are|is) no (?:visible )?(?:oracle|inscri|character)",
    re.IGNORECASE,
)
_MOST_CORRECTIONS = 3
_ABOUT = re.compile(r"左右|上下|(?<=[0-9个字])许")


def extract_asked_count(text: str, question: str = "") -> Extracted:
    """The count of the asked thing that a response states, beside counts of other things.

    A number that is the whole answer, or that an answer phrase introduces, decides; then what
    follows a correction; then a total; then the number of the thing that the question counts
    (2块甲骨上有12个字), if there is one value; then `extract_count`.
    """
    body = spoken(text)
    plain = _ABOUT.sub("", re.sub(r"[*_`$]", "", body))
    plain = dozens(_DENIED.sub(" ", narrowed(plain)))
    if len(body) > LONGEST:
        return extract_count(body)
    paragraphs = [each.strip() for each in plain.split("\n\n") if each.strip()]
    if len(paragraphs) > 1 and not paragraphs[-2][-1:].isdigit():
        alone = extract_count(paragraphs[-1])
        if alone.answer is not None and alone.rule == "whole":
            return alone
    back = list(wording("discourse", "correction").finditer(folded(plain)))
    for each in reversed(back[-_MOST_CORRECTIONS:]):
        if each.start() > 1:
            found = _of_text(plain[each.end() :], question)
            if found.answer is not None:
                return found
    return _of_text(plain if plain.strip() else body, question)


def _of_text(plain: str, question: str) -> Extracted:
    stated = extract_count(plain)
    if stated.answer is not None and stated.rule in {"whole", "answer phrase"}:
        return stated
    asked = asked_thing(question)
    words = question.lower().replace("数字", "").replace("數字", "")
    characters = not question or re.search(r"字|character|inscription|甲骨文", words)
    if asked and not characters:
        value = count_of(folded(plain), asked)
        if value is None:
            last = folded(re.split(r"(?<=[。！!?？\n])", plain.strip())[-1])
            value = (
                count_of(last, asked) if wording("discourse", "conclusion").match(last) else None
            )
        return (
            Extracted(f"{value:.0f}", "count of what is asked", plain[:80])
            if value is not None
            else stated
        )
    if not characters:
        return stated
    return _of_characters(plain, stated)


def _of_characters(plain: str, stated: Extracted) -> Extracted:
    totals = [match for match in _TOTAL.finditer(plain) if _number(match["n"]) is not None]
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
    ]


def _number(text: str) -> float | None:
    return (
        parse_number(text) if not text[0].isalpha() or not text.isascii() else english_number(text)
    )
