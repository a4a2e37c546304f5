"""The transcription in each response is taken once for all parts of a report."""

from __future__ import annotations

from collections import Counter

import pytest

from keju.analysis import page_texts
from keju.analysis.nearly_empty import nearly_empty
from keju.analysis.reading_errors import wrong_pages
from keju.analysis.run_set import load_runs
from keju.reporting.item_browser import Browser
from keju.scoring.pages import compared_text, wrong_page_errors
from keju.words import Words
from tests.support.own_pages import scored_pages

PAGES = {
    "p1": "天地玄黃宇宙洪荒",
    "p2": "日月盈昃辰宿列張",
    "p3": "寒來暑往秋收冬藏",
    "p4": "閏餘成歲律呂調陽",
}


@pytest.fixture
def run_set(tmp_path):
    part = {name: text[:1] for name, text in PAGES.items()}
    whole = {name: f"{text}。" for name, text in PAGES.items()}
    return load_runs([scored_pages(tmp_path, PAGES, {"part": part, "whole": whole})])


def test_each_response_is_searched_once(run_set, monkeypatch):
    searched = Counter()
    find = page_texts.read

    def count(form, text):
        searched[text] += 1
        return find(form, text)

    monkeypatch.setattr(page_texts, "read", count)
    Browser(run_set, Words())
    assert nearly_empty(run_set)
    assert wrong_pages(run_set)
    texts = Counter(answer.response.text for asked in run_set.asked for answer in asked.answers)
    assert searched == texts


@pytest.mark.parametrize("longest", [20_000, 3])
def test_floors_are_those_of_the_whole_responses(run_set, monkeypatch, longest):
    monkeypatch.setattr(page_texts, "LONGEST", longest)
    monkeypatch.setattr("keju.analysis.reading_errors.LONGEST", longest)
    pairs = {}
    for asked in run_set.asked:
        for answer in asked.answers:
            text = compared_text(answer.response)
            pairs.setdefault(answer.model, []).append((asked.item.answer, text))
    found = {model: floor for (model, _), floor in wrong_pages(run_set).items()}
    assert found == {model: wrong_page_errors(own) for model, own in pairs.items()}
    assert all(floor.pairs for floor in found.values())
