"""`insert_options`: insert the separately stored options into a multiple-choice question."""

from __future__ import annotations

from string import ascii_uppercase

from keju.definitions import Task

_REQUIREMENT = "要求："
"""The beginning of the sentence on the form of the answer in Chinese prompts."""


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
    stem, mark, tail = question.partition(_REQUIREMENT)
    if mark:
        return f"{stem.rstrip()}\n{lettered}\n{mark}{tail}"
    requirement = kind.queries[0].requirement
    return "\n".join(part for part in (question.rstrip(), lettered, requirement) if part)
