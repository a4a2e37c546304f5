"""`PaperTable`: a paper table, with its columns, its rows, and the origin of each row."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from keju.definitions import Task, tasks
from keju.reporting.cells import Cell
from keju.texts import Text, _

Source = Literal["this run", "paper", "recomputed", "difference"]
"""The origin of a row's values: the run, the paper, means of the paper's printed task values over
the tasks of a run, or a run's values minus those of the same model in the paper."""


_LABELS: dict[Source, Text] = {
    "this run": _("this run"),
    "paper": _("paper"),
    "difference": _("difference"),
}


class RowKey(NamedTuple):
    """The identity of a row within a table.

    `scope` are the tasks of its means where these are neither all of the table's nor simply those
    of the model.
    """

    source: Source
    model: str
    scope: frozenset[str] = frozenset()


class TaskCount(NamedTuple):
    """The number of a table's tasks in a mean, and of all tasks of the table."""

    there: int
    total: int

    def __str__(self) -> str:
        return f"{self.there} of {self.total}"


class GradedCount(NamedTuple):
    """The number of answers in a judge's mean, and of all answers."""

    there: int
    total: int

    def __str__(self) -> str:
        return f"{self.there} of {self.total}"


class Heading(NamedTuple):
    """A column: its name in the data, and for display its content, unit and tasks."""

    name: str
    title: str
    metric: str = ""
    note: str = ""


class PaperTableRow(NamedTuple):
    """A row: a model of the run or of the paper.

    `group` is the paper's title of its group of rows, `tasks` the number of the table's tasks in
    its means, None where there are none or the paper does not state it. `judge` graded a row of the
    run, where the table has a column of grades; `graded` is the number of answers in its mean,
    where not all have a grade. `of_printed` marks a second row of a model, over the tasks that the
    paper prints.
    """

    model: str
    source: Source
    cells: list[Cell]
    group: str = ""
    tasks: TaskCount | None = None
    judge: str = ""
    graded: GradedCount | None = None
    of_printed: bool = False

    @property
    def name(self) -> str:
        """The model, and what sets the row apart from its other one."""
        if not self.of_printed:
            return self.model
        return _("{}, tasks that the paper prints", self.model)

    @property
    def label(self) -> Text:
        """The origin of the row, as text."""
        if self.judge and self.graded:
            there, total = self.graded
            return _(
                "this run, graded by {}; {:,} of {:,} answers have a grade",
                self.judge,
                there,
                total,
            )
        if self.judge:
            return _("this run, graded by {}", self.judge)
        if not self.tasks:
            return _LABELS[self.source]
        count, total = self.tasks
        if self.source == "recomputed":
            return _("recomputed from the paper's task tables, {} of {} tasks", count, total)
        return _("this run, {} of {} tasks", count, total)

    @property
    def plain(self) -> bool:
        """Whether a row of the run needs no remark on its tasks or its judge."""
        return self.source == "this run" and not self.tasks and not self.judge


class PaperTable(NamedTuple):
    """One paper table."""

    benchmark: str
    name: str
    headings: list[Heading]
    rows: list[PaperTableRow]
    notes: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """The task of all its columns; empty where there are several."""
        found = self._tasks()
        return found[0].id if len(found) == 1 else ""

    @property
    def domain(self) -> str:
        """The domain of all its columns; empty where there are several."""
        domains = {each.domain for each in self._tasks()}
        return domains.pop() if len(domains) == 1 else ""

    def _tasks(self) -> list[Task]:
        known = {each.id: each for each in tasks() if each.benchmark == self.benchmark}
        named = {re.split("[/@:]", heading.name)[0] for heading in self.headings}
        return [known[name] for name in named if name in known]
