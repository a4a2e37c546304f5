"""Invented text on blank pages is counted, and no rate is defined on them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keju.definitions import has_reference, is_blank, mark_blank, missing_reference
from keju.definitions.references import BLANK_PAGE
from keju.items import Item, Response
from keju.scoring import aggregate, score_answer
from keju.scoring.pages import InventedText, count_invented_characters, measure_invented_text

BLANK = mark_blank(
    Item(id="b", benchmark="MCS-Bench", task="T1", answer="天地", transcription="天地")
)
PAGE = Item(id="p", benchmark="MCS-Bench", task="T1", answer="天地玄黃")


def said(text: str, *, item: str = "b", model: str = "openai:m", status: str = "answered"):
    return Response(
        key=f"{item}-{text}", item=item, model=model, benchmark="MCS-Bench", task="T1",
        text=text, status=status,
    )  # fmt: skip


def test_only_a_marked_item_without_a_text_is_a_blank_page() -> None:
    assert is_blank(BLANK)
    assert not has_reference(BLANK)
    assert missing_reference(BLANK) == BLANK_PAGE
    assert not is_blank(replace(BLANK, metadata={}))
    assert missing_reference(replace(BLANK, metadata={})) == "no reference"
    assert not is_blank(replace(BLANK, answer="天"))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n", 0),
        ("[blank]", 0),
        ("此頁為空白頁。", 0),
        ("图片中没有任何文字。", 0),
        ("The page is empty: there is no visible text.", 0),
        ("抱歉，我无法识别这张图片。", 0),
        ("<think>天地玄黃</think>", 0),
        ("。、□", 0),
        ("天地玄黃", 4),
        ("天地，玄黃。\n宇宙", 6),
    ],
)
def test_what_is_invented_is_counted_and_a_statement_is_not(text: str, count: int) -> None:
    assert count_invented_characters(said(text)) == count


def test_whatever_an_engine_returns_is_invented() -> None:
    assert count_invented_characters(said("空白"), engine=True) == 2


def test_a_failure_is_no_answer() -> None:
    assert count_invented_characters(said("天", status="failed")) is None
    assert measure_invented_text([("b", said("", status="failed"))]) is None


def test_pages_and_characters_are_summed_and_the_worst_page_is_named() -> None:
    answers = [
        ("a", said("")),
        ("b", said("天地玄黃")),
        ("c", said("天")),
        ("d", said("", status="failed")),
    ]
    found = measure_invented_text(answers)
    assert found == InventedText(pages=3, with_text=2, characters=5, most=4, where="b")
    assert found.per_page == pytest.approx(5 / 3)


def test_no_metric_is_defined_on_a_blank_page_and_pooled_values_stay_as_they_are() -> None:
    alone = score_answer(PAGE, said("天地玄", item="p"))
    with_blank = [*alone, *score_answer(BLANK, said("劍號巨闕"))]
    blank = [score for score in with_blank if score.item == "b"]
    assert {score.protocol for score in blank} == {"official", "strict"}
    assert {(score.value, score.reason) for score in blank} == {(None, BLANK_PAGE)}
    for one, two in zip(aggregate(alone), aggregate(with_blank), strict=True):
        values = {each.metric: each.value for each in one.tasks[0].metrics}
        assert values == {each.metric: each.value for each in two.tasks[0].metrics}
        assert all(each.unscored == {BLANK_PAGE: 1} for each in two.tasks[0].metrics if each.value)


def test_blank_pages_alone_have_no_value() -> None:
    results = aggregate(score_answer(BLANK, said("天")))
    assert all(each.value is None for each in results[0].tasks[0].metrics)


def test_a_rate_needs_ten_blank_pages() -> None:
    nine = InventedText(pages=9, with_text=1, characters=1, most=1, where="a")
    assert not nine.enough
    assert nine._replace(pages=10).enough
