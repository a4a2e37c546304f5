"""The report's words in Chinese: nothing that the page says is missing from the table."""

from __future__ import annotations

import re

import pytest
from lxml import html

from keju.analysis.galleries import Gallery, gallery_notes, reduced_notes
from keju.analysis.leaderboard import ROLES
from keju.errors import UsageError
from keju.reporting.page import write_report
from keju.reporting.view import _KINDS
from keju.scoring.verdicts import VERDICTS
from keju.text import in_script
from keju.texts import _, join_lines
from keju.words import Words
from tests.support.scored_runs import HOSTILE

ZH = Words("zh")
HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
EXEMPT = re.compile(
    r"keju judge extract run --model M|keju [a-z-]+( [a-z]+)?( RUN)?|--[\w-]+[ =]\S+"
    r"|\w+\|\S*( \w+\|\S*)?"
)
"""Commands, options and signatures, which are the same in every language."""


def test_every_fixed_word_of_the_data_is_in_the_table():
    names = [*VERDICTS[1:], *ROLES.values(), *_KINDS.values()]
    assert [name for name in names if not HAN.search(ZH(name))] == []


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (join_lines([_("{} to {}", "12.0", 13.5), _("not significant")]), "12.0 至 13.5\n不显著"),
        (_("this run, {} of {} tasks", 18, 45), "本次运行，18/45 个任务"),
        ("something else", "something else"),
        ("nothing to add", "nothing to add"),
        (_("{} h", 3.4), "3.4 小时"),
    ],
)
def test_a_sentence_and_its_lines_are_translated(english, chinese):
    assert ZH(english) == chinese
    assert Words()(english) == english


def test_a_list_of_reasons_is_translated_part_by_part():
    assert ZH("no responses; columns merged") == "没有回答；相邻竖行混读"
    assert ZH("no responses; something else") == "no responses; something else"


def test_a_task_has_one_name_on_a_chinese_page():
    assert ZH.task_title("T2") == "文白翻译"
    assert Words().task_title("T2") == "文白翻译 Classical Chinese to Modern Chinese"
    assert ZH.task_title("recognition/What") == "甲骨识别"


@pytest.fixture(scope="module", params=[False, True], ids=["alone", "published"])
def page(request, shared_run, tmp_path_factory) -> str:
    """The report in Chinese, without and with the papers' own rows."""
    place = tmp_path_factory.mktemp("chinese") / "report.html"
    report = write_report([shared_run], place, language="zh", published=request.param)
    return report.page.read_text("utf-8")


def test_a_chinese_page_has_one_script_and_no_english_sentence(page):
    texts = list(own_texts(html.fromstring(page)))
    assert len(texts) > 200
    assert [text for text in texts if in_script(text, "simplified") != text] == []
    assert [text for text in texts if ENGLISH.search(EXEMPT.sub("", text))] == []


def own_texts(tree):
    """What a reader sees or hovers over, without what comes from models, data and papers."""
    for data in tree.xpath("//script|//style|//*[@class='mono']|//td[@class='name']|//h1"):
        data.text = ""
        for child in list(data):
            data.remove(child)
    for element in tree.iter():
        texts = (element.text, *(child.tail for child in element))
        shown = (*texts, *map(element.get, ("title", "aria-label", "placeholder")))
        yield from (text.strip() for text in shown if text and text.strip())


def test_the_notes_on_what_a_table_leaves_out_are_in_the_table():
    place, gallery = ("classification", "How", "i1"), Gallery("OBC306", 12)
    notes = [*reduced_notes({place: "once"}), *gallery_notes({place: gallery})]
    assert len(notes) == 2
    assert all(ZH(note) != note for _, note in notes)


def test_the_page_is_chinese_and_what_models_said_is_not_translated(page):
    tree = html.fromstring(page)
    assert tree.xpath("/html/@lang") == ["zh"]
    headings = [heading.text_content() for heading in tree.xpath("//h2")]
    assert "排行榜" in headings
    assert not [each for each in headings if re.search("[A-Za-z]", each)]
    assert not tree.xpath("//img")
    assert HOSTILE not in html.tostring(tree, encoding="unicode")


def test_another_language_is_refused(shared_run, tmp_path):
    with pytest.raises(UsageError, match="there are en, zh"):
        write_report([shared_run], tmp_path / "report.html", language="fr")
