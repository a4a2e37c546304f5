"""The answer to an open question: the response without what is said to the user around it."""

from __future__ import annotations

import re

from keju.scoring.extraction import Extracted, strict_body, without_fence
from keju.scoring.json_answers import json_passage
from keju.scoring.unanswered import only_declines
from keju.scoring.wordings import fold, wording

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+[”’」』）)]*|\.(?=\s|$)|\n|$)")
_ANSWER_LABEL = re.compile(
    r"\A[#*\s]*(?:答案?|回答|answer|response)(?:如下|是|为| is)?[*\s]*[:：][*\s]*", re.IGNORECASE
)
_AGREES = re.compile(r"(?:好的|当然(?:可以)?|没问题|sure|certainly|of course|okay)[,!。]\s*")
_ORNAMENT = re.compile(r"[\s*_#=~·`—-]*")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_INLINE_LABEL = re.compile(r"[#*\s]*(?P<label>[^\n:：*]{2,30})(?:\*{0,2}[:：]\*{0,2})\s*(?=\S)")
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]{1,40}\*\*[:：]?[ \t]*$|[一二三四五]、)", re.MULTILINE
)
_RULES = re.compile(r"\A(?:[ \t]*-{3,}[ \t]*\n)+|(?:\n[ \t]*-{3,}[ \t]*)+\Z")
_LONGEST_AGREEMENT, _LONGEST_OPENING, _LONGEST_OFFER = 20, 120, 300
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
    if only_declines(core) or _only_asks(core):
        return Extracted(None, "declines", core)
    kept = _without_offers(_without_plan(_without_opening(core)))
    kept = _RULES.sub("", kept).strip()
    if not kept:
        return Extracted(None, "breaks off before the answer", core)
    return Extracted(kept, rule if kept == core else "text of the answer")


def _sentences(text: str) -> list[str]:
    return [match[0] for match in _SENTENCE.finditer(text) if match[0]]


def _bare(sentence: str) -> str:
    return _EDGES.sub("", fold(sentence))


def _without_opening(core: str) -> str:
    """The text after "好的。", "以下是…：" and a heading that only names what was asked for."""
    while True:
        head = next(iter(_sentences(core[: _LONGEST_OPENING + 2])), "")
        rest = core[len(head) :]
        if not _opens(head) or (core.startswith(("#", "**")) and _HEADING.search(rest)):
            agreed = _AGREES.match(fold(core[:_LONGEST_AGREEMENT]))
            if not agreed:
                return core
            core = core[agreed.end() :]
            continue
        core = rest.lstrip(" \t\r\n-—：:")
        core = core.lstrip("*") if head.count("**") % 2 else core


def _opens(head: str) -> bool:
    """Whether the first sentence of an answer only agrees, announces, or names the request."""
    flat = _bare(head)
    if not flat:
        return bool(head.strip())
    agreed = wording("discourse", "acknowledgement", "(?:{}[,.。!:~ ]*){1,3}").fullmatch(flat)
    planned = wording("discourse", "plan_to_answer", "{}[.。:!]*").fullmatch(flat)
    announced = head.rstrip(" *\n").endswith((":", "：")) and (
        wording("discourse", "announcement").search(flat)
    )
    named = wording("passages", "names_request", "{}").fullmatch(flat)
    asked = wording("passages", "task_of_text").search(flat)
    spoken = wording("passages", "to_the_reader").search(flat)
    return bool(agreed or planned or announced or named or (asked and spoken))


def _without_plan(core: str) -> str:
    """The text after a rule, where the text before it is reasoning about the request."""
    before, rule, after = core.partition("\n---")
    planned = wording("passages", "plan").match(_bare(before[:_LONGEST_OPENING]))
    core = after.lstrip("-").strip() if rule and after.strip("- \n") and planned else core
    core = _ANSWER_LABEL.sub("", core)
    label = _INLINE_LABEL.match(core)
    named = label and wording("passages", "names_request").fullmatch(_bare(label["label"]))
    return core[label.end() :] if label and named else core


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
    """Whether a sentence at the end of an answer offers more, asks the user, or takes leave."""
    flat = _bare(sentence)
    if not flat:
        return _ORNAMENT.fullmatch(sentence) is not None
    if len(flat) >= _LONGEST_OFFER:
        return False
    offers = wording("discourse", "offer").match(flat)
    to_user = wording("passages", "to_the_user").search(flat)
    return bool(offers or (to_user and wording("passages", "offers_more").search(flat)))


def _only_asks(core: str) -> bool:
    """Whether a short response asks for an image or another try, and says nothing else."""
    flat = [_bare(each) for each in _sentences(core) if _bare(each)]
    return (
        len(core) < _LONGEST_OFFER
        and any(wording("discourse", "request").search(each) for each in flat)
        and all(
            wording("discourse", "request").search(each)
            or wording("discourse", "refusal_context").search(each)
            for each in flat
        )
    )
