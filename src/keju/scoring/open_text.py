"""The answer to an open question: the response without what is said to the user around it."""

from __future__ import annotations

import re

from keju.scoring.extraction import Extracted, strict_body, without_fence
from keju.scoring.json_answers import json_passage
from keju.scoring.unanswered import only_declines
from keju.scoring.wordings import fold, wording

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+[”’」』）)]*|\.(?=\s|$)|\n|$)")
_ANSWER_LABEL = re.compile(
    r"\A[#*\s]*(?:答案?|回答|answer|response)[*\s]*[:：][*\s]*", re.IGNORECASE
)
_AGREES = re.compile(r"(?:好的|当然(?:可以)?|没问题|sure|certainly|of course|okay)[,!。]\s*")
_LONGEST_OPENING = 120
_LONGEST = 200_000
_MOST_OFFERS = 8


def open_text_of(text: str) -> Extracted:
    """The whole answer, without a preamble that repeats the request and offers of further help.

    A response that only declines to answer is none.
    """
    body = strict_body(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    rule = "whole answer" if body == text else "after reasoning"
    if len(body) > _LONGEST:
        return Extracted(body.strip(), rule)
    found = json_passage(body, "text")
    if found:
        return found
    core = _without_plan(without_fence(body).strip())
    if only_declines(core):
        return Extracted(None, "declines", core)
    kept = _without_offers(_without_opening(core)).strip()
    return Extracted(kept or core, rule if kept == core else "text of the answer")


def _sentences(text: str) -> list[str]:
    return [match[0] for match in _SENTENCE.finditer(text) if match[0]]


def _bare(sentence: str) -> str:
    return fold(sentence).strip(" \t\r\n*_>#-—\"“”'()（）")


def _without_opening(core: str) -> str:
    """The text after "好的。" or "以下是…：" on its first line."""
    while True:
        first = _sentences(core[: _LONGEST_OPENING + 2])
        head = first[0] if first else ""
        flat = _bare(head)
        rest = core[len(head) :]
        if not rest.strip() or not flat:
            return core
        agreed = wording("discourse", "acknowledgement", "(?:{}[,.。!:~ ]*){1,3}").fullmatch(flat)
        line, _, after = core.partition("\n")
        announced = (
            len(line) <= _LONGEST_OPENING
            and line.rstrip(" *").endswith((":", "："))
            and wording("discourse", "announcement").search(_bare(line))
            and after.strip()
        )
        planned = wording("discourse", "plan_to_answer", "{}[.。:!]*").fullmatch(flat)
        if announced:
            core = after.strip()
        elif agreed or planned:
            core = rest.strip()
        else:
            opening = _AGREES.match(fold(core[:20]))
            if not opening:
                return core
            core = core[opening.end() :]


def _without_plan(core: str) -> str:
    """The text after a rule, where the text before it is reasoning about the request."""
    before, rule, after = core.partition("\n---")
    planned = wording("passages", "plan").match(_bare(before[:_LONGEST_OPENING]))
    core = after.lstrip("-").strip() if rule and after.strip("- \n") and planned else core
    return _ANSWER_LABEL.sub("", core)


def _without_offers(core: str) -> str:
    """The text without offers and farewells at its end."""
    for _ in range(_MOST_OFFERS):
        start = max(core.rfind("\n"), 0)
        line = core[start:]
        sentences = _sentences(line)
        while sentences and not sentences[-1].strip():
            sentences.pop()
        if not sentences:
            return core
        last = sentences[-1]
        at = core.rfind(last)
        if at <= 0 or not _is_offer(last):
            return core
        core = core[:at].rstrip(" \t\r\n-—*_")
    return core


def _is_offer(sentence: str) -> bool:
    flat = _bare(sentence)
    return bool(wording("discourse", "offer").match(flat)) and len(flat) < 300
