"""What pages are made of: words in both languages, and nothing from elsewhere."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from keju.annotation.pages import QUEUE_TEXTS, asset
from keju.translations import Words

ASSETS = files("keju.annotation").joinpath("assets")
TEMPLATES = sorted(path.name for path in ASSETS.iterdir() if path.name.endswith(".j2"))
SPOKEN = re.compile(r"""_\(\s*(?:"([^"]+)"|'([^']+)')\s*\)|\bsay\("([^"]+)"\)""")
ERRORS = re.compile(r"""(?:UsageError|needed=|return refusal)\(?\s*"([A-Z][^"{]+)"\s*[,)]""")


def spoken(name: str) -> set[str]:
    found = SPOKEN.findall(ASSETS.joinpath(name).read_text("utf-8"))
    return {next(filter(None, each)) for each in found}


def test_every_word_of_every_page_is_there_in_chinese():
    table = Words("zh", "keju.annotation").table
    said = set().union(*(spoken(name) for name in [*TEMPLATES, "queue.js"]))
    said |= {word for queue in QUEUE_TEXTS.values() for word in (queue.title, queue.what)}
    assert len(said) > 100
    assert said <= set(table), said - set(table)


def test_every_refusal_that_people_read_is_there_in_chinese():
    table = Words("zh", "keju.annotation").table
    code = files("keju.annotation")
    told = set()
    for name in ("queue.py", "fields.py", "rating.py", "review.py", "authoring.py"):
        told |= set(ERRORS.findall(code.joinpath(name).read_text("utf-8")))
    assert len(told) > 15
    assert told <= set(table), told - set(table)


@pytest.mark.parametrize("name", [*TEMPLATES, "queue.js", "viewer.js", "web.css", "seal.svg"])
def test_pages_ask_no_other_host_and_hold_no_script_or_style_of_their_own(name):
    text = ASSETS.joinpath(name).read_text("utf-8")
    hosts = set(re.findall(r"(?:https?:)?//([\w.-]+\.\w+)", text))
    assert hosts <= {"www.w3.org"}
    if name.endswith(".j2"):
        assert not re.search(
            r"\son\w+\s*=|\sstyle\s*=|<style|<script(?! type=\"module\" src=)", text
        )
        assert "|safe" not in text
        assert "javascript:" not in text


def test_assets_are_those_of_pages_and_nothing_else():
    assert asset("web.css")[1] == "text/css"
    assert b":root" in asset("tokens.css")[0]
    for name in (
        "zh.toml",
        "page.html.j2",
        "../auth.py",
        ".css",
        "nothing.css",
        "a/b.css",
        "..\\x.js",
    ):
        assert asset(name) is None
