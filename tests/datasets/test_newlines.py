r"""A literal ``\n`` in released texts: converted by a declared rule, so that it costs nothing."""

from __future__ import annotations

import pytest

from keju.datasets.newlines import Newlines, has_literal_newline
from keju.datasets.validate import validate
from keju.items import Item, Response
from keju.scoring import score_answer
from tests.support.layouts import ancientdoc


@pytest.mark.parametrize(
    ("choice", "text", "converted"),
    [
        ("auto", r"天地\n玄黃", "天地\n玄黃"),
        ("auto", r"\n天地\r\n玄黃\n", "天地\n玄黃"),
        ("auto", r"天地\\n玄黃", "天地\n玄黃"),
        ("auto", "天\\n地\n玄", "天\n地\n玄"),
        ("auto", r"天\nAbc\n地", "天\nAbc\n地"),
        ("auto", r"梯度 $\nabla f$", r"梯度 $\nabla f$"),
        ("literal", r"$\nabla$", "$\nabla$"),
        ("keep", r"天地\n玄黃", r"天地\n玄黃"),
        ("auto", "天地\n玄黃", "天地\n玄黃"),
    ],
)
def test_literal_line_breaks_are_converted_by_the_rule(choice, text, converted):
    assert Newlines(choice).convert(text) == converted


def test_what_is_converted_and_kept_is_counted():
    newlines = Newlines()
    for text in (r"天\n地\n玄", r"黃\n宇", r"\nabla", "宙"):
        newlines.convert(text)
    converted, kept = newlines.notes()
    assert r"literal \n read as line breaks: 3 in 2 texts" in converted
    assert r"literal \n kept in 1 text" in kept
    assert list(Newlines().notes()) == []


def test_only_a_certain_line_break_is_certain():
    assert has_literal_newline(r"天\n")
    assert not has_literal_newline(r"\nabla")


def perfect(item: Item, reading: str) -> dict[str, float | None]:
    response = Response(
        key="k", item=item.id, model="m", benchmark=item.benchmark, task=item.task, text=reading,
        status="answered",
    )  # fmt: skip
    return {f"{each.protocol} {each.metric}": each.value for each in score_answer(item, response)}


def test_a_perfect_reading_of_the_release_loses_no_character(read, tmp_path):
    item = read("ancientdoc", ancientdoc.hub_ocr(tmp_path / "src")).items[0]
    scores = perfect(item, "兵垣四編\n孫子曰兵者國之大事")
    assert scores["official CER"] == scores["strict CER"] == 0
    assert scores["official CharF1"] == scores["strict CharAcc"] == 1


def test_strict_ignores_where_lines_break(read, tmp_path):
    item = read("ancientdoc", ancientdoc.hub_ocr(tmp_path / "src")).items[0]
    assert perfect(item, "兵垣四編孫子曰兵者\n國之大事")["strict CharAcc"] == 1


def test_kept_line_breaks_cost_characters_and_are_a_warning(read, tmp_path):
    done = read("ancientdoc", ancientdoc.hub_ocr(tmp_path / "src"), newlines="keep")
    assert perfect(done.items[0], "兵垣四編\n孫子曰兵者國之大事")["official CER"] > 0
    stem = ancientdoc.PAGES[0].removesuffix(".png")
    named = [each.item for each in validate(done.path) if "has a literal" in each.problem]
    assert f"{stem}#page_level_ocr-1 and 1 more" in named


def test_converted_line_breaks_are_no_warning(read, tmp_path):
    done = read("ancientdoc", ancientdoc.hub_ocr(tmp_path / "src"))
    assert list(validate(done.path)) == []
