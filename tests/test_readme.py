"""The README in both languages: the same commands, the same links, no dead link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "README.zh.md")


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def commands(name: str) -> list[str]:
    """The lines of all code blocks, without comments."""
    blocks = re.findall(r"^```\n(.*?)^```", text(name), re.DOTALL | re.MULTILINE)
    return [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]


def links(name: str) -> set[str]:
    """The linked pages; a page in both languages has the name of the English one."""
    return {link.replace(".zh.md", ".md") for link in re.findall(r"\]\(([^)#]+)", text(name))}


def test_the_chinese_readme_has_the_commands_of_the_english_one():
    english = [line for line in commands("README.md") if "──▶" not in line]
    assert commands("README.zh.md") == english
    assert "keju ocr-report my-scans -o report.html" in english


def test_the_chinese_readme_links_what_the_english_one_links():
    assert links("README.md") - links("README.zh.md") == {
        "docs/attacks.md", "docs/contracts.md",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_to_a_file_and_heading(name: str):
    targets = re.findall(r"\]\(([^)]+)\)", text(name))
    assert targets
    for target in targets:
        file, _, heading = target.partition("#")
        assert (ROOT / file).is_file(), target
        if heading:
            assert heading in headings(file), target


def headings(file: str) -> set[str]:
    """The anchors of a page's headings, as a repository's web page forms them."""
    lines = [line.lstrip("# ") for line in text(file).splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
