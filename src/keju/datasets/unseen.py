"""`unseen_characters`: invisible characters of an item that are likely to be a mistake."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from keju.items import Item

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_CONTROL = frozenset({"Cc", "Cs"})
_IN_TEXTS = frozenset("\t\n\r")


def unseen_characters(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the name of each field with such characters, and their code points.

    In the id and the group: control and format characters (escape sequences, writing direction,
    zero width), line breaks and lone surrogates. In texts: control characters (such as NUL) except
    tab and line break, and lone surrogates. Format characters in texts are not reported, because
    scoring ignores them.
    """
    for name, text in (("id", item.id), ("group", item.group)):
        if found := _codes(mark for mark in text if unicodedata.category(mark) in _UNSEEN):
            yield name, found
    for name, text in _texts(item):
        control = (mark for mark in text if unicodedata.category(mark) in _CONTROL)
        if found := _codes(mark for mark in control if mark not in _IN_TEXTS):
            yield name, found


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    yield "question", item.question
    yield "answer", item.answer
    yield "answer_simplified", item.answer_simplified
    yield "transcription", item.transcription or ""
    yield "also_accepted", "".join(item.also_accepted)
    yield "options", "".join(item.options)
    yield "lines", "".join(line.text for line in item.lines)
    for name, text in item.fields.items():
        yield f"fields.{name}", text


def _codes(marks: Iterable[str]) -> str:
    return ", ".join(f"U+{ord(mark):04X}" for mark in dict.fromkeys(marks))
