"""A table in a paper's form: whose row, which columns, what stands in each cell."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from keju.benchmarks import tasks
from keju.reporting.cells import Cell

Source = Literal["this run", "paper"]
Who = tuple[Source, str]


class Heading(NamedTuple):
    """A column: the data's name of it, and for people what it holds, how, and over what."""

    name: str
    title: str
    metric: str = ""
    note: str = ""


class BesideRow(NamedTuple):
    """A model of the run or of the paper."""

    model: str
    source: Source
    cells: list[Cell]


class BesideTable(NamedTuple):
    """One table in a paper's form."""

    benchmark: str
    name: str
    headings: list[Heading]
    rows: list[BesideRow]
    notes: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What its columns are of: one task or domain, or nothing where they are of several."""
        known = {each.id: each for each in tasks() if each.benchmark == self.benchmark}
        named = {re.split("[/@:]", heading.name)[0] for heading in self.headings}
        found = [known[name] for name in named if name in known]
        domains = {each.domain for each in found}
        if len(found) == 1:
            return found[0].name_en
        return domains.pop() if len(domains) == 1 else ""
