"""`AskedPhrase`: the noun that a question asks for, and kinds that change how it is read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from keju.scoring.wordings import expression, fold, wording

LINKED_KINDS = (
    "purpose",
    "office",
    "age",
    "worn",
    "place",
    "where",
    "style",
    "sobriquet",
    "loan",
    "scene",
    "how",
    "surname",
    "technique",
    "likeness",
    "meaning",
    "representing",
    "name",
    "seen",
)
"""The kinds of questions that have links of their own (``link_…``)."""
_KINDS = (*LINKED_KINDS, "doing", "person", "written_year", "character", "title", "text")


class AskedPhrase(NamedTuple):
    """The noun and kinds that a question asks for.

    Attributes:
        noun: the folded noun that is asked for (季节 in 哪个季节); empty where there is none.
        kinds: the kinds of `short.toml` (``asks_…``) that the question is of.
        lexicon: an expression of all values that can answer it (seasons, colours); or empty.
    """

    noun: str
    kinds: frozenset[str]
    lexicon: str


@lru_cache(maxsize=1 << 12)
def find_asked_phrase(question: str) -> AskedPhrase:
    """The noun and kinds that a question asks for."""
    asked = wording("short", "instruction").sub("", fold(question))
    kinds = frozenset(kind for kind in _KINDS if wording("short", f"asks_{kind}").search(asked))
    found = wording("short", "asked_noun").search(asked)
    lexicon = next(
        (
            expression("categories", f"{name}_values")
            for name in ("season", "colour", "script")
            if wording("categories", name).search(asked)
        ),
        "",
    )
    noun = _noun(found) if found else ""
    if found and found[1] and not noun:  # 拿的是什么乐器: the noun comes after the interrogative
        later = wording("short", "asked_noun").search(asked, found.end(1) + 1)
        noun = _noun(later) if later else ""
    return AskedPhrase(noun, kinds, lexicon or _choice(asked))


def _choice(asked: str) -> str:
    """An expression of the two values of a question that asks to choose (左手还是右手)."""
    found = wording("short", "choice").search(asked)
    if not found:
        return ""
    if found["left_word"]:
        return rf"\b(?:{found['left_word']}|{found['right_word']})\b"
    left, right = found["left"], found["right"]
    name = left.rpartition("是")[2]
    if name != left and not set(name) & set(right):
        return f"{name}|{right}"
    ends = [place for place, char in enumerate(right) if char == left[-1]]
    size = ends[0] + 1 if ends else min(len(left), len(right), 2)
    return f"{left[-size:]}|{right[:size]}"


def _noun(found: re.Match[str]) -> str:
    """The noun without what qualifies it: before 是什么 its last part, after 哪个 its first."""
    if found[1]:
        return found[1].rpartition("的")[2]
    return next((each for each in found.groups() if each), "").partition("的")[0]


@lru_cache(maxsize=1 << 8)
def _links(kinds: frozenset[str]) -> re.Pattern[str]:
    if "doing" in kinds:
        return wording("short", "link_doing")
    own = [expression("short", f"link_{kind}") for kind in LINKED_KINDS if kind in kinds]
    return re.compile("|".join([*own, expression("short", "link")]))


def has_own_link(masked: str, question: str) -> bool:
    """Whether a clause has a link that fits only this kind of question (用于 for a purpose)."""
    kinds = find_asked_phrase(question).kinds
    return any(
        wording("short", f"link_{kind}").search(masked) for kind in LINKED_KINDS if kind in kinds
    )


def links_in(masked: str, question: str) -> list[re.Match[str]]:
    """The words of a clause that link a subject with the answer to a question.

    Args:
        masked: the folded clause without what is quoted in it.
        question: the question.
    """
    found = list(_links(find_asked_phrase(question).kinds).finditer(masked))
    return [
        each for place, each in enumerate(found)
        if not place or not wording("short", "participle").match(each[0])
    ]  # fmt: skip
