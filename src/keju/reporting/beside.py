"""A run in the form of the papers' tables, and the papers' own rows beside it.

Only `official` values stand here, as only they are made in the papers' way. A mean over tasks is
taken over the tasks that the run has values of, for the papers' rows too: as printed where it has
all of them, else recomputed from the printed tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import permutations
from statistics import fmean
from typing import NamedTuple

from keju.benchmarks import Task, tasks
from keju.items import Item, Score
from keju.published import Column, PrintedTable, published_model, published_tables
from keju.reporting.cells import Cell, marks
from keju.reporting.galleries import galleries, gallery_notes, other_galleries
from keju.reporting.gather import Gathered, sees_image
from keju.reporting.labels import NOTHING, task_name
from keju.reporting.leaderboard import Results
from keju.reporting.papers_form import BesideRow, BesideTable, Heading, Who
from keju.scoring import MetricResult, TaskResult
from keju.scoring.aggregate import domain_means, mean_over_domains, task_value

_FORMS: Mapping[str, Sequence[str]] = {
    "MCS-Bench": [f"Table {n}" for n in (3, 4, 7, *range(9, 13), *range(15, 21), *range(25, 29))],
    "AncientDoc": [f"Table {n}" for n in (*range(2, 7), *range(8, 13))],
    "OBI-Bench": [f"Table {n}" for n in range(2, 7)],
}
_SUPPLEMENTS = {"Table 7", "Table 10", "Table 11", "Table 12"}
"""Nothing but other models' OverAll: of use only with the paper's rows."""
_DIRECT = {("MCS-Bench", "Table 9")}
"""Tables of models that see the image (MCS-Bench F.2: "direct use of MLLMs")."""
_FORMATS = {"MCQ", "QA"}
_OCR = "OCR"
"""The column of Table 4 that is a mean over the tasks of transcription."""
_NOT_IN_QA = "T39"
"""Left out of the printed QA columns."""
_AVERAGE = "Average"
_UNRANKED = {"baseline", "human"}
_ARROWS = {"higher": "↑", "lower": "↓", "nearest to 0": ""}

_JUDGED = "GPT4oScore"
"""The column of a judge's grades, 0 to 10."""
Given = Mapping[tuple[str, str], Mapping[str, float]]


class _Part(NamedTuple):
    """A column of the table to be: `numbers` as printed, `cells` as shown."""

    heading: Heading
    better: str
    numbers: dict[Who, float]
    cells: dict[Who, Cell]


def beside_tables(
    gathered: Gathered, results: Results, *, published: bool, given: Given | None = None
) -> Iterator[BesideTable]:
    """The papers' tables as far as the run has tasks of them, with the papers' rows if asked.

    `given` are judges' mean grades by model and task; they stand in a judge's column where one
    judge alone graded the task.
    """
    for benchmark, names in _FORMS.items():
        own = _Own(gathered, results, benchmark, given or {})
        printed = published_tables(benchmark)
        for name in names if own.asked else ():
            kept = own.of_table(name)
            parts = list(_parts(kept, printed, printed[name], published=published))
            if not parts or not kept.voices:
                continue
            table = _table(kept, printed[name], parts)
            if name not in _SUPPLEMENTS or any(row.source == "paper" for row in table.rows):
                yield table


