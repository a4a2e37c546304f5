"""`Check`: what all checks of printed numbers share, the outcome of one, and its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from keju.items import Record
from keju.published.printed_tables import PrintedTables
from keju.published.tables import EPSILON, Column

Severity = Literal["error", "conflict", "meaning", "marks", "caution"]
"""error: cannot be as printed; conflict: two places disagree, or a claim and a table; meaning: the
number is not what its name says; marks: the wrong cells are emphasised; caution: true, but easily
read for more than it is."""

Certainty = Literal["proved", "likely", "editorial"]
"""proved: from the printed numbers alone; likely: it needs an assumption that the finding names;
editorial: a matter of naming or marking."""


class Mismatch(Record, frozen=True, kw_only=True):
    """One cell that does not hold: where, what is printed, what it would have to be."""

    where: str
    printed: str
    recomputed: str


class Outcome(NamedTuple):
    """The result of a check in one place: how many cells were compared, and those that fail.

    `note` is what the check adds to its declaration's words (e.g. how unlikely luck is), `note_zh`
    the same in Chinese. `column` and `instead` are the column with the values recomputed for its
    rows, where the check recomputes a whole column. `concerned` is the number of cells that a
    finding is about, where it is not the number of mismatches.
    """

    place: str
    compared: int
    mismatches: tuple[Mismatch, ...]
    note: str = ""
    note_zh: str = ""
    column: Column | None = None
    instead: Mapping[str, float] = MappingProxyType({})
    concerned: int | None = None

    @property
    def cells(self) -> int:
        """The number of cells that a finding in this place is about."""
        return len(self.mismatches) if self.concerned is None else self.concerned


def compare_column(column: Column, compared: int, due: Mapping[str, str]) -> Outcome:
    """The outcome of a column; `due` has what each failing row would have to be."""
    mismatches = (
        Mismatch(where=row, printed=column.cells[row].text, recomputed=text)
        for row, text in due.items()
    )
    return Outcome(column.place, compared, tuple(mismatches))


def differs(first: float, second: float, tolerance: float) -> bool:
    """Whether two numbers lie further apart than rounding can explain."""
    return abs(first - second) > tolerance + EPSILON


def format_value(value: float, column: Column) -> str:
    """A recomputed value with the digits that the column prints, and one more."""
    decimals = max((cell.decimals for cell in column.cells.values()), default=0)
    return f"{value:.{decimals + 1}f}" if decimals else f"{value:.7g}"


class Term(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Columns of a sum, each taken `times` (a fraction such as "9/35")."""

    of: str
    times: str = "1"


class Sum(NamedTuple):
    """A weighted sum of columns, by row; `half` is what rounding of the terms may make of it."""

    values: dict[str, float]
    half: float


def weighted_sum(paper: PrintedTables, terms: tuple[Term, ...], constant: float = 0.0) -> Sum:
    """Add up the terms in every row that has them all."""
    weighted = [
        (float(Fraction(term.times)), column) for term in terms for column in paper.columns(term.of)
    ]
    rows = [
        row for row in weighted[0][1].values if all(row in column.values for _, column in weighted)
    ]
    return Sum(
        {
            row: constant + sum(times * column.values[row] for times, column in weighted)
            for row in rows
        },
        sum(abs(times) * column.half for times, column in weighted),
    )


