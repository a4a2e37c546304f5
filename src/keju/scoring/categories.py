"""Readings of a short answer with and without the noun of the asked category (明, 明代, 明朝)."""

from __future__ import annotations

import re

from keju.scoring.wordings import fold, wording
from keju.text import all_han

_CATEGORIES = {"dynasty": "代朝", "script": "书体", "province": "省", "city": "市", "county": "县"}
_LONGEST = 4
_TOWN = re.compile(r"(?:今|现)?(?:中国)?[\u4e00-\u9fff]{2,4}省(?P<name>[\u4e00-\u9fff]{2,4}?)市?")


def of_category(value: str, question: str) -> tuple[str, ...]:
    """The value without the noun of the category that a question asks for, and with it.

    Empty if the value is not a short name in Han characters, or no category is asked for.
    """
    if (town := _TOWN.fullmatch(value)) and wording("categories", "city").search(fold(question)):
        return (town["name"], town["name"] + "市")
    if not value or len(value) > _LONGEST or not all_han(value):
        return ()
    asked = fold(question)
    for category, nouns in _CATEGORIES.items():
        if wording("categories", category).search(asked):
            bare = value[:-1] if len(value) > 1 and fold(value)[-1] in nouns else value
            return (bare, *(bare + noun for noun in nouns))
    return ()


def of_kind(value: str, question: str) -> tuple[str, ...]:
    """The value without and with the noun of one character that a question asks for (什么花).

    None where the value is not in Han characters, or is that noun.
    """
    found = wording("categories", "kind").search(fold(question))
    if not found or not value or len(value) > _LONGEST + 2 or not all_han(value):
        return ()
    noun = found["kind"]
    if fold(value) == noun:
        return ()
    return (value[:-1] if fold(value)[-1] == noun else value + noun,)