class _Own:
    """What the run has of one benchmark."""

    def __init__(self, gathered: Gathered, results: Results, benchmark: str, given: Given) -> None:
        self._given = given
        self.voices = gathered.voices
        self._results = results
        every = {
            place: item for place, item in gathered.items.items() if item.benchmark == benchmark
        }
        self._others = other_galleries(galleries(gathered)) if benchmark == "OBI-Bench" else {}
        self._items = {place: item for place, item in every.items() if place not in self._others}
        there = {item.task for item in every.values()}
        self.benchmark = benchmark
        self.asked = [each for each in tasks() if each.id in there]
        self._scores: dict[tuple[str, str, str, str], list[Score]] = {}
        for score in gathered.scores if self.asked else ():
            kept = (score.task, score.query, score.item) in self._items
            if score.protocol == "official" and score.value is not None and kept:
                key = (score.model, score.task, score.query, score.metric)
                self._scores.setdefault(key, []).append(score)

    def notes(self, table: PrintedTable) -> tuple[str, ...]:
        """What of the run is not in a table, and where it is shown instead."""
        of_table = {column.task for column in table.columns.values()}
        return tuple(note for task, note in gallery_notes(self._others) if task in of_table)

    def of_table(self, name: str) -> _Own:
        """What enters a table: of one about models that see the image, only the setting `image`."""
        if (self.benchmark, name) not in _DIRECT:
            return self
        kept = copy(self)
        kept.voices = {who: voice for who, voice in self.voices.items() if sees_image(voice)}
        return kept

    def has(self, column: Column) -> bool:
        """Whether an item is in the column's subset."""
        return any(
            (item.task, item.query) == (column.task, column.query) and _is_of(item, column.subset)
            for item in self._items.values()
        )

    def value(self, model: str, column: Column, subset: str) -> float | None:
        """A model's value of the column's metric over the items of a subset; "" is all."""
        if column.metric == _JUDGED:
            grades = self._given.get((model, task_name(column.task, column.query)), {})
            return next(iter(grades.values())) / 10 if len(grades) == 1 and not subset else None
        scores = self._scores.get((model, column.task, column.query, column.metric), ())
        kept = [s for s in scores if _is_of(self._items[s.task, s.query, s.item], subset)]
        return task_value(column.metric, kept)

    def scored(self, wanted: Task) -> bool:
        """Whether a model has a value of a task's main metric."""
        query = wanted.queries[0]
        return any(
            (model, wanted.id, query.name, query.official[0]) in self._scores
            for model in self.voices
        )

    def tasks_of(self, model: str) -> dict[tuple[str, str], TaskResult]:
        """A model's results by task and query."""
        found = self._results.get((model, "official"))
        return {(each.task, each.query): each for each in found.tasks} if found else {}


def _is_of(item: Item, subset: str) -> bool:
    """Whether an item is of a printed subset: a value of its metadata, or two after each other."""
    if not subset:
        return True
    said = [value.casefold() for value in item.metadata.values()]
    pairs = (" ".join(pair) for pair in permutations(said, 2))
    return subset.casefold() in said or subset.casefold() in pairs


def _parts(
    own: _Own, printed: Mapping[str, PrintedTable], table: PrintedTable, *, published: bool
) -> Iterator[_Part]:
    asked = {each.id for each in own.asked}
    columns = [each for each in table.columns.values() if each.task in asked]
    unmatched: dict[tuple[str, str, str], Column] = {}
    for column in columns:
        key = (column.task, column.query, column.metric)
        alike = [c for c in columns if (c.task, c.query, c.metric) == key]
        if not any(own.has(each) for each in alike):
            unmatched.setdefault(key, column)
        if published or any(own.has(each) for each in alike):
            yield _of_task(own, column, alike, published=published)
    for column in unmatched.values():
        yield _of_run(own, column)
    for column in table.columns.values():
        if column.metric == "mean":
            yield from _of_mean(own, printed, table, column, published=published)
        elif column.task == _OCR:
            yield from _of_ocr(own, table, column, published=published)


def _of_task(own: _Own, column: Column, alike: Sequence[Column], *, published: bool) -> _Part:
    """A column of one task, over the items of its subset."""
    others = [each.subset for each in alike if each.subset != _AVERAGE]
    values: dict[Who, float] = {}
    for model in own.voices:
        subsets = others if column.subset == _AVERAGE else [column.subset]
        found = [own.value(model, column, subset) for subset in subsets]
        there = [value for value in found if value is not None]
        if there and len(there) == len(found):
            values["this run", model] = fmean(there) * column.how.scale
    return _part(column, _heading(column, column.subset), values, _printed(column, published))


