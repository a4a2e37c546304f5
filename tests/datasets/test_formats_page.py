"""docs/formats.md is what the readers and writers say of themselves."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tool():
    path = ROOT / "tools" / "make_formats_page.py"
    spec = importlib.util.spec_from_file_location("make_formats_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_formats_is_the_one_that_the_code_makes():
    made = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert made == tool().page(), "python tools/make_formats_page.py > docs/formats.md"
