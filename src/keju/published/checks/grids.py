"""Checks of counts: the values that are possible with a number of items and rounds."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, exp, floor, lgamma, log, log1p

import msgspec

from keju.published.checks.base import (
    Check,
    Mismatch,
    Outcome,
    compare_column,
    format_value,
)
from keju.published.printed_tables import COLUMN_SEPARATOR, PrintedTables
from keju.published.tables import EPSILON, Column
from keju.texts import _, either

TOO_LITTLE_FOR_LUCK = 1e-4
"""Probability below which a count is not explained by bad luck."""


class Counts(Check, frozen=True, kw_only=True, tag="counts"):
    """Every value is a whole number of right answers, over `of` items asked in `rounds` rounds.

    `of_task` has the items of single tasks; without it and `of`, the count of the column's task in
    the definition is taken. `rounded`: each round may have been rounded before the mean was taken.
    """

    columns: tuple[str, ...]
    of: int = 0
    of_task: dict[str, int] = msgspec.field(default_factory=dict)
    rounds: int = 1
    rounded: bool = False
    format: str = ""

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column."""
        for reference in self.columns:
            for column in paper.columns(reference, self.format):
                asked = self.of_task.get(column.task) or self.of
                items = (asked or paper.tasks_by_id[column.task].count) * self.rounds
                values = _of_models(paper, column)
                due = {
                    row: _neighbours(value, column, items)
                    for row, value in values.items()
                    if not on_grid(value, column, items, 2 if self.rounded else 1)
                }
                yield compare_column(column, len(values), due)


class Rounds(Check, frozen=True, kw_only=True, tag="rounds"):
    """Means of `rounds` runs over `of` items do not all fall on the values of a single run."""

    columns: str
    of: int
    rounds: int

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place: all the columns together, since each cell is one more witness."""
        columns = paper.columns(self.columns)
        witnesses = [
            (column, row, value)
            for column in columns
            for row, value in _of_models(paper, column).items()
        ]
        single = [each for each in witnesses if on_grid(each[2], each[0], self.of)]
        place = self.columns.replace(COLUMN_SEPARATOR, ", ")
        if len(single) < len(witnesses):
            yield Outcome(place, len(witnesses), ())
            return
        step = columns[0].how.scale / self.of
        yield Outcome(
            place,
            len(witnesses),
            (
                Mismatch(
                    where=_("{} of {} cells", len(single), len(witnesses)),
                    printed=_("multiples of {}", f"{step:g}"),
                    recomputed=_("multiples of {}", f"{step / self.rounds:g}"),
                ),
            ),
            concerned=len(witnesses),
        )


class BelowChance(Check, frozen=True, kw_only=True, tag="below_chance"):
    """No accuracy is so far below guessing that luck cannot explain it.

    `options` is how many options a question of the task has, `default` for those not named.
    """

    columns: str
    options: dict[str, int]
    default: int
    format: str = ""

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column: cells with less than one chance in 10,000."""
        for column in paper.columns(self.columns, self.format):
            items = paper.tasks_by_id[column.task].count
            chance = 1 / self.options.get(column.task, self.default)
            values = _of_models(paper, column)
            by_guessing = _("{} by guessing", f"{100 * chance:.4g}")
            due = {
                row: by_guessing
                for row, value in values.items()
                if at_most(round(value * items / column.how.scale), items, chance)
                < TOO_LITTLE_FOR_LUCK
            }
            yield compare_column(column, len(values), due)


def on_grid(value: float, column: Column, items: int, roundings: int = 1) -> bool:
    """Whether some whole number over `items` prints as this value after `roundings` roundings."""
    scale = column.how.scale
    nearest = round(value * items / scale)
    return abs(nearest * scale / items - value) <= roundings * column.half + EPSILON


def _neighbours(value: float, column: Column, items: int) -> str:
    scale = column.how.scale
    below = floor(value * items / scale)
    return either(
        f"{format_value(count * scale / items, column)} ({count}/{items})"
        for count in (below, below + 1)
    )


def _of_models(paper: PrintedTables, column: Column) -> dict[str, float]:
    return {row: value for row, value in column.values.items() if row in paper.models}


_MOST_EXACT = 1000
"""Trials up to which a binomial coefficient is always a finite float."""


def at_most(successes: int, trials: int, chance: float) -> float:
    """The binomial probability of so few successes; by logarithms where factors overflow."""
    if trials <= _MOST_EXACT or not 0 < chance < 1:
        return sum(
            comb(trials, count) * chance**count * (1 - chance) ** (trials - count)
            for count in range(successes + 1)
        )
    return sum(
        exp(
            lgamma(trials + 1)
            - lgamma(count + 1)
            - lgamma(trials - count + 1)
            + count * log(chance)
            + (trials - count) * log1p(-chance)
        )
        for count in range(successes + 1)
    )
