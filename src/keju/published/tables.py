"""The printed tables of the papers, cell by cell, and the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

import msgspec

from keju.errors import DataError, shortened
from keju.items import Record
from keju.published.models import published_model
from keju.published.papers import (
    check_distinct,
    csv_records,
    csv_rows,
    paper_file,
    papers,
    table_files,
)
from keju.texts import _

V = TypeVar("V")

Mark = Literal["", "bold", "underline"]
Better = Literal["higher", "lower", "nearest to 0"]

EPSILON = 1e-9
"""Slack for the error of floating-point numbers in comparisons of printed values."""

_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
_README_TABLE = "README's table"
"""A name by which checks refer to the table, so that it is the same in every language."""

_TABLE_FILE = re.compile(r"(table|figure)-([0-9]{1,9})|readme", re.IGNORECASE | re.ASCII)
_COLUMN = re.compile(
    r"(?P<task>[^/@:]+)(?:/(?P<query>[^@:]+))?(?:@(?P<subset>[^:]+))?:(?P<metric>.+)"
)


class _Named(dict[str, V]):
    """Tables of a paper or columns of a table, by name; a name that does not exist is an error."""

    def __init__(self, found: Mapping[str, V], kind: str, place: str) -> None:
        super().__init__(found)
        self._kind, self._place = kind, place

    def __missing__(self, name: str) -> V:
        raise DataError(
            "no {} {!r}",
            self._kind,
            name,
            file=self._place,
            hint=_("Known: {}", shortened(", ".join(self), 200) or _("none")),
        )


class Metric(Record, frozen=True, kw_only=True):
    """How a paper prints a metric: what a perfect 1 would read as, and which way is better."""

    scale: float
    better: Better


class _MetricRow(Metric, frozen=True, kw_only=True):
    metric: str


class Cell(Record, frozen=True, kw_only=True):
    """One printed cell: `value` is None where the cell has no number (``<10e-4``)."""

    text: str
    value: float | None
    decimals: int
    mark: Mark = ""


class Column(Record, frozen=True, kw_only=True):
    """One column of a printed table: its cells by row, in the table's order.

    `half` is half a unit of the last printed digit: the maximum rounding error. `task`, `query`,
    `subset` and `metric` are keju's names where the column contains results (a `task` may also be a
    domain, MCQ, QA or OverAll), else empty. `as_printed` is how its metric is printed where that is
    known for the column itself.
    """

    benchmark: str
    table: str
    name: str
    cells: dict[str, Cell]
    half: float
    task: str = ""
    query: str = ""
    subset: str = ""
    metric: str = ""
    as_printed: Metric | None = None

    @property
    def place(self) -> str:
        """The table and the column, for display."""
        return f"{self.table}, {self.name}"

    @property
    def values(self) -> dict[str, float]:
        """The rows that contain a number."""
        return {row: cell.value for row, cell in self.cells.items() if cell.value is not None}

    @property
    def how(self) -> Metric:
        """How the paper prints this column's metric.

        Raises:
            DataError: the column contains no results.
        """
        found = self.as_printed or _metrics(self.benchmark).get(self.metric)
        if found is None:
            raise DataError("no metric of this name is declared", item=self.place)
        return found


class PrintedTable(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One table (or the numbers of one figure) of a paper, by row and column.

    Rows that are models have the name of `published_models`, whichever spelling was printed;
    `spelled` has the printed ones. `halves` are the maximum rounding errors of computed columns;
    that of a printed one is half a unit of its last digit. `metrics` describes how columns are
    printed whose metric is not a paper's.
    """

    benchmark: str
    name: str
    rows: dict[str, dict[str, Cell]]
    spelled: dict[str, str] = {}
    halves: dict[str, float] = {}
    metrics: dict[str, Metric] = {}

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """Every column, in the table's order."""
        names = dict.fromkeys(name for row in self.rows.values() for name in row)
        found = {name: self._column(name) for name in names}
        return MappingProxyType(_Named(found, "column", f"{self.benchmark}, {self.name}"))

    def _column(self, name: str) -> Column:
        cells = {row: found[name] for row, found in self.rows.items() if name in found}
        decimals = max(cell.decimals for cell in cells.values())
        parts = _COLUMN.fullmatch(name)
        return Column(
            benchmark=self.benchmark,
            table=self.name,
            name=name,
            cells=cells,
            half=self.halves.get(name, 0.5 * 10.0**-decimals),
            as_printed=self.metrics.get(name),
            **{part: text or "" for part, text in parts.groupdict().items()} if parts else {},
        )


