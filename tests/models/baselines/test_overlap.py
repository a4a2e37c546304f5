"""Shared characters: options, lines, and nothing."""

from __future__ import annotations

import asyncio

import pytest

from keju.definitions import task
from keju.items import AnswerForm, Item, Request
from keju.models import ModelOptions, open_model
from keju.models.base import Answer
from keju.models.baselines.overlap import Shared, most, shared
from keju.running.requests import request_for, with_source

PAGE = "北冥有魚其名爲鯤\n鯤之大不知其幾千里也\n化而爲鳥其名爲鵬"
OPTIONS = ("逍遙遊", "鯤鵬", "北冥有鱼", "秋水")


def asked(item: Item, text: str = PAGE) -> Request:
    return request_for(item, reading=text)


def choice(*options: str, text: str = PAGE) -> Request:
    item = Item(
        id="c", benchmark="MCS-Bench", task="T5", fields={"term": "鯤"}, options=options, answer="A"
    )
    return asked(item, text)


def question(words: str, text: str = PAGE, where: str = "T6") -> Request:
    item = Item(id="q", benchmark=task(where).benchmark, task=where, question=words, answer="x")
    return asked(item, text)


def answer(request: Request) -> Answer:
    model = open_model("baseline:overlap", ModelOptions())
    assert model.unsupported_reason(request) == ""
    return asyncio.run(model.answer(request, ()))


def test_the_option_that_the_page_shares_most_of_is_chosen_in_either_script():
    assert answer(choice(*OPTIONS)).text == "C"


def test_pairs_go_before_characters_and_equals_are_settled_by_the_first():
    # 名鯤 has both characters on the page but not side by side; 千里 has its pair.
    assert answer(choice("名鯤", "千里")).text == "B"
    assert answer(choice("千里", "其名", "秋水")).text == "A"


def test_what_shares_nothing_is_an_empty_answer_and_not_a_guess():
    found = answer(choice("秋", "冬"))
    assert (found.text, found.status) == ("", "empty")
    model = open_model("baseline:overlap", ModelOptions())
    assert asyncio.run(model.answer(choice(*OPTIONS, text=""), ())).status == "empty"


def test_an_open_question_is_answered_with_the_line_that_shares_most_of_it():
    assert answer(question("鯤之大有幾千里？")).text == "鯤之大不知其幾千里也"
    assert answer(question("化而为鸟之后叫什么？", where="reasoning_qa")).text == "化而爲鳥其名爲鵬"


def test_words_that_every_question_of_the_task_has_count_for_nothing():
    template = "根據圖像回答下列問題"
    assert template not in task("T6").queries[0].template
    page = f"{template}者\n化而爲鳥"
    assert answer(question("鳥？", text=page)).text == "化而爲鳥"


def test_the_page_itself_is_not_searched_for_options():
    page = "A、甲 B、乙 C、丙\n千里"
    assert answer(choice("秋水", "千里", text=page)).text == "B"


@pytest.mark.parametrize(
    ("where", "form", "why"),
    [
        ("T1", "transcription", "overlap only chooses options and lines"),
        ("T9", "text", "none of its own"),
    ],
)
def test_it_declines_what_asks_nothing(where: str, form: AnswerForm, why: str):
    template = task(where).queries[0].template
    prompt = with_source(template, PAGE)
    request = Request(
        item="x", benchmark="MCS-Bench", task=where, form=form, prompt=prompt, source=PAGE
    )
    assert why in open_model("baseline:overlap", ModelOptions()).unsupported_reason(request)


def test_it_needs_a_text():
    item = Item(id="c", benchmark="MCS-Bench", task="T7", options=("甲", "乙"), answer="A")
    model = open_model("baseline:overlap", ModelOptions())
    assert "it needs a text" in model.unsupported_reason(request_for(item))
    pipeline = open_model("ocr+llm:ppocr+baseline:overlap", ModelOptions())
    assert pipeline.unsupported_reason(request_for(item)) == ""


@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        ("天地", "天地玄黃", (1.0, 1.0)),
        ("地天", "天地玄黃", (0.0, 1.0)),
        ("天日", "天地玄黃", (0.0, 0.5)),
        ("天", "天地玄黃", (1.0, 1.0)),
        ("", "天地玄黃", (0.0, 0.0)),
        ("天天天", "天地", (0.0, 1.0)),
    ],
)
def test_shares(wanted: str, text: str, expected: tuple[float, float]):
    assert shared(wanted, text) == Shared(*expected)


def test_of_none_there_is_no_greatest():
    assert most([]) is None
    assert most([Shared(0, 0), Shared(0, 0)]) is None
    assert most([Shared(0, 0.5), Shared(0.5, 0.5), Shared(0.5, 0.5)]) == 1
