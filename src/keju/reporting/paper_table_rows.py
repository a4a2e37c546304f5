"""The rows of a paper table: their order, their marks, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from keju.analysis.marks import marks
from keju.analysis.same_models import SameAs, printed_names
from keju.formatting import NOTHING
from keju.published import PrintedTable, group_of, paper, published_model
from keju.reporting.cells import Cell
from keju.reporting.paper_table_form import Heading, PaperTable, PaperTableRow, RowKey, TaskCount
from keju.reporting.paper_table_runs import JUDGED, RunValues

_THEIRS = ("paper", "recomputed")


class Part(NamedTuple):
    """A column of the table: `numbers` as printed, `cells` as shown, by row.

    `over` are the tasks of a value; only values over the same tasks are compared. `better` is empty
    where no value is best. `ranked` are the rows that may be best.
    """

    heading: Heading
    better: str
    digits: int
    numbers: Mapping[RowKey, float]
    cells: Mapping[RowKey, Cell]
    over: Mapping[RowKey, frozenset[str]]
    ranked: frozenset[RowKey]


class _Difference(NamedTuple):
    """A row of the run, and the paper's name of its model."""

    own: RowKey
    printed: str

    @property
    def who(self) -> RowKey:
        return RowKey("difference", f"{self.own.model} − {self.printed}", self.own.scope)


def table_of(
    own: RunValues,
    table: PrintedTable,
    parts: Sequence[Part],
    over: frozenset[str],
    same_as: Sequence[SameAs],
) -> PaperTable:
    """A table of columns; `over` are the tasks of its means.

    A recomputed row is below the printed one, a difference below the run's.
    """
    rows = list(dict.fromkeys(who for part in parts for who in part.cells))
    differences = list(_differences(own, table, rows, same_as))
    columns = [
        _mark_best(part, own, table) | _subtract_printed(part, differences) for part in parts
    ]
    order = dict.fromkeys(_order_rows(own, table, rows, differences))
    kept = [who for who in order if any(who in each for each in columns)]
    return PaperTable(
        table.benchmark,
        table.name,
        [part.heading for part in parts],
        [
            PaperTableRow(
                who.model,
                who.source,
                [each.get(who, Cell(NOTHING)) for each in columns],
                group_of(table.benchmark, table.name, who.model) if who.source in _THEIRS else "",
                _tasks(who, parts, over),
                own.judge(who.model, table) if who.source == "this run" else "",
                own.graded(who.model, table) if who.source == "this run" else None,
                bool(who.scope) and who.source in ("this run", "difference"),
            )
            for who in kept
        ],
        (*own.notes(table), *_misprints(table, rows)),
    )


def _misprints(table: PrintedTable, rows: Sequence[RowKey]) -> Iterator[str]:
    """Notes on a table's printed values that are necessary for a comparison."""
    note = paper(table.benchmark).tables.notes.get(table.name)
    if note and any(who.source in _THEIRS for who in rows):
        yield note


def _differences(
    own: RunValues, table: PrintedTable, rows: Sequence[RowKey], same_as: Sequence[SameAs]
) -> Iterator[_Difference]:
    for who in rows:
        if who.source == "this run":
            for name in printed_names(same_as, who.model, own.by_model[who.model]):
                known = published_model(table.benchmark, name)
                if known and known.name in table.rows:
                    yield _Difference(who, known.name)


def _subtract_printed(part: Part, differences: Sequence[_Difference]) -> dict[RowKey, Cell]:
    """Own values minus the paper's over the same tasks, printed or recomputed."""
    found = {}
    for each in differences:
        mine = part.numbers.get(each.own)
        theirs = [
            part.numbers[who]
            for who in part.numbers
            if who.model == each.printed
            and who.source in _THEIRS
            and part.over[who] == part.over.get(each.own)
        ]
        if part.better and mine is not None and theirs and JUDGED not in part.heading.name:
            note = part.cells[each.own].note
            value = f"{mine - theirs[0]:+.{part.digits}f}"
            found[each.who] = Cell(value, note=note)
    return found


def _mark_best(part: Part, own: RunValues, table: PrintedTable) -> dict[RowKey, Cell]:
    """The cells, with marks for the best and the second over the same tasks, by the same judge."""
    judged = JUDGED in part.heading.name
    alike: dict[tuple[frozenset[str], str], dict[RowKey, float]] = {}
    for who in part.ranked if part.better else ():
        judge = own.judge(who.model, table) if judged and who.source == "this run" else ""
        alike.setdefault((part.over[who], judge), {})[who] = part.numbers[who]
    placed: dict[RowKey, str] = {}
    for numbers in alike.values():
        placed |= marks(numbers, higher_is_better=part.better == "higher")
    return {who: cell.marked(placed.get(who)) for who, cell in part.cells.items()}


def _order_rows(
    own: RunValues, table: PrintedTable, rows: Sequence[RowKey], differences: Sequence[_Difference]
) -> Iterator[RowKey]:
    for names, with_it in ((list(own.by_model), {"this run"}), (list(table.rows), set(_THEIRS))):
        for name in names:
            its = [who for who in rows if who.source in with_it and who.model == name]
            for who in sorted(its, key=lambda who: (bool(who.scope), -len(who.scope))):
                yield who
                yield from (each.who for each in differences if each.own == who)


def _tasks(who: RowKey, parts: Sequence[Part], over: frozenset[str]) -> TaskCount | None:
    """The number of the table's tasks over which a row's means are."""
    if who.source not in ("this run", "recomputed"):
        return None
    its = who.scope or frozenset().union(*(part.over[who] for part in parts if who in part.over))
    return TaskCount(len(its), len(over)) if over and its else None
