"""Passages: what is typed, and what of it is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.errors import DataError
from keju.text import is_han
from keju_synthetic.texts import (
    Passage,
    Run,
    format_numeral,
    load_passages,
    split_paragraphs,
    strip_punctuation,
)


def passage(text: str) -> Passage:
    return Passage(id="p", work="w", dynasty="d", author="a", text=text)


def test_notes_stand_where_they_were_typed_and_punctuation_is_not_drawn():
    assert list(
        split_paragraphs(passage("子曰：「學。」〔學，效也。〕樂乎？\n有子〔名若。〕"))
    ) == [
        [Run("main", "子曰學"), Run("note", "學效也"), Run("main", "樂乎")],
        [Run("main", "有子"), Run("note", "名若")],
    ]


@pytest.mark.parametrize("text", ["子〔曰", "子〕曰", "子〔曰〔學〕〕"])
def test_a_note_that_is_not_closed_is_refused(text: str):
    with pytest.raises(DataError) as caught:
        list(split_paragraphs(passage(text)))
    assert (caught.value.id, caught.value.item) == ("synthetic.note-not-closed", "p")


def test_every_bundled_passage_leaves_only_han_characters():
    for one in load_passages().values():
        drawn = "".join(run.text for runs in split_paragraphs(one) for run in runs)
        around = "".join([*one.heading, one.byline, one.running])
        assert drawn
        assert all(is_han(sign) for sign in drawn + strip_punctuation(around)), one.id


def test_an_id_twice_is_refused(tmp_path):
    entry = '[[passages]]\nid="p"\nwork="w"\ndynasty="d"\nauthor="a"\ntext="子"\n'
    file = tmp_path / "p.toml"
    file.write_text(entry * 2, "utf-8")
    with pytest.raises(DataError) as caught:
        load_passages(file)
    assert (caught.value.id, caught.value.item) == ("synthetic.id-twice", "p")


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "一"), (10, "十"), (11, "十一"), (20, "二十"), (21, "二十一"), (99, "九十九")],
)
def test_page_numbers_are_chinese_numerals(number: int, words: str):
    assert format_numeral(number) == words


@given(st.integers(1, 99), st.integers(1, 99))
def test_two_page_numbers_are_never_written_alike(one: int, other: int):
    assert (format_numeral(one) == format_numeral(other)) == (one == other)