@cache
def _metrics(benchmark: str) -> Mapping[str, Metric]:
    """How a paper prints each metric, by its name; empty for anything but a paper."""
    if benchmark not in papers():
        return MappingProxyType({})
    file = paper_file(benchmark, "metrics.csv")
    rows = csv_records(file, _MetricRow, lambda row: f"metric {row.metric!r}")
    return MappingProxyType({row.metric: row for row in rows})


@cache
def published_tables(benchmark: str) -> Mapping[str, PrintedTable]:
    """The tables of one paper by name ("Table 16", "Figure 3"), in the paper's order.

    Raises:
        UsageError: the benchmark does not exist, or nothing is stored of its paper.
        DataError: a table is not one of names and cells, or its file has a wrong name.
    """
    files = _table_names(table_files(benchmark))
    found = [_read(benchmark, name, path) for name, path in files.items()]
    tables = {table.name: table for table in sorted(found, key=_in_paper)}
    return MappingProxyType(_Named(tables, "table", f"the paper of {benchmark}"))


def printed_cell(text: str) -> Cell:
    """Read a cell as the data files write it: ``**9**`` is bold, ``_9_`` underlined."""
    mark: Mark = ""
    for sign, meant in (("**", "bold"), ("_", "underline")):
        if text.startswith(sign) and text.endswith(sign) and len(text) > 2 * len(sign):
            mark, text = meant, text.removeprefix(sign).removesuffix(sign)  # type: ignore[assignment]
    number = _NUMBER.fullmatch(text)
    return Cell(
        text=text,
        value=float(text) if number else None,
        decimals=len(number.group(1) or "") if number else 0,
        mark=mark,
    )


def _table_names(paths: Iterable[Path]) -> dict[str, Path]:
    """The files of tables by the name of the table."""
    found: dict[str, Path] = {}
    for path in paths:
        parts = _TABLE_FILE.fullmatch(path.stem)
        if parts is None:
            raise DataError(
                "not a name of a table's file",
                file=path,
                hint="Rename it to table-N.csv, figure-N.csv or readme.csv; N is a number",
            )
        kind, number = parts.groups()
        name = f"{kind.capitalize()} {int(number)}" if number else _README_TABLE
        if name in found:
            raise DataError(
                "{} is also in {}",
                name,
                found[name].name,
                file=path,
                hint="Remove one of the files",
            )
        found[name] = path
    return found


def _read(benchmark: str, title: str, path: Path) -> PrintedTable:
    lines = csv_rows(path)
    printed = [str(next(iter(line.cells.values()))) for line in lines]
    known = [published_model(benchmark, name) for name in printed]
    names = [model.name if model else name for model, name in zip(known, printed, strict=True)]
    hint = _(
        "Remove or rename one of the rows. Both spellings of a model in models.csv are one name"
    )
    check_distinct(lines, (f"row {name!r}" for name in names), hint)
    rows: dict[str, dict[str, Cell]] = {}
    for name, line in zip(names, lines, strict=True):
        __, *cells = line.cells.items()
        rows[name] = {column: printed_cell(str(text)) for column, text in cells if text}
    spelled = dict(zip(names, printed, strict=True))
    return PrintedTable(benchmark=benchmark, name=title, rows=rows, spelled=spelled)


def _in_paper(table: PrintedTable) -> tuple[str, int]:
    kind, __, number = table.name.rpartition(" ")
    return (kind, int(number)) if number.isdecimal() else (table.name, 0)
