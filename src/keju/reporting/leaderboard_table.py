"""`LeaderboardTable`: a leaderboard as the report and LaTeX show it, every value as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keju.analysis.leaderboard import Leaderboard, LeaderboardRow, Mean, Rank
from keju.analysis.resampling import Bounds
from keju.formatting import NOTHING, percent
from keju.items import Protocol
from keju.messages import Message, join_clauses, join_lines, join_parts, listed, message, recognised
from keju.reporting.cells import Cell, bounds_text
from keju.reporting.time_table import span
from keju.scoring import NO_RESPONSES


class TextRow(NamedTuple):
    """The row of one model."""

    model: str
    overall: list[Cell]
    ranks: list[Cell]
    domains: list[list[Cell]]
    failures: list[tuple[str, int]]
    hours: str
    tokens: str
    money: str


class RowGroup(NamedTuple):
    """The rows of one role."""

    title: str
    rows: list[TextRow]


class LeaderboardTable(NamedTuple):
    """One benchmark: the rows of its models by role, and the value of guessing as text."""

    benchmark: str
    title: str
    protocols: Sequence[Protocol]
    heads: Sequence[str]
    domains: list[str]
    groups: list[RowGroup]
    chance: list[str]
    notes: list[str]
    currency: str

    @property
    def has_tokens(self) -> bool:
        """Whether any model has a count of tokens."""
        return any(row.tokens != NOTHING for group in self.groups for row in group.rows)


def leaderboard_table(board: Leaderboard) -> LeaderboardTable:
    """The leaderboard with every value as text."""
    return LeaderboardTable(
        benchmark=board.benchmark,
        title=board.title,
        protocols=board.protocols,
        heads=board.heads,
        domains=board.domains,
        groups=[RowGroup(each.title, list(map(_text_row, each.rows))) for each in board.groups],
        chance=list(_chances(board)),
        notes=board.notes,
        currency=board.currency,
    )


def _text_row(row: LeaderboardRow) -> TextRow:
    return TextRow(
        model=row.model,
        overall=[_overall_cell(each) for each in row.overall],
        ranks=[_rank_cell(each) for each in row.ranks],
        domains=[list(map(_domain_cell, of_protocol)) for of_protocol in row.domains],
        failures=row.failures,
        hours=_hours(row),
        tokens=_tokens(row),
        money=NOTHING if row.money is None else f"{row.money:,.2f}",
    )


def _overall_cell(mean: Mean | None) -> Cell:
    if mean is None:
        return Cell()
    reasons = Counter(mean.missing.values())
    title = join_clauses([_count_tasks(count, why) for why, count in reasons.items()])
    return Cell(percent(mean.value), note=_note(mean), title=title)


def _domain_cell(mean: Mean | None) -> Cell:
    if mean is None:
        return Cell()
    titles = [
        message("reporting.name-and-reason", name=name, reason=recognised(why))
        for name, why in mean.missing.items()
        if why != NO_RESPONSES
    ]
    if silent := len(mean.missing) - len(titles):
        titles.append(_count_tasks(silent, NO_RESPONSES))
    title = join_clauses(titles)
    return Cell(percent(mean.value), note=_note(mean), title=title)


def _note(mean: Mean) -> str:
    """The interval, and the number of tasks if some are missing."""
    notes = [_range(mean.bounds)] if mean.bounds else []
    if mean.missing:
        there = mean.tasks - len(mean.missing)
        notes.append(message("reporting.of-tasks", count=there, total=mean.tasks))
    return join_lines(notes)


def _rank_cell(rank: Rank) -> Cell:
    if rank.place is None:
        return Cell(title=rank.why)
    note = bounds_text(*map(str, rank.possible)) if rank.possible else ""
    return Cell(str(rank.place), note=note, best=rank.place == 1)


def _range(bounds: Bounds) -> Message:
    return bounds_text(percent(bounds[0]), percent(bounds[1]))


def _hours(row: LeaderboardRow) -> str:
    if row.answer_seconds is not None:
        return message("reporting.s-an-answer-median", seconds=f"{row.answer_seconds:.3g}")
    return span(row.seconds)


def _tokens(row: LeaderboardRow) -> str:
    if row.output_tokens is None:
        return NOTHING
    parts = []
    if row.input_tokens:
        parts.append(message("reporting.tokens-in", thousands=f"{row.input_tokens / 1000:,.0f}"))
    if row.output_tokens:
        out = f"{row.output_tokens / 1000:,.0f}"
        parts.append(message("reporting.tokens-out-of", thousands=out))
    return join_parts(parts)


def _chances(board: Leaderboard) -> Iterator[Message]:
    """The tasks with the same value of guessing together."""
    by_value: dict[str, list[str]] = {}
    for name, value in board.chance.items():
        by_value.setdefault(percent(value), []).append(name)
    for shown, names in by_value.items():
        yield message("reporting.chance-on-tasks", value=shown, tasks=listed(names))


def _count_tasks(without: int, why: str) -> Message:
    """The number of tasks without a value, and why."""
    return message("reporting.tasks-and-reason", count=without, reason=recognised(why))
