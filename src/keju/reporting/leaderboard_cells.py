"""Cells and texts of the leaderboards, as the report and LaTeX show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keju.analysis.leaderboard import Leaderboard, LeaderboardRow, Mean, Rank
from keju.analysis.run_set import PEOPLE
from keju.formatting import NOTHING, percent, percent_range
from keju.reporting.cells import Cell, bounds_text
from keju.reporting.time_table import span
from keju.scoring import NO_RESPONSES
from keju.texts import Text, _, join_clauses, join_lines, join_parts, listed, n_, recognised


def overall_cell(mean: Mean | None) -> Cell:
    """An overall mean; its title counts the tasks without a value by reason."""
    if mean is None:
        return Cell()
    reasons = Counter(mean.missing.values())
    title = join_clauses([_count_tasks(count, why) for why, count in reasons.items()])
    return Cell(percent_range(mean.value, mean.value_if_right), note=_note(mean), title=title)


def domain_cell(mean: Mean | None) -> Cell:
    """The mean of a domain; its title names the tasks without a value."""
    if mean is None:
        return Cell()
    titles = [
        _("{}: {}", name, recognised(why))
        for name, why in mean.missing.items()
        if why != NO_RESPONSES
    ]
    if silent := len(mean.missing) - len(titles):
        titles.append(_count_tasks(silent, NO_RESPONSES))
    title = join_clauses(titles)
    return Cell(percent_range(mean.value, mean.value_if_right), note=_note(mean), title=title)


def _note(mean: Mean) -> str:
    """The interval, and the number of tasks if some are missing."""
    notes = [bounds_text(*map(percent, mean.bounds))] if mean.bounds else []
    if mean.missing:
        there = mean.tasks - len(mean.missing)
        notes.append(_("{} of {} tasks", there, mean.tasks))
    return join_lines(notes)


def rank_cell(rank: Rank) -> Cell:
    """A rank with the possible ones, or the reason why there is none."""
    if rank.place is None:
        return Cell(note=rank.why)
    note = bounds_text(*map(str, rank.possible)) if rank.possible else ""
    return Cell(str(rank.place), note=note, best=rank.possible == (1, 1))


def extent_text(row: LeaderboardRow) -> Text:
    """How many of the items of its run a model answered."""
    return n_("{:,} of {n:,} item", "{:,} of {n:,} items", row.items, row.answered)


def unanswered_text(count: int, role: str) -> str:
    """The number of items without a response; empty where there are none."""
    if not count:
        return ""
    if role == PEOPLE:
        return _("{:,} not answered", count)
    return _("{:,} not asked or not answered", count)


def time_text(row: LeaderboardRow) -> str:
    """The time of a thousand items; of people the time of an answer."""
    if row.answer_seconds is not None:
        return _("{} s per answer, median", f"{row.answer_seconds:.3g}")
    return span(row.seconds)


def tokens_text(row: LeaderboardRow) -> str:
    """The thousands of tokens of a thousand items."""
    if row.output_tokens is None:
        return NOTHING
    parts = []
    if row.input_tokens:
        parts.append(_("{}k in", f"{row.input_tokens / 1000:,.0f}"))
    if row.output_tokens:
        out = f"{row.output_tokens / 1000:,.0f}"
        parts.append(_("{}k out", out))
    return join_parts(parts)


def money_text(row: LeaderboardRow) -> str:
    """The cost of a thousand items."""
    return NOTHING if row.money is None else f"{row.money:,.2f}"


def chance_lines(board: Leaderboard) -> Iterator[Text]:
    """The tasks with the same value of guessing together."""
    by_value: dict[str, list[str]] = {}
    for name, value in board.chance.items():
        by_value.setdefault(percent(value), []).append(name)
    for shown, names in by_value.items():
        yield _("{} % on {}", shown, listed(names))


def _count_tasks(without: int, why: str) -> Text:
    """The number of tasks without a value, and why."""
    return n_("{n:,} task: {}", "{n:,} tasks: {}", without, recognised(why))
