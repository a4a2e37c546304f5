"""The scores of a report as CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import polars as pl

from keju.analysis.blank_pages import blank_page_rows
from keju.csv_files import write_frame
from keju.definitions import is_undeciphered
from keju.files import slug
from keju.formatting import NOTHING
from keju.items import ReadBy, get_group
from keju.reporting.page import Report
from keju.reporting.paper_table_form import PaperTable
from keju.reporting.time_table import machine_cost
from keju.statistics import Interval
from keju.texts import Text, in_english


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write ``items.csv`` (one row per score), ``tasks.csv`` (one row per model, task and metric).

    Also ``directions.csv`` (means of the directions within domains, where a benchmark has any),
    ``times.csv`` (times and costs of engines), ``parameters.csv``
    (parameters of models behind servers), ``post-editing.csv`` and ``risk-coverage.csv`` where
    pages were transcribed, ``undeciphered.csv`` (one row per reading) where there are undeciphered
    characters, ``wordings.csv`` (one row per model, task and wording) where a model
    has several wordings, ``rounds.csv`` (one row per model, task and round) where it has several
    rounds, ``read-by.csv`` (one row per model and task: who read the answers) where the rules did
    not read all of them, ``blank-pages.csv`` (one row per response, with its invented characters)
    where pages are blank, ``protocol-views.csv`` where there are scores of responses seen in other
    ways, and a file for each paper table, in the paper's units. In the others values are fractions.
    A text that a spreadsheet would read as a formula gets an apostrophe before it.
    """
    run_set = report.run_set
    items = pl.DataFrame(
        [
            {
                "model": score.model,
                "dataset": asked.run.manifest.dataset,
                "benchmark": score.benchmark,
                "task": score.task,
                "query": score.query,
                "item": score.item,
                "group": score.group,
                "setting": score.setting,
                "script": score.script,
                "wording": score.wording,
                "round": score.round,
                "protocol": score.protocol,
                "metric": score.metric,
                "value": score.value,
                "value_if_right": score.value_if_right,
                "read_by": score.read_by,
                "status": score.status,
                "verdict": score.verdict,
                "reason": score.reason,
                "extracted": score.extracted,
                "signature": score.signature,
            }
            for asked in run_set.asked
            for answer in asked.answers
            for score in answer.scores
        ],
        infer_schema_length=None,
    )
    tasks = pl.DataFrame(
        [
            {
                "model": result.model,
                "setting": result.setting,
                "script": result.script,
                "wording": result.wording,
                "protocol": result.protocol,
                "task": each.task,
                "query": each.query,
                "metric": metric.metric,
                "main": place == 0,
                "value": metric.value,
                "value_if_right": metric.value_if_right,
                "without_failures": metric.without_failures,
                "items": metric.items,
                "scored": metric.scored,
                "signature": metric.signature,
            }
            for result in run_set.results.values()
            for each in result.tasks
            for place, metric in enumerate(each.metrics)
        ],
        infer_schema_length=None,
    )
    frames = {"items": items, "tasks": tasks}
    for part in (
        _post_editing, _risk_coverage, _undeciphered, _times, _wordings, _rounds, _read_by,
        _parameters, _views, _blank_pages, _directions,
    ):  # fmt: skip
        frames |= part(report)
    for table in report.paper_tables:
        frames[f"{slug(table.benchmark)}-{slug(table.name)}"] = _paper_table_frame(table)
    return [write_frame(frame, folder / f"{name}.csv") for name, frame in frames.items()]


def _directions(report: Report) -> dict[str, pl.DataFrame]:
    """``directions.csv``: the means of the directions within domains; `tasks` have a value."""
    rows = [
        {
            "model": row.model,
            "benchmark": board.benchmark,
            "protocol": protocol,
            "domain": domain,
            "direction": direction,
            "value": mean.value,
            "value_if_right": mean.value_if_right,
            "tasks": mean.tasks - len(mean.missing),
            "of_tasks": mean.tasks,
            "without_value": ", ".join(mean.missing),
        }
        for board in report.view.boards
        for group in board.groups
        for row in group.rows
        for protocol, means in zip(board.protocols, row.directions, strict=True)
        for (domain, direction), mean in zip(board.directions, means, strict=True)
        if mean is not None
    ]
    return _frame("directions", rows)


