"""Layouts of MCS-Bench that its draft does not know, with the lines that a person adds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.layouts import mcs_bench
from tests.support.layouts.mcs_bench import Json, Said, dumped, record, said
from tests.support.released import put

FEW = ("T9", "T10")
"""The tasks of the sources that do not have all."""


class Edited(NamedTuple):
    """A layout.

    Attributes:
        write: writes it.
        added: lines of a mapping that replace what the draft has for their keys; empty: none.
            A person also deletes each TODO that is left.
        tasks: the tasks that it has, if not all.
    """

    write: Callable[[Path], Path]
    added: str = ""
    tasks: tuple[str, ...] = ()


def _few(change: Callable[[Said], Json], name: Callable[[Said], str]) -> Callable[[Path], Path]:
    """A list for each of a few tasks, or one for both where they have the same name."""

    def write(src: Path) -> Path:
        lists: dict[str, list[Json]] = {}
        for each in said():
            if each.task.id in FEW:
                bare = {"Task_ID": None, "Domain": None, "Task_Name": None, **change(each)}
                lists.setdefault(name(each), []).append(record(each, **bare))
        for path, records in lists.items():
            put(src / path, dumped(records))
        mcs_bench.usual_images(src)
        return src

    return write


def _wide(src: Path) -> Path:
    """The questions of a few tasks in columns of one record, all about one image."""
    cells = {"picture": "images/1.png"}
    for each in said():
        if each.task.id in FEW:
            cells |= {f"q{each.t}": each.question, f"a{each.t}": each.answer}
    put(src / "data.json", dumped([cells]))
    mcs_bench.usual_images(src)
    return src


def _from_1(name: Callable[[Said], str]) -> Callable[[Path], Path]:
    """Images under a name that no column has, and ids from 1 in every task."""
    return mcs_bench.with_images(name, None, lambda each: {"ID": each.place})


EDITED = {
    "images called after task and id": Edited(
        _from_1(lambda e: f"images/{e.t}_{e.place}.png"),
        'fields.image = "images/{Task_ID}_{ID}.*"',
    ),
    "images with zeros in their numbers": Edited(
        mcs_bench.with_images(lambda e: f"images/{e.number:04}.png", None),
        'fields.image = "images/{ID:04}.*"',
    ),
    "images in folders of tasks": Edited(
        _from_1(lambda e: f"images/task_{e.t}/{e.place}.png"),
        'fields.image = "images/task_{Task_ID}/{ID}.*"',
    ),
    "images in folders of domains and tasks": Edited(
        _from_1(lambda e: f"{e.task.domain_zh}/{e.task.name_zh}/{e.place}.png"),
        'fields.image = "{Domain}/{Task_Name}/{ID}.*"',
    ),
    "folders of domains and tasks without numbers": Edited(
        mcs_bench.by_task(lambda t: f"{t.domain}/{t.name_en}/data.json")
    ),
    "folders that name no task": Edited(
        _few(lambda _: {}, lambda e: f"part{'AB'[e.t - 9]}/data.json"),
        """\
tables = [
    { path = "partA/data.json", task = "T9" },
    { path = "partB/data.json", task = "T10" },
]""",
        FEW,
    ),
    "names of tasks that several domains have": Edited(
        _few(lambda e: {"Task_Name": e.task.name_en}, lambda _: "data.json"),
        """\
[values.task]
"Author Identification" = "T10\"""",
        FEW,
    ),
    "other names of columns": Edited(
        mcs_bench.renamed({"Question": "题面", "Answer": "谜底", "Image": "画面"}),
        """\
[fields]
question = "题面"
answer = "谜底"
image = "画面\"""",
    ),
    "the task in the id": Edited(
        mcs_bench.listed(lambda e: {"ID": f"{e.task.id}-{e.place}", "Task_ID": None,
                                    "Task_Name": None, "Domain": None}),
        """\
split.ID = '(?P<kind>T[0-9]+)-.+'
fields.task = "kind\"""",
    ),
    "options with slashes between them": Edited(
        mcs_bench.listed(mcs_bench.apart(lambda e: {"Options": " / ".join(e.options)})),
        """\
split.Options = '(?P<A>.+) / (?P<B>.+) / (?P<C>.+) / (?P<D>.+)'
fields.options = ["A", "B", "C", "D"]""",
    ),
    "several images in one text": Edited(
        mcs_bench.listed(lambda e: {"Image": f"images/{e.image}.png;images/{e.image}.png"}),
        """\
split.Image = '(?P<one>[^;]+);(?P<two>[^;]+)'
fields.image = ["one", "two"]""",
    ),
    "questions in columns of one record": Edited(
        _wide,
        """\
fields = { image = "picture" }
items = [
    { task = "T9", question = "q9", answer = "a9" },
    { task = "T10", question = "q10", answer = "a10" },
]""",
        FEW,
    ),
}  # fmt: skip
