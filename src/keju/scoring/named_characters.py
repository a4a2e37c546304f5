"""The one character that a short response names as the reading (该字是牛, Ox 牛)."""

from __future__ import annotations

import re

from keju.scoring.extraction import Extracted
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import count_han

_LONGEST = 160
_MOST_SENTENCES = 2
_SENTENCE_END = re.compile(r"[。！？!?\n]|\.(?=\s|$)")
_MARKUP = re.compile(r"\*\*|__|`")
_CHAR = r"[\u3400-\u9fff\U00020000-\U0003ffff]"
_NAMED = rf"(?:[“「『\"‘'《【(]\s?(?P<quoted>{_CHAR})\s?[”」』\"’'》】)]|(?P<bare>{_CHAR}))"
_QUOTED = rf"[“「『\"‘'《【(]\s?(?P<quoted>{_CHAR})\s?[”」』\"’'》】)]"
_END = r"(?=\s*(?:字|的?甲骨文)?\s*(?:[。.,，;；!(（]|$))"
_QUOTED_TEXT = re.compile(rf"[“「『\"《]{_CHAR}{{4,}}[”」』\"》]")
_CHOICE = re.compile(rf"{_QUOTED}\s?字?(?:,|,?\s)?(?:还是|或者?|抑或|or)")
_LATIN_AND_HAN = re.compile(
    rf"[a-z][a-z' -]{{0,40}}[\s:]*[(\[“\"]?(?P<bare>{_CHAR})[)\]”\"]?[.。]?"
)
_ONE = re.compile(rf"(?<!{_CHAR}){_CHAR}(?!{_CHAR})")


def named_character(text: str) -> Extracted | None:
    """The character that a response of one or two sentences names as what it reads.

    A denied or merely similar character (看起来像“羊”) is none; after a correction (但应为“牛”) the
    later one counts. No answer where two are left open; None where the response names none.
    """
    said = _MARKUP.sub("", text).strip()
    sentences = [each for each in _SENTENCE_END.split(said) if each.strip()]
    if len(said) > _LONGEST or len(sentences) > _MOST_SENTENCES or len(said) < _MOST_SENTENCES:
        return None
    flat = fold(said)
    if _QUOTED_TEXT.search(flat):
        return None
    if _CHOICE.search(flat):
        return Extracted(None, "several characters", said)
    place = _latin(flat) if is_mostly_latin(flat) else _chinese(flat)
    return None if place is None else Extracted(said[place], "named character", said)


def _chinese(flat: str) -> int | None:
    """The place of the character; of several the corrected one."""
    for name, around in (
        ("character_corrected", f"{{}}{_QUOTED}"),
        ("character_is", f"{{}}{_NAMED}{_END}"),
    ):
        found = [
            each for each in wording("passages", name, around).finditer(flat)
            if not wording("passages", "character_denied").search(each[0])
        ]  # fmt: skip
        places = [each.start("quoted" if each["quoted"] else "bare") for each in found]
        if places and (name == "character_corrected" or len({flat[at] for at in places}) == 1):
            return places[-1]
    whole = _LATIN_AND_HAN.fullmatch(flat)
    return whole.start("bare") if whole else None


def _latin(flat: str) -> int | None:
    """The place of the only Han character of an English response, after a correction if any."""
    if wording("discourse", "refusal").search(flat):
        return None
    corrected = list(wording("passages", "character_corrected").finditer(flat))
    start = corrected[-1].end() if corrected else 0
    found = [
        each.start() for each in _ONE.finditer(flat, start)
        if not wording("passages", "not_character", "{}[^a-z]*$").search(
            flat[max(0, each.start() - 30) : each.start()])
    ]  # fmt: skip
    if count_han(flat[start:]) > len(found) or len({flat[at] for at in found}) != 1:
        return None
    return found[0]
