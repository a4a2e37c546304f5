"""Rows through Daft: order, declared types, chunks that survive, errors of their own."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from keju.building.columns import make_table, read_rows
from keju.building.engine import Engine
from keju.errors import DataError, UsageError
from tests.support.builds import need_ray


class Word(Struct, frozen=True):
    text: str
    times: int = 1
    weights: tuple[float, ...] = ()


class Said(Struct, frozen=True):
    text: str = ""
    data: bytes = b""
    parts: list[str] = []
    share: float | None = None
    good: bool = False
    error: str = ""


CALLS: list[str] = []


def say(word: Word, *, mark: str = "") -> Said:
    CALLS.append(word.text)
    if word.text == "bad":
        raise DataError("this word is bad", file="words", item=word.text)
    if word.text == "bug":
        raise ZeroDivisionError
    share = sum(word.weights) if word.weights else None
    text = word.text * word.times + mark
    return Said(text, text.encode(), [*word.text], share, good=bool(text))


def test_rows_come_back_in_their_order():
    words = [Word(f"字{n}", n % 3) for n in range(1000)]
    out = Engine().map("say", words, partial(say, mark="!"), Said, chunk=300)
    assert [each.text for each in out] == [f"字{n}" * (n % 3) + "!" for n in range(1000)]
    assert out[7].data == "字7!".encode()
    assert out[7].parts == ["字", "7"]


def test_columns_that_are_empty_throughout_keep_their_type():
    out = Engine().map("say", [Word(""), Word("")], say, Said)
    assert out == [Said(), Said()]


def test_an_error_of_ours_is_its_row_s_and_a_bug_ends_the_work():
    good, bad = Engine().map("say", [Word("a"), Word("bad")], say, Said)
    assert (good.error, good.text) == ("", "a")
    assert bad == Said(error="words: bad: this word is bad")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        Engine().map("say", [Word("bug")], say, Said)


def test_finished_chunks_are_not_worked_again(tmp_path):
    words = [Word(f"{n}") for n in range(50)]
    words[33] = Word("bug")
    engine = Engine(scratch=tmp_path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        engine.map("say", words, say, Said, chunk=10)
    words[33] = Word("33")
    CALLS.clear()
    out = engine.map("say", words, say, Said, chunk=10)
    assert [each.text for each in out] == [f"{n}" for n in range(50)]
    assert sorted(CALLS, key=int) == [f"{n}" for n in range(30, 50)]


def test_a_chunk_is_known_by_its_rows_and_its_work(tmp_path):
    engine = Engine(scratch=tmp_path)
    engine.map("say", [Word("a")], say, Said)
    assert engine.map("say", [Word("b")], say, Said)[0].text == "b"
    assert engine.map("other", [Word("a")], partial(say, mark="!"), Said)[0].text == "a!"


def test_a_torn_chunk_and_one_of_other_columns_are_worked_again(tmp_path):
    engine = Engine(scratch=tmp_path)
    engine.map("say", [Word("a")], say, Said)
    (part,) = (tmp_path / "parts" / "say").glob("*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    assert engine.map("say", [Word("a")], say, Said)[0].text == "a"
    assert part.read_bytes() == whole

    class Less(Struct, frozen=True):
        text: str = ""
        error: str = ""

    assert engine.map("say", [Word("a")], lambda word: Less(word.text), Less) == [Less("a")]


def test_nothing_in_nothing_out():
    assert Engine().map("say", [], say, Said) == []


def test_results_that_an_error_alone_cannot_make_are_refused():
    class Needs(Struct):
        text: str
        error: str = ""

    class Mute(Struct):
        text: str = ""

    for shape in (Needs, Mute):
        with pytest.raises(TypeError, match="defaults"):
            Engine().map("say", [Word("a")], say, shape)


def test_there_are_two_engines():
    with pytest.raises(UsageError, match="native, ray"):
        Engine("dask")


def test_a_type_that_has_no_column_is_refused():
    class Odd(Struct):
        inner: dict[str, str] = {}
        error: str = ""

    with pytest.raises(TypeError, match="cannot be of the type"):
        Engine().map("say", [Word("a")], say, Odd)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.builds(
            Said,
            text=st.text(st.characters(exclude_categories=["Cs"])),
            data=st.binary(),
            parts=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
            share=st.none() | st.floats(allow_nan=False),
            good=st.booleans(),
        )
    )
)
def test_records_are_the_same_after_columns(rows):
    assert read_rows(make_table(rows, Said), Said) == rows


@pytest.mark.parametrize(
    ("where", "said"), [("127.0.0.1:1", "does not respond"), ("x", "HOST:PORT")]
)
def test_a_cluster_that_is_not_there_is_said_at_once(where, said):
    need_ray()
    with pytest.raises(UsageError, match=said):
        Engine("ray", address=where).map("say", [Word("a")], say, Said)
