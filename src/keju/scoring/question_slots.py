"""The words of a clause in the place of the question's interrogative or verb."""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.phrase_marks import EDGE, OUTSIDE, without_quoted
from keju.scoring.wordings import fold, wording
from keju.text import all_han, is_han

_LONGEST_NOUN = 4
_TO_WHOM = re.compile(r"(?<=..)[向对给替把将][\u4e00-\u9fff]{1,6}$")
_WITH = ("与", "和", "跟", "同")


def maker_of(said: str, question: str) -> str:
    """Who made something, of a passive clause (由恽寿平所绘), where a person is asked for."""
    if "person" not in find_asked_phrase(question).kinds:
        return ""
    said = said.replace("*", "")
    names = ("maker", "made_by", "made_by_in_english", "made_classically", "author_before")
    flat = fold(said).rstrip(OUTSIDE)
    found = [each for name in names for each in wording("short", name).finditer(flat)]
    if found:
        return said[found[-1].start("maker") : found[-1].end("maker")]
    verb = re.search(r"\bwho ([a-z]{3,}(?:ed|te|ew|ld|ll|un|de))\b", fold(question))
    subject = re.match(rf"\W*(?:the )?([a-z’' -]{{3,40}}?) {verb[1]}\b", flat) if verb else None
    return said[subject.start(1) : subject.end(1)] if subject and subject[1] != "who" else ""


def slot_of(said: str, question: str) -> str | None:
    """The words of a clause in the place of the question's 谁 (谁戴了眼镜 – 陳其美戴了眼镜)."""
    found = wording("short", "who").search(fold(question))
    asking = wording("short", "asking").search(fold(question))
    together = found and fold(question)[found.start() - 1 : found.start()] in _WITH
    if asking and not together:
        rest = _after_verb(said, fold(question)[: asking.start()])
        if rest:
            return rest
    asked = fold(question)
    if (rest := _agent(said, asked) or _after_english_verb(said, asked)).strip(EDGE):
        return rest
    if not found:
        return None
    core = said.strip(OUTSIDE)
    flat = fold(core)
    before = fold(question)[: found.start()].strip(OUTSIDE)
    after = re.split(r"[,?。]", fold(question)[found.end() :])[0].strip(OUTSIDE)
    for cut in range(1, len(after) - 2):  # 哪位神仙吹着横笛: the noun is not repeated
        after = after if flat.endswith(after) else after[1:] if cut <= _LONGEST_NOUN else after
    if len(after) > 1 and flat.endswith(after) and len(flat) > len(after):
        start = len(before) if before and flat.startswith(before) else 0
        left = core[start : len(core) - len(after)]
        links = list(wording("short", "link").finditer(without_quoted(fold(left))))
        left = left[links[-1].end() :] if links else left
        return _TO_WHOM.sub("", left) or None
    if len(before) > 2 and flat.startswith(before) and before[-1] in _WITH:
        rest = core[len(before) :]
        stop = wording("short", "link").search(fold(rest))
        return rest[: stop.start()] if stop and stop.start() else rest
    return None


def _agent(said: str, asked: str) -> str:
    """Who or what does what is asked, of a passive clause (is pulled by an ox)."""
    doing = re.search(r"\bis (?P<stem>[a-z]{3,}?)(?:ing|ting|ning)\b", asked)
    found = doing and re.search(
        rf"\b{doing['stem']}[a-z]{{0,3}} by (?:(?:an?|the|two|three) )?(?=\S)", fold(said)
    )
    return said[found.end() :] if found else ""


def _after_verb(said: str, before: str) -> str:
    """The text after the words that precede the interrogative (桌上放着什么)."""
    flat = without_quoted(fold(said))
    before = re.sub(r"(?:的是|[了着的])$", "", before)
    for length in range(min(len(before), 12), 1, -1):
        verb = before[-length:]
        at = flat.rfind(verb)
        if at >= 0 and all_han(verb) and said[at + length :].strip(EDGE):
            rest = re.sub(r"^(?:的是|[了着]|的(?=应|就|乃|为))", "", said[at + length :])
            named = wording("short", "link", r"(?:的[\u4e00-\u9fff]{1,6}?)?{}")
            return rest if not named.match(without_quoted(fold(rest))) else ""
    done = re.search(rf"{re.escape(before[-1:])}(?:着|著|了|的是)", flat) if before else None
    if done and is_han(before[-1]) and not wording("short", "little_verb").match(before[-1]):
        return said[done.end() :]
    return ""


def _after_english_verb(said: str, asked: str) -> str:
    """The text after the verb of an English question (what does it symbolize)."""
    found = wording("short", "asked_verb").search(asked)
    if not found or wording("short", "asks_meaning").search(asked):
        return ""
    verb = found["verb"] or re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", found["doing"])
    stem = re.escape(verb.removesuffix("e").removesuffix("y"))
    around = rf"\b{stem}[a-z]{{0,4}}\b{{}}"
    verbs = list(wording("short", "after_verb", around).finditer(without_quoted(fold(said))))
    return said[verbs[-1].end() :] if verbs else ""
