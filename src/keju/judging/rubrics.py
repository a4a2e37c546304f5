"""Rubrics: instructions for judges as data, one for each kind of task, versioned by hash."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from keju.definitions import Definition, Query, definitions, is_shipped
from keju.errors import DataError, UsageError, shortened
from keju.files import read_toml, sha256_bytes, shipped_toml
from keju.texts import _

_SHIPPED = "rubrics.toml"
_BLANKS = ("rubric", "question", "source", "reference", "author", "answer", "opening", "closing")


class Rubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criterion of one task, and the meaning of each grade.

    `tasks` are its queries, each as ``ID`` or ``ID/QUERY``; where a file has none, those of keju's
    benchmarks whose definition names the rubric (`Query.rubric`). An `open` rubric is used by
    default.
    """

    title: str
    says: str
    tasks: tuple[str, ...] = ()
    open: bool = True


class Rubrics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A file of rubrics: the prompt around them, and one for each kind of task.

    With `page_text` the judge also gets the text on the image, where the dataset has it.
    """

    name: str
    version: str
    template: str
    source: str
    author: str
    rubrics: dict[str, Rubric]
    page_text: bool = False

    @cached_property
    def id(self) -> str:
        """Name, version and hash of the whole file; part of every grade's signature.

        It names ``page-text`` where the judge gets the text on the image.
        """
        digest = sha256_bytes(msgspec.json.encode(self, order="deterministic"))
        seen = "-page-text" if self.page_text else ""
        return f"{self.name}-{self.version}{seen}-{digest[:8]}"

    @cached_property
    def _named(self) -> dict[str, Rubric]:
        return {name: rubric for rubric in self.rubrics.values() for name in rubric.tasks}

    @property
    def queries(self) -> dict[str, Rubric]:
        """The rubric of each known query that has one, by ``ID`` or ``ID/QUERY``.

        A query that the file does not name has the rubric of its definition (`Query.rubric`).
        """
        defined = {name: self.rubrics.get(query.rubric) for name, query in _queries(shipped=False)}
        return {name: rubric for name, rubric in defined.items() if rubric} | self._named

    @property
    def tasks(self) -> frozenset[str]:
        """The ids of the tasks that have a rubric."""
        return frozenset(name.partition("/")[0] for name in self.queries)

    def rubric(self, task: str, query: str = "") -> Rubric | None:
        """The rubric for a query of a task, or None if there is none."""
        name = f"{task}/{query}" if query else task
        return self._named.get(name) or self.queries.get(name)

    def open_tasks(self) -> tuple[str, ...]:
        """The ids of the tasks that are graded by default."""
        named = (name.partition("/")[0] for name, each in self.queries.items() if each.open)
        return tuple(dict.fromkeys(named))

    def checked(self, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """The given tasks, or their question forms such as ``deciphering/What``.

        Raises:
            UsageError: one of them has no rubric.
        """
        if without := [each for each in chosen if each not in {*self.tasks, *self.queries}]:
            raise UsageError(
                "the rubrics {} have none for {}. They have some for {}; give your own with "
                "--rubrics",
                self.id,
                ", ".join(without),
                ", ".join(sorted(self.tasks)),
            )
        return chosen


def check_rubrics(definition: Definition, place: str) -> None:
    """Check that the rubrics that a definition names are bundled.

    Raises:
        DataError: one is not; the message names the task and the available rubrics.
    """
    known = read_rubrics().rubrics
    for task in definition.tasks:
        for query in task.queries:
            if query.rubric and query.rubric not in known:
                raise DataError(
                    "no rubric {!r}",
                    shortened(query.rubric),
                    file=place,
                    item=f"tasks.{task.id}",
                    hint=_("Rubrics: {}", ", ".join(known)),
                )


def _queries(*, shipped: bool) -> Iterator[tuple[str, Query]]:
    """The queries of keju's own benchmarks, or of all others, as ``ID`` or ``ID/QUERY``."""
    for each in definitions():
        for task in each.tasks if is_shipped(each.name) == shipped else ():
            for query in task.queries:
                yield f"{task.id}/{query.name}" if query.name else task.id, query


def read_rubrics(path: Path | None = None, *, page_text: bool = False) -> Rubrics:
    """Read a file of rubrics, by default the bundled one.

    Args:
        path: the file.
        page_text: also give the judge the text on the image, whatever the file says.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a file of rubrics, lacks a placeholder, or names an unknown query.
    """
    if path is not None and not path.is_file():
        raise UsageError("{}: no such file of rubrics", path)
    name = str(path or _SHIPPED)
    if path is not None:
        form = f"Its form is that of keju/judging/{_SHIPPED}"
        rubrics_read = read_toml(path, Rubrics, what="a file of rubrics", hint=form)
    else:
        rubrics_read = shipped_toml("keju.judging", _SHIPPED, Rubrics)
    if lacking := [blank for blank in _BLANKS if f"{{{blank}}}" not in rubrics_read.template]:
        raise DataError("the template does not contain the blank {{{}}}", lacking[0], file=name)
    shipped = list(_queries(shipped=True))
    filled = {
        each: rubric
        if rubric.tasks
        else replace(rubric, tasks=tuple(query for query, its in shipped if its.rubric == each))
        for each, rubric in rubrics_read.rubrics.items()
    }
    rubrics_read = replace(
        rubrics_read, rubrics=filled, page_text=page_text or rubrics_read.page_text
    )
    known = {query for query, _ in (*shipped, *_queries(shipped=False))}
    named = [name for each in rubrics_read.rubrics.values() for name in each.tasks]
    if unknown := sorted(set(named) - known):
        raise DataError("no such query: {}", ", ".join(unknown), file=name, hint="See: keju tasks")
    if len(set(named)) < len(named):
        raise DataError("a query has two rubrics", file=name)
    return rubrics_read
