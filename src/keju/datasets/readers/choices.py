"""Options of multiple-choice questions in the forms of sources, and the letter of a reference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from string import ascii_uppercase

import msgspec

from keju.datasets.readers.base import join_names
from keju.datasets.readers.records import Place, cell_text
from keju.definitions import Task, options_in
from keju.errors import DataError, shortened
from keju.files import decode_json
from keju.text import in_script
from keju.texts import _

FIRST = {"from-0": 0, "from-1": 1}
"""The number of the first option, by what a mapping says that answers are."""

LABEL = re.compile(r"\A\s*(?:[(（]([A-ZＡ-Ｚ])[)）]|([A-ZＡ-Ｚ])[、.．:：)）](?![A-Z]\.))\s*")
"""The letter before the text of an option."""

_LETTER = re.compile(r"[*_(（\[【「]*([A-Za-zＡ-Ｚａ-ｚ])[*_)）\]】」、.．,，:：。]*")
"""An answer that is a letter alone."""

_LATER_LABEL = re.compile(r"[\s,，;；|]([B-Z])[、.．:：)）]")
_QUOTED = re.compile(r"\s*(?:'([^'\\]*)'|\"([^\"\\]*)\")\s*([,\]])")
_PARTS = re.compile(r"[\n|｜;；]")
_NUMBER = re.compile(r"[0-9]{1,2}(?:\.0)?")


def options_from(value: object, place: Place) -> tuple[str, ...]:
    """The options in one cell, without their letters.

    Args:
        value: a list of texts, an object by letter, or one text with letters, as JSON, or separated
            by line breaks, ``|`` or ``;``.
        place: of the record, for errors.

    Raises:
        DataError: the options have another form, or their letters do not begin with A.
    """
    if isinstance(value, str):
        text = value.strip()
        written = written_value(text) if text.startswith(("[", "{")) else None
        value = text if written is None else written
    if value in (None, "", [], {}):
        return ()
    if isinstance(value, str):
        return _printed(value, place)
    if isinstance(value, dict):
        letters = sorted(key for key in value if value[key] not in (None, ""))
        last = "".join(key[-1:].upper() for key in letters)
        if last != ascii_uppercase[: len(letters)]:
            raise _unordered(letters, place)
        return tuple(cell_text(value[letter], letter, place) for letter in letters)
    if not isinstance(value, list) or any(isinstance(option, dict | list) for option in value):
        hint = _('Write ["…", "…"], or {"A": "…", "B": "…"}')
        raise place.error(_("the options are not a list of texts"), hint)
    if len(value) == 1 and isinstance(value[0], str):
        return options_in(value[0]) or tuple(value)
    return unlettered([cell_text(option, "", place) for option in value], place)


def _printed(text: str, place: Place) -> tuple[str, ...]:
    """The options in a text, with letters or with marks between them."""
    if printed := options_in(text):
        return printed
    parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
    if len(parts) == 1 and (label := LABEL.match(text)):
        letters = [label[1] or label[2], *_LATER_LABEL.findall(text)]
        if len(letters) > 1:
            raise _unordered(letters, place)
    return unlettered(parts, place)


def unlettered(options: list[str], place: Place) -> tuple[str, ...]:
    """Options without their letters, in the order of these, where every one has its own.

    Raises:
        DataError: the letters have a gap, so that the option's place is not its letter.
    """
    labels = [LABEL.match(option) for option in options]
    letters = "".join(_folded(label[1] or label[2]) for label in labels if label)
    if len(letters) < len(options) or len(set(letters)) < len(letters):
        return tuple(options)
    if len(options) == 1 and letters != "A":
        return tuple(options)
    if "".join(sorted(letters)) != ascii_uppercase[: len(options)]:
        raise _unordered(letters, place)
    texts = [LABEL.sub("", option) for option in options]
    return tuple(text for _letter, text in sorted(zip(letters, texts, strict=True)))


def insert_options(question: str, options: tuple[str, ...], kind: Task) -> str:
    """A question with its options, lettered on one line, before the required form of the answer.

    Args:
        question: the question, with or without a requirement at its end.
        options: the options without letters.
        kind: the task, whose requirement follows where the question has none.
    """
    lettered = " ".join(
        f"{letter}、{text}" for letter, text in zip(ascii_uppercase, options, strict=False)
    )
    requirement = kind.queries[0].requirement
    word, colon, __ = requirement.partition("：")
    stem, mark, tail = question.partition(word + colon) if colon else (question, "", "")
    if mark:
        return f"{stem.rstrip()}\n{lettered}\n{mark}{tail}"
    return "\n".join(part for part in (question.rstrip(), lettered, requirement) if part)


def is_number(answer: str, options: tuple[str, ...]) -> bool:
    """Whether an answer is the number of an option, and not the text of one."""
    return bool(_NUMBER.fullmatch(answer.strip())) and answer.strip() not in options


def known_letter(
    answer: str, options: tuple[str, ...], place: Place, answer_is: str = "text"
) -> str:
    """The letter that an answer means; an empty answer stays empty.

    The text of one option counts before a letter alone (``a``, ``B.``, ``(C)``, ``Ｂ``), unless
    answers are letters by `answer_is`, which is as in a mapping; the text may be in the other
    script.

    Raises:
        DataError: the answer means no option.
    """
    text = answer.strip()
    letters = ascii_uppercase[: len(options)]
    if answer_is in FIRST and is_number(text, options):
        number = int(float(text)) - FIRST[answer_is]
        if 0 <= number < len(options):
            return letters[number]
        problem = _("the answer {!r} is not the number of an option", shortened(text, 20))
        raise place.error(problem, _("Correct the answer, or answer_is in the mapping"))
    if not text:
        return ""
    match = _LETTER.fullmatch(text)
    alone = [_folded(match[1])] if match and _folded(match[1]) in letters else []
    lettered = list(zip(letters, options, strict=True))
    same = [letter for letter, option in lettered if option.strip() == text]
    folded = in_script(text, "simplified")
    alike = [letter for letter, option in lettered if in_script(option, "simplified") == folded]
    for meant in (alone, same, alike) if answer_is == "letter" else (same, alone, alike):
        if len(meant) == 1:
            return meant[0]
    problem = _(
        "the answer {!r} is not one of the options A to {}", shortened(text, 20), letters[-1]
    )
    raise place.error(problem, _("Write the letter of the right option, or set answer_is"))


def written_value(text: str) -> object:
    """The value that a text is as JSON, or the list of texts as Python prints it; else None.

    pandas writes a list into CSV as Python prints it.
    """
    try:
        return decode_json(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    found: list[str] = []
    text = text.strip()
    place, end = 1, ","
    while end == "," and (match := _QUOTED.match(text, place)):
        found.append(match[1] if match[1] is not None else match[2])
        place, end = match.end(), match[3]
    is_list = text.startswith("[") and end == "]" and place == len(text)
    return found if is_list else None


def _unordered(letters: Iterable[str], place: Place) -> DataError:
    problem = _("expected options A, B, C …; found {}", join_names(letters))
    return place.error(problem, _("Letter them from A on"))


def _folded(letter: str) -> str:
    """A letter as an ASCII capital."""
    return unicodedata.normalize("NFKC", letter).upper()