def _of_run(own: _Own, column: Column) -> _Part:
    """A column for images that are of none of the paper's subsets."""
    values: dict[Who, float] = {
        ("this run", model): value * column.how.scale
        for model in own.voices
        if (value := own.value(model, column, "")) is not None
    }
    heading = _heading(column, "this run's images")
    return _part(
        column, heading._replace(name=column.name.replace(f"@{column.subset}", "")), values, {}
    )


def _of_mean(
    own: _Own,
    printed: Mapping[str, PrintedTable],
    table: PrintedTable,
    column: Column,
    *,
    published: bool,
) -> Iterator[_Part]:
    """A column of means, over the tasks that the run has values of; none if it has none."""
    declared = _declared(own, table, column)
    shared = [each for each in declared if own.scored(each)]
    whole = len(shared) == len(declared)
    mains = _printed_mains(printed, shared)
    if published and not whole:
        shared = [each for each in shared if each.id in mains]
    if not shared:
        return
    values: dict[Who, float] = {}
    notes: dict[Who, str] = {}
    for model in own.voices:
        domains = domain_means(shared, "official", own.tasks_of(model))
        value = mean_over_domains(domains).value
        lacking = sum(len(each.missing) for each in domains.values())
        if value is not None:
            values["this run", model] = 100 * value
            if lacking:
                notes["this run", model] = f"{len(shared) - lacking} of {len(shared)} tasks"
    theirs = _printed(column, published)
    if not whole:
        rows = {row for each in mains.values() for row in each.values} if published else set()
        theirs = {}
        for row in rows:
            value = _recomputed(shared, mains, row)
            if value is not None and published_model(own.benchmark, row):
                theirs["paper", row] = (value, "")
    heading = Heading(
        column.name,
        "QA" if column.task == "QA" else column.task,
        f"mean {_ARROWS[column.how.better]}",
        "" if whole else f"over {len(shared)} of {len(declared)} tasks",
    )
    yield _part(column, heading, values, theirs, notes)


def _of_ocr(own: _Own, table: PrintedTable, column: Column, *, published: bool) -> Iterator[_Part]:
    """The mean of one metric over the tasks of transcription that the run has values of."""
    parts = [
        each
        for each in table.columns.values()
        if each.metric == column.metric and each.task != _OCR
    ]
    shared = [each for each in parts if any(own.value(m, each, "") is not None for m in own.voices)]
    if not shared:
        return
    values: dict[Who, float] = {}
    for model in own.voices:
        found = [own.value(model, each, "") for each in shared]
        there = [value for value in found if value is not None]
        if len(there) == len(shared):
            values["this run", model] = fmean(there) * column.how.scale
    theirs = _printed(column, published)
    if len(shared) < len(parts) and published:
        rows = [row for row in column.cells if published_model(own.benchmark, row)]
        kept = [row for row in rows if all(row in each.values for each in shared)]
        theirs = {("paper", row): (fmean(e.values[row] for e in shared), "") for row in kept}
    note = "" if len(shared) == len(parts) else f"over {len(shared)} of {len(parts)} tasks"
    heading = Heading(column.name, _OCR, f"{column.metric} {_ARROWS[column.how.better]}", note)
    yield _part(column, heading, values, theirs)


def _declared(own: _Own, table: PrintedTable, column: Column) -> list[Task]:
    """The tasks that a printed mean is over."""
    known = {each.id: each for each in tasks() if each.benchmark == own.benchmark}
    domains = {known[each.task].domain for each in table.columns.values() if each.task in known}
    scope = [each for each in known.values() if not domains or each.domain in domains]
    if column.task in _FORMATS:
        return [each for each in scope if each.format == column.task and each.id != _NOT_IN_QA]
    if any(each.domain == column.task for each in scope):
        return [each for each in scope if each.domain == column.task]
    return scope


