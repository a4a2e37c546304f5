"""MCS-Bench's Table 8 from a run: one text model, given the true text or what an engine read."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from keju.benchmarks import task
from keju.published import Column, published_model, published_tables
from keju.reporting.cells import Cell, marks
from keju.reporting.gather import Gathered, Voice
from keju.reporting.labels import NOTHING
from keju.reporting.papers_form import BesideRow, BesideTable, Heading, Source

_BENCHMARK, _TABLE, _TASK, _METRIC = "MCS-Bench", "Table 8", "T2", "BLEU"
_TRUE = "GT"
_ENGINES = {"ppocr": "PaddleOCR", "http-ocr:kandianguji": "KanDianGuji"}
"""keju's names of the engines of the paper; their versions are not the paper's."""


def input_table(gathered: Gathered, *, published: bool) -> Iterator[BesideTable]:
    """The table, if a model of the run translated a text that it was given; else nothing."""
    own = _own(gathered)
    if not own:
        return
    printed = published_tables(_BENCHMARK)[_TABLE].columns if published else {}
    inputs = list(
        dict.fromkeys([*(each.subset for each in printed.values()), *(which for _, which in own)])
    )
    values: dict[str, dict[tuple[Source, str], Cell]] = {name: {} for name in inputs}
    for (model, which), value in own.items():
        values[which]["this run", model] = Cell(f"{100 * value:.2f}")
    for column in printed.values():
        values[column.subset] |= _paper(column)
    rows = list(dict.fromkeys(who for cells in values.values() for who in cells))
    rows.sort(key=lambda who: who[0] == "paper")
    yield BesideTable(
        _BENCHMARK,
        _TABLE,
        [
            Heading(f"{_TASK}@{name}:{_METRIC}", f"{_TASK} · {name}", f"{_METRIC} ↑",
                    task(_TASK).name_zh)
            for name in inputs
        ],
        [
            BesideRow(model, source, [_marked(values[name])[source, model] for name in inputs])
            for source, model in rows
        ],
    )  # fmt: skip


def _own(gathered: Gathered) -> dict[tuple[str, str], float]:
    """The mean official BLEU of each text model on each input, as a fraction."""
    found: dict[tuple[str, str], list[float]] = {}
    for asked in gathered.asked.values():
        if asked.item.task != _TASK:
            continue
        for answer in asked.answers:
            place = _place(gathered.voices[answer.model])
            for score in answer.scores:
                wanted = (score.protocol, score.metric) == ("official", _METRIC)
                if place and wanted and score.value is not None:
                    found.setdefault(place, []).append(score.value)
    return {place: fmean(values) for place, values in found.items()}


def _place(voice: Voice) -> tuple[str, str] | None:
    """The text model of a voice and what it was given; nothing if it saw the picture."""
    if voice.role == "baseline":
        return None
    if voice.setting == "gold-text":
        return (voice.model, _TRUE)
    if voice.setting == "image" and voice.model.startswith("ocr+llm:"):
        engine, _, model = voice.model.removeprefix("ocr+llm:").partition("+")
        return (model, _ENGINES.get(engine, engine))
    return None


def _paper(column: Column) -> dict[tuple[Source, str], Cell]:
    return {
        ("paper", row): Cell(cell.text)
        for row, cell in column.cells.items()
        if published_model(_BENCHMARK, row)
    }


class _Blank(dict[tuple[Source, str], Cell]):
    def __missing__(self, who: tuple[Source, str]) -> Cell:
        return Cell(NOTHING)


def _marked(cells: dict[tuple[Source, str], Cell]) -> _Blank:
    placed = marks({who: float(cell.value) for who, cell in cells.items()})
    return _Blank(
        {
            who: cell._replace(best=placed.get(who) == "best", second=placed.get(who) == "second")
            for who, cell in cells.items()
        }
    )
