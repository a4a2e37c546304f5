"""MCS-Bench's Table 8 from a run: one text model, given the true text or what an engine read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from keju.definitions import task
from keju.published import Column, published_model, published_tables
from keju.reporting.cells import Cell, marks
from keju.reporting.gather import Gathered, Voice
from keju.reporting.papers_form import BesideRow, BesideTable, Heading, Who
from keju.reporting.same_as import SameAs

_BENCHMARK, _TABLE, _TASK, _METRIC = "MCS-Bench", "Table 8", "T2", "BLEU"
_TRUE = "GT"
_ENGINES = {"ppocr": "PP-OCRv6", "ppocr:openvino": "PP-OCRv6 on OpenVINO"}
"""What is better known under another name than keju's. No engine is taken for one of the paper's
unless it is declared to be."""


def input_table(
    gathered: Gathered, *, published: bool, same_as: Sequence[SameAs] = ()
) -> Iterator[BesideTable]:
    """The table, if a model of the run translated a text that it was given; else nothing.

    An engine of the run has a column of its own, or the paper's if `same_as` declares it to be the
    paper's; a model that is declared has a row with the difference.
    """
    own = _own(gathered, same_as)
    if not own:
        return
    printed = published_tables(_BENCHMARK)[_TABLE].columns if published else {}
    inputs = list(
        dict.fromkeys([*(each.subset for each in printed.values()), *(which for _, which in own)])
    )
    values: dict[str, dict[Who, Cell]] = {name: {} for name in inputs}
    for (model, which), value in own.items():
        values[which][Who("this run", model)] = Cell(f"{100 * value:.2f}")
    for column in printed.values():
        values[column.subset] |= _paper(column)
    for name in inputs:
        values[name] |= _differences(values[name], same_as)
    rows = list(dict.fromkeys(who for cells in values.values() for who in cells))
    rows.sort(key=lambda who: who.source == "paper")
    marked = {name: _marked(cells) for name, cells in values.items()}
    yield BesideTable(
        _BENCHMARK,
        _TABLE,
        [
            Heading(f"{_TASK}@{name}:{_METRIC}", f"{_TASK} · {name}", f"{_METRIC} ↑",
                    task(_TASK).name_zh)
            for name in inputs
        ],
        [
            BesideRow(who.model, who.source, [marked[name].get(who, Cell()) for name in inputs])
            for who in rows
        ],
    )  # fmt: skip


def _own(gathered: Gathered, same_as: Sequence[SameAs]) -> dict[tuple[str, str], float]:
    """The mean official BLEU of each text model on each input, as a fraction."""
    found: dict[tuple[str, str], list[float]] = {}
    for asked in gathered.asked.values():
        if asked.item.task != _TASK:
            continue
        for answer in asked.answers:
            place = _place(gathered.voices[answer.model], same_as)
            for score in answer.scores:
                wanted = (score.protocol, score.metric) == ("official", _METRIC)
                if place and wanted and score.value is not None:
                    found.setdefault(place, []).append(score.value)
    return {place: fmean(values) for place, values in found.items()}


def _place(voice: Voice, same_as: Sequence[SameAs]) -> tuple[str, str] | None:
    """The text model of a voice and what it was given; nothing if it saw the picture."""
    if voice.role == "baseline":
        return None
    kind, _, rest = voice.model.partition(":")
    engine, _, model = rest.partition("+") if kind == "ocr+llm" else ("", "", voice.model)
    if voice.setting == "gold-text":
        return (model, _TRUE)
    return (model, _column(engine, same_as)) if voice.setting == "image" and engine else None


def _column(engine: str, same_as: Sequence[SameAs]) -> str:
    declared = (each.printed for each in same_as if each.model == engine)
    return next(declared, _ENGINES.get(engine, engine))


def _paper(column: Column) -> dict[Who, Cell]:
    return {
        Who("paper", row): Cell(cell.text)
        for row, cell in column.cells.items()
        if published_model(_BENCHMARK, row)
    }


def _differences(cells: Mapping[Who, Cell], same_as: Sequence[SameAs]) -> dict[Who, Cell]:
    """Own values minus those that the paper prints for the same model on the same input."""
    found = {}
    for each in same_as:
        known = published_model(_BENCHMARK, each.printed)
        mine = cells.get(Who("this run", each.model))
        theirs = cells.get(Who("paper", known.name)) if known else None
        if mine and theirs and known:
            value = float(mine.value) - float(theirs.value)
            found[Who("difference", f"{each.model} − {known.name}")] = Cell(f"{value:+.2f}")
    return found


def _marked(cells: Mapping[Who, Cell]) -> dict[Who, Cell]:
    placed = marks(
        {who: float(cell.value) for who, cell in cells.items() if who.source != "difference"}
    )
    return {
        who: cell._replace(best=placed.get(who) == "best", second=placed.get(who) == "second")
        for who, cell in cells.items()
    }
