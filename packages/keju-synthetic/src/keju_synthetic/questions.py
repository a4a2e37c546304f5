"""Questions about the passages, with their answers, read from data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Record
from keju.messages import message
from keju_synthetic.texts import DATA


class Choice(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with options; `answer` is the letter of the right one."""

    passage: str
    options: tuple[str, ...]
    answer: str
    term: str = ""


class Translation(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole passage in modern Chinese."""

    passage: str
    text: str


class Entities(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names in the drawn part of a passage, as written."""

    passage: str
    names: tuple[str, ...]


class OpenQuestion(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question answered in a sentence or two; `kind` is AncientDoc's subtype."""

    passage: str
    question: str
    answer: str
    kind: str = ""


class Questions(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All questions about the passages, by kind."""

    words: tuple[Choice, ...]
    sources: tuple[Choice, ...]
    translations: tuple[Translation, ...]
    entities: tuple[Entities, ...]
    comprehension: tuple[OpenQuestion, ...]
    reasoning: tuple[OpenQuestion, ...]
    knowledge: tuple[OpenQuestion, ...]
    linguistic: tuple[OpenQuestion, ...]


@lru_cache(maxsize=1)
def load_questions(path: Path = DATA / "questions.toml") -> Questions:
    """The questions of a file.

    Raises:
        DataError: an answer is not the letter of an option.
    """
    questions = read_toml(path, Questions)
    for choice in (*questions.words, *questions.sources):
        letters = ascii_uppercase[: len(choice.options)]
        if len(choice.answer) != 1 or choice.answer not in letters:
            raise DataError(
                message(
                    "synthetic.answer-not-an-option",
                    answer=choice.answer,
                    letters=", ".join(letters),
                ),
                file=path,
                item=f"{choice.passage} {choice.term}".strip(),
            )
    return questions
