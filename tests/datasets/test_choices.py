"""Options in the forms of sources, and the letter that a reference means."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.datasets.readers.choices import (
    insert_options,
    known_letter,
    options_from,
    unlettered,
)
from keju.datasets.readers.records import Place
from keju.definitions import options_in, task
from keju.errors import DataError

PLACE = Place(Path("data.json"), "1")


@pytest.mark.parametrize(
    "value",
    [
        ["论语", "说苑"], ["A. 论语", "B. 说苑"], ["A、论语", "B、说苑"], ["(A) 论语", "(B) 说苑"],
        ["B. 说苑", "A. 论语"], ["Ａ、论语", "Ｂ、说苑"],
        {"A": "论语", "B": "说苑"}, {"B": "说苑", "A": "论语", "C": None}, "A. 论语\nB. 说苑",
        {"option_a": "论语", "option_b": "说苑"}, "A、论语 B、说苑", "论语\n说苑", "论语|说苑",
        "论语；说苑", '["论语", "说苑"]', "['论语', '说苑']", ["A、论语 B、说苑"],
        '{"A": "论语", "B": "说苑"}',
    ],
)  # fmt: skip
def test_options_have_many_forms(value: object) -> None:
    assert options_from(value, PLACE) == ("论语", "说苑")


@pytest.mark.parametrize("text", ["唐；宋", "A. only", "B. x；C. y"])
def test_the_one_text_of_a_list_is_one_option(text: str) -> None:
    assert options_from([text], PLACE) == (text,)


@pytest.mark.parametrize("value", [None, "", [], {}, " "])
def test_no_options_are_none(value: object) -> None:
    assert options_from(value, PLACE) == ()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "not a list of texts"),
        ([["a"], ["b"]], "options are not|expected text"),
        ([{"x": "y"}, "b"], "not a list of"),
        ({"A": "x", "C": "y"}, "found A, C"), ("A、甲 C、乙", "found A, C"),
        (["A. 甲", "C. 乙"], "found A, C"),
    ],
)  # fmt: skip
def test_options_of_another_form_are_refused(value: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem) as refused:
        options_from(value, PLACE)
    assert (refused.value.file, refused.value.item) == ("data.json", "1")
    assert refused.value.hint


def test_letters_that_only_some_options_have_are_part_of_them() -> None:
    assert unlettered(["A. 甲", "乙"], PLACE) == ("A. 甲", "乙")
    assert unlettered(["A. 甲", "A. 乙"], PLACE) == ("A. 甲", "A. 乙")
    assert unlettered(["B. 甲"], PLACE) == ("B. 甲",)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"), ("b", "B"), ("b.", "B"), ("(b)", "B"), ("说苑", "B"), ("說苑", "B"),
        ("ｂ", "B"), ("**B**", "B"), (" B ", "B"), ("B、", "B"), ("（Ｂ）", "B"), ("", ""),
    ],
)  # fmt: skip
def test_an_answer_becomes_its_letter_where_that_is_sure(answer: str, letter: str) -> None:
    assert known_letter(answer, ("论语", "说苑"), PLACE) == letter


@pytest.mark.parametrize(
    "answer", ["C", "答案：B", "B、说苑", "A、说苑", "AB", "B或A", "后汉书", "2"]
)
def test_an_answer_that_is_not_sure_is_refused(answer: str) -> None:
    with pytest.raises(DataError, match="not one of the options A to B"):
        known_letter(answer, ("论语", "说苑"), PLACE)


def test_the_text_of_an_option_comes_before_its_letter_and_its_number() -> None:
    assert known_letter("b", ("b", "a"), PLACE) == "A"
    assert known_letter("b", ("b", "a"), PLACE, "letter") == "B"
    assert known_letter("1", ("2", "1"), PLACE, "from-1") == "B"
    with pytest.raises(DataError, match="not one of"):
        known_letter("说苑", ("说苑", "说苑"), PLACE)


@pytest.mark.parametrize(
    ("answer", "first", "letter"),
    [("0", 0, "A"), ("1", 0, "B"), ("1", 1, "A"), ("2.0", 1, "B"), ("B", 1, "B"), ("", 1, "")],
)
def test_a_number_of_an_option_counts_from_the_first(answer: str, first: int, letter: str) -> None:
    assert known_letter(answer, ("论语", "说苑"), PLACE, f"from-{first}") == letter


@pytest.mark.parametrize(
    ("answer", "first", "problem"),
    [
        ("2", 0, "not the number of an option"), ("0", 1, "not the number of an option"),
        ("1", None, "not one of the options A to B"), ("C", None, "not one of the options A to B"),
        ("B或A", None, "not one of the options A to B"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_option_is_refused(
    answer: str, first: int | None, problem: str
) -> None:
    with pytest.raises(DataError, match=problem) as refused:
        known_letter(answer, ("论语", "说苑"), PLACE, "text" if first is None else f"from-{first}")
    assert (refused.value.file, refused.value.item) == ("data.json", "1")


def test_options_are_put_before_the_required_form_of_the_answer() -> None:
    kind = task("T7")
    plain = insert_options("何书？", ("论语", "说苑"), kind)
    assert plain.startswith("何书？\nA、论语 B、说苑\n")
    assert options_in(plain) == ("论语", "说苑")
    required = insert_options("何书？\n要求：只答字母。", ("论语", "说苑"), kind)
    assert required == "何书？\nA、论语 B、说苑\n要求：只答字母。"
