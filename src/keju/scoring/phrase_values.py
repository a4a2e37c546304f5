"""The value in a clause of a short answer: without words that repeat the question or link it."""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase, links_in
from keju.scoring.phrase_marks import (
    BOLD,
    CLOSE,
    EDGE,
    GLOSS,
    OPEN,
    OUTSIDE,
    without_quoted,
)
from keju.scoring.question_slots import maker_of, slot_of
from keju.scoring.typed_values import typed_value
from keju.scoring.wordings import fold, wording
from keju.text import has_han, is_han, parse_english_number, parse_number

LONGEST_PHRASE = 40
LONGEST_PLAIN = 60
LONGEST_READING = 400
LIGHT = " \t\r\n\u3000*_`#。.，,、:：;；!！—–-"
_LONGEST_NAME, _LONGEST_BRIEF = 3, 10
_TITLE = re.compile(r"《[^《》]*》")
_LABEL = re.compile(r"[^：:“「『《]{1,16}[：:]\s*(?=\S)")
_IS = frozenset(
    ["is", "are", "was", "were", "is the", "was the", "是", "就是", "即是", "便是", "正是"]
)


def value_of(clause: str, question: str) -> str:
    """The value in a clause, without the words that repeat the question."""
    if (typed := typed_value(clause, question)) is not None:
        return typed
    value = _linked_value(clause, question)
    lexicon = find_asked_phrase(question).lexicon
    if not lexicon or re.search(lexicon, fold(value)):
        return value
    said = {each[0] for each in re.finditer(lexicon, fold(clause))}
    return said.pop() if len(said) == 1 else value


def _linked_value(clause: str, question: str) -> str:
    bold = [found[1] for found in BOLD.finditer(clause)]
    bold = [each for each in bold if fold(each).strip(EDGE) not in fold(question)]
    if len(bold) == 1 and not wording("short", "answer").search(fold(bold[0])):
        labelled = _LABEL.match(bold[0])
        return bold[0][labelled.end() :] if labelled else bold[0]
    said = _before_reason(clause.replace("*", "").replace("`", ""), question)
    said = GLOSS.sub("", said) if GLOSS.sub("", said).strip(OUTSIDE) else said
    flat = fold(said)
    if maker := maker_of(said, question):
        return maker
    if (slot := slot_of(said, question)) is not None:
        return slot
    links = links_in(without_quoted(flat), question)
    if "person" in find_asked_phrase(question).kinds:  # 指归有光
        links = [each for each in links if each[0] != "有"] or links
    if not wording("short", "asks_for_place").search(fold(question)):  # 指位于两侧的马
        located = wording("short", "located")
        links = [each for each in links if not located.search(each[0])] or links
    if wording("short", "but").search(flat):
        after = wording("short", "but").search(flat)
        links = [each for each in links if after and each.end() > after.end()] or links
    for place, link in reversed(list(enumerate(links))):
        if _is_in_name(said, links, place):
            continue
        rest = said[link.end() :]
        if is_new(rest, question):
            return rest
    only = len(links) == 1 and links[0][0].strip() in _IS
    before = said[: links[0].start()] if only else ""
    if before and is_new(before, question):
        return before
    rests = (said[link.end() :] for link in reversed(links))
    return next((rest for rest in rests if trimmed_phrase(rest, question).strip(EDGE)), said)


def _before_reason(said: str, question: str) -> str:
    """A clause without what explains its value after a colon (我倾向于“望”：人立于土上)."""
    flat = without_quoted(fold(said))
    colon = flat.find(":")
    if colon < 0 or not flat[colon + 1 :].strip():
        return said
    commits = [*wording("short", "commits").finditer(flat[:colon])]
    hedged = [*wording("short", "hedged").finditer(flat[:colon])]
    links = [] if has_han(flat) else links_in(flat[:colon], question)
    for found in (*commits[-1:], *hedged[-1:], *links[-1:]):
        value = said[found.end() : colon]
        words = len(value.split())
        brief = 0 < len(value.strip(EDGE)) <= _LONGEST_BRIEF if has_han(value) else 0 < words <= 6
        if brief and is_new(value, question) and len(value) < len(said) - colon:
            return said[:colon]
    return said


