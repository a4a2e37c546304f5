"""A release's datasheet: facts from the dataset, and answers of its maker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from keju.building.markdown import format_cell
from keju.building.releasing.facts import DatasheetData, collect_facts
from keju.errors import UsageError, unknown_name
from keju.files import read_toml, shipped_toml
from keju.messages import in_english, listed, message

FILE = "DATASHEET.md"

OPEN = "**Open: to be answered by the maker.**"


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    facts: tuple[str, ...]
    ask: dict[str, str]


def read_answers(path: Path) -> dict[str, str]:
    """Read the maker's answers: a TOML file of ``id = "text"``.

    Raises:
        DataError: it cannot be read.
        UsageError: it answers a question that does not exist.
    """
    given = read_toml(path, dict[str, Any])
    asked = {name for part in _load_sections() for name in part.ask}
    for name, value in given.items():
        if name not in asked:
            raise UsageError(f"{path}: {unknown_name(name, sorted(asked), 'question')}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(message("building.answer-not-in-quotes", path=path, name=name))
    return given


def render_datasheet(known: DatasheetData, answers: Mapping[str, str]) -> str:
    """Render the datasheet as Markdown.

    Questions without an answer are marked as open.
    """
    facts = collect_facts(known)
    lines = [
        f"# Datasheet of {format_cell(known.manifest.name)} {format_cell(known.manifest.version)}",
        "",
    ]
    if left := describe_open_questions(answers):
        lines += [in_english(left), ""]
    for part in _load_sections():
        lines += [f"## {part.title}", ""]
        for name in part.facts:
            lines += [facts[name], ""] if facts[name] else []
        for name, question in part.ask.items():
            lines += [f"### {question}", "", answers.get(name, OPEN).strip(), ""]
    return "\n".join(lines)


def describe_open_questions(answers: Mapping[str, str]) -> str:
    """Describe the questions without an answer in a line; empty if there is none."""
    left = list_open_questions(answers)
    return message("steps.questions-open", count=len(left), names=listed(left)) if left else ""


def list_open_questions(answers: Mapping[str, str]) -> list[str]:
    """List the ids of the questions without an answer."""
    return [name for part in _load_sections() for name in part.ask if name not in answers]


@cache
def _load_sections() -> tuple[_Section, ...]:
    return shipped_toml(
        "keju.building.releasing", "datasheet.toml", dict[str, tuple[_Section, ...]]
    )["part"]
