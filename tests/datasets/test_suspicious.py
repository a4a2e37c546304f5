"""References that are probably not what the image shows are found, and sound ones are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.datasets import mini
from keju.datasets.checks import (
    LEAST_COPIED,
    suspicious_texts,
    text_fault,
)
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.items import ImageRef, Item
from keju.text import counted
from tests.support.commanding import keju

RTF = r"{\rtf1\ansi\ansicpg1252 \f0\fs24 \u23376?\u26354?}"
TEXT = "學而時習之不亦說乎有朋自遠方來不亦樂乎人不知而不慍"


def item(name: str, text: str, picture: str = "", **more: object) -> Item:
    image = ImageRef(path="images/x.png", sha256=picture or name, width=9, height=9, size=9)
    fields = {"id": name, "benchmark": "MCS-Bench", "task": "T1", "answer": text} | more
    return Item(**({"images": (image,)} | fields))


def problems(*items: Item) -> dict[str, str]:
    return {each.item: each.problem for each in suspicious_texts(items)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RTF, "RTF"),
        ('{"text": "學而時習之"}', "JSON"),
        ("<p>學而時習之</p>", "HTML"),
        ("學而時<lb n='2'/>習之", "XML"),
        ("學而&nbsp;時習之", "entities"),
        ("&CDP-8B7C;而時習之", "entities"),
        ("# 學而\n時習之", "Markdown"),
        ("**學而**時習之", "Markdown"),
        (r"\textbf{學而}時習之", "LaTeX"),
        ("TODO", "placeholder"),
        ("# TODO", "placeholder"),
        ("學而時習之 TODO 不亦說乎", "placeholder"),
        ("xxx", "placeholder"),
        ("N/A", "placeholder"),
        ("Lorem ipsum dolor sit amet", "placeholder"),
        ("待錄", "placeholder"),
        ("（待補）", "placeholder"),
        ("[blank]", "placeholder"),
        ("空白頁", "placeholder"),
        ("Page one of the book", "no Chinese character"),
        ("□□□", "no Chinese character"),
        ("12", "no Chinese character"),
    ],
)
def test_a_text_that_is_no_transcription_is_named(text: str, says: str) -> None:
    fault = text_fault(text)
    assert fault is not None
    assert says in fault


def test_markup_is_shown_with_the_text_that_follows_it() -> None:
    fault = text_fault("學而\n## 時習之不亦說乎")
    assert fault is not None
    assert (fault.template, fault.values[1]) == (
        "the text contains {} ({!r})",
        "## 時習之不亦說乎",
    )


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "待",
        "學而時習之（注：習，鳥數飛也）*不亦說乎",
        "⿰木皆□而時習之",
        "〇",
        "\ue123",
        "⼀",
        "無字天書 test",
        "卷一 # 二",
        "A、學而 [1] B、時習 <注>",
    ],
)
def test_a_transcription_is_not_suspected(text: str) -> None:
    assert text_fault(text) is None


def test_a_finding_names_the_item_and_its_file() -> None:
    page = item("p1", "TODO", metadata={"file": "book/p1.jpg"})
    assert list(problems(page)) == ["p1 (book/p1.jpg)"]


def test_only_transcriptions_are_checked() -> None:
    answer = item("q", "**A**", task="T7", options=("說苑", "論語"))
    shown = item("t", "A", task="T7", options=("說苑", "論語"), transcription="<b>說苑</b>")
    assert list(problems(answer, shown)) == ["t"]


def test_one_text_on_two_images_is_a_copy_and_on_one_image_is_not() -> None:
    assert len(counted(TEXT)) >= LEAST_COPIED
    assert list(problems(item("a", TEXT), item("b", TEXT + "。"))) == ["a"]
    assert problems(item("a", TEXT, "same"), item("b", TEXT, "same")) == {}
    assert problems(item("a", "學而時習之"), item("b", "學而時習之")) == {}


def test_validate_reports_markup_and_todo(tmp_path: Path, picture: Callable[..., bytes]) -> None:
    texts = {"p1": "<p>學而時習之</p>", "p2": "TODO", "p3": "學而時習之"}
    src = tmp_path / "src"
    src.mkdir()
    for number, (name, text) in enumerate(texts.items()):
        (src / f"{name}.png").write_bytes(picture(number))
        (src / f"{name}.txt").write_text(text, "utf-8")
    about = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}
    import_dataset("pages", src, tmp_path / "out", **about)
    found = {each.item.split()[0].rstrip(":"): each for each in validate(tmp_path / "out")}
    assert {name: each.severity for name, each in found.items()} == dict.fromkeys(
        ("p1", "p2"), "warning"
    )


def test_the_bundled_set_has_no_suspicious_text() -> None:
    assert list(suspicious_texts(Dataset.open(mini.path()).items())) == []


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ("學而\ufffd\ufffd習", "U+FFFD"),
        ("學而锟斤拷習", "U+FFFD"),
        ("學而ï¿½習", "U+FFFD"),
        ("學\ue123\uf8ff而", "U+E123, U+F8FF"),
        ("學\U000f0001而\U0010abcd", "U+F0001, U+10ABCD"),
        ("學\ufffe而", "U+FFFE"),
        ("\ufffd\ue000", "U+FFFD, U+E000"),
        ("學\x00\x1b而", "U+0000, U+001B"),
        ("學而時習之□𠮷⿰木皆", ""),
    ],
)
def test_a_reference_with_characters_that_no_page_shows_is_reported(answer, codes):
    found = [
        str(each) for each in suspicious_texts([item("a", answer, metadata={"file": "a.png"})])
    ]
    sentence = "its reference contains characters that no page shows"
    assert [line.partition(". ")[0] for line in found] == [
        f"warning: a (a.png): {sentence}: {codes}"
    ][: bool(codes)]


def test_every_reference_of_an_item_is_searched_for_them_and_counted_once():
    damaged = "學\ufffd"
    for fields in (
        {"answer": "B", "task": "T7", "options": ("學", damaged)},
        {"answer": "學", "answer_simplified": damaged},
        {"answer": "學", "also_accepted": (damaged,)},
        {"answer": damaged, "transcription": damaged},
    ):
        (found,) = suspicious_texts([item("a", text=fields.pop("answer"), **fields)])
        assert found.problem.endswith("that no page shows: U+FFFD")


def test_damaged_references_are_reported_at_import_and_by_validate(tmp_path, picture):
    for name, text in (("a", "學而\ufffd習之"), ("b", "學\ue123而")):
        (tmp_path / "s" / name).mkdir(parents=True)
        (tmp_path / f"s/{name}/1.png").write_bytes(picture(1))
        (tmp_path / f"s/{name}/1.txt").write_text(text, "utf-8")
    done = keju("data", "import", "pages", tmp_path / "s", "--out", tmp_path / "made")
    checked = keju("data", "validate", tmp_path / "made")
    for text in (done.stderr, checked.stdout):
        assert "a/1 (a/1.png): its reference contains characters that no page shows: U+FFFD" in text
        assert "b/1 (b/1.png): its reference contains characters that no page shows: U+E123" in text
