"""Texts are shown in the language of the user, and their values are never interpreted."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from string import Formatter

import pytest

import keju.texts
from keju.errors import DataError, UsageError, english_problem
from keju.texts import (
    JoinedText,
    Text,
    _,
    both,
    either,
    in_english,
    in_terminal,
    join_clauses,
    join_lines,
    join_parts,
    join_sentences,
    language,
    listed,
    n_,
    noun,
    p_,
    recognised,
    translator,
    using,
)
from keju.words import Words

tools = pytest.importorskip("tools.texts", reason="Babel is not installed: make docs")

CATALOGUE = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "{n:,} page is missing from {!r}"
msgid_plural "{n:,} pages are missing from {!r}"
msgstr[0] "{!r} 缺少 {n:,} 页"

msgid "Add {}, or remove {}"
msgstr "请删除 {1}，或添加{0}"

msgid "the pages"
msgstr "这些页"

msgctxt "verb"
msgid "page"
msgstr "翻页"

msgid "{} is too wide"
msgstr "{1} 太宽"

msgid "Ask for help"
msgstr "请寻求帮助"
"""


@pytest.fixture(autouse=True)
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "example.po").write_text(CATALOGUE, "utf-8")
    with (tmp_path / "example.po").open("rb") as content:
        compiled = tools.compiled(tools.read_po(content, locale="zh"))
    (tmp_path / "example.mo").write_bytes(compiled)
    monkeypatch.setattr(keju.texts, "_files", [*keju.texts._files])
    keju.texts.add_translations(tmp_path / "example.mo")
    yield
    keju.texts._chinese.cache_clear()


def missing(count: int = 2, name: object = "book") -> Text:
    hint = _("Add {}, or remove {}", _("the pages"), name)
    return n_(
        "{n:,} page is missing from {!r}", "{n:,} pages are missing from {!r}", count, name,
        hint=hint,
    )  # fmt: skip


def test_an_error_keeps_its_sentence_its_values_and_its_hint() -> None:
    error = DataError("no {} in {!r}", _("the pages"), "book", file="a.csv", hint="Ask for help")
    assert (error.template, error.values) == ("no {} in {!r}", ("the pages", "book"))
    assert (error.problem, error.hint) == ("no the pages in 'book'", "Ask for help")
    assert str(error) == "a.csv: no the pages in 'book'. Ask for help"
    assert error.render("zh") == "a.csv: no 这些页 in 'book'。请寻求帮助"


def test_an_error_is_shown_in_chinese_with_the_texts_among_its_values() -> None:
    error = DataError(missing(2000), file="a.csv", item="line 2")
    assert error.render("zh") == "a.csv: line 2: 'book' 缺少 2,000 页。请删除 book，或添加这些页"
    with using("zh"):
        assert str(error).startswith("a.csv: line 2: 2,000 pages are missing")


def test_files_store_what_is_wrong_in_english() -> None:
    with using("zh"):
        errors = [DataError(missing(), file="a.csv"), ValueError(missing()), OSError("no space")]
        assert [*map(english_problem, errors)] == [
            "2 pages are missing from 'book'", "2 pages are missing from 'book'", "no space",
        ]  # fmt: skip


def test_the_number_one_has_a_noun_in_the_singular() -> None:
    assert missing(1).startswith("1 page is missing")


def test_a_context_distinguishes_equal_words() -> None:
    assert (p_("verb", "page"), p_("verb", "page").render("zh")) == ("page", "翻页")
    assert p_("another", "page").render("zh") == "page"


def test_a_hint_of_the_error_replaces_that_of_the_text() -> None:
    assert DataError(missing(), hint="Ask for help").hint == "Ask for help"


def test_a_sentence_without_translation_is_shown_in_english() -> None:
    error = UsageError("no such page as {}", 7)
    assert (error.values, error.render("zh")) == ((7,), "no such page as 7")


def test_a_translation_that_does_not_fit_the_values_is_not_used() -> None:
    assert _("{} is too wide", "a").render("zh") == "a is too wide"


def test_a_sentence_without_values_is_not_a_template() -> None:
    assert (str(UsageError("{a} %s {")), translator("zh")("{a}")) == ("{a} %s {", "{a}")


@pytest.mark.parametrize("name", ["{count}", "{name.__class__}", "{0}", "%s", "\x1b[31m"])
def test_values_are_never_interpreted(name: str) -> None:
    error = UsageError(missing(name=name))
    assert f"or remove {name}".replace("\x1b", "\\x1b") in str(error)


def test_a_path_made_of_an_address_is_shown_as_the_address() -> None:
    shown = missing(name=PurePosixPath("s3://bucket/set"))
    assert shown.hint == "Add the pages, or remove s3://bucket/set"
    assert pickle.loads(pickle.dumps(shown)) == shown
    assert missing(name=PurePosixPath("some/set")).hint.endswith("some/set")


