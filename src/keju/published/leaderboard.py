"""Audit of any leaderboard: a table with names in its first column and numbers in the others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from glob import escape
from pathlib import Path

from msgspec.structs import replace

from keju.datasets.readers.tables import sheet_lines
from keju.errors import DataError, UsageError
from keju.published.audit import Audit, UnreadCells, examine
from keju.published.cell_numbers import is_empty, number_cell
from keju.published.checks import Check
from keju.published.checks.base import Recomputed, differs
from keju.published.checks.grids import Counts
from keju.published.checks.marks import Marks
from keju.published.checks.repeats import RepeatedColumns, RepeatedRows
from keju.published.checks.rows import Rank
from keju.published.checks.sums import Mean, RowMean
from keju.published.printed_tables import PrintedTables
from keju.published.tables import Cell, Column, Metric, PrintedTable
from keju.texts import _

_MEAN = re.compile(r"(avg|average|mean|overall|all|均值|平均.*|总分|總分)\b.*", re.IGNORECASE)
_RANK = re.compile(r"(.*[\s:_(-])?(rank|#|place|pos(ition)?|排名|名次)\)?", re.IGNORECASE)
_COUNT = re.compile(r"n\s*=\s*([0-9]{1,9})\b", re.IGNORECASE)
_LESS_IS_BETTER = re.compile(
    r"\b(cer|wer|mre|mae|mse|rmse|error|err|edit|distance|loss|ppl|perplexity)\b|↓", re.IGNORECASE
)
_MOST_CELLS = 1_000_000
_MOSTLY = 0.5
"""Share of numbers from which a column is one of numbers; its other cells are named."""


class Leaderboard(PrintedTables, frozen=True, kw_only=True):
    """One table of another source, read like a paper's table. Rows of means are not models."""

    @cached_property
    def evaluated(self) -> tuple[str, ...]:
        """Every row that is not a mean of others."""
        (table,) = self.tables.values()
        return tuple(row for row in table.rows if not _MEAN.fullmatch(row))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The same: of an unknown leaderboard all rows are models."""
        return self.evaluated


def audit_leaderboard(path: Path) -> Audit:
    """Run the checks that the table itself permits.

    A column called average (mean, overall …) against the other columns, and a rank against it; a
    row of means against the other rows; columns headed ``name (n=120)`` against the values
    that this number of questions can give; bold and underlined cells (``**9**``, ``_8_``); columns
    and rows that repeat one another. A row of means or marks that fail in most columns are made in
    some other way (with weights, within groups), and are not checked.

    Raises:
        UsageError: the file does not exist.
        DataError: it is not a table of names and numbers.
    """
    paper, unread = _read(path)
    return replace(examine(paper, _checks(paper)), unread=unread)


def _checks(paper: Leaderboard) -> Iterator[Check]:
    (table,) = paper.tables.values()
    name = escape(table.name)
    columns = list(table.columns.values())
    ranks = [each for each in columns if _RANK.fullmatch(each.name)]
    means = [each for each in columns if _MEAN.fullmatch(each.name) and each not in ranks]
    parts = [each for each in columns if each not in ranks and each not in means]
    for mean in means:
        yield from _mean_checks(name, mean, parts)
    for rank in ranks if means else ():
        yield _rank_check(name, rank, means[0])
    rows_read = [
        column
        for column in (*parts, *means)
        if not any(column.cells[row].value is None for row in column.cells if row in paper.models)
    ]
    for row in table.rows if rows_read else ():
        if _MEAN.fullmatch(row) and _mostly_holds(
            averages := _row_of_means(name, row, rows_read), paper
        ):
            yield averages
    for column in parts:
        if count := _COUNT.search(column.name):
            yield _count_check(name, column, max(1, int(count[1])))
    if _mostly_holds(marks := _mark_check(name, columns), paper):
        yield marks
    yield from _repeat_checks(tuple(f"{name} | {escape(each.name)}" for each in parts))


def _rank_check(name: str, rank: Column, mean: Column) -> Check:
    return Rank(
        id="rank",
        column=f"{name} | {escape(rank.name)}",
        of=f"{name} | {escape(mean.name)}",
        title="Ranks",
        holds=_("ranks are the order of the mean"),
        says=_("The rank is not the row's place by the mean."),
        consequence=_("The order is printed wrong."),
        severity="error",
    )


def _row_of_means(name: str, row: str, columns: Sequence[Column]) -> Check:
    return RowMean(
        id="row-of-means",
        columns=tuple(f"{name} | {escape(each.name)}" for each in columns),
        row=row,
        title=_("Row of means"),
        holds=_("the row of means is the mean of the other rows"),
        says=_("{} is not the mean of the other rows, as it is in most columns.", row),
        consequence=_("A cell of the column, or the mean, is wrong."),
        severity="error",
        weigh=Recomputed(),
    )


def _count_check(name: str, column: Column, questions: int) -> Check:
    return Counts(
        id="counts",
        columns=(f"{name} | {escape(column.name)}",),
        of=questions,
        title="Counts",
        holds=_("values are whole numbers of right answers"),
        says=_("No whole number of right answers prints as this value."),
        consequence=_("The cell is wrong, or the score is not a share of right answers."),
        severity="error",
    )


def _mark_check(name: str, columns: Sequence[Column]) -> Check:
    used = {cell.mark for column in columns for cell in column.cells.values()}
    return Marks(
        id="marks",
        tables=(name,),
        columns="*",
        legible=tuple(sorted(used - {""})),
        title=_("Bold and underline"),
        certainty="editorial",
        holds=_("the best is bold and the second best underlined"),
        says=_("Bold or underline is not where the numbers put it."),
        consequence=_("The emphasis names another row than the column does."),
        severity="marks",
    )


def _repeat_checks(columns: tuple[str, ...]) -> Iterator[Check]:
    yield RepeatedColumns(
        id="repeated-columns",
        columns=columns,
        title="Repeated columns",
        certainty="likely",
        holds=_("no column repeats another"),
        says=_("Two columns have the same value in most rows."),
        consequence=_(
            "If they measure different things, one was copied over the other, and its own "
            "values are unknown."
        ),
        severity="caution",
    )
    yield RepeatedRows(
        id="repeated-rows",
        columns=columns,
        title="Repeated rows",
        certainty="likely",
        holds=_("no row repeats another"),
        says=_("Two rows have the same values throughout."),
        consequence=_("One model's results have two names, or a row was copied."),
        severity="error",
    )


def _mostly_holds(check: Check, paper: Leaderboard) -> bool:
    outcomes = [bool(outcome.mismatches) for outcome in check.examine(paper)]
    return sum(outcomes) < len(outcomes) / 2


def _mean_checks(name: str, mean: Column, parts: Sequence[Column]) -> Iterator[Check]:
    """A column called mean is held to be the plain one if it is so in most rows."""
    whole = [row for row in mean.values if all(row in part.values for part in parts)]
    if len(parts) < 2 or not whole:
        return
    half = mean.half + sum(part.half for part in parts) / len(parts)
    plain = sum(
        not differs(mean.values[row], sum(part.values[row] for part in parts) / len(parts), half)
        for row in whole
    )
    mostly = plain > len(whole) / 2
    scale = max(part.how.scale for part in parts)
    bounded = all(0 <= value <= scale for part in parts for value in part.values.values())
    yield Mean(
        id="mean",
        tables=(name,),
        column=escape(mean.name),
        parts=tuple(escape(part.name) for part in parts),
        scale=scale if mostly and bounded else 0,
        topic=f"mean of {mean.name}",
        title=_("{} and its parts", mean.name),
        holds=_("{} is the plain mean of the other columns", mean.name),
        says=_("{} is not the plain mean of the other columns, as it is in most rows.", mean.name)
        if mostly
        else _(
            "{} is not the plain mean of the other columns in most rows: how it is made is not "
            "shown.",
            mean.name,
        ),
        consequence=_("The order of these rows is not the table's own.")
        if mostly
        else _("The order rests on weights or on columns that the table does not show."),
        severity="error" if mostly else "caution",
        weigh=Recomputed(),
    )


def _read(path: Path) -> tuple[Leaderboard, tuple[UnreadCells, ...]]:
    """The table, and the cells that are not numbers."""
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    lines = [line.cells for line in sheet_lines(path)]
    if len(lines) < 3 or len(lines[0]) < 2:
        raise DataError(
            "not a table of names and numbers",
            file=path,
            hint="The first line names the columns, the first column the rows",
        )
    if len(lines) * len(lines[0]) > _MOST_CELLS:
        raise DataError("more than {:,} cells", _MOST_CELLS, file=path)
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise DataError(
                "{} cells under {} headings",
                len(line),
                len(lines[0]),
                file=path,
                item=f"row {number}",
            )
    rows = _distinct([line[0] for line in lines[1:]])
    columns: dict[str, dict[str, Cell]] = {}
    for place, name in enumerate(_distinct(lines[0][1:]), start=1):
        texts = {row: line[place] for row, line in zip(rows, lines[1:], strict=True)}
        columns[name] = {
            row: number_cell(text) for row, text in texts.items() if not is_empty(text)
        }
    numeric = {name: cells for name, cells in columns.items() if _are_numbers(cells.values())}
    if not numeric:
        raise DataError("no column of numbers", file=path)
    table = PrintedTable(
        benchmark=path.name,
        name=path.name,
        rows={
            row: {name: cells[row] for name, cells in numeric.items() if row in cells}
            for row in rows
        },
        metrics={name: _metric(name, cells.values()) for name, cells in numeric.items()},
        halves={name: _half(cells) for name, cells in numeric.items()},
    )
    unread = tuple(_unread(path.name, columns))
    return Leaderboard(benchmark=path.name, tables={table.name: table}), unread


def _unread(table: str, columns: Mapping[str, Mapping[str, Cell]]) -> Iterator[UnreadCells]:
    for name, cells in columns.items():
        texts = {row: cell.text for row, cell in cells.items() if cell.value is None}
        if texts:
            numbers = len(cells) - len(texts)
            yield UnreadCells(benchmark=table, column=name, numbers=numbers, cells=texts)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names; one that occurs again gets a number after it."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        plain = name.strip() or "?"
        seen[plain] = seen.get(plain, 0) + 1
        made.append(plain if seen[plain] == 1 else f"{plain} ({seen[plain]})")
    return made


def _are_numbers(cells: Collection[Cell]) -> bool:
    numbers = sum(cell.value is not None for cell in cells)
    return len(cells) > 1 and numbers >= _MOSTLY * len(cells)


def _half(cells: Mapping[str, Cell]) -> float:
    """Half a unit of the last digit; a row of means may have more digits than the others."""
    decimals = [cell.decimals for row, cell in cells.items() if not _MEAN.fullmatch(row)]
    return 0.5 * 10.0 ** -max(decimals, default=0)


def _metric(column: str, cells: Collection[Cell]) -> Metric:
    most = max(abs(cell.value or 0.0) for cell in cells)
    lower = _LESS_IS_BETTER.search(column) or _RANK.fullmatch(column)
    return Metric(scale=1 if most <= 1 else 100, better="lower" if lower else "higher")
