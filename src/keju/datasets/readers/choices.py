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

_FIRST = {"from-0": 0, "from-1": 1}
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
    if isinstance(value, dict):
        keys = sorted(key for key in value if value[key] not in (None, ""))
        if "".join(key[-1:].upper() for key in keys) != ascii_uppercase[: len(keys)]:
            raise _unordered(keys, place)
        return tuple(cell_text(value[key], key, place) for key in keys)
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or any(isinstance(option, dict | list) for option in listed):
        hint = _('Write ["…", "…"], or {"A": "…", "B": "…"}')
        raise place.error(_("the options are not a list of texts"), hint)
    options = [cell_text(option, "", place) for option in listed]
    if len(options) > 1:
        return unlettered(options, place)
    if printed := options_in(options[0]):
        return printed
    if isinstance(value, list):
        return tuple(options)
    later = _LATER_LABEL.findall(options[0])
    options = [part.strip() for part in _PARTS.split(options[0]) if part.strip()]
    if later and len(options) == 1 and (label := LABEL.match(options[0])):
        raise _unordered([label[1] or label[2], *later], place)
    return unlettered(options, place)


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


def known_letter(
    answer: str, options: tuple[str, ...], place: Place, answer_is: str = "text"
) -> str:
    """The letter that an answer means; an empty answer, or one without options, stays as it is.

    The text of one option counts before a letter alone (``a``, ``B.``, ``(C)``, ``Ｂ``), unless
    answers are letters by `answer_is`, which is as in a mapping; the text may be in the other
    script.

    Raises:
        DataError: the answer means no option, or is the number of one without options.
    """
    text = answer.strip()
    is_number = _NUMBER.fullmatch(text) and text not in options
    if not options:
        if is_number or answer_is in _FIRST:
            raise place.error(_("the record has no options"), _("Correct options in [fields]"))
        return answer
    letters = ascii_uppercase[: len(options)]
    if is_number and answer_is in _FIRST:
        number = int(float(text)) - _FIRST[answer_is]
        if 0 <= number < len(options):
            return letters[number]
        problem = _("the answer {!r} is not the number of an option", shortened(text, 20))
        raise place.error(problem, _("Correct the answer, or answer_is in the mapping"))
    if not text:
        return ""
    match = _LETTER.fullmatch(text)
    alone = [letter for letter in letters if match and letter == _folded(match[1])]
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
