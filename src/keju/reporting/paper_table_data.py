"""The papers' tables about their data, computed from a run's dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from keju.analysis.asked_items import Run
from keju.analysis.run_set import RunSet
from keju.datasets.stats import OVERALL, Stats, stats
from keju.definitions import task
from keju.errors import KejuError
from keju.published import PrintedTable, paper, papers, published_tables
from keju.reporting.cells import Cell
from keju.reporting.paper_table_form import Heading, PaperTable, PaperTableRow

_NAMES = {"n_questions": "n_q", "avg_q_len": "avg_q", "avg_a_len": "avg_a"}
"""Printed columns with another name in keju's statistics."""


def data_tables(run_set: RunSet, *, published: bool) -> Iterator[PaperTable]:
    """For each run whose dataset is available, the tables with rows for it.

    Lengths are in characters without white space, sizes in pixels; no value is marked as best.
    """
    several = len({run.manifest.dataset_hash for run in run_set.runs}) > 1
    seen = set()
    for run in run_set.runs:
        path = run.path / run.manifest.dataset_path
        if not run.manifest.dataset_path or run.manifest.dataset_hash in seen:
            continue
        seen.add(run.manifest.dataset_hash)
        try:
            found = stats(path)
        except KejuError:
            continue  # the dataset was moved; the report says this about its images
        label = f" ({run.manifest.dataset})" if several else ""
        yield from _build_tables(run_set, run, found, label, published=published)


def _build_tables(
    run_set: RunSet, run: Run, found: Stats, label: str, *, published: bool
) -> Iterator[PaperTable]:
    asked = {each.item.benchmark for each in run_set.asked if each.run.path == run.path}
    frames = {"domain": found.domains, "task": found.tasks, "source": found.sources}
    for benchmark in papers():
        for name, key in paper(benchmark).tables.data.items() if benchmark in asked else ():
            printed = published_tables(benchmark)[name]
            if frames[key].height:
                yield _table(
                    benchmark, name + label, printed, frames[key], key, published=published
                )


def _table(
    benchmark: str, name: str, printed: PrintedTable, frame: pl.DataFrame, key: str, *,
    published: bool,
) -> PaperTable:  # fmt: skip
    columns = [each for each in printed.columns if each != key]
    kept = [each for each in columns if _NAMES.get(each, each) in frame.columns]
    mixed = "benchmark" in frame.columns and frame["benchmark"].drop_nulls().n_unique() > 1
    rows = [
        PaperTableRow(str(row[key]), "this run", [_cell(printed, each, row) for each in kept])
        for row in frame.iter_rows(named=True)
        if _belongs(row, benchmark, key, printed) and not (mixed and row[key] == OVERALL)
    ]
    if published:
        rows += [
            PaperTableRow(row, "paper", [Cell(cells[each].text) if each in cells else Cell()
                                     for each in kept])
            for row, cells in printed.rows.items()
        ]  # fmt: skip
    return PaperTable(benchmark, name, [Heading(each, each) for each in kept], rows)


def _belongs(row: Mapping[str, object], benchmark: str, key: str, printed: PrintedTable) -> bool:
    """Whether a row belongs to the paper's table: one of its rows, or one of its sources."""
    if key == "source":
        return task(str(row["task"])).benchmark == benchmark
    return str(row[key]) in printed.rows


def _cell(printed: PrintedTable, column: str, row: Mapping[str, object]) -> Cell:
    value = row[_NAMES.get(column, column)]
    if value is None:
        return Cell()
    if not isinstance(value, (int, float)):
        return Cell(str(value))
    digits = max(each.decimals for each in printed.columns[column].cells.values())
    return Cell(f"{value:.{digits}f}")
