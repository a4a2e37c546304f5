"""Rows through Daft: order, declared types, partitions that survive, errors of their own."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from keju.building.engine import Engine
from keju.building.image_files import UnavailableError
from keju.building.tables import make_table, read_rows
from keju.errors import DataError, PrerequisiteError, UsageError
from tests.support.builds import need_ray


class Word(Struct, frozen=True, weakref=True):
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


def _stored_words_later(scratch: Path) -> set[str]:
    time.sleep(0.5)
    return stored_words(scratch)


def stored_words(scratch: Path) -> set[str]:
    """The words whose results are stored."""
    files = (scratch / "parts" / "say").glob("*.parquet")
    return {word for file in files for word in pq.read_table(file)["text"].to_pylist()}


def test_finished_partitions_are_not_worked_again(tmp_path):
    words = [Word(f"{n}") for n in range(200)]
    words[133] = Word("bug")
    engine = Engine(scratch=tmp_path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        engine.map("say", words, say, Said, chunk=10)
    done = stored_words(tmp_path)
    # Partitions that were begun before the error may still be finished.
    while (later := _stored_words_later(tmp_path)) != done:
        done = later
    assert len(done) % 10 == 0
    words[133] = Word("133")
    CALLS.clear()
    out = engine.map("say", words, say, Said, chunk=10)
    assert [each.text for each in out] == [f"{n}" for n in range(200)]
    assert sorted(CALLS) == sorted({f"{n}" for n in range(200)} - done)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_partitions_are_the_same_on_every_machine(tmp_path, monkeypatch):
    names = []
    for cores in (1, 64):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        engine = Engine(scratch=tmp_path / f"{cores}")
        engine.map("say", [Word(f"{n}") for n in range(200)], say, Said)
        names.append(sorted(path.name for path in tmp_path.glob(f"{cores}/parts/say/*")))
    assert names[0] == names[1]
    assert len(names[0]) == 4


def test_rows_are_not_all_in_memory(tmp_path):
    alive: weakref.WeakSet[Word] = weakref.WeakSet()
    most = 0

    def words() -> Iterator[Word]:
        nonlocal most
        for number in range(500):
            word = Word(f"{number}")
            alive.add(word)
            most = max(most, len(alive))
            yield word

    found = Engine(scratch=tmp_path).iter_map("say", words(), say, Said, chunk=20)
    assert [each.text for each in found] == [f"{number}" for number in range(500)]
    assert most <= 45


def test_rows_that_occur_twice_are_worked_once():
    CALLS.clear()
    out = Engine().map("say", [Word("a"), Word("b")] * 3, say, Said, chunk=2)
    assert [each.text for each in out] == ["a", "b"] * 3
    assert sorted(CALLS) == ["a", "b"]


def test_a_file_that_a_worker_cannot_get_ends_the_work(tmp_path):
    def fetch(word: Word) -> Said:
        raise UnavailableError(f"no {word.text}")

    with pytest.raises(DataError, match="no a"):
        Engine(scratch=tmp_path).map("say", [Word("a")], fetch, Said)
    assert not list(tmp_path.glob("parts/*/*"))


def test_a_partition_is_known_by_its_rows_and_its_work(tmp_path):
    engine = Engine(scratch=tmp_path)
    engine.map("say", [Word("a")], say, Said)
    assert engine.map("say", [Word("b")], say, Said)[0].text == "b"
    assert engine.map("other", [Word("a")], partial(say, mark="!"), Said)[0].text == "a!"


def test_a_torn_partition_and_one_of_other_columns_are_worked_again(tmp_path):
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


@settings(max_examples=50)
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


@pytest.mark.parametrize(("name", "extra"), [("native", "build"), ("ray", "ray")])
def test_a_missing_engine_is_installed_by_one_extra(name, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, "daft", None)
    with pytest.raises(PrerequisiteError, match=rf'pip install "keju\[{extra}\]"'):
        Engine(name).map("say", [Word("字")], say, Said)
