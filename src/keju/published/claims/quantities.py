"""Quantities of a claim, each computed from printed cells or stated in the paper.

A quantity is declared as ``{ take = "mean", of = "Table 3 | OverAll:mean", rows = ["@closed"] }``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from keju.errors import DataError
from keju.published.checks.grids import on_grid
from keju.published.checks.marks import places
from keju.published.claims.selection import select_cells, select_rows
from keju.published.models import published_model
from keju.published.printed_tables import PrintedTables
from keju.published.tables import Column
from keju.statistics import kendall, pearson, spearman

Sense = Literal["above", "at least", "below", "at most", "equal to"]
COMPARE: dict[Sense, Callable[[float, float], bool]] = {
    "above": operator.gt,
    "at least": operator.ge,
    "below": operator.lt,
    "at most": operator.le,
    "equal to": operator.eq,
}

_METHODS = {"spearman": spearman, "pearson": pearson, "kendall": kendall}


class Amount(NamedTuple):
    """A computed number, and by how much rounding of the printed cells may have changed it."""

    value: float
    half: float = 0.0


class Quantity(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="take"
):
    """A number that can be computed from a paper's tables."""

    def amount(self, paper: PrintedTables) -> Amount:
        """Compute it.

        Raises:
            DataError: a column or a row does not exist, or nothing is selected.
        """
        raise NotImplementedError


class Stated(Quantity, frozen=True, kw_only=True, tag="stated"):
    """A number of the paper's text, or the mean of several, as printed (``["52.0", "65.9"]``).

    `weights` has one per number, where the mean is not the plain one.
    """

    numbers: tuple[str, ...]
    weights: tuple[float, ...] = ()

    def amount(self, paper: PrintedTables) -> Amount:  # noqa: ARG002
        """The mean of the stated numbers."""
        weights = self.weights or (1.0,) * len(self.numbers)
        total = sum(
            weight * float(number) for weight, number in zip(weights, self.numbers, strict=True)
        )
        return Amount(total / sum(weights), max(map(half_of, self.numbers)))


class CellValue(Quantity, frozen=True, kw_only=True, tag="cell"):
    """One printed cell: a column and a row."""

    of: str
    row: str

    def amount(self, paper: PrintedTables) -> Amount:
        """The cell's number."""
        column = paper.column(self.of)
        return Amount(_value(column, self.row), column.half)


class Selection(Quantity, frozen=True, kw_only=True):
    """Cells of the columns `of` (a reference, which may contain ``*``) in some rows.

    `rows` are names, patterns (``InternVL2.5-*``) or groups: ``@evaluated`` (the default: the
    models of the main tables), ``@closed``, ``@open``, ``@engines``, ``@size 7-8`` (billions of
    parameters, inclusive). `without` removes rows by the same rules.
    """

    of: str
    rows: tuple[str, ...] = ("@evaluated",)
    without: tuple[str, ...] = ()

    def cells(self, paper: PrintedTables) -> list[tuple[Column, str, float]]:
        """The selected cells as (column, row, number).

        Raises:
            DataError: no cell is selected.
        """
        return select_cells(paper, self.of, self.rows, self.without)

    def amount(self, paper: PrintedTables) -> Amount:
        """The cells' numbers, reduced to one."""
        found = self.cells(paper)
        return Amount(
            self.reduce([value for _, _, value in found]),
            max(column.half for column, _, _ in found),
        )

    def reduce(self, values: Sequence[float]) -> float:
        """One number of many."""
        raise NotImplementedError


class MeanOf(Selection, frozen=True, kw_only=True, tag="mean"):
    """The plain mean of the selected cells."""

    def reduce(self, values: Sequence[float]) -> float:
        """The mean."""
        return sum(values) / len(values)


class SumOf(Selection, frozen=True, kw_only=True, tag="sum"):
    """The sum of the selected cells."""

    def amount(self, paper: PrintedTables) -> Amount:
        """The sum; roundings add up."""
        found = self.cells(paper)
        return Amount(sum(cell[2] for cell in found), sum(cell[0].half for cell in found))


class Highest(Selection, frozen=True, kw_only=True, tag="highest"):
    """The highest number of the selected cells."""

    def reduce(self, values: Sequence[float]) -> float:
        """The maximum."""
        return max(values)


class Lowest(Selection, frozen=True, kw_only=True, tag="lowest"):
    """The lowest number of the selected cells."""

    def reduce(self, values: Sequence[float]) -> float:
        """The minimum."""
        return min(values)


class CountOf(Selection, frozen=True, kw_only=True, tag="count"):
    """How many of the selected cells compare as `sense` with `than`.

    `than` is a quantity. `than_of` is a column instead: each cell is compared with the cell of the
    same row there. With `percent`, the share of the selected cells in percent.
    """

    sense: Sense
    than: AnyQuantity | None = None
    than_of: str = ""
    percent: bool = False

    def amount(self, paper: PrintedTables) -> Amount:
        """The count or share."""
        cells = self.cells(paper)
        kept = [
            value
            for _, row, value in cells
            if COMPARE[self.sense](value, limit(paper, row, self.than, self.than_of))
        ]
        return Amount(100 * len(kept) / len(cells) if self.percent else float(len(kept)))


class Size(Selection, frozen=True, kw_only=True, tag="size"):
    """How many cells are selected."""

    def amount(self, paper: PrintedTables) -> Amount:
        """The number of cells."""
        return Amount(float(len(self.cells(paper))))


