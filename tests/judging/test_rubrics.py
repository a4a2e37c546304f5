"""Rubrics are data: whole, versioned by every word, refused where they make no sense."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from keju.definitions import tasks
from keju.errors import DataError, UsageError
from keju.judging.answers import answers_of
from keju.judging.prompting import read_rubrics
from keju.runs import RunFolder

SHIPPED = files("keju.judging").joinpath("rubrics.toml").read_text("utf-8")
WITH_TASKS = SHIPPED.replace(
    'title = "文言译成白话"', 'title = "文言译成白话"\ntasks = ["T2", "vernacular_translation"]'
).replace('title = "阅读理解"', 'title = "阅读理解"\ntasks = ["T6"]')


def own(path: Path, old: str, new: str) -> Path:
    assert old in WITH_TASKS
    path.write_text(WITH_TASKS.replace(old, new), "utf-8")
    return path


def test_every_open_query_and_all_of_ancientdoc_are_graded_unasked():
    rubrics = read_rubrics()
    for task in tasks():
        for query in task.queries:
            rubric = rubrics.rubric(task.id, query.name)
            graded = query.form == "text" or task.benchmark == "AncientDoc"
            assert (rubric is not None and rubric.open) == graded, task.id


def test_without_tasks_a_rubric_is_for_the_queries_whose_definition_names_it(tmp_path):
    (copy := tmp_path / "r.toml").write_text(SHIPPED, "utf-8")
    rubrics = read_rubrics(copy)
    assert rubrics.rubrics["translation"].tasks == ("T2", "vernacular_translation")
    assert rubrics.rubrics["description"].tasks == ("T25", "T38", "recognition/What")
    assert rubrics.id == read_rubrics().id == read_rubrics(own(tmp_path / "s.toml", "\n", "\n")).id


def test_a_file_of_rubrics_alone_has_the_bundled_prompt(tmp_path):
    (path := tmp_path / "r.toml").write_text(
        'name = "mine"\nversion = "1"\n'
        '[rubrics.x]\ntitle = "x"\nsays = "10 分：对"\ntasks = ["T6"]\n',
        "utf-8",
    )
    rubrics, bundled = read_rubrics(path), read_rubrics()
    assert (rubrics.template, rubrics.source) == (bundled.template, bundled.source)
    assert rubrics.tasks(only_open=True) == {"T6"}
    assert rubrics.id.startswith("mine-1-")


def test_a_part_of_the_prompt_that_a_file_empties_stays_empty(tmp_path):
    empty = own(tmp_path / "r.toml", read_rubrics().author, "")
    assert read_rubrics(empty).author == ""
    assert read_rubrics(empty).id != read_rubrics().id


def test_the_hash_under_which_answers_were_graded_is_the_same():
    assert read_rubrics().id == "keju-3-05c8b99f"


def test_each_rubric_says_what_ten_and_nothing_are():
    for rubric in read_rubrics().rubrics.values():
        assert "10 分：" in rubric.says
        assert "0 分：" in rubric.says


def test_a_changed_word_is_another_set_of_rubrics(tmp_path):
    changed = own(tmp_path / "r.toml", "空话和重复不加分", "空话不加分")
    assert read_rubrics(changed).id != read_rubrics().id
    assert read_rubrics(own(tmp_path / "s.toml", "# The prompt", "# the prompt")).id == (
        read_rubrics().id
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{answer}", "", "the template does not contain the blank {answer}"),
        ('"T2"', '"T99"', "no such query: T99"),
        ('"T6"', '"T2"', "a query has two rubrics"),
        ('version = "3"', "version = 3", "not a file of rubrics"),
        ("[rubrics.style]", "[rubrics.style", "not a file of rubrics"),
    ],
)
def test_a_fault_is_named(tmp_path, old, new, says):
    with pytest.raises(DataError, match=says):
        read_rubrics(own(tmp_path / "r.toml", old, new))


LINGUISTIC = ("修辞", "文体", "风格", "时代")
"""What linguistic-variant questions of AncientDoc are about (3.1, Fig. 1)."""
CHARACTERS = ("通假", "异体", "避讳", "古今", "字词")


def test_linguistic_variants_are_style_and_rhetoric_not_variant_characters():
    says = read_rubrics().rubric("linguistic_variant_qa").says
    assert all(word in says for word in LINGUISTIC)
    assert not any(word in says for word in CHARACTERS)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("page_level_ocr", ("整页", "完整", "次序", "夹注")),
        ("vernacular_translation", ("现代汉语", "上下文", "断句")),
        ("reasoning_qa", ("没有明说", "推", "因果")),
        ("knowledge_qa", ("时间", "地名", "名物", "医药")),
    ],
)
def test_each_rubric_of_ancientdoc_names_what_defines_its_task(task, words):
    says = read_rubrics().rubric(task).says
    assert all(word in says for word in words)


def test_rubrics_for_no_query_are_named(tmp_path):
    (path := tmp_path / "r.toml").write_text(
        'name = "mine"\nversion = "1"\n[rubrics.x]\ntitle = "x"\nsays = "10 分：对"\n', "utf-8"
    )
    with pytest.raises(UsageError, match="are for no query: give each its tasks"):
        answers_of(RunFolder(tmp_path / "run"), read_rubrics(path))