def _times(report: Report) -> dict[str, pl.DataFrame]:
    """``times.csv``: seconds a page of each engine, and days and cost of the collection."""
    table = report.view.times
    rows = []
    for row in table.rows if table else ():
        if (speed := row.speed) is None:
            continue
        collection = table.given if table else None
        pages = collection.pages if collection else None
        rows.append(
            {"model": row.model, "machine": row.machine, "runtime": speed.runtime,
             "pages_timed": speed.pages, "seconds_a_page": speed.wall,
             "no_time_because": in_english(speed.why), "collection_pages": pages,
             "days": None if speed.wall is None or pages is None else speed.wall * pages / 86400,
             "cost": machine_cost(speed, collection) if collection else None,
             "currency": collection.currency if collection else ""}
        )  # fmt: skip
    return _frame("times", rows)


def _parameters(report: Report) -> dict[str, pl.DataFrame]:
    """``parameters.csv``: the decoding parameters of each model behind a server."""
    compared = any(row.differences is not None for row in report.view.parameters)
    rows = [
        {
            "model": row.model,
            "asked_for": row.asked_for,
            "sent": sent.parameters,
            "answers": sent.answers,
            "not_sent": ", ".join(name for name, _ in row.not_sent),
            "dtype": row.dtype,
            "system_prompt": row.system_prompt,
            **({"unlike_the_paper": "; ".join(row.differences or ())} if compared else {}),
        }
        for row in report.view.parameters
        for sent in row.sent
    ]
    return _frame("parameters", rows)


def _wordings(report: Report) -> dict[str, pl.DataFrame]:
    """``wordings.csv``: the sensitivity to wording; rows without a task are means over tasks."""
    rows = [
        {"model": row.model, "protocol": row.protocol, "task": row.task, "tasks": row.tasks,
         "metric": row.metric, "wording": wording, "value": found.value,
         "value_if_right": found.value_if_right, "unclear": found.unclear, "base": row.base,
         "difference_least": found.least, "difference_most": found.most,
         **_bounds("difference", found.interval),
         "range_least": row.spread[0], "range_most": row.spread[1],
         "p": row.p, "p_adjusted": row.adjusted,
         "items": row.items, "groups": row.groups}
        for row in (*report.view.wordings.rows, *report.view.wordings.overall)
        for wording, found in row.values.items()
    ]  # fmt: skip
    return _frame("wordings", rows)


def _rounds(report: Report) -> dict[str, pl.DataFrame]:
    """``rounds.csv``: variation between rounds; rows without a task are of the whole benchmark."""
    rows = [
        {"model": row.model, "protocol": row.protocol, "benchmark": row.benchmark,
         "task": row.task, "metric": row.metric, "round": number, "value": value,
         "value_if_right": value_if_right,
         "deviation_between_rounds": row.deviation,
         "deviation_between_rounds_if_right": row.deviation_if_right,
         "standard_error_between_groups": row.standard_error,
         "standard_error_between_groups_if_right": row.standard_error_if_right,
         "items": row.items, "groups": row.groups}
        for row in report.view.round_spreads
        for number, (value, value_if_right) in enumerate(
            zip(row.values, row.values_if_right, strict=True), 1
        )
    ]  # fmt: skip
    return _frame("rounds", rows)


def _read_by(report: Report) -> dict[str, pl.DataFrame]:
    """``read-by.csv``: the numbers of answers by who read them."""
    rows = [
        {"model": row.model, "task": row.task, "answers": row.answers,
         **{f"read_by_{name}": row.counts.get(name, 0) for name in get_args(ReadBy)}}
        for row in report.view.readings
    ]  # fmt: skip
    return _frame("read-by", rows)


def _undeciphered(report: Report) -> dict[str, pl.DataFrame]:
    """``undeciphered.csv``: each model's readings of characters without a known reading."""
    rows = [
        {
            "item": asked.item.id,
            "group": get_group(asked.item),
            "image": asked.item.images[0].sha256 if asked.item.images else "",
            "query": asked.item.query,
            "model": answer.model,
            "round": answer.response.round,
            "status": answer.response.status,
            "reading": answer.response.text,
        }
        for asked in report.run_set.asked
        if is_undeciphered(asked.item)
        for answer in asked.answers
    ]
    return _frame("undeciphered", rows)


