"""A release's datasheet: facts from the dataset, and answers of its maker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from keju.building.markdown import cell
from keju.building.releasing.facts import Known, facts_of
from keju.errors import UsageError, number_of, unknown_name
from keju.files import read_toml, shipped_toml
from keju.messages import message

FILE = "DATASHEET.md"

OPEN = "**Open: to be answered by the maker.**"


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    facts: tuple[str, ...]
    ask: dict[str, str]


def read_answers(path: Path) -> dict[str, str]:
    """The maker's answers: a TOML file of ``id = "text"``.

    Raises:
        DataError: it cannot be read.
        UsageError: it answers a question that does not exist.
    """
    given = read_toml(path, dict[str, Any])
    asked = {name for part in _parts() for name in part.ask}
    for name, value in given.items():
        if name not in asked:
            raise UsageError(f"{path}: {unknown_name(name, sorted(asked), 'question')}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(message("building.answer-not-in-quotes", path=path, name=name))
    return given


def datasheet(known: Known, answers: Mapping[str, str]) -> str:
    """The datasheet as Markdown.

    Args:
        known: the source of the facts.
        answers: the maker's, by question; the others are marked as open.
    """
    facts = facts_of(known)
    lines = [f"# Datasheet of {cell(known.manifest.name)} {cell(known.manifest.version)}", ""]
    if left := open_questions(answers):
        lines += [left, ""]
    for part in _parts():
        lines += [f"## {part.title}", ""]
        for name in part.facts:
            lines += [facts[name], ""] if facts[name] else []
        for name, question in part.ask.items():
            lines += [f"### {question}", "", answers.get(name, OPEN).strip(), ""]
    return "\n".join(lines)


def open_questions(answers: Mapping[str, str]) -> str:
    """A line that lists the questions without an answer; empty if there is none."""
    left = [name for part in _parts() for name in part.ask if name not in answers]
    said = number_of(len(left), "question is", "questions are")
    return f"{said} open: {', '.join(left)}." if left else ""


@cache
def _parts() -> tuple[_Part, ...]:
    return shipped_toml("keju.building.releasing", "datasheet.toml", dict[str, tuple[_Part, ...]])[
        "part"
    ]
