"""Passages of the classics: punctuated texts with notes, and their runs without punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Record
from keju.messages import message

DATA = Path(__file__).parent / "data"

_OPEN, _CLOSE = "〔", "〕"


class Passage(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text with its origin; `text` is punctuated, 〔…〕 marks notes, newlines paragraphs.

    `category` and `period` are AncientDoc's kind of book and dynasty.
    """

    id: str
    work: str
    dynasty: str
    author: str
    text: str
    heading: tuple[str, ...] = ()
    byline: str = ""
    running: str = ""
    category: str = ""
    period: str = ""


class Run(NamedTuple):
    """A stretch of one kind within a paragraph, without punctuation."""

    kind: Literal["main", "note"]
    text: str


class _Passages(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    passages: tuple[Passage, ...]


def load_passages(path: Path = DATA / "passages.toml") -> dict[str, Passage]:
    """All passages of a file by id.

    Raises:
        DataError: two entries have the same id, or a note is not closed.
    """
    passages: dict[str, Passage] = {}
    for passage in read_toml(path, _Passages).passages:
        if passage.id in passages:
            raise DataError(message("synthetic.id-twice"), file=path, item=passage.id)
        for _ in split_paragraphs(passage):
            pass
        passages[passage.id] = passage
    return passages


def strip_punctuation(text: str) -> str:
    """`text` without punctuation, spaces and newlines, as on a page of the time."""
    return "".join(sign for sign in text if unicodedata.category(sign)[0] not in "PZC")


def split_paragraphs(passage: Passage) -> Iterator[list[Run]]:
    """The runs of each paragraph, in reading order.

    Raises:
        DataError: a note is opened twice or not closed.
    """
    for paragraph in passage.text.strip().splitlines():
        runs: list[Run] = []
        rest = paragraph
        while rest:
            main, mark, after = rest.partition(_OPEN)
            note, end, rest = after.partition(_CLOSE)
            if _CLOSE in main or (mark and not end) or _OPEN in note:
                raise DataError(message("synthetic.note-not-closed"), item=passage.id)
            both = (Run("main", strip_punctuation(main)), Run("note", strip_punctuation(note)))
            runs.extend(run for run in both if run.text)
        yield runs


def count_characters(passage: Passage) -> int:
    """The number of drawn characters of a passage: text and notes, without heading."""
    return sum(len(run.text) for runs in split_paragraphs(passage) for run in runs)


def restore_punctuation(passage: Passage, drawn: str) -> str:
    """The passage with its punctuation, in the characters that a hand drew.

    Args:
        passage: a passage without notes.
        drawn: all of its characters in reading order, as they are drawn.

    Raises:
        DataError: the passage has notes.
    """
    if _OPEN in passage.text:
        raise DataError(message("synthetic.notes-not-punctuated"), item=passage.id)
    signs = iter(drawn)
    return "".join(
        next(signs) if strip_punctuation(sign) else sign for sign in "".join(passage.text.split())
    )


def format_numeral(number: int) -> str:
    """A page number from 1 to 99 in Chinese numerals.

    >>> format_numeral(21)
    '二十一'
    """
    if not 1 <= number <= 99:
        raise DataError(message("synthetic.leaf-number-range", number=number))
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    front = "" if tens == 0 else ("十" if tens == 1 else digits[tens] + "十")
    return front + (digits[ones] if ones else "")
