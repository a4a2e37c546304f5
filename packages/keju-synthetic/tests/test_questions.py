"""Questions are data with a schema, about passages that exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.errors import DataError
from keju_synthetic.questions import Questions, load_questions
from keju_synthetic.texts import DATA, Passage, load_passages


@pytest.fixture(scope="module")
def questions() -> Questions:
    return load_questions()


def test_an_answer_that_is_no_letter_of_an_option_is_refused(tmp_path):
    text = (DATA / "questions.toml").read_text("utf-8")
    file = tmp_path / "q.toml"
    file.write_text(text.replace('answer = "D"', 'answer = "E"', 1), "utf-8")
    with pytest.raises(DataError) as caught:
        load_questions(file)
    assert caught.value.id == "synthetic.answer-not-an-option"
    assert caught.value.fields["answer"] == "E"


def test_questions_are_about_known_passages_and_options_are_distinct(questions: Questions):
    known: dict[str, Passage] = load_passages()
    for section in questions.__struct_fields__:
        assert {one.passage for one in getattr(questions, section)} <= set(known), section
    for choice in (*questions.words, *questions.sources):
        assert len(set(choice.options)) == len(choice.options) == 4


def test_no_correct_option_is_recognised_by_its_length(questions: Questions):
    longest = sum(
        len(choice.options[ord(choice.answer) - ord("A")]) > max(
            len(option) for at, option in enumerate(choice.options)
            if at != ord(choice.answer) - ord("A")
        )
        for choice in questions.words
    )  # fmt: skip
    assert longest <= len(questions.words) / 3


def test_ancientdocs_kinds_are_the_papers(questions: Questions, shared: Path):
    registry = json.loads((shared / "published/ancientdoc_registry.json").read_text("utf-8"))
    kinds = {task["id"]: set(task["subtypes"]) for task in registry["tasks"]}
    for section, name in (
        ("reasoning", "reasoning_qa"),
        ("knowledge", "knowledge_qa"),
        ("linguistic", "linguistic_variant_qa"),
    ):
        assert {one.kind for one in getattr(questions, section)} <= kinds[name]
    for passage in load_passages().values():
        assert passage.category in {"", *registry["category_pages"]}
        assert passage.period in {"", *registry["dynasty_pages"]}
