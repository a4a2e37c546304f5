"""`PrintedTables`: a paper's tables as the audit reads them, with column references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module

import msgspec

from keju.definitions import Task, tasks
from keju.errors import DataError
from keju.published.models import published_models
from keju.published.tables import Column, PrintedTable, published_tables
from keju.registry import list_provided

COLUMN_SEPARATOR = " | "
TABLE_SEPARATOR = " + "


class PrintedTables(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The tables of one benchmark, whose columns are selected by reference.

    A reference is ``TABLE | COLUMN``; both may contain ``*``. ``Table 8 + Table 2 | T1:CER``
    selects the rows of Table 8, then those of Table 2 that Table 8 lacks.
    """

    benchmark: str
    tables: Mapping[str, PrintedTable]

    def columns(self, reference: str, task_format: str = "") -> list[Column]:
        """The selected columns, in the tables' order; of tasks of one format, if that is given.

        Raises:
            DataError: there is none.
        """
        names, _, wanted = reference.partition(COLUMN_SEPARATOR)
        first, *more = names.split(TABLE_SEPARATOR)
        found = [
            _joined(column, [self.tables[name].columns.get(column.name) for name in more])
            for name, table in self.tables.items()
            if fnmatchcase(name, first)
            for column in table.columns.values()
            if fnmatchcase(column.name, wanted)
            and (not task_format or self._format(column) == task_format)
        ]
        if not found:
            raise DataError("no such column", file=self.benchmark, item=reference)
        return found

    def column(self, reference: str) -> Column:
        """The one selected column.

        Raises:
            DataError: there is none, or more than one.
        """
        found = self.columns(reference)
        if len(found) > 1:
            raise DataError("more than one column", file=self.benchmark, item=reference)
        return found[0]

    def _format(self, column: Column) -> str:
        found = self.tasks_by_id.get(column.task)
        return found.format if found else ""

    @cached_property
    def tasks_by_id(self) -> Mapping[str, Task]:
        """The benchmark's tasks by id."""
        return {each.id: each for each in tasks() if each.benchmark == self.benchmark}

    @cached_property
    def evaluated(self) -> tuple[str, ...]:
        """The rows that are models of the main tables."""
        return self._of_role("evaluated")

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The rows that are models or engines: no averages, no people."""
        return self._of_role("evaluated", "supplementary", "judge")

    def _of_role(self, *roles: str) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                each.name for each in published_models(self.benchmark) if each.role in roles
            )
        )


def load_printed_tables(benchmark: str) -> PrintedTables:
    """One paper's tables, with those that a function of its benchmark computes from them.

    `PROVIDES` of the benchmark names the function, which data cannot declare.

    Raises:
        UsageError: the benchmark does not exist.
    """
    printed = published_tables(benchmark)
    module, __, name = list_provided("papers").get(benchmark, "").partition(":")
    implied = getattr(import_module(module), name)(printed) if module else ()
    tables = {**printed, **{table.name: table for table in implied}}
    return PrintedTables(benchmark=benchmark, tables=tables)


def _joined(column: Column, more: Iterable[Column | None]) -> Column:
    cells = dict(column.cells)
    table, half = column.table, column.half
    for other in more:
        if other is not None:
            cells = {**other.cells, **cells}
            table, half = f"{table}{TABLE_SEPARATOR}{other.table}", max(half, other.half)
    return msgspec.structs.replace(column, cells=cells, table=table, half=half)
