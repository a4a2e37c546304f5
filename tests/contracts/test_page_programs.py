"""Pages that other programs wrote of keju's exports, read again through keju's readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.contract_pages import FORMS, lines_read
from tests.support.contracting import RECORDED

FOLDERS = [
    pytest.param(RECORDED / program / form, id=f"{program}-{form}")
    for program in ("kraken", "ocrd")
    for form in FORMS
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_pages_written_again_have_the_lines_that_keju_exported(folder: Path):
    expected = json.loads(folder.with_suffix(".json").read_text("utf-8"))
    assert lines_read(folder.name, folder) == expected
    assert sum(map(len, expected.values())) >= 27
