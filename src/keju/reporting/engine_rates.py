"""The error rates of an OCR engine as sentences: the pages that they count, and the time."""

from __future__ import annotations

from keju.analysis.asked_items import item_name
from keju.analysis.labels import task_name
from keju.analysis.no_results import NoResults, has_text
from keju.analysis.run_set import RunSet
from keju.formatting import NOTHING, percent
from keju.reporting.error_rows import ErrorRow
from keju.reporting.time_table import TimeTable
from keju.reporting.view import View
from keju.scoring import ItemName
from keju.texts import Text, _, n_

MOSTLY_READ = 20.0
"""Maximum recognition error, in percent, at which the characters of an engine count as mostly
right."""


def describe_rate(view: View, run_set: RunSet, row: ErrorRow) -> Text:
    """The errors of an engine, and its score in the leaderboard.

    The errors are pooled over the pages with a reference text that have a result; the score is a
    mean over pages, so the two do not add up to 100 %.
    """
    errors = _describe_errors(view, run_set, row)
    for board in view.boards:
        result = board.results.get((row.model, "strict"))
        if result is not None and result.overall.value is not None:
            score = percent(result.overall.value)
            return _("{}; CharAcc, the mean over pages, is {}", errors, score)
    return errors


def _describe_errors(view: View, run_set: RunSet, row: ErrorRow) -> Text:
    lacking = _lacking_text(view, row.model)
    own = row.over_results if lacking else row
    pages = _describe_pages(run_set, row, lacking)
    if not lacking:
        return _("{}: {} ({}), {}", row.model, _describe_cer(own), _describe_split(own), pages)
    return _(
        "{}: {} on the {} ({}; {} % if the others count as wrong)",
        row.model,
        _describe_cer(own),
        pages,
        _describe_split(own),
        row.cer,
    )


def _lacking_text(view: View, model: str) -> NoResults | None:
    """The missing results of a model, if pages with a reference text are among them."""
    found = (each for each in view.no_results if each.model == model and each.text_missing)
    return next(found, None)


def _describe_cer(row: ErrorRow) -> Text:
    """The CER in words; above 100 % it is not a share of the reference's characters."""
    if row.cer == NOTHING or float(row.cer) <= 100:
        return _("{} % of the characters wrong", row.cer)
    return _(
        "CER {} %, above 100 since some pages were read with more text than they have", row.cer
    )


def _describe_split(row: ErrorRow) -> Text:
    """Recognition and layout error, with a remark if the order of the characters is lost."""
    if loses_order(row):
        return _(
            "recognition {}, layout {}: most characters are right, their order is wrong",
            row.recognition,
            row.layout,
        )
    return _("recognition {}, layout {}", row.recognition, row.layout)


def loses_order(row: ErrorRow) -> bool:
    """Whether an engine recognises the characters and loses their order."""
    if NOTHING in (row.recognition, row.layout):
        return False
    recognition, layout = float(row.recognition), float(row.layout)
    return recognition <= MOSTLY_READ and layout > max(recognition, MOSTLY_READ)


def _describe_pages(run_set: RunSet, row: ErrorRow, lacking: NoResults | None) -> Text:
    """The pages of a row's error rate: those with a reference text, and how many were answered."""
    statuses: dict[ItemName, bool] = {}
    for asked in run_set.asked:
        if task_name(asked.item.task, asked.item.query) == row.task and has_text(asked.item):
            for answer in asked.answers:
                if answer.model == row.model:
                    name, done = item_name(asked.item), answer.response.status == "answered"
                    statuses[name] = statuses.get(name, True) and done
    count, total = sum(statuses.values()), len(statuses)
    if lacking:
        return n_(
            "{:,} of {n:,} page with a reference text that have a result",
            "{:,} of {n:,} pages with a reference text that have a result",
            total,
            count,
        )
    if count < total:
        return n_(
            "{:,} of {n:,} page with a reference text",
            "{:,} of {n:,} pages with a reference text",
            total,
            count,
        )
    return n_("{n:,} page with a reference text", "{n:,} pages with a reference text", total)


def add_time(errors: Text, times: TimeTable | None, model: str) -> Text:
    """A line of errors with the time of the engine, or the reason why it is not known."""
    row = next((each for each in times.rows if each.model == model), None) if times else None
    if times is None or row is None:
        return errors
    time = times.describe(row) or _("time not measured ({})", row.why)
    return _("{}, {}", errors, time)
