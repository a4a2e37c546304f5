"""What a comparison of OCR engines comes to, in a few lines: errors, time, reliable differences."""

from __future__ import annotations

from collections.abc import Iterator

from keju.reporting.engine_times import TimeTable
from keju.reporting.gather import Gathered
from keju.reporting.labels import NOTHING, percent
from keju.reporting.page import Report
from keju.reporting.resampling import Resampled
from keju.statistics import groups_needed

_MOST_PAIRS = 4


def conclusion_lines(report: Report) -> Iterator[str]:
    """A line for each engine or model that transcribed, then what can be relied on.

    Nothing here is computed anew: the errors, times and tests are those of the report.
    """
    view = report.view
    voices = report.gathered.voices
    errors = [row for row in view.errors if voices[row.model].role != "baseline"]
    for row in errors:
        voice = voices[row.model]
        answered = voice.statuses["answered"]
        of = "" if answered == voice.items else f" of {voice.items:,}"
        yield (
            f"{row.model}: {row.cer} % of the characters wrong (recognition {row.recognition}, "
            f"layout {row.layout}), {answered:,}{of} pages{_time(view.times, row.model)}"
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
        yield "No two engines can be compared by their overall values"
        return
    groups = len(
        {
            score.group or score.item
            for scores in gathered.mains["strict"].values()
            for score in scores
        }
    )
    needed = groups_needed(len(sure.gaps) // 2)
    if groups < needed:
        yield (
            f"No difference between engines is reliable yet: the pages are from {groups} books "
            f"(folders), and at least {needed} are needed, {needed - groups} more"
        )
        return
    told = [_pair(pair, gap.difference) for pair, gap in pairs.items() if gap.significant]
    open_ = [_pair(pair, gap.difference) for pair, gap in pairs.items() if not gap.significant]
    if told:
        yield f"Reliable (p ≤ .05 over {groups} books): {_listed(told)}"
    if open_:
        yield f"Not reliable with {groups} books: {_listed(open_)}"


def _pair(pair: tuple[str, str], difference: float) -> str:
    return f"{pair[0]} better than {pair[1]} by {percent(difference)} points"


def _listed(pairs: list[str]) -> str:
    more = len(pairs) - _MOST_PAIRS
    return "; ".join(pairs[:_MOST_PAIRS]) + (f"; {more} more in the report" if more > 0 else "")
