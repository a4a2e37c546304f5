"""Whole rendered reports in Chinese: punctuation, exam words, and terms of the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

from keju.analysis.engine_times import Collection, Costs
from keju.analysis.run_set import load_runs
from keju.definitions.references import BLANK_PAGE
from keju.reporting.item_browser import Browser
from keju.reporting.item_pages import page_assets
from keju.reporting.page import render, write_report
from keju.reporting.terms import TERMS
from keju.reporting.time_table import time_table
from keju.reporting.view import build_view
from keju.words import Words
from tests.analysis.test_engine_times import TIMED
from tests.analysis.test_engine_times import run_set as timed_engine
from tests.reporting.test_chinese_words import HAN, RULES
from tests.support.own_pages import scored_pages

TEXTS = {
    f"b{number}/p": text * 2
    for number, text in enumerate(
        (
            "子曰學而時習之不亦說乎有朋自遠方來", "巧言令色鮮矣仁曾子曰吾日三省吾身",
            "道千乘之國敬事而信節用而愛人使民", "弟子入則孝出則弟謹而信汎愛眾而親",
            "為政以德譬如北辰居其所而眾星共之", "吾十有五而志于學三十而立四十而不惑",
            "溫故而知新可以為師矣君子不器子貢", "天地玄黃宇宙洪荒日月盈昃辰宿列張",
        )
    )
} | {"b0/blank": "", "b1/blank": ""}  # fmt: skip
DATA = "//*[@class='name' or @class='mono' or @class='zh' or contains(@class, 'link')]"
EXAM = re.compile("题|答对|答错|(?<!参)考")
BLOCKS = "//p|//li|//td|//th|//h1|//h2|//h3|//summary|//dt|//dd|//label|//nav|//footer|//text"


def turned(text: str) -> str:
    return text[len(text) // 2 :] + text[: len(text) // 2]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Engines that are right, in the wrong order, sparse, confused and mostly missing."""
    pages = {name: text for name, text in TEXTS.items() if text}
    answers = {
        "right": TEXTS,
        "turned": {name: turned(text) or "一" for name, text in TEXTS.items()},
        "sparse": {name: text[:3] for name, text in TEXTS.items()},
        "confused": {name: text.replace("子", "予") for name, text in TEXTS.items()},
        "missing": dict(list(pages.items())[:3]),
    }  # fmt: skip
    return scored_pages(tmp_path_factory.mktemp("own") / "own", TEXTS, answers)


def rendered(folder: Path, language: str = "zh") -> html.HtmlElement:
    costs = Costs(collection=Collection(1_000_000, 0.2, "EUR"))
    page = write_report([folder], folder / "r.html", language=language, costs=costs).page
    return html.fromstring(page.read_text("utf-8"))


def sentences(tree: html.HtmlElement) -> list[str]:
    """The text of each block, with A in the place of what comes from models and data."""
    for each in tree.xpath("//script|//style|//select"):
        each.getparent().remove(each)
    for each in tree.xpath(DATA):
        for child in list(each):
            each.remove(child)
        each.text = "A"
    for each in tree.xpath("//small"):
        each.text, each.tail = f"\n{each.text or ''}", f"\n{each.tail or ''}"
    blocks = (each.text_content() for each in tree.xpath(BLOCKS))
    found = {" ".join(line.split()) for block in blocks for line in block.split("\n")}
    for attribute in ("title", "aria-label", "placeholder"):
        found |= {each.get(attribute) for each in tree.xpath(f"//*[@{attribute}]")}
    return sorted(text for text in found if re.search(HAN, text))


def wrong_in(texts: list[str]) -> dict[str, tuple[str, str]]:
    """What is wrong in the punctuation of sentences, by the rules for the translations."""
    return {
        text: (name, bad[0])
        for text in texts
        for name, rule in RULES.items()
        if (bad := re.search(rule, text))
    }


def test_punctuation_and_spaces_of_a_report_on_own_pages(own):
    texts = sentences(rendered(own))
    assert len(texts) > 100
    assert wrong_in(texts) == {}


def test_punctuation_and_spaces_of_a_report_on_a_benchmark(scored_run, tmp_path):
    page = write_report([scored_run], tmp_path / "r.html", language="zh").page
    texts = sentences(html.fromstring(page.read_text("utf-8").replace("文本OCR", "文本 OCR")))
    assert len(texts) > 100
    assert wrong_in(texts) == {}


@pytest.mark.parametrize("collection", [None, Collection(1000), Collection(1_000_000, 0.2, "EUR")])
def test_punctuation_and_spaces_of_the_table_of_times(own, tmp_path, collection):
    run_set = load_runs([own])
    timed = timed_engine(tmp_path, TIMED)
    view = build_view(run_set, title="mine")._replace(times=time_table(timed, collection))
    words = Words("zh", own_pages=True)
    page = b"".join(render(view, Browser(run_set, words), words, single=True))
    tree = html.fromstring(page.decode())
    texts = sentences(tree)
    assert wrong_in(texts) == {}


def test_a_report_on_own_pages_has_no_exam_words(own):
    texts = sentences(rendered(own))
    assert [text for text in texts if EXAM.search(text)] == []


def test_words_of_the_item_browser_have_no_exam_words_on_own_pages():
    words = Words("zh", own_pages=True)
    script = page_assets(paged=True).script
    assert [text for text in words.in_script(script).values() if "题" in text] == []
    assert [text for text in Words("zh").in_script(script).values() if "题" in text]
    assert words(BLANK_PAGE) != BLANK_PAGE


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_glossary_lists_the_terms_that_occur(own, language):
    words = Words(language, own_pages=True)
    tree = rendered(own, language)
    (glossary,) = [each for each in tree.xpath("//dl[@class='glossary']") if not each.get("id")]
    listed = glossary.xpath("dt/text()")
    assert len(listed) == len(set(listed)) > 12
    for each in tree.xpath("//script|//style"):
        each.getparent().remove(each)
    body = tree.text_content()
    body = body[: body.index(glossary.text_content())]
    for term in TERMS.values():
        if words(term.name) in listed:
            assert words(term.name).lower() in body.lower(), term
    for absent in ("judge", "domain", "extracted answer"):
        assert words(absent) not in listed
    assert words("median") in listed
