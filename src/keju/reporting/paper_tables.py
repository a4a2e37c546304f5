"""Paper tables: a run in the form of the papers' tables, with the papers' rows.

Only `official` values are in these tables, as only they are computed in the papers' way. A paper's
row contains only what the paper prints. Where a run has only some of the tasks of a printed mean, a
separate row has the mean recomputed over the same tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from keju.analysis.human_rows import with_people
from keju.analysis.leaderboard import Results
from keju.analysis.run_set import RunSet
from keju.analysis.same_models import SameAs
from keju.definitions import tasks
from keju.published import (
    AVERAGE,
    Column,
    PrintedTable,
    paper,
    papers,
    published_model,
    published_tables,
)
from keju.reporting.cells import Cell
from keju.reporting.paper_table_form import Heading, PaperTable, RowKey
from keju.reporting.paper_table_means import (
    OCR,
    RANK,
    MeanColumn,
    mean_columns,
)
from keju.reporting.paper_table_rows import Part, table_of
from keju.reporting.paper_table_runs import Given, RunValues, own_metric
from keju.texts import _, listed

_ARROWS = {"higher": "↑", "lower": "↓", "nearest to 0": ""}


def build_paper_tables(
    run_set: RunSet,
    results: Results,
    *,
    published: bool,
    given: Given | None = None,
    same_as: Sequence[SameAs] = (),
) -> Iterator[PaperTable]:
    """The papers' tables that the run has tasks of, with the papers' rows if requested.

    `given` are judges' mean grades by model and task; they are shown in a judge's column where one
    judge alone graded the task. `same_as` declares which models are a paper's: below their rows is
    one with the difference. Two or more people have a common row; it is their only one in a table
    whose paper has a row of people, which is of several people too.
    """
    alone = set(run_set.by_model)
    if (joined := with_people(run_set)) is not run_set:
        run_set, results = joined, joined.results
    several = set(run_set.by_model) - alone
    for benchmark in papers():
        own = RunValues(run_set, results, benchmark, given or {})
        wanted, printed = paper(benchmark).tables, published_tables(benchmark)
        for name in wanted.shown if own.tasks else ():
            kept = own.seeing() if name in wanted.direct else own
            if several and any(is_of_people(benchmark, row) for row in printed[name].rows):
                kept = kept.without_single_people(several)
            form = _Form(kept, printed, printed[name], published=published)
            parts = list(form.parts())
            if not parts or not kept.by_model:
                continue
            table = table_of(kept, printed[name], parts, form.over, same_as)
            if name not in wanted.supplements or any(row.source == "paper" for row in table.rows):
                yield table


class _Form:
    """One table of a paper, to be filled from a run.

    `over` are the tasks that the table's means are over, empty where it has none.
    """

    def __init__(
        self,
        own: RunValues,
        printed: Mapping[str, PrintedTable],
        table: PrintedTable,
        *,
        published: bool,
    ) -> None:
        self._own = own
        self._table = table
        self._published = published
        means = mean_columns(own.benchmark, printed, table)
        self._means = {each.column.name: each for each in means}
        self.over: frozenset[str] = frozenset().union(*(e.over for e in self._means.values()))
        known = [each for each in own.tasks if each.id in self.over]
        self._has = {
            model: frozenset(each.id for each in known if own.valued(model, each))
            for model in own.by_model
        }
        there = frozenset().union(*(e.parts.keys() for e in self._means.values()))
        self._shared = {
            model: has & there
            for model, has in self._has.items()
            if published and has & there and has != self.over
        }

    def parts(self) -> Iterator[Part]:
        """The columns, in the paper's order, without those for which the run has no value."""
        asked = {each.id for each in self._own.tasks}
        columns = [each for each in self._table.columns.values() if each.task in asked]
        unmatched: dict[tuple[str, str, str], Column] = {}
        for column in self._table.columns.values():
            if column.name in self._means:
                if any(has & self._means[column.name].over for has in self._has.values()):
                    yield self._build_mean_part(self._means[column.name])
            elif column.metric == RANK:
                whole = self._means[f"{column.task}:mean"]
                if any(self._has.values()):
                    yield self._build_rank_part(column, self._build_mean_part(whole))
            elif column in columns:
                key = (column.task, column.query, column.metric)
                alike = [c for c in columns if (c.task, c.query, c.metric) == key]
                if not any(self._own.has(each) for each in alike):
                    unmatched.setdefault(key, column)
                if self._published or any(self._own.has(each) for each in alike):
                    yield self._build_task_part(column, alike)
        for column in unmatched.values():
            if part := self._build_run_part(column):
                yield part

    def _build_task_part(self, column: Column, alike: Sequence[Column]) -> Part:
        """A column of one task, over the items of its subset."""
        others = [each.subset for each in alike if each.subset != AVERAGE]
        values: dict[RowKey, float] = {}
        for model in self._own.by_model:
            subsets = others if column.subset == AVERAGE else [column.subset]
            found = [self._own.value(model, column, subset) for subset in subsets]
            there = [value for value in found if value is not None]
            if there and len(there) == len(found):
                values[RowKey("this run", model)] = fmean(there) * column.how.scale
        return self._part(column, _heading(column, column.subset), values)

    def _build_run_part(self, column: Column) -> Part | None:
        """A column for images outside of the paper's subsets; None if there is no value."""
        values: dict[RowKey, float] = {
            RowKey("this run", model): value * column.how.scale
            for model in self._own.by_model
            if (value := self._own.value(model, column, "")) is not None
        }
        heading = _heading(column, "")
        heading = heading._replace(
            name=column.name.replace(f"@{column.subset}", ""),
            title=_("{} · this run's images", heading.title),
        )
        return self._part(column, heading, values, printed=False) if values else None

    def _build_mean_part(self, mean: MeanColumn) -> Part:
        """A column of means: the run's over its tasks, the paper's as printed and recomputed."""
        values: dict[RowKey, float] = {}
        over: dict[RowKey, frozenset[str]] = {}

        def put(who: RowKey, value: float | None, wanted: frozenset[str]) -> None:
            if value is not None:
                values[who], over[who] = value, wanted

        scale = mean.column.how.scale
        for model in self._own.by_model:
            rows = {RowKey("this run", model): self._has[model]}
            if (shared := self._shared.get(model, self._has[model])) != self._has[model]:
                rows[RowKey("this run", model, shared)] = shared
            for who, has in rows.items():
                wanted = has & mean.over
                if wanted and not (who.scope and wanted == mean.over):
                    value = mean.own(self._own, model, wanted)
                    put(who, None if value is None else scale * value, wanted)
        for scope in self._scopes():
            wanted = scope & mean.over
            if wanted != mean.over:
                for row in self._rows():
                    put(RowKey("recomputed", row, scope), mean.recomputed(row, wanted), wanted)
        note = _("without {}, as printed", listed(mean.without)) if mean.without else ""
        title = "OverAll" if mean.column.task == OCR else mean.column.task
        metric = f"{mean.column.metric} {_ARROWS[mean.column.how.better]}"
        heading = Heading(mean.column.name, title, metric, note)
        return self._part(mean.column, heading, values, over=over, whole=mean.over)

    def _build_rank_part(self, column: Column, mean: Part) -> Part:
        """The rank by a column of means, among the paper's models over the same tasks."""
        values: dict[RowKey, float] = {}
        ranked = {who: n for who, n in mean.numbers.items() if self._is_ranked(who)}
        theirs: dict[frozenset[str], list[float]] = {}
        for who, number in ranked.items():
            if who.source != "this run" or not self._published:
                theirs.setdefault(mean.over[who], []).append(number)
        for who, number in ranked.items():
            others = theirs.get(mean.over[who])
            if others and who.source != "paper":
                values[who] = 1 + sum(each > number for each in others)
        among = _("rows of this run: rank among the paper's models") if self._published else ""
        by = _("by {}", mean.heading.title)
        heading = Heading(column.name, _("Rank"), by, among)
        return self._part(column, heading, values, marked=False)

    def _part(
        self,
        column: Column,
        heading: Heading,
        values: Mapping[RowKey, float],
        *,
        over: Mapping[RowKey, frozenset[str]] | None = None,
        whole: frozenset[str] = frozenset(),
        printed: bool = True,
        marked: bool = True,
    ) -> Part:
        digits = max(cell.decimals for cell in column.cells.values())
        cells = {who: Cell(f"{value:.{digits}f}") for who, value in values.items()}
        numbers = {who: round(value, digits) for who, value in values.items()}
        for row in self._rows() if printed else ():
            if found := column.cells.get(row):
                cells[RowKey("paper", row)] = Cell(found.text)
                if found.value is not None:
                    numbers[RowKey("paper", row)] = found.value
        its_tasks = {who: (over or {}).get(who, whole) for who in cells}
        for who, its in its_tasks.items():
            if its != whole:
                cells[who] = cells[who]._replace(note=_("{} of {} tasks", len(its), len(whole)))
        better = column.how.better if marked else ""
        ranked = frozenset(who for who in numbers if self._is_ranked(who))
        return Part(heading, better, digits, numbers, cells, its_tasks, ranked)

    def _rows(self) -> list[str]:
        """The paper's models and its row of averages; empty if they are not requested."""
        rows = self._table.rows if self._published else ()
        return [r for r in rows if r == AVERAGE or published_model(self._own.benchmark, r)]

    def _scopes(self) -> list[frozenset[str]]:
        """The sets of tasks over which the paper's means are recomputed, the largest first.

        Baselines do not add sets of their own, because they are not compared with a paper's models.
        """
        by_model = self._own.by_model
        found = {its for model, its in self._shared.items() if by_model[model].role != "baseline"}
        return sorted(found, key=lambda scope: (-len(scope), sorted(scope)))

    def _is_ranked(self, who: RowKey) -> bool:
        """Whether a row gets ranks and marks; among the paper's rows, not on synthetic data."""
        if who.source == "this run":
            drawn = self._published and self._own.is_drawn(who.model)
            return self._own.is_ranked(who.model) and not drawn
        known = published_model(self._own.benchmark, who.model)
        return known is not None and not is_of_people(self._own.benchmark, who.model)


def is_of_people(benchmark: str, row: str) -> bool:
    """Whether a printed row is of people."""
    model = published_model(benchmark, row)
    return model is not None and model.role == "human"


def _heading(column: Column, subset: str) -> Heading:
    known = next(each for each in tasks() if each.id == column.task)
    title = " · ".join(part for part in (column.task, column.query, subset) if part)
    metric = f"{column.metric} {_ARROWS[column.how.better]}"
    if (own := own_metric(column)) == column.metric:
        return Heading(column.name, title, metric, known.name_zh)
    name = f"{column.name} (this run: {own})"
    return Heading(
        name, title, metric, _("this run: {}, which the printed values fit; our reading", own)
    )
