"""What keju says of things that others named is one line that no terminal obeys."""

from __future__ import annotations

import pytest

from keju.errors import (
    LONGEST,
    DataError,
    PrerequisiteError,
    UsageError,
    describe_exception,
    did_you_mean,
    nearest_names,
    printable,
    unknown_name,
)

HOSTILE = "\x1b[31m紅\x1b]0;title\x07\r\n\u202e\u2066\u2028\x9b\ud800\x00"


@pytest.mark.parametrize(
    "error",
    [
        UsageError(f"{HOSTILE}: no such task"),
        DataError(HOSTILE, file=f"{HOSTILE}.json", item=HOSTILE, hint=HOSTILE),
        PrerequisiteError(HOSTILE, HOSTILE),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_one_line_without_control_characters(error):
    said = str(error)
    assert said.isprintable()
    assert "\\x1b[31m紅" in said
    assert "\\u202e" in said


@pytest.mark.parametrize("sign", ["x", "\0", "字"])
def test_an_error_of_a_very_long_name_keeps_its_beginning_and_its_hint(sign):
    said = str(DataError(f"no column {sign * 100_000}", file="a.csv", hint="Name the column"))
    assert len(said) <= LONGEST
    assert said.startswith("a.csv: no column ")
    assert said.endswith("Name the column")


def chained(outer: Exception, inner: Exception, *, explicit: bool = True) -> Exception:
    outer.__context__ = inner
    outer.__cause__ = inner if explicit else None
    outer.__suppress_context__ = not explicit
    return outer


@pytest.mark.parametrize(
    ("error", "described"),
    [
        (ValueError("no such size"), "ValueError: no such size"),
        (RuntimeError("two\n  lines "), "RuntimeError: two lines"),
        (MemoryError(), "MemoryError"),
        (AssertionError(""), "AssertionError"),
        (chained(TypeError(), ValueError("no such size")), "TypeError (ValueError: no such size)"),
        (chained(TypeError(), ValueError("a"), explicit=False), "TypeError"),
        (chained(TypeError(), KeyError()), "TypeError"),
        (chained(TypeError("b"), ValueError("a")), "TypeError: b"),
        (RuntimeError("Traceback (most recent call last):\n  File x\nFail: [ONNX] no memory\n"),
         "RuntimeError: Fail: [ONNX] no memory"),
    ],
)  # fmt: skip
def test_an_exception_without_words_is_described_by_its_class_and_cause(
    error: Exception, described: str
):
    assert describe_exception(error) == described


def test_printable_leaves_what_people_write_as_it_is():
    written = "keju 科舉　𠀀\ue000 naïve (A=1) [red] ≥ 〇"
    assert printable(written) == written


def test_an_error_shows_characters_without_glyph_as_escapes():
    assert str(UsageError("the column \ue24b\U000e1000")) == r"the column \ue24b\U000e1000"
    assert printable("\ue24b") == "\ue24b"


def test_the_nearest_names_are_found_in_any_case():
    known = ["T1", "T10", "Where", "recognition", ""]
    assert nearest_names("recogniton", known) == ["recognition"]
    assert nearest_names("where", known) == ["Where"]
    assert nearest_names("t1", known, most=2) == ["T1", "T10"]
    assert nearest_names("gold", known) == []


def test_every_suggestion_is_the_same_message():
    one = did_you_mean(["a"])
    assert UsageError(one).template == " Did you mean {}?"
    assert one == " Did you mean 'a'?"
    assert did_you_mean(["a", "b"]) == " Did you mean 'a' or 'b'?"
    assert did_you_mean([]) == ""


def test_an_unknown_name_gets_the_nearest_one_and_all_names():
    found = UsageError(unknown_name("sevn", ["seven", "eight"], "step"))
    assert found.values == ("step", "sevn", " Did you mean 'seven'?", "seven, eight")
    assert found.render("zh") == "没有步骤 'sevn'。您要用的可能是 'seven'。请选：seven, eight"


def test_a_hint_follows_a_question_without_a_full_stop():
    near = did_you_mean(["a"])
    error = DataError(
        "no record has a column {!r}.{}", "b", near, file="x.csv", hint="Columns: a, c"
    )
    assert str(error) == ("x.csv: no record has a column 'b'. Did you mean 'a'? Columns: a, c")
