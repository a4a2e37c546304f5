"""Messages are shown in the language of the user, and their fields are never interpreted."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import PurePosixPath

import pytest

from keju.errors import DataError, UsageError, english_problem
from keju.messages import (
    JoinedText,
    Message,
    both,
    either,
    in_english,
    join_clauses,
    join_lines,
    join_parts,
    join_sentences,
    language,
    listed,
    message,
    noun,
    recognised,
    register,
    using,
)
from keju.messages._catalogues import Template
from keju.translations import Words

CATALOGUES = {
    "en": """
[pages-missing]
text = "{count:page is|pages are} missing from {name!r}"
hint = "Add {them}, or remove {name}"
[them]
text = "the pages"
""",
    "zh": """
[pages-missing]
text = "{name!r} 缺少 {count:,} 页"
hint = "请添加{them}，或删除 {name}"
[them]
text = "这些页"
""",
}


@pytest.fixture(autouse=True)
def catalogue(tmp_path):
    for each, text in CATALOGUES.items():
        (tmp_path / f"{each}.toml").write_text(text, "utf-8")
    register("example", tmp_path)
    yield
    from keju.messages import _catalogues

    del _catalogues._registered["example"]


def missing(count: int = 2, name: str = "book") -> Message:
    return message("example.pages-missing", count=count, name=name, them=message("example.them"))


def test_an_error_has_the_id_and_the_fields_of_its_message():
    error = DataError(missing(), file="a.csv")
    assert error.id == "example.pages-missing"
    assert error.fields["count"] == 2
    assert error.problem == "2 pages are missing from 'book'"
    assert error.hint == "Add the pages, or remove book"
    assert str(error) == f"a.csv: {error.problem}. {error.hint}"


def test_an_error_is_shown_in_chinese_with_its_nested_messages():
    with using("zh"):
        error = DataError(missing(2000), file="a.csv", item="line 2")
        assert str(error) == "a.csv: line 2: 'book' 缺少 2,000 页。请添加这些页，或删除 book"
    assert error.render("en").startswith("a.csv: line 2: 2,000 pages are missing")


def test_files_store_what_is_wrong_in_english():
    with using("zh"):
        errors = [DataError(missing(), file="a.csv"), ValueError(missing()), OSError("no space")]
        assert [*map(english_problem, errors)] == [
            "2 pages are missing from 'book'",
            "2 pages are missing from 'book'",
            "no space",
        ]


def test_one_thing_has_a_noun_in_the_singular():
    assert missing(1).startswith("1 page is missing")


def test_a_hint_of_the_call_replaces_that_of_the_message():
    assert DataError(missing(), hint="Ask for help").hint == "Ask for help"


def test_a_plain_text_has_no_id_and_is_the_same_in_each_language():
    with using("zh"):
        error = UsageError("no such page")
    assert (error.id, error.fields, str(error)) == ("", {}, "no such page")


@pytest.mark.parametrize("name", ["{count}", "{name.__class__}", "{0}", "%s", "\x1b[31m"])
def test_fields_are_never_interpreted(name):
    error = UsageError(missing(name=name))
    assert f"or remove {name}".replace("\x1b", "\\x1b") in str(error)


def test_a_path_made_of_an_address_is_shown_as_the_address():
    shown = missing(name=PurePosixPath("s3://bucket/set"))  # type: ignore[arg-type]
    assert shown.hint == "Add the pages, or remove s3://bucket/set"
    assert pickle.loads(pickle.dumps(shown)) == shown
    assert missing(name=PurePosixPath("some/set")).hint.endswith("some/set")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["{name.__class__}", "{name[0]}", "{0}", "{}", "{name:{form}}"])
def test_a_template_has_only_named_fields(text):
    with pytest.raises(ValueError, match=r"field|use"):
        Template(text)


def test_a_message_and_its_error_survive_another_process():
    error = pickle.loads(pickle.dumps(DataError(missing(), file="a.csv")))
    assert error.id == "example.pages-missing"
    assert error.hint == "Add the pages, or remove book"
    assert pickle.loads(pickle.dumps(missing())).render("zh") == missing().render("zh")


def test_names_are_joined_in_each_language():
    assert (either("abc"), both(["a", "b"]), either([])) == ("a or b or c", "a and b", "")
    with using("zh"):
        assert (either("ab"), noun("task"), noun("widget")) == ("a 或 b", "任务", "widget")


def test_lists_and_sentences_have_the_punctuation_of_the_language():
    joins = (listed, join_parts, join_clauses, join_sentences, join_lines)
    assert [join("ab") for join in joins] == ["a, b", "a, b", "a; b", "a. b", "a\nb"]
    assert [join("ab").render("zh") for join in joins] == ["a、b", "a，b", "a；b", "a。b", "a\nb"]
    with using("zh"):
        assert [join("ab") for join in joins] == ["a、b", "a，b", "a；b", "a。b", "a\nb"]
    assert (listed([]), listed(["a"])) == ("", "a")


def test_joined_messages_keep_their_ids():
    joined = listed([message("example.them"), "b"])
    assert joined == "the pages, b"
    assert joined.render("zh") == "这些页、b"
    shown = message("example.pages-missing", count=2, name="book", them=joined)
    assert shown.render_hint("zh") == "请添加这些页、b，或删除 book"
    again = pickle.loads(pickle.dumps(joined))
    assert isinstance(again, JoinedText)
    assert again.render("zh") == joined.render("zh")
    with using("zh"):
        assert in_english(listed([message("example.them")])) == "the pages"
    assert in_english("plain") == "plain"


def test_a_text_without_an_id_is_translated_inside_a_message_by_the_words_of_pages():
    text = message("reporting.tasks-and-reason", count=2, reason=recognised("no responses"))
    assert (text, Words("zh")(text)) == ("2 tasks: no responses", "2 个任务：没有回答")
    named = message("reporting.tasks-and-reason", count=1, reason="no responses")
    assert Words("zh")(named) == "1 个任务：no responses"
    assert recognised(text) is text


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="fr"), using("fr"):
        language()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"KEJU_LANG": "zh"}, "zh"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LC_ALL": "zh_TW.UTF-8", "KEJU_LANG": "en"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
    ],
)
def test_the_language_is_that_of_keju_lang_or_of_the_locale(variables, expected):
    names = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-c", "from keju.messages import language; print(language())"]
    made = subprocess.run(command, env=kept | variables, check=True, capture_output=True, text=True)
    assert made.stdout.strip() == expected


def test_the_catalogues_are_read_when_a_message_is_first_shown():
    code = "import sys, keju, keju.errors; print('tomllib' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert made.stdout.strip() == "False"
