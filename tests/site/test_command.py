"""``keju site``: what it prints in both languages, and its errors."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.support.printed_lines import printed


@pytest.mark.parametrize(("language", "han"), [("en", False), ("zh", True)])
def test_it_writes_a_site_and_prints_where_it_is(bundles, tmp_path, language, han):
    shutil.copytree(bundles / "all", tmp_path / "bundles")
    lines = [
        ["site", "bundles", "-o", "site", "--title", "Mine"],
        ["site", "nothing.zip", "-o", "site"],
        ["site", "bundles", "-o", "bundles"],
    ]
    done, missing, other = printed(tmp_path, lines, language)
    assert (done.status, missing.status, other.status) == (0, 2, 2)
    assert "site/index.html" in done.text
    assert "Mine" in (tmp_path / "site" / "en" / "index.html").read_text("utf-8")
    for each in (done, missing, other):
        assert bool(re.search("[\u4e00-\u9fff]", each.text)) == han
