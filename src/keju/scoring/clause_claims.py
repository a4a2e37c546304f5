"""The role of a clause of a response: it denies, leaves open, explains, concludes, or answers."""

from __future__ import annotations

import re

from keju.scoring.asked_phrases import find_asked_phrase, has_own_link
from keju.scoring.phrase_marks import BOLD, GLOSS, OUTSIDE, without_quoted
from keju.scoring.phrase_values import has_link
from keju.scoring.question_slots import maker_of
from keju.scoring.typed_values import typed_value
from keju.scoring.wordings import alternatives, fold, wording
from keju.text import has_han, is_han

_FEW_WORDS = 5
_INFERS = re.compile(r"(?:当|应|该|疑|似|可能|大概|恐|或)(?:该|当|即|就)?[是为系]")
_OF_THE_IMAGE = frozenset(["图像", "像中", "图中", "画面", "面中", "画中", "图片", "片中"])
SHORT = 12
"""The length up to which a clause without a link may be a phrase alone."""


def repeats(clause: str, question: str, *, least: int) -> bool:
    """Whether a clause repeats at least `least` words of the question."""
    return len(grams_of(fold(question)) & grams_of(fold(clause))) >= least


def speaks_of(clause: str, question: str) -> bool:
    """Whether a clause has words of the question, a value it asks for, or no subject of its own."""
    flat = fold(GLOSS.sub("", clause)).strip(OUTSIDE)
    asked = fold(question)
    lexicon = find_asked_phrase(question).lexicon
    return bool(
        grams_of(asked) & grams_of(flat)
        or (lexicon and re.search(lexicon, flat))
        or has_own_link(flat, question)
        or wording("short", "pronoun", r"{}.{0,6}?(?:[是为叫指]|\b(?:is|was|are|were)\b)").match(
            flat
        )
        or wording("short", "link").match(flat)
        or (wording("short", "holding").search(asked) and wording("short", "holding").search(flat))
        or BOLD.search(clause)
        or without_quoted(fold(clause)) != fold(clause)
        or maker_of(clause, question)
        or typed_value(clause, question) is not None
    )


def is_brief(plain: str) -> bool:
    """Whether a clause without a link may be a phrase alone: a few characters or Latin words."""
    words = plain.split()
    return len(plain) <= SHORT or (len(words) <= _FEW_WORDS and not has_han(plain))


def concludes_bare(plain: str) -> bool:
    """Whether a clause is a concluding word and a short phrase, such as `so: night`."""
    found = wording("short", "concludes_bare").match(plain)
    rest = plain[found.end() :].strip() if found else ""
    return bool(rest) and len(rest) <= SHORT and not has_link(rest)


def explains_first(parts: list[str]) -> bool:
    """Whether the second clause of a sentence only says more of the first (关羽，字云长)."""
    after = fold(parts[1]).strip(OUTSIDE) if len(parts) > 1 else ""
    return (
        after[:1] not in {"", "→", "⇒"}
        and not _INFERS.match(after)
        and not wording("short", "commits").match(after)
        and wording("short", "says_more").match(after) is not None
    )


def denies(masked: str) -> bool:
    """Whether a clause denies, reports what others think, or gives an example."""
    if wording("short", "noun_phrase").fullmatch(masked):
        return False
    reported = wording("discourse", "reported").search(masked)
    if reported or wording("short", "example").search(masked):
        return True
    denial = wording("short", "denied").search(masked)
    return denial is not None and not wording("short", "but").search(masked, denial.start())


def is_offer_or_note(flat: str) -> bool:
    """Whether a sentence offers help, notes, or asks."""
    return bool(
        wording("discourse", "offer").match(flat)
        or wording("discourse", "note", "{}[:,]").match(flat)
        or wording("discourse", "acknowledgement", "{}[,.!。]*").fullmatch(flat)
        or (flat.endswith("?") and wording("short", "asks_back").match(flat))
    )


def declines(flat: str) -> bool:
    """Whether a sentence ends in a refusal, and does not answer all the same."""
    found = wording("discourse", "refusal").search(flat)
    return bool(
        found
        and wording("unanswered", "cannot").search(flat)
        and not wording("discourse", "although").search(flat)
        and not wording("unanswered", "prefers").search(flat, found.end())
    )


def leaves_open(flat: str) -> bool:
    """Whether a sentence leaves the choice between two candidates open, or declines."""
    flat = wording("short", "not_certain").sub(" ", flat)
    if wording("short", "open").search(flat):
        return True
    if wording("short", "legibility").match(flat):
        return False
    found = wording("discourse", "refusal").search(flat)
    return found is not None and not has_link(flat[max(found.end(), len(flat) - 20) :])


def grams_of(flat: str) -> set[str]:
    """Pairs of Han characters and words of other scripts, without the commonest."""
    han = "".join(char if is_han(char) else " " for char in flat)
    pairs = {han[at : at + 2] for at in range(len(han) - 1) if " " not in han[at : at + 2]}
    words = set(re.findall(r"[a-z]{3,}", flat)) - set(alternatives("short", "common"))
    return (pairs | words) - _OF_THE_IMAGE
