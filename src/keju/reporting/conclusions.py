"""What a comparison of OCR engines comes to, in a few lines: errors, time, reliable differences."""

from __future__ import annotations

from collections.abc import Iterator

from keju.errors import number_of
from keju.items import Item
from keju.reporting.engine_times import TimeTable
from keju.reporting.gather import Gathered, ItemKey
from keju.reporting.labels import NOTHING, percent, task_name
from keju.reporting.page import Report
from keju.reporting.reading_errors import ErrorRow
from keju.reporting.resampling import Resampled
from keju.statistics import groups_needed

_MOST_PAIRS = 6
_POINTS = "(points of the strict score, a mean over pages; the errors are over all characters)"
_MOSTLY_READ = 20.0
"""Recognition error, in percent, up to which the characters of an engine are mostly right."""


def conclusion_lines(report: Report) -> Iterator[str]:
    """A line for each engine or model that transcribed, then what can be relied on.

    Nothing here is computed anew: the errors, times and tests are those of the report.
    """
    view = report.view
    voices = report.gathered.voices
    errors = [row for row in view.errors if voices[row.model].role != "baseline"]
    for row in errors:
        yield (
            f"{row.model}: {_wrong(row)} "
            f"(recognition {row.recognition}, layout {row.layout}{_order(row)}), "
            f"{_pages(report.gathered, row)}{_time(view.times, row.model)}"
        )
    if not errors:
        yield (
            "No page has both a reference and an answer, so no error is known. The texts that were "
            "read are in the report"
        )
        return
    for board in view.boards:
        if len(errors) > 1:
            yield from _reliable(board.sure["strict"], report.gathered)
    if view.times and any(row.cpu != NOTHING and row.why for row in view.times.rows):
        yield "For a time, run it again with another --work while no other program works"


def _wrong(row: ErrorRow) -> str:
    """The CER in words; above 100 % it is not a share of the reference's characters."""
    if row.cer == NOTHING or float(row.cer) <= 100:
        return f"{row.cer} % of the characters wrong"
    return f"CER {row.cer} %, above 100 since some pages were read with more text than they have"


def _order(row: ErrorRow) -> str:
    """That an engine reads the characters and loses their order, where it is so."""
    if NOTHING in (row.recognition, row.layout):
        return ""
    recognition, layout = float(row.recognition), float(row.layout)
    if recognition > _MOSTLY_READ or layout <= max(recognition, _MOSTLY_READ):
        return ""
    return ": most characters are right, their order is wrong"


def _pages(gathered: Gathered, row: ErrorRow) -> str:
    """The pages with a reference that a row's model was asked for, and how many it answered."""
    statuses: dict[ItemKey, bool] = {}
    for key, asked in gathered.asked.items():
        name = task_name(asked.item.task, asked.item.query)
        if name != row.task or not _has_text(asked.item):
            continue
        for answer in asked.answers:
            if answer.model == row.model:
                done = answer.response.status == "answered"
                statuses[key] = statuses.get(key, True) and done
    answered = sum(statuses.values())
    if answered == len(statuses):
        return number_of(answered, "page")
    return f"{answered:,} of {number_of(len(statuses), 'page')}"


def _has_text(item: Item) -> bool:
    """Whether an item has a reference, so that its answers are in the CER."""
    return bool((item.answer or item.answer_simplified or item.transcription or "").strip())


def _time(times: TimeTable | None, model: str) -> str:
    row = next((each for each in times.rows if each.model == model), None) if times else None
    if row is None:
        return ""
    if row.thousand == NOTHING:
        cpu = f"; processor time {row.cpu} a page" if row.cpu != NOTHING else ""
        return f", time not measured ({row.why}{cpu})"
    parts = [f"{row.thousand} for 1,000 pages"]
    if times and times.collection and row.days != NOTHING:
        parts.append(f"{row.days} for {times.collection}")
    if row.cost != NOTHING:
        parts.append(f"cost {row.cost}")
    return f", {', '.join(parts)}"


def _reliable(sure: Resampled, gathered: Gathered) -> Iterator[str]:
    pairs = {pair: gap for pair, gap in sure.gaps.items() if gap.difference > 0}
    if not pairs:
        yield (
            "No two engines differ in their overall values"
            if sure.gaps
            else "No two engines can be compared by their overall values"
        )
        return
    groups = len(
        {
            score.group or score.item
            for scores in gathered.mains["strict"].values()
            for score in scores
            if score.value is not None
        }
    )
    needed = groups_needed(len(sure.gaps) // 2)
    if groups < needed:
        yield (
            f"No difference between engines is reliable yet: the pages are from "
            f"{number_of(groups, 'book (folder)', 'books (folders)')}, and at least {needed} are "
            f"needed, {needed - groups} more"
        )
        return
    told = [_pair(pair, gap.difference) for pair, gap in pairs.items() if gap.significant]
    open_ = [_pair(pair, gap.difference) for pair, gap in pairs.items() if not gap.significant]
    if told:
        yield f"Reliable (p ≤ .05 over {groups} books): {_listed(told)} {_POINTS}"
    if open_:
        yield f"Not reliable with {groups} books: {_listed(open_)} {_POINTS}"


def _pair(pair: tuple[str, str], difference: float) -> str:
    return f"{pair[0]} better than {pair[1]} by {percent(difference)} points"


def _listed(pairs: list[str]) -> str:
    more = len(pairs) - _MOST_PAIRS
    return "; ".join(pairs[:_MOST_PAIRS]) + (f"; {more} more in the report" if more > 0 else "")