def test_a_text_and_its_error_survive_another_process() -> None:
    error = pickle.loads(pickle.dumps(DataError(missing(), file="a.csv")))
    assert (error.template, error.hint) == (missing().template, "Add the pages, or remove book")
    assert pickle.loads(pickle.dumps(missing())).render("zh") == missing().render("zh")


def test_names_are_joined_in_each_language() -> None:
    assert (either("abc"), both(["a", "b"]), either([])) == ("a or b or c", "a and b", "")
    with using("zh"):
        shown = [in_terminal(each) for each in (either("ab"), noun("task"), noun("widget"))]
    assert shown == ["a 或 b", "任务", "widget"]


def test_lists_and_sentences_have_the_punctuation_of_the_language() -> None:
    joins = (listed, join_parts, join_clauses, join_sentences, join_lines)
    assert [join("ab") for join in joins] == ["a, b", "a, b", "a; b", "a. b", "a\nb"]
    assert [join("ab").render("zh") for join in joins] == ["a、b", "a，b", "a；b", "a。b", "a\nb"]
    assert (listed([]), listed(["a"])) == ("", "a")


def test_joined_texts_keep_their_parts() -> None:
    joined = listed([_("the pages"), "b"])
    assert joined == "the pages, b"
    assert _("Add {}, or remove {}", joined, "c").render("zh") == "请删除 c，或添加这些页、b"
    again = pickle.loads(pickle.dumps(joined))
    assert isinstance(again, JoinedText)
    assert again.render("zh") == joined.render("zh") == "这些页、b"
    with using("zh"):
        assert in_english(listed([_("the pages")])) == "the pages"
    assert in_english("plain") == "plain"


def test_a_stored_text_is_translated_inside_another_by_the_words_of_pages() -> None:
    text = n_("{n:,} task: {}", "{n:,} tasks: {}", 2, recognised("no responses"))
    assert (text, Words("zh")(text)) == ("2 tasks: no responses", "2 个任务：没有回答")
    named = n_("{n:,} task: {}", "{n:,} tasks: {}", 1, "no responses")
    assert Words("zh")(named) == "1 个任务：no responses"
    assert recognised(text) is text


def test_an_unknown_language_is_refused() -> None:
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
def test_the_language_is_that_of_keju_lang_or_of_the_locale(
    variables: dict[str, str], expected: str
) -> None:
    names = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    others = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-c", "from keju.texts import language; print(language())"]
    done = subprocess.run(
        command, env=others | variables, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == expected


def test_no_catalogue_is_read_for_english() -> None:
    code = "import sys, keju, keju.errors; print('gettext' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("file", tools.catalogues(), ids=lambda file: file.stem)
def test_a_catalogue_is_compiled_and_its_fields_are_those_of_the_code(file: Path) -> None:
    with file.open("rb") as content:
        catalogue = tools.read_po(content, locale="zh")
    assert file.with_suffix(".mo").read_bytes() == tools.compiled(catalogue), "run: make texts"
    wrong = []
    for each in catalogue:
        english = each.id if isinstance(each.id, str) else each.id[-1]
        chinese = each.string if isinstance(each.string, str) else each.string[0]
        if each.id and chinese and fields(english) != fields(chinese):
            wrong.append(english)
        if each.id and re.search("[a-z]{3} [a-z]{3}", chinese):
            assert re.search("[\u4e00-\u9fff]", chinese), chinese
    assert len(catalogue) > (5 if file.stem == "ancientdoc" else 20)
    assert wrong == []


def fields(sentence: str) -> set[str]:
    """The fields of a sentence: numbers for those without a name."""
    try:
        named = [field for __, field, __, __ in Formatter().parse(sentence) if field is not None]
    except ValueError:
        return set()  # no template: a sentence without values
    return {name or str(place) for place, name in enumerate(x for x in named if x != "n")} | (
        {"n"} & {*named}
    )


def test_sentences_are_found_in_calls() -> None:
    code = """
_("one {}", 1, hint="two"); n_("{n} a", "{n} b", 3); p_("verb", "three"); noun("four")
raise DataError("five", file=x, hint=_("six")); ValueError("no"); PrerequisiteError("no", "no")
"""
    sentences = [(each.template, each.plural, each.context) for each in tools.sentences_of(code)]
    assert sorted(sentences) == sorted(
        [
            ("one {}", "", ""), ("two", "", ""), ("{n} a", "{n} b", ""), ("three", "", "verb"),
            ("four", "", "kind"), ("five", "", ""), ("six", "", ""),
        ]
    )  # fmt: skip
