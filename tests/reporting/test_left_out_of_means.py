"""Means over models leave out a model without answers; rates need enough pages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from lxml import html

from keju.analysis.blank_pages import invented_lines
from keju.analysis.breakdowns import breakdowns
from keju.analysis.no_results import in_no_mean
from keju.analysis.run_set import load_runs
from keju.reporting.page import write_report
from keju.runs import RunFolder
from keju.scoring.pages import FEWEST_BLANK
from tests.support.own_pages import scored_pages

TEXTS = {f"b{book}/p{page}": f"天地玄黃宇宙洪荒{chr(0x6000 + 8 * book + page)}"
         for book in range(4) for page in range(3)}  # fmt: skip
SOME = dict(list(TEXTS.items())[:2])
MOST = dict(list(TEXTS.items())[:-1])


@cache
def shown(folder: Path, language: str = "en") -> str:
    page = write_report([folder], folder / "r.html", language=language).page
    tree = html.fromstring(page.read_text("utf-8"))
    for each in tree.xpath("//script|//style"):
        each.getparent().remove(each)
    return " ".join(tree.text_content().split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine that is right, and a vendor whose results lack all pages but two."""
    answers = {"right": TEXTS, "vendor": SOME}
    return scored_pages(tmp_path_factory.mktemp("means") / "own", TEXTS, answers)


def test_a_model_without_answers_is_in_no_mean_over_models(folder):
    run_set = load_runs([folder])
    (left,) = in_no_mean(run_set)
    assert (left.model.endswith("vendor.jsonl"), len(left.pages), left.of) == (True, 10, 12)
    (table,) = [each for each in breakdowns(run_set, {left.model}) if each["kind"] == "group"]
    assert {row[2] for row in table["rows"]} == {1.0}
    (with_it,) = [each for each in breakdowns(run_set) if each["kind"] == "group"]
    assert min(row[2] for row in with_it["rows"]) == 0.5


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "vendor.jsonl: not part of this mean, because 10 of 12 pages failed with "),
        ("zh", "vendor.jsonl：不计入这一均值，因为 10 页（共 12 页）识别失败"),
    ],
)
def test_the_report_says_which_model_is_left_out(folder, language, sentence):
    assert sentence in shown(folder, language)


@pytest.mark.parametrize(
    "answers",
    [{"right": TEXTS, "most": MOST}, {"one": SOME, "two": SOME}],
    ids=["one lacks few answers", "all lack answers"],
)
def test_a_model_is_not_left_out_of_the_means(tmp_path, answers):
    assert in_no_mean(load_runs([scored_pages(tmp_path / "own", TEXTS, answers)])) == []


def test_nothing_is_said_about_characters_of_pages_that_do_not_count(tmp_path):
    wrong = {name: text[::-1] for name, text in TEXTS.items()}
    folder = scored_pages(tmp_path / "own", TEXTS, {"right": TEXTS, "wrong": wrong})
    text = shown(folder)
    assert (
        "Single errors cannot be shown: on every page more than half of the characters are wrong."
        in text
    )
    # The engine that is right has pages that count.
    assert text.count("No error occurs twice on the counted pages.") == 1


@pytest.mark.parametrize("blank", [2, FEWEST_BLANK])
def test_a_rate_of_invented_text_needs_enough_blank_pages(tmp_path, blank):
    pages = TEXTS | {f"b0/blank{number}": "" for number in range(blank)}
    said = {name: text or "一二" for name, text in pages.items()}
    folder = scored_pages(tmp_path / "own", pages, {"right": said})
    text = shown(folder)
    (line,) = invented_lines(RunFolder.open(folder))
    assert (
        ("too few pages" in text) == ("too few pages for a rate" in line) == (blank < FEWEST_BLANK)
    )
    assert ("2.0 characters per page" in line) == (blank >= FEWEST_BLANK)
    assert f"invented text on {blank} of {blank} blank pages" in line


def test_median_and_negative_gain_are_defined(folder):
    english = shown(folder)
    assert "The middle value when the values are sorted" in english
    template = files("keju.reporting").joinpath("assets", "report.html.j2").read_text("utf-8")
    assert "below 0 the confidence misleads" in template
