"""Sources that are imported by a mapping file, which is a file of the source and mutated too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from tests.support.layouts import MAP, ancientdoc
from tests.support.released import picture, put, table


def of_table(src: Path) -> None:
    """A table with images by number."""
    heads = ("编号", "题型", "题干", "A", "B", "答案", "朝代")
    table(src / "题.csv", heads, ("7", "单选", "出自哪部书？", "說苑", "論語", "論語", "唐"),
          ("9", "识字", "读出文字。", "", "", "天地", "宋"))  # fmt: skip
    for number in (7, 9):
        put(src / f"images/{number}.png", picture(number))
    put(
        src / MAP,
        """\
[[tables]]
path = "题.csv"

[fields]
image = "images/{编号}.*"
id = "编号"
task = "题型"
question = "题干"
options = ["A", "B"]
answer = "答案"

[metadata]
dynasty = "朝代"

[values.task]
"单选" = "T7"
"识字" = "T1"
""",
    )


def of_names(src: Path) -> None:
    """Images whose paths have the answer, by a regular expression."""
    for book, char, number in (("甲", "王", "001"), ("乙", "子", "002")):
        put(src / f"{book}/{char}_{number}.png", picture(ord(char)))
    put(
        src / MAP,
        """\
names = '(?P<book>[^/]+)/(?P<char>.)_(?P<copy>[0-9]+)\\.png'

[fields]
answer = "char"
group = "book"

[metadata]
copy = "copy"

[constants]
task = "T1"
question = "这是什么字？"
""",
    )


def of_nested_json(src: Path) -> None:
    """Conversations below two keys of an object, and a second table."""
    talk = [{"role": "user", "content": "<img>p1.png</img>何人？"},
            {"role": "assistant", "content": "孔子"}]  # fmt: skip
    content = {"qa": {"T6": [{"n": 1, "book": "b1", "messages": talk}]}}
    put(src / "all.json", json.dumps(content, ensure_ascii=False))
    table(src / "books.csv", ("key", "title"), ("b1", "論語"), ("b2", "說苑"))
    put(src / "images/p1.png", picture(1))
    put(
        src / MAP,
        """\
ignored = ["*"]
messages = "messages"
shared_transcriptions = true
split.book = '(?P<letter>[a-z])[0-9]+'

[[tables]]
path = "all.json"
key = ["qa", "T6"]
task = "T6"

[[lookup]]
path = "books.csv"
key = "key"
by = "book"

[fields]
id = "{task}-{n:03}"
question = "messages.user"
answer = "messages.assistant"
image = "messages.images"
group = "{book}"

[metadata]
title = "title"
letter = "letter"
""",
    )


def of_parquet(src: Path) -> None:
    """AncientDoc's questions in parquet, with the images inside."""
    rows = [
        {"image": {"bytes": picture(n), "path": f"Art/書譜/{n}.png"}, "task": "Page-level OCR",
         "question": "读出。", "answer": f"第{n}頁", "dynasty": "Tang"}
        for n in range(3)
    ]  # fmt: skip
    src.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(src / "train-00000-of-00001.parquet")
    edit = ancientdoc.EDITS["parquet with images"]
    lines = {**edit.lines, "[mapping.metadata]\n": '[mapping.metadata]\ndynasty = "dynasty"\n'}
    put(src / MAP, ancientdoc.mapping_file(edit._replace(lines=lines)))


def of_pages(src: Path) -> None:
    """AncientDoc's table with a question and an answer per page."""
    rows = [
        ("兵家类", f"兵鏡page_{n}.png", f"第{n}頁\\n兵鏡", "何人？", "吴惟顺。") for n in (1, 2)
    ]
    heads = ("type", "name", "OCR", "Knowledge Question 1", "Knowledge Answer 1")
    table(src / "label.csv", heads, *rows)
    for number in (1, 2):
        put(src / f"imgs/兵家类/兵鏡/page_{number}.png", picture(number))
    asked = ("knowledge_qa", "Knowledge Question 1", "Knowledge Answer 1")
    edit = ancientdoc.Edit("ancientdoc", {}, ancientdoc.question_items(asked))
    put(src / MAP, ancientdoc.mapping_file(edit))


SOURCES: dict[str, Callable[[Path], None]] = {
    "mapped: a table with images by number": of_table,
    "mapped: conversations in an object, with a second table": of_nested_json,
    "mapped: images whose names have the answer": of_names,
    "small: ancientdoc, the hub's": of_parquet,
    "small: ancientdoc, label.csv": of_pages,
}