def _blank_pages(report: Report) -> dict[str, pl.DataFrame]:
    """``blank-pages.csv``: the invented characters of each response to a blank page."""
    rows = blank_page_rows(report.run_set)
    return _frame("blank-pages", rows)


def _views(report: Report) -> dict[str, pl.DataFrame]:
    rows = [
        {
            "model": table.model,
            "task": row.task,
            "name": row.name,
            "metric": row.metric,
            "metrics": table.protocol.metrics,
            "as_returned": row.as_returned.value,
            "protocol": table.protocol.name,
            "value": row.seen.value,
            "form": table.protocol.form,
        }
        for table in report.view.views
        for row in table.rows
    ]
    return _frame("protocol-views", rows)


def _post_editing(report: Report) -> dict[str, pl.DataFrame]:
    """``post-editing.csv``: characters to correct on a page; an interval's ends have columns."""
    rows = [
        {"model": each.model, "task": each.task, "characters": in_english(each.layer),
         "pages": each.pages, "groups": each.groups,
         **_split_interval("mean", each.mean.value, each.mean.interval),
         **_split_interval("median", each.median.value, each.median.interval),
         **_split_interval("nine_in_ten", each.most.value, each.most.interval),
         "untouched": each.untouched}
        for each in report.view.post_edit_costs
    ]  # fmt: skip
    return _frame("post-editing", rows)


def _risk_coverage(report: Report) -> dict[str, pl.DataFrame]:
    """``risk-coverage.csv``: the error at each coverage, as fractions."""
    rows = [
        {"model": each.model, "task": each.task, "error": each.metric, "answers": each.answers,
         "all": each.curve.whole,
         **{
             name: value
             for share, interval in each.at.items()
             for name, value in _split_interval(
                 f"at_{share:.0%}".rstrip("%"), each.curve.at(share), interval
             ).items()
         },
         **_split_interval("area", each.curve.area, each.area),
         **_split_interval("gain", each.curve.gain, each.gain)}
        for each in report.view.risk_coverage_rows
    ]  # fmt: skip
    return _frame("risk-coverage", rows)


def _frame(name: str, rows: Sequence[Mapping[str, object]]) -> dict[str, pl.DataFrame]:
    """The rows of a file; no file without rows."""
    return {name: pl.DataFrame(rows, infer_schema_length=None)} if rows else {}


def _split_interval(
    name: str, value: float | None, interval: Interval | None
) -> dict[str, float | None]:
    return {name: value, **_bounds(name, interval)}


def _bounds(name: str, interval: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _paper_table_frame(table: PaperTable) -> pl.DataFrame:
    """One row per model, with its ``source``; the columns have the names of the data.

    ``group`` is the paper's title of the rows, ``tasks`` the number of the table's tasks in the
    row's means, ``judge`` the judge of a row of the run, where the table has grades, and
    ``graded`` the number of answers in its mean, where some have no grade. A column of means of
    which some lack tasks is followed by one with the number of the column's tasks in each.
    """
    rows: list[dict[str, str | None]] = [
        {
            "model": in_english(row.name),
            "source": row.source,
            "group": row.group or None,
            "tasks": str(row.tasks) if row.tasks else None,
        }
        for row in table.rows
    ]
    names = ["model", "source", "group", "tasks"]
    if any(row.judge for row in table.rows):
        names.append("judge")
        for cells_of, own in zip(rows, table.rows, strict=True):
            cells_of["judge"] = own.judge or None
    if any(row.graded for row in table.rows):
        names.append("graded")
        for cells_of, own in zip(rows, table.rows, strict=True):
            cells_of["graded"] = str(own.graded) if own.graded else None
    for place, heading in enumerate(table.headings):
        cells = [row.cells[place] for row in table.rows]
        names.append(heading.name)
        for row, cell in zip(rows, cells, strict=True):
            row[heading.name] = None if cell.value == NOTHING else cell.value
        if any(cell.note for cell in cells):
            names.append(lacking := f"{heading.name} tasks")
            for row, cell in zip(rows, cells, strict=True):
                row[lacking] = _task_count(cell.note)
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))


def _task_count(note: str) -> str | None:
    """The number of a column's tasks in a mean, such as ``4 of 45``; None for all tasks."""
    if not isinstance(note, Text):
        return None
    count, total = note.values
    return f"{count} of {total}"
