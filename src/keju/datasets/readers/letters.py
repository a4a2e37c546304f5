"""`letter_of`: the letter that the reference of a multiple-choice question means."""

from __future__ import annotations

import re
import unicodedata
from string import ascii_uppercase

from keju.datasets.readers.records import Place
from keju.errors import shortened
from keju.text import in_script
from keju.texts import _

LABEL = re.compile(r"\A\s*(?:[(（]([A-ZＡ-Ｚ])[)）]|([A-ZＡ-Ｚ])[、.．:：)）](?![A-Z]\.))\s*")
"""The letter before the text of an option."""

_BEFORE = (
    r"(?:(?:the )?(?:correct )?(?:answer|option|choice)(?: is)?|"
    r"(?:正[确確])?(?:答案|选项|選項)|选择?|選擇?)?[是为為]?\s*[：:]?\s*"
)
_LETTER = re.compile(
    _BEFORE + r"[*_]*[(（\[【「]?([A-Za-zＡ-Ｚａ-ｚ])[)）\]】」]?[*_]*[、.．,，:：。]?",
    re.IGNORECASE,
)
_WITH_TEXT = re.compile(
    _BEFORE + r"[(（\[【]?([A-Za-zＡ-Ｚａ-ｚ])(?:[)）\]】、.．:：。]|\s)\s*(.+)",
    re.IGNORECASE | re.DOTALL,
)


def letter_of(answer: str, options: tuple[str, ...]) -> str:
    """The letter that an answer means: alone, before its text, or as the text of one option.

    ``a``, ``B.``, ``(C)``, ``Ｂ``, ``答案B`` and ``B. 論語`` are letters. An answer that means none
    or several is returned as it is.
    """
    text = answer.strip()
    lettered = list(zip(ascii_uppercase, options, strict=False))
    same = [letter for letter, option in lettered if option and text == option.strip()]
    if len(same) == 1:
        return same[0]
    plain = unicodedata.normalize("NFKC", text) if len(text) == 1 else text
    if (match := _LETTER.fullmatch(plain)) and fold_letter(match[1]) in dict(lettered):
        return fold_letter(match[1])
    for letter, option in lettered:
        if option and text == f"{letter}{option}":
            return letter
    labelled = _WITH_TEXT.fullmatch(text)
    if labelled and _same(labelled[2], dict(lettered).get(fold_letter(labelled[1]), "")):
        return fold_letter(labelled[1])
    folded = in_script(text, "simplified")
    same = [letter for letter, option in lettered if in_script(option, "simplified") == folded]
    return same[0] if len(same) == 1 and text else text


def known_letter(answer: str, options: tuple[str, ...], place: Place) -> str:
    """The letter that an answer means; an empty answer stays empty.

    Raises:
        DataError: the answer means no option.
    """
    letter = letter_of(answer, options)
    if letter and letter not in {*ascii_uppercase[: len(options)]}:
        last = ascii_uppercase[len(options) - 1]
        raise place.error(
            _(
                "the answer {!r} is not one of the options A to {}",
                shortened(letter, 20),
                last,
                hint="Write the letter of the right option",
            )
        )
    return letter


def _same(text: str, option: str) -> bool:
    """Whether two texts have the same characters, in any script and with any punctuation."""
    one, other = (
        "".join(char for char in in_script(each, "simplified").casefold() if char.isalnum())
        for each in (text, option)
    )
    return one == other != ""


def fold_letter(letter: str) -> str:
    """A letter as an ASCII capital."""
    return unicodedata.normalize("NFKC", letter).upper()
