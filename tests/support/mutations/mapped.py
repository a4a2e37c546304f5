"""Sources that are imported by a mapping file, which is a file of the source and mutated too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.released import picture, put, table

MAP = "mapping.toml"


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
[source]
tables = "题.csv"
image_path = "images/{编号}.*"

[fields]
id = "编号"
task = "题型"
question = "题干"
options = ["A", "B"]
answer = "答案"

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
[source]
names = '(?P<book>[^/]+)/(?P<char>.)_(?P<number>[0-9]+)\\.png'

[fields]
answer = "char"
group = "book"

[constants]
task = "T1"
question = "这是什么字？"
""",
    )


SOURCES: dict[str, Callable[[Path], None]] = {
    "mapped: a table with images by number": of_table,
    "mapped: images whose names have the answer": of_names,
}