class OnGrid(Selection, frozen=True, kw_only=True, tag="on_grid"):
    """How many of the selected cells print a whole number of `steps`-ths of a perfect score.

    With `up_to`, the highest such count for any number of steps from `steps` to `up_to`, for a
    total that is not known.
    """

    steps: int
    up_to: int = 0

    def amount(self, paper: PrintedTables) -> Amount:
        """The count, or the highest of the counts."""
        cells = self.cells(paper)
        counts = (
            sum(on_grid(value, column, steps) for column, _, value in cells)
            for steps in range(self.steps, max(self.steps, self.up_to) + 1)
        )
        return Amount(float(max(counts)))


class RowMean(Quantity, frozen=True, kw_only=True, tag="row_mean"):
    """The mean of one row's cells in the columns `parts`.

    With `weights_of` (``"Table 2 | n_task"``), each part weighs what the row named like its task or
    domain has in that column.
    """

    row: str
    parts: tuple[str, ...]
    weights_of: str = ""

    def amount(self, paper: PrintedTables) -> Amount:
        """The mean, weighted or not; rounding changes it by at most the widest of the parts'."""
        columns = [column for part in self.parts for column in paper.columns(part)]
        weights = [1.0] * len(columns)
        if self.weights_of:
            given = paper.column(self.weights_of)
            weights = [_value(given, column.task) for column in columns]
        pairs = list(zip(weights, columns, strict=True))
        total = sum(weight * _value(column, self.row) for weight, column in pairs)
        return Amount(total / sum(weights), max(column.half for column in columns))


class Rank(Quantity, frozen=True, kw_only=True, tag="place"):
    """The rank of `row` by column `of` among `rows`; 1 is the best, equal values share a rank."""

    of: str
    row: str
    rows: tuple[str, ...] = ("@evaluated",)

    def amount(self, paper: PrintedTables) -> Amount:
        """One more than the number of rows that are better."""
        column = paper.column(self.of)
        placed = places(column, {*select_rows(paper, column, self.rows), self.row})
        return Amount(1.0 + sum(other < placed[self.row] for other in placed.values()))


class Difference(Quantity, frozen=True, kw_only=True, tag="difference"):
    """`first` minus `second`."""

    first: AnyQuantity
    second: AnyQuantity

    def amount(self, paper: PrintedTables) -> Amount:
        """The difference; roundings add up."""
        first, second = self.first.amount(paper), self.second.amount(paper)
        return Amount(first.value - second.value, first.half + second.half)


class Ratio(Quantity, frozen=True, kw_only=True, tag="ratio"):
    """`first` divided by `second`, times 100 if `percent`."""

    first: AnyQuantity
    second: AnyQuantity
    percent: bool = False

    def amount(self, paper: PrintedTables) -> Amount:
        """The ratio."""
        first, second = self.first.amount(paper), self.second.amount(paper)
        scale = 100.0 if self.percent else 1.0
        value = scale * first.value / second.value
        share = second.half / abs(second.value)
        return Amount(value, scale * first.half / abs(second.value) + abs(value) * share)


class Correlation(Quantity, frozen=True, kw_only=True, tag="correlation"):
    """How two columns go together over the rows that both have."""

    first: str
    second: str
    method: Literal["spearman", "pearson", "kendall"] = "spearman"
    rows: tuple[str, ...] = ("@evaluated",)
    without: tuple[str, ...] = ()

    def amount(self, paper: PrintedTables) -> Amount:
        """The coefficient of the printed numbers, not turned round where less is better."""
        first, second = paper.column(self.first), paper.column(self.second)
        rows = [
            row
            for row in select_rows(paper, first, self.rows, self.without)
            if row in second.values
        ]
        found = _METHODS[self.method]
        return Amount(
            found([first.values[row] for row in rows], [second.values[row] for row in rows])
        )


class CorrelationWithSize(Selection, frozen=True, kw_only=True, tag="correlation_with_size"):
    """How one column goes with the models' billions of parameters; others are skipped."""

    method: Literal["spearman", "pearson", "kendall"] = "spearman"

    def amount(self, paper: PrintedTables) -> Amount:
        """The coefficient of the printed numbers, not turned round where less is better."""
        column = paper.column(self.of)
        rows = select_rows(paper, column, self.rows, self.without)
        sizes = {
            row: model.size_b
            for row in rows
            if (model := published_model(paper.benchmark, row)) and model.size_b is not None
        }
        found = _METHODS[self.method]
        return Amount(found(list(sizes.values()), [column.values[row] for row in sizes]))


AnyQuantity = (
    Stated | CellValue | MeanOf | SumOf | Highest | Lowest | CountOf | Size | OnGrid | RowMean
    | Rank | Difference | Ratio | Correlation | CorrelationWithSize
)  # fmt: skip


def half_of(number: str) -> float:
    """Half a unit of the last digit of a number as it is written."""
    return 0.5 * 10.0 ** -len(number.partition(".")[2])


def limit(paper: PrintedTables, row: str, than: AnyQuantity | None, than_of: str) -> float:
    """The other side for a cell of `row`: a quantity, or the same row of another column.

    Raises:
        DataError: neither is given, or the other column lacks the row.
    """
    if than is not None:
        return than.amount(paper).value
    if not than_of:
        raise DataError("a comparison needs `than` or `than_of`", file=paper.benchmark, item=row)
    return _value(paper.column(than_of), row)


def _value(column: Column, row: str) -> float:
    if row not in column.values:
        raise DataError(
            "no number in this row", file=column.benchmark, item=f"{column.place}, {row}"
        )
    return column.values[row]
