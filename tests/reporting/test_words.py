"""The report's words in Chinese: nothing that the page says is missing from the table."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from lxml import html
from tests.reporting.conftest import HOSTILE

from keju.errors import UsageError
from keju.reporting import write_report
from keju.reporting.galleries import Gallery, gallery_notes, reduced_notes
from keju.reporting.leaderboard import ROLES
from keju.reporting.swapped import CHAINS, HEADS
from keju.reporting.view import _KINDS
from keju.reporting.words import Words

ASSETS = files("keju.reporting") / "assets"
ZH = Words("zh")


def said(name: str, pattern: str) -> set[str]:
    found = re.findall(pattern, (ASSETS / name).read_text("utf-8"))
    return {text.replace('\\"', '"') for text in found}


def test_every_word_of_the_page_and_its_scripts_is_in_the_table():
    used = said("report.html.j2", r'_\("((?:[^"\\]|\\.)*)"\)')
    used |= said("report.js", r'say\(\s*"([^"]*)"') | said("views.js", r'say\("([^"]*)"')
    used |= {*ROLES.values(), *_KINDS.values(), *HEADS, *CHAINS.values()}
    assert len(used) > 100
    assert used - set(ZH.table) == set()


def test_a_translation_keeps_the_blanks():
    assert all(key.count("{}") == value.count("{}") for key, value in ZH.table.items())


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("12.0 to 13.5\n22 of 45 tasks", "12.0 至 13.5\n22／45 項任務"),
        ("this run, 18 of 45 tasks", "本次運行，18／45 項任務"),
        ("-1.0 to +2.0\nnot sure", "-1.0 至 +2.0\n未可斷定"),
        ("something else", "something else"),
    ],
)
def test_numbers_stand_where_they_stood(english, chinese):
    assert ZH(english) == chinese
    assert Words()(english) == english


def test_the_notes_on_what_a_table_leaves_out_are_in_the_table():
    place, gallery = ("classification", "How", "i1"), Gallery("OBC306", 12)
    notes = [*reduced_notes({place: "once"}), *gallery_notes({place: gallery})]
    assert len(notes) == 2
    assert all(ZH(note) != note for _, note in notes)


def test_the_page_is_chinese_and_what_models_said_is_not_translated(scored_run, tmp_path):
    write_report([scored_run], tmp_path / "report.html", language="zh", published=True)
    tree = html.fromstring((tmp_path / "report.html").read_text("utf-8"))
    assert tree.xpath("/html/@lang") == ["zh"]
    headings = [heading.text_content() for heading in tree.xpath("//h2")]
    assert "排行榜" in headings
    assert not [each for each in headings if re.search("[A-Za-z]", each)]
    assert not tree.xpath("//img")
    assert HOSTILE not in html.tostring(tree, encoding="unicode")
    with pytest.raises(UsageError, match="there are en, zh"):
        write_report([scored_run], tmp_path / "report.html", language="fr")