def _printed_mains(
    printed: Mapping[str, PrintedTable], wanted: Sequence[Task]
) -> dict[str, Column]:
    """The column of each task's main metric, wherever the paper prints it first."""
    mains = {each.id: each.queries[0].official[0] for each in wanted}
    found: dict[str, Column] = {}
    for table in printed.values():
        for column in table.columns.values():
            if mains.get(column.task) == column.metric and not column.subset:
                best = found.get(column.task)
                if best is None or len(column.cells) > len(best.cells):
                    found[column.task] = column
    return found


def _recomputed(shared: Sequence[Task], mains: Mapping[str, Column], row: str) -> float | None:
    """A paper's mean over the shared tasks, in percent; None where it lacks one."""
    results = {}
    for each in shared:
        value = mains[each.id].values.get(row)
        if value is None:
            return None
        main = MetricResult(
            metric=mains[each.id].metric, value=value / mains[each.id].how.scale,
            without_failures=None, item_mean=None, items=each.count, scored=each.count,
        )  # fmt: skip
        results[each.id, ""] = TaskResult(
            task=each.id, query="", metrics=(main,), items=each.count, statuses={}, verdicts={}
        )
    value = mean_over_domains(domain_means(shared, "official", results)).value
    return None if value is None else 100 * value


def _printed(column: Column, published: bool) -> dict[Who, tuple[float | None, str]]:
    if not published:
        return {}
    return {
        ("paper", row): (cell.value, cell.text)
        for row, cell in column.cells.items()
        if published_model(column.benchmark, row)
    }


def _heading(column: Column, subset: str) -> Heading:
    known = next(each for each in tasks() if each.id == column.task)
    title = " · ".join(part for part in (column.task, column.query, subset) if part)
    metric = f"{column.metric} {_ARROWS[column.how.better]}"
    return Heading(column.name, title, metric, known.name_zh)


def _part(
    column: Column,
    heading: Heading,
    own: Mapping[Who, float],
    printed: Mapping[Who, tuple[float | None, str]],
    notes: Mapping[Who, str] | None = None,
) -> _Part:
    digits = max(cell.decimals for cell in column.cells.values())
    notes = notes or {}
    cells = {who: Cell(f"{value:.{digits}f}", notes.get(who, "")) for who, value in own.items()}
    numbers = {who: round(value, digits) for who, value in own.items() if who not in notes}
    for who, (number, text) in printed.items():
        cells[who] = Cell(text or f"{number:.{digits}f}")
        if number is not None:
            numbers[who] = round(number, digits)
    return _Part(heading, column.how.better, numbers, cells)


def _table(own: _Own, table: PrintedTable, parts: Sequence[_Part]) -> BesideTable:
    barred = {("this run", name) for name, v in own.voices.items() if v.role in _UNRANKED}
    columns = []
    for part in parts:
        ranked = {
            who: number
            for who, number in part.numbers.items()
            if who not in barred and not _is_human(own.benchmark, who)
        }
        placed = marks(ranked, higher_is_better=part.better == "higher")
        columns.append(
            {
                who: cell._replace(
                    best=placed.get(who) == "best", second=placed.get(who) == "second"
                )
                for who, cell in part.cells.items()
            }
        )
    printed = [row for row in table.rows if published_model(table.benchmark, row)]
    order: list[Who] = [
        *(("this run", name) for name in own.voices),
        *(("paper", row) for row in printed),
    ]
    rows = [
        BesideRow(who[1], who[0], [by_row.get(who, Cell(NOTHING)) for by_row in columns])
        for who in order
        if any(who in by_row for by_row in columns)
    ]
    headings = [part.heading for part in parts]
    return BesideTable(table.benchmark, table.name, headings, rows, own.notes(table))


def _is_human(benchmark: str, who: Who) -> bool:
    known = published_model(benchmark, who[1]) if who[0] == "paper" else None
    return known is not None and known.role == "human"
