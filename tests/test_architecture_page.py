"""The pages for contributors name what exists, and the layers are those of the import rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import make_architecture_page

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/architecture.md")


def test_the_table_of_layers_is_that_of_the_import_rules():
    made = make_architecture_page.page()
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    assert made == text, "make it again: python -m tools.make_architecture_page"
    assert text.count("\n| ") > 20


@pytest.mark.parametrize("name", PAGES)
def test_every_path_on_the_page_exists(name: str):
    text = (ROOT / name).read_text("utf-8")
    paths = re.findall(r"`((?:src|tests|tools|docs|examples|packages)/[^`\s]*)`", text)
    paths += [
        (ROOT / name).parent.joinpath(link).relative_to(ROOT).as_posix()
        for link in re.findall(r"\]\(([^)#]+)", text)
        if not link.startswith("..")
    ]
    assert len(paths) > 9
    for path in paths:
        assert list(ROOT.glob(path.replace("/NAME", "/*"))), path


@pytest.mark.parametrize("name", PAGES)
def test_every_make_target_on_the_page_exists(name: str):
    targets = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / name).read_text("utf-8")))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert targets
    for target in targets - {"a"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