def _is_in_name(said: str, links: list[re.Match[str]], place: int) -> bool:
    """Whether a link is the first character of a short name right after a label (答案：乃服)."""
    link = links[place]
    labelled = place > 0 and links[place - 1][0] in ":：" and links[place - 1].end() == link.start()
    short = len(said[link.start() :].strip(EDGE)) <= _LONGEST_NAME
    return labelled and short and len(link[0]) == 1 and link[0] not in "是为:指"


def is_new(phrase: str, question: str) -> bool:
    """Whether a phrase is more than words of the question, or one of two that it offers."""
    value = fold(trimmed_phrase(phrase, question)).strip(EDGE)
    if not value:
        return False
    asked = fold(question)
    if value in asked and f"《{value}》" not in asked:  # 铭 is new after 《陋室铭》
        asked = _TITLE.sub("《》", asked)
    return value not in asked or bool(_offers(question, value))


def _offers(question: str, value: str) -> re.Match[str] | None:
    lexicon = find_asked_phrase(question).lexicon
    return re.search(lexicon, value) if lexicon else None


def trimmed_phrase(said: str, question: str) -> str:
    """A phrase without words of the question and little words at both ends."""
    core = without_marks(said)
    asked = fold(question)
    counted = wording("short", "asks_for_number").search(asked)
    while len(core) <= LONGEST_READING:
        flat = fold(core)
        if not counted and (count := wording("short", "head_count").match(flat)):
            core = core[count.end() :].strip(LIGHT)
            continue
        head = wording("short", "head").match(flat)
        if head and head.end() and head.end() < len(core):
            core = core[head.end() :].strip(LIGHT)
            continue
        owned = re.match(r"([a-z]{3,}) of (?=[a-z])", flat)
        if owned and owned[1] in asked:
            core = core[owned.end() :].strip(LIGHT)
            continue
        tail = wording("short", "tail").search(flat)
        if tail and tail.start() > 0:
            core = core[: tail.start()].strip(LIGHT)
            continue
        cut = _tail_of_question(flat, asked)
        if 0 < cut < len(core):
            core = core[:cut].strip(LIGHT)
            continue
        break
    return core


def _tail_of_question(flat: str, asked: str) -> int:
    """Where words at the end of a phrase begin that the question has (的年号, 种药材, dynasty)."""
    if flat and flat[-1].isascii() and flat[-1].isalpha():
        words = flat.split()
        at = len(words)
        while at > 1 and words[at - 1] in asked.replace("?", " ").split():
            at -= 1
        return len(flat) if at == len(words) else flat.index(words[at], len(" ".join(words[:at])))
    at = len(flat)
    while at > 1 and flat[at - 1 :] in asked and is_han(flat[at - 1]):
        at -= 1
    if "的" in flat[at:] and not flat[at:].startswith("的"):
        at = flat.index("的", at)
    shared = len(flat) - at
    before = flat[:at]
    if shared and (before.endswith("的") or (_number(before) is not None) or shared >= 2):
        return at - 1 if before.endswith("的") else at
    return len(flat)


def _number(flat: str) -> float | None:
    core = flat.strip(EDGE)
    if not core:
        return None
    return (
        parse_number(core)
        if not core.isascii() or core[0].isdigit()
        else parse_english_number(core)
    )


def without_marks(text: str) -> str:
    """A phrase without marks at its ends and quotation marks around the whole."""
    core = text.strip(LIGHT)
    while len(core) > 2 and core[0] in OPEN + "\"'" and core[-1] in CLOSE + "\"'":
        inside = core[1:-1]
        if any(mark in inside for mark in core[0] + core[-1]):
            break
        core = inside.strip(LIGHT)
    return core


def is_plain(clause: str, question: str) -> bool:
    """Whether a clause is a phrase alone, without words that link it to a subject."""
    flat = fold(GLOSS.sub("", clause))
    linked = (
        links_in(without_quoted(flat).strip(OUTSIDE), question)
        or slot_of(clause, question)
        or maker_of(clause, question)
    )
    return len(flat.strip(OUTSIDE)) <= LONGEST_PLAIN and not linked


def has_link(flat: str) -> bool:
    """Whether a folded text has words that link a subject with an answer."""
    return bool(wording("short", "link").search(flat))
