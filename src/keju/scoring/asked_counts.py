"""The count that a question asks for, where a response counts several things (`strict`)."""

from __future__ import annotations

import re

from keju.metrics import english_number, parse_number
from keju.scoring.answers import Extracted, body_of
from keju.scoring.stated import LONGEST, extract_count
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
_ABOUT = re.compile(r"左右|上下|(?<=[0-9个字])许")


def extract_asked_count(text: str, question: str = "") -> Extracted:
    """The count of characters that a response states, beside counts of other things.

    A number that is the whole answer, or that an answer phrase introduces, decides; then a total;
    then a number of characters (2块甲骨上有12个字), if there is one; then `extract_count`. Where
    the question does not ask for characters, `extract_count` decides alone.
    """
    body = body_of(text)
    plain = _ABOUT.sub("", re.sub(r"[*_`$]", "", body))
    plain = _DENIED.sub(" ", narrowed(plain))
    stated = extract_count(plain if plain.strip() else body)
    of_characters = not question or re.search(
        r"字|character|inscription|甲骨文", question, re.IGNORECASE
    )
    if len(body) > LONGEST or not of_characters:
        return stated
    if stated.answer is not None and stated.rule in {"whole", "answer phrase"}:
        return stated
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
