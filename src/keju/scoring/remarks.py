"""Recognise remarks of a model about its answer, which are not text of a page or translation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from keju.scoring.wordings import fold, wording
from keju.text import count_han

PassageForm = Literal["transcription", "punctuated", "translation"]

ONE_WORD = frozenset("注按疏附另答问笺传序跋曰")
"""Labels of one character, which also begin commentaries and speeches of a page."""

_LONGEST_PREFIX = 120
_FEWEST_WORDS = 3
_MODERN_NOTE = 3
_BEFORE = re.compile(r"[。.!?\n”」』\"]|而应?是|应当?是|\bbut\b")
_AFTER = re.compile(r"[。.!?\n“「『\"]")
_DAMAGE = re.compile(r"[行字处][^,。]{0,8}(?:残|缺|漫|掩|损|泐|磨|蚀|不清)")


def is_modern(text: str) -> bool:
    """Whether a Chinese text has many of the little words that classical prose lacks."""
    flat = fold(text)
    said = len(wording("passages", "modern").findall(flat))
    classical = len(wording("passages", "classical").findall(flat))
    return said >= 2 and said > classical and said > 0.03 * count_han(flat)


def is_mostly_latin(text: str) -> bool:
    """Whether a text has more Latin words than Han characters."""
    han = count_han(text)
    return len(re.findall(r"[A-Za-zÀ-ɏ]+", text)) > han


@lru_cache(maxsize=4)  # A line of one sentence is looked at from both ends.
def is_remark(text: str, form: PassageForm) -> bool:
    """Whether a sentence is said by the model about its answer, and is not part of the answer."""
    flat = fold(text).strip(" \t*_\"“”'「」-—>()（）[]【】")
    if not flat:
        return False
    if _speaks_to_the_user(flat) or _is_note(flat, form):
        return True
    if form == "translation":
        said = wording("passages", "translation").search(flat) or _refuses(flat)
        return bool(said) or is_advice(flat)
    return _english_remark(flat) if is_mostly_latin(flat) else speaks_of_the_page(flat)


def is_advice(flat: str) -> bool:
    """Whether a folded sentence recommends one of several versions by its name."""
    return bool(
        wording("passages", "recommend").search(flat)
        and wording("passages", "a_version").search(flat)
    )


def _speaks_to_the_user(flat: str) -> bool:
    """Whether a sentence agrees to the request, asks for something, or offers help."""
    return bool(
        wording("discourse", "acknowledgement", "{}[,.。!:]*").fullmatch(flat[:_LONGEST_PREFIX])
        or wording("discourse", "offer").match(flat)
        or wording("discourse", "request").match(flat)
    )


def _is_note(flat: str, form: PassageForm) -> bool:
    noted = wording("discourse", "note", "(?P<note>{})(?: \\([^()]{0,20}\\))?[:,]").match(flat)
    if not noted:
        return False
    commentary = flat[:1] in ONE_WORD and flat[1:2] == ":" and form != "translation"
    modern = len(wording("passages", "modern").findall(flat)) + (flat[2:3] in {'"', "“", "「"})
    modern += 2 * len(wording("discourse", "explains").findall(flat))
    damaged = _DAMAGE.search(flat, noted.end())
    return not commentary or modern >= _MODERN_NOTE or bool(damaged)


def _english_remark(flat: str) -> bool:
    return len(re.findall(r"[a-z]+", flat)) >= _FEWEST_WORDS and bool(
        wording("passages", "english", r"(?<![a-z])(?:{})(?![a-z])").search(flat)
    )


def speaks_of_the_page(flat: str) -> bool:
    """Whether a folded Chinese sentence is about an image or a task, in modern words."""
    head = flat[:_LONGEST_PREFIX]
    if wording("passages", "page").search(head):
        return True
    said = len(set(wording("passages", "task").findall(head)))
    return said >= 1 and len(wording("passages", "modern").findall(head)) >= 2


def _refuses(flat: str) -> bool:
    head = flat[:_LONGEST_PREFIX]
    return bool(
        wording("discourse", "refusal").search(head)
        and wording("discourse", "about_reading").search(head)
    )


def is_denied(flat: str, start: int, end: int) -> bool:
    """Whether the sentence around a quotation in a folded text says that the text reads otherwise.

    Args:
        flat: the response.
        start: where the quotation starts, with its mark.
        end: where it ends.
    """
    before = _BEFORE.split(flat[max(0, start - _LONGEST_PREFIX) : start])[-1]
    after = _AFTER.split(flat[end : end + _LONGEST_PREFIX])[0]
    return bool(
        wording("passages", "denied_before").search(re.split("[,;]", before)[-1])
        or wording("passages", "supposed").search(before)
        or wording("passages", "denied_after").search(after)
    )
