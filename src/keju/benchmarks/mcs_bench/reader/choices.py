"""Options of multiple-choice questions in the forms of releases, and the letter of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import NamedTuple

import msgspec

from keju.benchmarks.mcs_bench.reader.words import plain_key
from keju.datasets.readers.base import join_names
from keju.datasets.readers.letters import LABEL, fold_letter
from keju.datasets.readers.records import JsonObject, Place, text_of
from keju.definitions import options_in
from keju.errors import DataError
from keju.files import decode_json
from keju.texts import _

_LATER_LABEL = re.compile(r"[\s,，;；|]([B-Z])[、.．:：)）]")
_QUOTED = re.compile(r"\s*(?:'([^'\\]*)'|\"([^\"\\]*)\")\s*([,\]])")
_PARTS = re.compile(r"[\n|｜;；]")
_INDEX = re.compile(r"\d{1,2}(?:\.0)?")


def options_from(value: object, columns: Iterable[object], place: Place) -> tuple[str, ...]:
    """The options of a record.

    Args:
        value: of the field of options: a list of texts or of objects with text, an object by
            letter, or one text with letters, as JSON, or separated by line breaks, ``|`` or ``;``.
        columns: the values of the fields with one option each; empty ones at the end are not
            options.
        place: of the record, for errors.

    Raises:
        DataError: the options have another form, or their letters do not begin
            with A.
    """
    if value in (None, "", [], {}):
        texts = [text_of({"": each}, "", place).strip() for each in columns]
        while texts and not texts[-1]:
            texts.pop()
        return _unlettered(texts, place)
    if isinstance(value, str):
        return _printed(value.strip(), place)
    if isinstance(value, dict):
        return _by_letter(value, place)
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], str):
            return options_in(value[0]) or tuple(value)
        return _unlettered([_text_in(each, place) for each in value], place)
    raise place.error(
        _("the options are not a list of texts", hint='Write ["…", "…"], or {"A": "…", "B": "…"}')
    )


def _printed(text: str, place: Place) -> tuple[str, ...]:
    if text.startswith(("[", "{")):
        try:
            return options_from(decode_json(text), (), place)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            if listed_texts := _python_list(text):
                return _unlettered(listed_texts, place)
    printed = options_in(text)
    parts = [part for part in _parts(text) if part]
    if not printed and len(parts) == 1 and (label := LABEL.match(text)):
        letters = [label[1] or label[2], *_LATER_LABEL.findall(text)]
        if len(letters) > 1:
            raise _unordered(join_names(letters), place)
    return printed or _unlettered(parts, place)


def _python_list(text: str) -> list[str]:
    """The texts of a list as Python prints it, which pandas writes into CSV; else none."""
    found: list[str] = []
    place, end = 1, ","
    while end == "," and (match := _QUOTED.match(text, place)):
        found.append(match[1] if match[1] is not None else match[2])
        place, end = match.end(), match[3]
    return found if end == "]" and place == len(text) else []


def _parts(text: str) -> list[str]:
    """The parts of a text between line breaks, ``|`` or ``;``."""
    return [part.strip() for part in _PARTS.split(text)]


def _by_letter(options: JsonObject, place: Place) -> tuple[str, ...]:
    letters = sorted(key for key in options if options[key] not in (None, ""))
    if "".join(plain_key(key)[-1:].upper() for key in letters) != ascii_uppercase[: len(letters)]:
        raise _unordered(join_names(letters), place)
    return tuple(text_of(options, letter, place) for letter in letters)


def _text_in(option: object, place: Place) -> str:
    if isinstance(option, dict):
        for key in ("text", "content", "value", "option", "内容"):
            if key in option:
                return text_of(option, key, place)
        raise place.error(
            _(
                "the options are not a list of texts",
                hint='Write ["…", "…"], or {"A": "…", "B": "…"}',
            )
        )
    return text_of({"": option}, "", place)


def _unlettered(options: list[str], place: Place) -> tuple[str, ...]:
    """Options without their letters, in the order of these, where every one has its own.

    Raises:
        DataError: the letters have a gap, so that the option's place is not its letter.
    """
    labels = [LABEL.match(option) for option in options]
    letters = "".join(fold_letter(label[1] or label[2]) for label in labels if label)
    if len(letters) < len(options) or len(set(letters)) < len(letters):
        return tuple(options)
    if len(options) == 1 and letters != "A":
        return tuple(options)
    if "".join(sorted(letters)) != ascii_uppercase[: len(options)]:
        raise _unordered(join_names(letters), place)
    texts = [LABEL.sub("", option) for option in options]
    return tuple(text for _, text in sorted(zip(letters, texts, strict=True)))


def _unordered(found: str, place: Place) -> DataError:
    return place.error(
        _("expected options A, B, C …; found {}", found, hint="Letter them from A on")
    )


class Choice(NamedTuple):
    """An answer to a multiple-choice question and its options."""

    answer: str
    options: tuple[str, ...]
    place: Place


def is_index(choice: Choice) -> bool:
    """Whether an answer is the place of an option: a number that is not an option's text."""
    answer = choice.answer.strip()
    return bool(_INDEX.fullmatch(answer)) and answer not in choice.options


def first_index(choices: Sequence[Choice], given: str) -> int:
    """Whether answers that are places of options count from 0 or from 1.

    Args:
        choices: all answers of a table that are places.
        given: what the user says, 0 or 1; empty: seen from the answers.

    Raises:
        DataError: no answer shows it, or the answers contradict each other.
    """
    if given:
        return int(given)
    places = [(int(float(each.answer)), len(each.options), each.place) for each in choices]
    from_zero = any(index == 0 for index, _, _ in places)
    from_one = any(index == count for index, count, _ in places)
    if from_zero != from_one:
        return 0 if from_zero else 1
    both = _("contradict each other") if from_zero else _("may count from 0 or from 1")
    raise places[0][2].error(
        _(
            "the answers are numbers of options, which {}",
            both,
            hint="State the first number: --option answers-from=0, or 1",
        )
    )
