"""Links of all pages lead somewhere; guides in two languages have the same, existing commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from keju.cli import app
from tests.test_readme import headings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = ("quick-start", "choosing-ocr")
FILES = [DOCS / f"{name}{language}.md" for name in GUIDES for language in ("", ".zh")]
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def blocks(file: Path) -> list[str]:
    return re.findall(r"^```\n(.*?)^```", file.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def commands(file: Path) -> Iterator[list[str]]:
    for line in "".join(blocks(file)).splitlines():
        if line.startswith("keju "):
            yield shlex.split(line, comments=True)


def find(words: list[str]) -> tuple[Any, list[str]]:
    """The command of the command line that the words name, and its arguments."""
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command, rest


@pytest.mark.parametrize("name", GUIDES)
def test_the_chinese_guide_has_the_commands_of_the_english_one(name: str):
    english = blocks(DOCS / f"{name}.md")
    assert len(english) > 3
    assert blocks(DOCS / f"{name}.zh.md") == english


@pytest.mark.parametrize("name", [*GUIDES, "uncertainty"])
def test_both_languages_have_the_same_sections_and_links(name: str):
    english, chinese = ((DOCS / f"{name}{each}.md").read_text("utf-8") for each in ("", ".zh"))
    assert chinese.count("\n## ") == english.count("\n## ")
    # The headings of a translated page are Chinese.
    pages = [re.findall(r"\]\(([^)#]+)[^)]*\)", text)[1:] for text in (english, chinese)]
    assert [each.replace(".zh.md", ".md") for each in pages[1]] == pages[0]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_every_link_leads_to_a_page_and_heading(file: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", file.read_text("utf-8")):
        page, _, heading = target.partition("#")
        if "//" in page:
            continue
        found = (file.parent / page).resolve() if page else file
        assert found.exists(), target
        if heading and found.suffix == ".md":
            assert heading in headings(found.relative_to(ROOT).as_posix()), target


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_command_and_option_exists(file: Path):
    found = list(commands(file))
    assert len(found) >= 4
    for words in found:
        command, rest = find(words)
        assert not getattr(command, "commands", {}) or rest == ["--help"], words
        known = {name for option in command.params for name in option.opts} | {"--help"}
        assert {each for each in rest if each.startswith("-")} <= known, words
