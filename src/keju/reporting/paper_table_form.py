"""`PaperTable`: a paper table, with its columns, its rows, and the origin of each row."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from keju.definitions import Task, tasks
from keju.reporting.cells import Cell

Source = Literal["this run", "paper", "recomputed", "difference"]
"""The origin of a row's values: the run, the paper, means of the paper's printed task values over
the tasks of a run, or a run's values minus those of the same model in the paper."""


class Who(NamedTuple):
    """The identity of a row within a table.

    `scope` are the tasks of its means where these are neither all of the table's nor simply those
    of the model.
    """

    source: Source
    model: str
    scope: frozenset[str] = frozenset()


class Heading(NamedTuple):
    """A column: its name in the data, and for display its content, unit and tasks."""

    name: str
    title: str
    metric: str = ""
    note: str = ""


class PaperTableRow(NamedTuple):
    """A row: a model of the run or of the paper.

    `group` is the paper's title of its group of rows, `tasks` the number of the table's tasks in
    its means ("4 of 45"), empty where there are none or the paper does not state it. `judge` graded
    a row of the run, where the table has a column of grades.
    """

    model: str
    source: Source
    cells: list[Cell]
    group: str = ""
    tasks: str = ""
    judge: str = ""

    @property
    def label(self) -> str:
        """The origin of the row, as text."""
        if self.source == "recomputed":
            return f"recomputed from the paper's task tables, {self.tasks} tasks"
        if self.judge:
            return f"{self.source}, graded by {self.judge}"
        return f"{self.source}, {self.tasks} tasks" if self.tasks else self.source


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
