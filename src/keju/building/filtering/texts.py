"""Text measures of an item: length, language, gaps, repetitions, listed words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from keju.files import read_toml, shipped_toml
from keju.items import Item
from keju.text import count_han, counted, unrepeated_share

_MODERN = frozenset("的了着們这這那嗎吗呢吧啊麼么很還还")
"""Particles and pronouns that are frequent in modern prose and rare in classical prose."""

_CLASSICAL = frozenset("之乎者也矣焉哉兮曰豈耳邪歟")
_PARTICLES = 5
"""The minimum number of both kinds from which a share is computed."""

_GAPS = re.compile("[□■▢▣〓�\ue000-\uf8ff]")


class TextsToMeasure(Struct, frozen=True):
    """The texts of an item to measure; `known` distinguishes an empty transcription from none."""

    item: str
    task: str
    question: str
    answer: str
    transcription: str
    known: bool
    options: list[str]


class TextMeasures(Struct, frozen=True):
    """The measures of an item's texts.

    `question`, `answer` and `transcription` are lengths in characters without white space; a
    transcription that is not known has -1. The rest is of the main text (transcription, else
    answer): `han` is the share of Han among its letters, `modern` the share of modern particles
    among modern and classical ones (-1 where there are too few), `gaps` the share of signs for
    illegible characters, `loops` the share that repeats earlier text. `match` is the cosine of
    image and answer by CLIP, -1 where it was not computed. `listed` names the kinds of listed words
    that occur in it, with the words.
    """

    item: str = ""
    task: str = ""
    question: int = 0
    answer: int = 0
    transcription: int = -1
    han: float = 1.0
    modern: float = -1.0
    gaps: float = 0.0
    loops: float = 0.0
    match: float = -1.0
    listed: str = ""
    error: str = ""


class _WordKind(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    words: tuple[str, ...]


class _WordList(Struct, frozen=True, forbid_unknown_fields=True):
    kind: tuple[_WordKind, ...]


Words = Mapping[str, str]
"""Words in the form in which texts are compared, each with its kind."""


def read_words(path: Path | None = None) -> Words:
    """Read a list of words to search for: the user's, or keju's own.

    Raises:
        DataError: the file cannot be read as ``[[kind]]`` with name and words.
    """
    if path is None:
        return _load_own()
    form = "Write [[kind]] with name and words"
    return _index_words(read_toml(path, _WordList, what="a list of words", hint=form))


@cache
def _load_own() -> Words:
    return _index_words(shipped_toml("keju.building.filtering", "words.toml", _WordList))


def _index_words(found: _WordList) -> Words:
    pairs = ((counted(word), kind.name) for kind in found.kind for word in kind.words)
    return {word: kind for word, kind in pairs if word}


def collect_texts(item: Item) -> TextsToMeasure:
    """Collect the texts of an item as a row for engines."""
    return TextsToMeasure(
        item=item.id,
        task=item.task,
        question=item.question,
        answer=item.answer,
        transcription=item.transcription or "",
        known=item.transcription is not None,
        options=list(item.options),
    )


def measure_texts(said: TextsToMeasure, words: Words) -> TextMeasures:
    """Measure the texts of an item."""
    text = said.transcription or said.answer
    letters = [character for character in text if character.isalpha()]
    modern = sum(character in _MODERN for character in letters)
    particles = modern + sum(character in _CLASSICAL for character in letters)
    length = max(1, _count_characters(text))
    return TextMeasures(
        item=said.item,
        task=said.task,
        question=_count_characters(said.question),
        answer=_count_characters(said.answer),
        transcription=_count_characters(said.transcription) if said.known else -1,
        han=round(count_han("".join(letters)) / len(letters), 4) if letters else 1.0,
        modern=round(modern / particles, 4) if particles >= _PARTICLES else -1.0,
        gaps=round(len(_GAPS.findall(text)) / length, 4),
        loops=round(1 - unrepeated_share(text), 4),
        listed=_find_listed(said, words),
    )


def _find_listed(said: TextsToMeasure, words: Words) -> str:
    parts = (said.question, said.answer, said.transcription, *said.options)
    texts = [counted(part) for part in parts if part]
    found: dict[str, list[str]] = {}
    for word, kind in words.items():
        if any(word in text for text in texts):
            found.setdefault(kind, []).append(word)
    return "; ".join(f"{kind}: {' '.join(some)}" for kind, some in found.items())


def _count_characters(text: str) -> int:
    return sum(not character.isspace() for character in text)
