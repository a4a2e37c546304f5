"""A paper's table of inputs from a run: a text model with the true text or a transcription."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from keju.analysis.marks import marks
from keju.analysis.run_set import ModelResponses, RunSet
from keju.analysis.same_models import SameAs
from keju.definitions import task
from keju.published import (
    Column,
    InputTable,
    paper,
    papers,
    published_model,
    published_tables,
)
from keju.reporting.cells import Cell
from keju.reporting.paper_table_form import Heading, PaperTable, PaperTableRow, RowKey

_ENGINES = {"ppocr": "PP-OCRv6"}
"""Display names of engines. An engine counts as one of the paper's only if it is declared to be."""


def input_tables(
    run_set: RunSet, *, published: bool, same_as: Sequence[SameAs] = ()
) -> Iterator[PaperTable]:
    """A paper's table, if a model of the run answered its task from a given text.

    An engine of the run has a column of its own, or the paper's if `same_as` declares it to be the
    paper's; a declared model has a row with the difference.
    """
    for benchmark in papers():
        if (form := paper(benchmark).tables.inputs) and (
            own := _mean_own_values(run_set, form, same_as)
        ):
            yield _table(benchmark, form, own, same_as, published=published)


def _table(
    benchmark: str, form: InputTable, own: Mapping[tuple[str, str], float],
    same_as: Sequence[SameAs], *, published: bool,
) -> PaperTable:  # fmt: skip
    printed = published_tables(benchmark)[form.table].columns if published else {}
    inputs = list(
        dict.fromkeys([*(each.subset for each in printed.values()), *(which for _, which in own)])
    )
    values: dict[str, dict[RowKey, Cell]] = {name: {} for name in inputs}
    for (model, which), value in own.items():
        values[which][RowKey("this run", model)] = Cell(f"{100 * value:.2f}")
    for column in printed.values():
        values[column.subset] |= _paper(column)
    for name in inputs:
        values[name] |= _differences(benchmark, values[name], same_as)
    rows = list(dict.fromkeys(who for cells in values.values() for who in cells))
    rows.sort(key=lambda who: who.source == "paper")
    marked = {name: _mark_best(cells) for name, cells in values.items()}
    return PaperTable(
        benchmark,
        form.table,
        [
            Heading(f"{form.task}@{name}:{form.metric}", f"{form.task} · {name}",
                    f"{form.metric} ↑", task(form.task).name_zh)
            for name in inputs
        ],
        [
            PaperTableRow(who.model, who.source, [marked[name].get(who, Cell()) for name in inputs])
            for who in rows
        ],
    )  # fmt: skip


def _mean_own_values(
    run_set: RunSet, form: InputTable, same_as: Sequence[SameAs]
) -> dict[tuple[str, str], float]:
    """The mean official value of each text model on each input, as a fraction."""
    found: dict[tuple[str, str], list[float]] = {}
    for asked in run_set.asked:
        if asked.item.task != form.task:
            continue
        for answer in asked.answers:
            place = _place(run_set.by_model[answer.model], form, same_as)
            for score in answer.scores:
                wanted = (score.protocol, score.metric) == ("official", form.metric)
                if place and wanted and score.value is not None:
                    found.setdefault(place, []).append(score.value)
    return {place: fmean(values) for place, values in found.items()}


def _place(
    model_responses: ModelResponses, form: InputTable, same_as: Sequence[SameAs]
) -> tuple[str, str] | None:
    """The text model of a voice and its input; None if it got the image."""
    if model_responses.role == "baseline":
        return None
    kind, _, rest = model_responses.model.partition(":")
    engine, _, model = rest.partition("+") if kind == "ocr+llm" else ("", "", model_responses.model)
    if model_responses.setting == "gold-text":
        return (model, form.reference)
    return (
        (model, _column(engine, same_as)) if model_responses.setting == "image" and engine else None
    )


def _column(engine: str, same_as: Sequence[SameAs]) -> str:
    declared = (each.printed for each in same_as if each.model == engine)
    return next(declared, _ENGINES.get(engine, engine))


def _paper(column: Column) -> dict[RowKey, Cell]:
    return {
        RowKey("paper", row): Cell(cell.text)
        for row, cell in column.cells.items()
        if published_model(column.benchmark, row)
    }


def _differences(
    benchmark: str, cells: Mapping[RowKey, Cell], same_as: Sequence[SameAs]
) -> dict[RowKey, Cell]:
    """Own values minus the paper's for the same model on the same input."""
    found = {}
    for each in same_as:
        known = published_model(benchmark, each.printed)
        mine = cells.get(RowKey("this run", each.model))
        theirs = cells.get(RowKey("paper", known.name)) if known else None
        if mine and theirs and known:
            value = float(mine.value) - float(theirs.value)
            found[RowKey("difference", f"{each.model} − {known.name}")] = Cell(f"{value:+.2f}")
    return found


def _mark_best(cells: Mapping[RowKey, Cell]) -> dict[RowKey, Cell]:
    placed = marks(
        {who: float(cell.value) for who, cell in cells.items() if who.source != "difference"}
    )
    return {who: cell.marked(placed.get(who)) for who, cell in cells.items()}
