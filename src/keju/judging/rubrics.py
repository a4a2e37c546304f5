"""What a judge is told to look for, as data: a rubric for each kind of task, versioned by hash."""

from __future__ import annotations

import tomllib
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import msgspec

from keju.benchmarks import tasks
from keju.errors import DataError, UsageError
from keju.files import read_toml, sha256_bytes

_SHIPPED = "rubrics.toml"
_BLANKS = ("rubric", "question", "source", "reference", "author", "answer", "opening", "closing")


class Rubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is graded, and what each grade means.

    `tasks` are the queries that it is for, each as ``ID`` or ``ID/QUERY``. One that is `open` is
    used without being asked for.
    """

    title: str
    says: str
    tasks: tuple[str, ...]
    open: bool = True


class Rubrics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A file of rubrics: the prompt around them, and one for each kind of task."""

    name: str
    version: str
    template: str
    source: str
    author: str
    rubrics: dict[str, Rubric]

    @cached_property
    def id(self) -> str:
        """Name, version and hash of all that the file says; part of every grade's signature."""
        digest = sha256_bytes(msgspec.json.encode(self, order="deterministic"))
        return f"{self.name}-{self.version}-{digest[:8]}"

    @cached_property
    def queries(self) -> dict[str, Rubric]:
        """The rubric of each query that has one, by ``ID`` or ``ID/QUERY``."""
        return {name: rubric for rubric in self.rubrics.values() for name in rubric.tasks}

    def rubric(self, task: str, query: str = "") -> Rubric | None:
        """The rubric for a query of a task, or None if nothing says how to grade it."""
        return self.queries.get(f"{task}/{query}" if query else task)

    def open_tasks(self) -> tuple[str, ...]:
        """The ids of the tasks that are graded without being asked for."""
        named = (name.partition("/")[0] for name, each in self.queries.items() if each.open)
        return tuple(dict.fromkeys(named))

    def checked(self, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """The tasks that were asked for, or their question forms such as ``deciphering/What``.

        Raises:
            UsageError: one of them has no rubric.
        """
        known = {name.partition("/")[0] for name in self.queries}
        if without := [each for each in chosen if each not in {*known, *self.queries}]:
            raise UsageError(
                f"the rubrics {self.id} have none for {', '.join(without)}. "
                f"They have some for {', '.join(sorted(known))}; give your own with --rubrics"
            )
        return chosen


def read_rubrics(path: Path | None = None) -> Rubrics:
    """Read a file of rubrics, by default the one that ships.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a file of rubrics, lacks a blank, or names a query that nobody asks.
    """
    if path is not None and not path.is_file():
        raise UsageError(f"{path}: no such file of rubrics")
    name = str(path or _SHIPPED)
    if path is not None:
        form = f"Its form is that of keju/judging/{_SHIPPED}"
        found = read_toml(path, Rubrics, what="a file of rubrics", mend=form)
    else:
        text = files("keju.judging").joinpath(_SHIPPED).read_text("utf-8")
        found = msgspec.convert(tomllib.loads(text), Rubrics)
    if lacking := [blank for blank in _BLANKS if f"{{{blank}}}" not in found.template]:
        raise DataError(f"the template lacks the blank {{{lacking[0]}}}", file=name)
    asked = {
        f"{task.id}/{query.name}" if query.name else task.id
        for task in tasks()
        for query in task.queries
    }
    if unknown := sorted(set(found.queries) - asked):
        raise DataError(f"no such query: {', '.join(unknown)}", file=name, mend="See: keju tasks")
    if len(found.queries) < sum(len(each.tasks) for each in found.rubrics.values()):
        raise DataError("a query has two rubrics", file=name)
    return found