class Size(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The size of a finding.

    `ranks` of `ranked` models have another rank after the correction (or may have one, where the
    correct value is known only as a range: `pairs` of models whose order is then open). `points` is
    the largest change of a value, with 100 as the whole scale. `cells` of `compared` are affected.
    None means that it was not computed, because the correct values are unknown.
    """

    cells: int
    compared: int
    ranks: int | None = None
    ranked: int = 0
    pairs: int | None = None
    points: float | None = None

    @property
    def weight(self) -> tuple[float, float, float]:
        """A sort key, larger is more severe: changed ranks before points before cells."""
        return (self.ranks or 0, self.points or 0.0, self.cells)


class Weighing(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="by"
):
    """How the size of a finding is computed."""

    def weigh(self, paper: PrintedTables, outcomes: Sequence[Outcome], size: Size) -> Size:
        """Complete the size with ranks and points.

        Raises:
            DataError: a column that it names does not exist.
        """
        raise NotImplementedError


class Recomputed(Weighing, frozen=True, kw_only=True, tag="recomputed"):
    """The check's recomputed values replace the printed ones, column by column."""

    def weigh(self, paper: PrintedTables, outcomes: Sequence[Outcome], size: Size) -> Size:
        """The most ranks that change in one column, and the largest change of a value."""
        ranks, ranked, points = 0, 0, 0.0
        for outcome in outcomes:
            if outcome.column is None or not outcome.mismatches:
                continue
            moves, rows, change = _moves(paper, outcome.column, outcome.instead)
            ranks, ranked, points = max(ranks, moves), max(ranked, rows), max(points, change)
        return msgspec.structs.replace(size, ranks=ranks, ranked=ranked, points=points)


class Alternative(Weighing, frozen=True, kw_only=True, tag="alternative"):
    """A weighted sum of columns replaces `column`: another definition of it."""

    column: str
    terms: tuple[Term, ...]

    def weigh(self, paper: PrintedTables, outcomes: Sequence[Outcome], size: Size) -> Size:  # noqa: ARG002
        """The ranks that change and the largest change of a value."""
        values = weighted_sum(paper, self.terms).values
        ranks, ranked, points = _moves(paper, paper.column(self.column), values)
        return msgspec.structs.replace(size, ranks=ranks, ranked=ranked, points=points)


class Order(Weighing, frozen=True, kw_only=True, tag="order"):
    """Models ordered by `second` instead of `first`, for two metrics of one task."""

    first: str
    second: str

    def weigh(self, paper: PrintedTables, outcomes: Sequence[Outcome], size: Size) -> Size:  # noqa: ARG002
        """The ranks that differ."""
        first, second = paper.column(self.first), paper.column(self.second)
        rows = [row for row in first.values if row in second.values and row in paper.evaluated]
        before, after = ranks_of(first, first.values, rows), ranks_of(second, second.values, rows)
        moved = sum(before[row] != after[row] for row in rows)
        return msgspec.structs.replace(size, ranks=moved, ranked=len(rows))


class Open(Weighing, frozen=True, kw_only=True, tag="open"):
    """The failing cells of `of` may be anything from `low` to `high`.

    They enter `column` by `share`.
    """

    column: str
    of: str
    share: float
    low: float
    high: float

    def weigh(self, paper: PrintedTables, outcomes: Sequence[Outcome], size: Size) -> Size:
        """The models that are part of a pair whose order is then open, and the largest change."""
        column, of = paper.column(self.column), paper.column(self.of)
        failing = {each.where for outcome in outcomes for each in outcome.mismatches}
        reach = {
            row: [
                column.values[row]
                + (self.share * (end - of.values[row]) if row in failing else 0.0)
                for end in (self.low, self.high)
            ]
            for row in paper.evaluated
        }
        pairs = [
            pair
            for pair in combinations(reach, 2)
            if reach[pair[0]][0] <= reach[pair[1]][1] and reach[pair[1]][0] <= reach[pair[0]][1]
        ]
        points = max(abs(end - column.values[row]) for row, ends in reach.items() for end in ends)
        return msgspec.structs.replace(
            size,
            ranks=len({row for pair in pairs for row in pair}),
            ranked=len(reach),
            pairs=len(pairs),
            points=100 * points / column.how.scale,
        )


AnyWeighing = Recomputed | Alternative | Order | Open


def size_of(
    paper: PrintedTables, weighing: AnyWeighing | None, outcomes: Sequence[Outcome]
) -> Size:
    """The size of a check's findings in all its places."""
    failing = [outcome for outcome in outcomes if outcome.mismatches]
    size = Size(
        cells=sum(outcome.cells for outcome in failing),
        compared=sum(outcome.compared for outcome in failing),
    )
    return weighing.weigh(paper, failing, size) if weighing and failing else size


def ranks_of(column: Column, values: Mapping[str, float], rows: Iterable[str]) -> dict[str, int]:
    """The rank of each row by `values` of the column's metric; equal values share a rank."""
    merits = merits_of(column, values, rows)
    return {
        row: 1 + sum(other > mine + EPSILON for other in merits.values())
        for row, mine in merits.items()
    }


def merits_of(column: Column, values: Mapping[str, float], rows: Iterable[str]) -> dict[str, float]:
    """The values of rows, so that more is better, whichever way the column's metric goes."""
    better = column.how.better
    if better == "nearest to 0":
        return {row: -abs(values[row]) for row in rows}
    return {row: -values[row] if better == "lower" else values[row] for row in rows}


def _moves(
    paper: PrintedTables, column: Column, values: Mapping[str, float]
) -> tuple[int, int, float]:
    rows = [row for row in column.values if row in values and row in paper.models]
    changed = {row: values[row] for row in rows}
    before, after = ranks_of(column, column.values, rows), ranks_of(column, changed, rows)
    moved = sum(before[row] != after[row] for row in rows)
    compared = [row for row in column.values if row in values]
    change = max((abs(values[row] - column.values[row]) for row in compared), default=0.0)
    return moved, len(rows), 100 * change / column.how.scale


class Check(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """A declared check.

    `holds` is the expected statement, in a few words. Where it is false, `title` names the finding,
    `says` describes it and `consequence` is the consequence for a reader; each has a Chinese
    version. `artefacts` are patterns of places where the text extraction may be wrong, not the
    print. `topic` is the id of another check whose section shows this one's findings; `topics` does
    so for single places. `weigh` is how the finding's size is computed.
    """

    id: str
    holds: str
    says: str
    consequence: str
    severity: Severity
    title: str = ""
    certainty: Certainty = "proved"
    holds_zh: str = ""
    title_zh: str = ""
    says_zh: str = ""
    consequence_zh: str = ""
    artefacts: tuple[str, ...] = ()
    topic: str = ""
    topics: dict[str, str] = msgspec.field(default_factory=dict)
    weigh: AnyWeighing | None = None

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """Compare, place by place.

        Raises:
            DataError: the declaration names a column that does not exist.
        """
        raise NotImplementedError
