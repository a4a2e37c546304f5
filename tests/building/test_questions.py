"""From plates to items: what is asked can be seen, and the answer is right by construction."""

from __future__ import annotations

import msgspec
import pytest

from keju.benchmarks import prompt_of, task
from keju.building.plates import Plate
from keju.building.questions import MAKERS, Questions, items_about, load_questions
from keju.building.texts import DATA, Passage, load_passages
from keju.errors import DataError
from keju.items import ImageRef, Line

IMAGE = ImageRef(path="images/a.jpg", sha256="0" * 64, width=10, height=10, size=1)
PASSAGE = load_passages()["lunyu-xueer"]


def plate(**changes) -> Plate:
    lines = (
        Line(id="1", text="人不知而不慍不亦君子乎"),
        Line(id="2", text="慍含怒意", kind="note"),
        Line(id="3", text="論語卷一", kind="centre"),
    )
    whole = Plate("a", (IMAGE,), lines, PASSAGE, "行书", "test", ("T1",), {"hand": "h"})
    return whole._replace(**changes)


@pytest.fixture(scope="module")
def questions() -> Questions:
    return load_questions()


def test_what_stands_around_the_text_is_not_in_the_answer(questions: Questions):
    (item,) = items_about(plate(), questions)
    assert item.answer == "人不知而不慍不亦君子乎\n慍含怒意"
    assert item.answer_simplified == "人不知而不愠不亦君子乎\n愠含怒意"
    assert [line.kind for line in item.lines] == ["main", "note", "centre"]
    assert item.transcription is None


def test_one_picture_is_asked_about_in_several_tasks(questions: Questions):
    items = list(items_about(plate(asks=("T13", "T7", "T5", "T1")), questions))
    assert [item.task for item in items] == ["T1", "T5", "T5", "T7", "T13"]
    assert {item.group for item in items} == {"論語"}
    assert {item.images for item in items} == {(IMAGE,)}
    for item in items:
        assert item.benchmark == task(item.task).benchmark
        assert "{" not in prompt_of(item)
        if item.task != "T1":
            assert item.transcription == plate().text
            assert item.answer == item.answer_simplified
    assert items[-1].options[ord(items[-1].answer) - ord("A")] == "行书"


def test_a_word_that_is_not_on_the_page_is_not_asked_about(questions: Questions):
    bare = plate(lines=(Line(id="1", text="子曰"),), asks=("T5",))
    with pytest.raises(DataError, match="a: the term 愠 is not on the page"):
        list(items_about(bare, questions))


def test_a_task_without_a_maker_or_without_a_question_is_named(questions: Questions):
    with pytest.raises(DataError, match="a: task T99 has no maker"):
        list(items_about(plate(asks=("T99",)), questions))
    unknown = msgspec.structs.replace(PASSAGE, id="unknown")
    with pytest.raises(DataError, match="a: nothing to ask for task T7"):
        list(items_about(plate(passage=unknown, asks=("T7",)), questions))
    with pytest.raises(DataError, match="a: the script 魏碑"):
        list(items_about(plate(script="魏碑", asks=("T13",)), questions))


def test_every_maker_makes_items_of_a_catalogued_task():
    for name in MAKERS:
        assert task(name).id == name


def test_an_answer_that_is_no_letter_of_an_option_is_refused(tmp_path):
    text = (DATA / "questions.toml").read_text("utf-8")
    file = tmp_path / "q.toml"
    file.write_text(text.replace('answer = "D"', 'answer = "E"', 1), "utf-8")
    with pytest.raises(DataError, match="'E' is not among the options"):
        load_questions(file)


def test_questions_are_about_known_passages_and_options_are_distinct(questions: Questions):
    known: dict[str, Passage] = load_passages()
    for choice in (*questions.words, *questions.sources):
        assert choice.passage in known
        assert len(set(choice.options)) == len(choice.options) == 4
