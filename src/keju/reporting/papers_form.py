"""A table in a paper's form: its columns, its rows, and whose each row is."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from keju.definitions import Task, tasks
from keju.reporting.cells import Cell

Source = Literal["this run", "paper", "recomputed", "difference"]
"""Whose values a row has: the run's, as the paper prints them, means of the paper's printed task
values over the tasks of a run, or a run's values less those of the same model in the paper."""


class Who(NamedTuple):
    """The identity of a row within a table.

    `scope` are the tasks that its means are over where these are neither all of the table's nor
    simply those that the model has.
    """

    source: Source
    model: str
    scope: frozenset[str] = frozenset()


class Heading(NamedTuple):
    """A column: the data's name of it, and for people what it holds, how, and over what."""

    name: str
    title: str
    metric: str = ""
    note: str = ""


class BesideRow(NamedTuple):
    """A row: a model of the run or of the paper.

    `group` is the paper's title of the rows that it is among, `tasks` over how many of the table's
    tasks its means are ("4 of 45"), empty where there are none or the paper doesn't say. `judge`
    graded a row of the run, where the table has a column of grades.
    """

    model: str
    source: Source
    cells: list[Cell]
    group: str = ""
    tasks: str = ""
    judge: str = ""

    @property
    def label(self) -> str:
        """Whose the row is, in words."""
        if self.source == "recomputed":
            return f"recomputed from the paper's task tables, {self.tasks} tasks"
        if self.judge:
            return f"{self.source}, graded by {self.judge}"
        return f"{self.source}, {self.tasks} tasks" if self.tasks else self.source


class BesideTable(NamedTuple):
    """One table in a paper's form."""

    benchmark: str
    name: str
    headings: list[Heading]
    rows: list[BesideRow]
    notes: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """The task that all its columns are of; empty where they are of several."""
        found = self._tasks()
        return found[0].id if len(found) == 1 else ""

    @property
    def domain(self) -> str:
        """The domain that all its columns are of; empty where they are of several."""
        domains = {each.domain for each in self._tasks()}
        return domains.pop() if len(domains) == 1 else ""

    def _tasks(self) -> list[Task]:
        known = {each.id: each for each in tasks() if each.benchmark == self.benchmark}
        named = {re.split("[/@:]", heading.name)[0] for heading in self.headings}
        return [known[name] for name in named if name in known]
