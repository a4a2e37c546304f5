"""Pages contain nothing from elsewhere."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from keju.annotation.pages import read_asset

ASSETS = files("keju.annotation").joinpath("assets")
TEMPLATES = sorted(path.name for path in ASSETS.iterdir() if path.name.endswith(".j2"))


@pytest.mark.parametrize("name", [*TEMPLATES, "queue.js", "viewer.js", "web.css", "seal.svg"])
def test_pages_load_nothing_from_other_hosts_and_have_no_inline_script_or_style(name):
    served = read_asset(name)
    text = served[0].decode() if served else ASSETS.joinpath(name).read_text("utf-8")
    hosts = set(re.findall(r"(?:https?:)?//([\w.-]+\.\w+)", text))
    assert hosts <= {"www.w3.org"}
    if name.endswith(".j2"):
        assert not re.search(
            r"\son\w+\s*=|\sstyle\s*=|<style|<script(?! type=\"module\" src=)", text
        )
        assert "|safe" not in text
        assert "javascript:" not in text


def test_only_assets_of_pages_are_served():
    assert read_asset("web.css")[1] == "text/css"
    assert b":root" in read_asset("tokens.css")[0]
    for name in (
        "page.html.j2",
        "../auth.py",
        ".css",
        "nothing.css",
        "a/b.css",
        "..\\x.js",
    ):
        assert read_asset(name) is None
