"""docs/protocols.md is what the code makes, and its answers earn what they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.definitions import paper_tasks, task
from keju.scoring import TaskDifference, list_task_differences, scores_frame
from tests.support.specimens import SPECIMENS, scores_of
from tools import make_protocols_page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "protocols.md"
PAIRS = [(each, query) for each in paper_tasks() for query in each.queries if query.strict]


@pytest.mark.xdist_group("protocols page")
def test_the_page_is_the_one_that_the_code_makes():
    assert PAGE.read_text("utf-8") == make_protocols_page.page(), (
        "python -m tools.make_protocols_page > docs/protocols.md"
    )


def test_every_task_and_way_of_asking_has_its_row():
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    names = [f"{each.id}/{query.name}" if query.name else each.id for each, query in PAIRS]
    assert [row for row in rows if row in set(names)] == names
    assert len({name.split("/")[0] for name in names}) == len(paper_tasks()) >= 55


def found(task_id: str, specimen: str, query: str = "") -> TaskDifference:
    declared = task(task_id)
    asked = next(each for each in declared.queries if each.name == query)
    (only,) = list_task_differences(scores_frame(scores_of(declared, asked, specimen)))
    return only


@pytest.mark.parametrize("specimen", ["the answer", "after reasoning"])
@pytest.mark.parametrize("task_id", ["T1", "T2", "T3", "T4", "T5", "T21", "T6", "reasoning_qa"])
def test_strict_pays_the_answer_in_full_with_reasoning_before_it_or_without(task_id, specimen):
    assert found(task_id, specimen).strict == pytest.approx(1)


@pytest.mark.parametrize("specimen", ["all options", "the prompt", "three times", "nothing"])
def test_strict_pays_no_choice_for_all_of_them(specimen):
    assert found("T5", specimen).strict == 0


@pytest.mark.parametrize("task_id", ["T28", "T8", "T26", "T1"])
def test_a_page_loses_nothing_by_a_sentence_that_announces_it(task_id):
    assert found(task_id, "in a sentence").strict == pytest.approx(1)


def test_each_answer_is_another_text():
    made = [make("天地玄黄", "宇宙洪荒", "？") for make in SPECIMENS.values()]
    assert len(set(made)) == len(made)
