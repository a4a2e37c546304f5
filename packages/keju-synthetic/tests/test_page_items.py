"""From plates to items: what is asked can be seen, and the answer is right by construction."""

from __future__ import annotations

import msgspec
import pytest

from keju.definitions import prompt_of, task
from keju.errors import DataError
from keju.items import ImageRef, Line
from keju_synthetic.page_images import DrawnPage
from keju_synthetic.page_items import MAKERS, make_page_items
from keju_synthetic.questions import Questions, load_questions
from keju_synthetic.texts import load_passages, split_paragraphs, strip_punctuation

IMAGE = ImageRef(path="images/a.jpg", sha256="0" * 64, width=10, height=10, size=1)
PASSAGE = load_passages()["lunyu-xueer"]


def page(**changes) -> DrawnPage:
    lines = (
        Line(id="1", text="人不知而不慍不亦君子乎"),
        Line(id="2", text="慍含怒意", kind="note"),
        Line(id="3", text="論語卷一", kind="centre"),
    )
    whole = DrawnPage("a", (IMAGE,), lines, PASSAGE, "行书", "test", ("T1",), {"hand": "h"})
    return whole._replace(**changes)


@pytest.fixture(scope="module")
def questions() -> Questions:
    return load_questions()


def test_lines_around_the_text_are_not_in_the_answer(questions: Questions):
    (item,) = make_page_items(page(), questions)
    assert item.answer == "人不知而不慍不亦君子乎\n慍含怒意"
    assert item.answer_simplified == "人不知而不愠不亦君子乎\n愠含怒意"
    assert [line.kind for line in item.lines] == ["main", "note", "centre"]
    assert item.transcription is None


def test_one_picture_is_asked_about_in_several_tasks(questions: Questions):
    items = list(make_page_items(page(asks=("T7", "T5", "T1")), questions))
    assert [item.task for item in items] == ["T1", "T5", "T5", "T7"]
    assert {item.group for item in items} == {"論語"}
    assert {item.images for item in items} == {(IMAGE,)}
    for item in items:
        assert item.benchmark == task(item.task).benchmark
        assert "{" not in prompt_of(item)
        if item.task != "T1":
            assert item.transcription == page().text
            assert item.answer == item.answer_simplified


def test_a_word_that_is_not_on_the_page_is_not_asked_about(questions: Questions):
    bare = page(lines=(Line(id="1", text="子曰"),), asks=("T5",))
    with pytest.raises(DataError) as caught:
        list(make_page_items(bare, questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.term-not-on-page", "a")


def test_a_task_without_a_maker_or_without_a_question_is_named(questions: Questions):
    with pytest.raises(DataError) as caught:
        list(make_page_items(page(asks=("T99",)), questions))
    assert (caught.value.id, caught.value.item) == ("errors.unknown-name", "a")
    unknown = msgspec.structs.replace(PASSAGE, id="unknown")
    with pytest.raises(DataError) as caught:
        list(make_page_items(page(passage=unknown, asks=("T7",)), questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.nothing-to-ask", "a")


def test_every_maker_makes_items_of_a_catalogued_task():
    for name in MAKERS:
        assert task(name).id == name


def whole(name: str, **changes) -> DrawnPage:
    """A page with a whole passage, in columns of ten."""
    passage = load_passages()[name]
    text = "".join(run.text for runs in split_paragraphs(passage) for run in runs)
    lines = tuple(Line(id=str(at), text=text[at : at + 10]) for at in range(0, len(text), 10))
    return page(passage=passage, lines=lines, **changes)


def test_punctuation_is_put_into_the_characters_that_were_drawn(questions: Questions):
    drawn = whole("lvshi-chajin", asks=("T3",))
    changed = drawn._replace(lines=tuple(
        msgspec.structs.replace(line, text=line.text.replace("劍", "劎")) for line in drawn.lines
    ))  # fmt: skip
    (item,) = make_page_items(changed, questions)
    assert item.answer.startswith("楚人有涉江者，其劎自舟中墜於水，遽契其舟，曰：「是吾劎")
    assert strip_punctuation(item.answer) == changed.text.replace("\n", "")
    assert item.transcription == changed.text


@pytest.mark.parametrize("name", ["T2", "T3", "vernacular_translation"])
def test_a_part_of_a_passage_is_not_asked_about_as_the_whole(questions: Questions, name: str):
    drawn = whole("dianlun" if name == "T3" else "taohuayuan", asks=(name,))
    assert list(make_page_items(drawn, questions))
    with pytest.raises(DataError) as caught:
        list(make_page_items(drawn._replace(lines=drawn.lines[:-1]), questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.passage-not-whole", "a")


def test_a_passage_with_notes_is_not_asked_for_its_punctuation(questions: Questions):
    with pytest.raises(DataError) as caught:
        list(make_page_items(whole("lunyu-xueer", asks=("T3",)), questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.notes-not-punctuated", "lunyu-xueer")


def test_names_are_all_on_the_page(questions: Questions):
    (item,) = make_page_items(whole("huapin", asks=("T4",)), questions)
    assert (item.answer, item.answer_simplified) == ("陸探微、衛協", "陆探微、卫协")
    bare = whole("huapin", asks=("T4",))._replace(lines=(Line(id="1", text="陸探微"),))
    with pytest.raises(DataError) as caught:
        list(make_page_items(bare, questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.names-not-on-page", "a")


def test_an_ancientdoc_page_says_kind_of_book_dynasty_and_script(questions: Questions):
    items = list(make_page_items(whole("lisao", asks=("knowledge_qa", "T1")), questions))
    assert [item.id for item in items] == ["a-t1", "a-knowledge-qa-1", "a-knowledge-qa-2"]
    asked = items[1].metadata
    assert asked["category"] == "Chuci-style Poetry"
    assert (asked["dynasty"], asked["book"]) == ("Warring States", "楚辭")
    assert asked["script"] == "cursive_or_semi_cursive"
    assert "category" not in items[0].metadata
    with pytest.raises(DataError) as caught:
        list(make_page_items(whole("hanfei", asks=("page_level_ocr",)), questions))
    assert (caught.value.id, caught.value.item) == ("synthetic.passage-without-category", "a")
