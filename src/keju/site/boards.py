"""Numbers of a leaderboard: means, intervals and ranks of its models, from several bundles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.analysis.leaderboard import RANKED, ROLES
from keju.analysis.resampling import ResampledMeans, resample_benchmark
from keju.items import Protocol, Record
from keju.messages import in_english, message
from keju.scoring import PROTOCOLS, BenchmarkResult
from keju.site.addresses import address
from keju.site.bundle_files import scores_file
from keju.site.entry_numbers import bounds_of, rounded
from keju.site.model_facts import NO_FACTS, Facts, ModelFacts
from keju.site.records import FORMAT, BoardOfBundle, Bounds, BundleSummary, Entry, Source
from keju.site.score_table import MainScores


class Mean(Record, frozen=True, kw_only=True, array_like=True):
    """A mean over tasks with its interval; `tasks` of the `of` tasks have a value."""

    value: float | None = None
    bounds: Bounds | None = None
    tasks: int = 0
    of: int = 0


class Position(Record, frozen=True, kw_only=True):
    """A row of a board under one protocol: the overall mean, the rank and the domains' means.

    `ranks` are the best and the worst rank that remain possible; None if ranks are not tested.
    `unranked` is the reason why there is no rank.
    """

    overall: Mean
    rank: int | None = None
    ranks: tuple[int, int] | None = None
    unranked: str = ""
    domains: dict[str, Mean]


class BoardRow(NamedTuple):
    """An entry of a board, its bundle, its position under each protocol, and the model's facts."""

    entry: Entry
    source: Source
    standings: Mapping[Protocol, Position]
    facts: ModelFacts

    @property
    def model_address(self) -> str:
        """The name of the model's page."""
        return address(self.entry.model)

    @property
    def tasks(self) -> str:
        """The number of tasks with a value, and of all."""
        overall = [each.overall for each in self.standings.values()]
        most = max(overall, key=lambda each: each.tasks)
        return f"{most.tasks} / {most.of}"

    @property
    def sort_key(self) -> tuple[int, float, str, str]:
        """Sort by role, then by the overall mean (`strict`, or else `official`), the best first."""
        known = [self.standings[each].overall.value for each in PROTOCOLS if each in self.standings]
        values = [each for each in known if each is not None]
        role = [*ROLES].index(self.entry.role) if self.entry.role in ROLES else len(ROLES)
        return role, -(values[-1] if values else -1.0), self.entry.name, self.entry.id


class Board(NamedTuple):
    """A benchmark on one dataset: its rows, best first, and notes on the intervals."""

    of: BoardOfBundle
    rows: Sequence[BoardRow]
    protocols: Sequence[Protocol]
    domains: Sequence[str]
    notes: Sequence[str]

    @property
    def items(self) -> int:
        """The number of items."""
        return sum(len(each.ids) for each in self.of.tasks)

    @property
    def leaders(self) -> list[BoardRow]:
        """The rows of the first rank, by `strict` or else `official`."""
        protocol = self.protocols[-1] if self.protocols else "strict"
        return [
            row
            for row in self.rows
            if protocol in row.standings and row.standings[protocol].rank == 1
        ]

    @property
    def last_date(self) -> str:
        """The date of the last run; empty where none is stated."""
        return max(row.source.date for row in self.rows)

    @property
    def source(self) -> Source:
        """The bundle whose description of the dataset is shown, and whose items are used."""
        return min((row.source for row in self.rows), key=items_first)


class BoardNumbers(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The numbers of a board that need all of its bundles, and the SHA-256 of these bundles."""

    format: str = FORMAT
    bundles: tuple[str, ...]
    standings: dict[str, dict[Protocol, Position]]
    notes: tuple[str, ...]


def items_first(source: Source) -> tuple[bool, str]:
    """The sort key of the bundles that give a board its items: texts first, then by hash."""
    return not source.shows_texts, source.sha256


def board_of(
    board: BoardOfBundle, summaries: Sequence[BundleSummary], numbers: BoardNumbers, facts: Facts
) -> Board:
    """The rows of a board in their order."""
    rows = [
        BoardRow(
            entry, summary.source, numbers.standings[entry.id], facts.get(entry.model, NO_FACTS)
        )
        for summary in summaries
        for entry in summary.entries
        if entry.board == board.id
    ]
    protocols = [each for each in PROTOCOLS if any(each in row.standings for row in rows)]
    named = (
        domain for row in rows for standing in row.standings.values() for domain in standing.domains
    )
    return Board(
        board, sorted(rows, key=lambda row: row.sort_key), protocols, list(dict.fromkeys(named)),
        numbers.notes,
    )  # fmt: skip


def board_numbers(
    board: BoardOfBundle, summaries: Sequence[BundleSummary], out: Path
) -> BoardNumbers:
    """Compute the means, intervals and ranks of a board.

    Groups (books, plates) are drawn once for all models, as in reports. Only the scores of one task
    are in memory at a time.

    Args:
        board: the board.
        summaries: the bundles with results for the board.
        out: the directory of the site, with the scores of the bundles.
    """
    entries = [e for each in summaries for e in each.entries if e.board == board.id]
    places = [(each.task, each.query) for each in board.tasks]
    files = [out / scores_file(each.source) for each in summaries]
    incomplete = {
        each.id: why for each in entries if (why := _incomplete(each, entries)) is not None
    }
    standings: dict[str, dict[Protocol, Position]] = {each.id: {} for each in entries}
    notes: list[str] = []
    for protocol in PROTOCOLS:
        results = {each.id: found for each in entries if (found := _result(each, protocol))}
        if not results:
            continue
        ranked = [e.id for e in entries if e.role in RANKED and e.id not in incomplete]
        scores = MainScores(files, board.id, protocol, places)
        drawn = resample_benchmark(scores, results, ranked=ranked)
        drawn.unranked.update(incomplete)
        notes += map(in_english, drawn.notes)
        for entry, result in results.items():
            standings[entry][protocol] = _position(entry, result, drawn)
    return BoardNumbers(
        bundles=tuple(each.source.sha256 for each in summaries),
        standings=standings,
        notes=tuple(dict.fromkeys(notes)),
    )


def _result(entry: Entry, protocol: Protocol) -> BenchmarkResult | None:
    return next(
        (
            found
            for result in entry.results
            if result.protocol == protocol
            for found in result.benchmarks
        ),
        None,
    )


def _incomplete(entry: Entry, entries: Iterable[Entry]) -> str | None:
    """The reason why an entry that has not answered all items gets no rank."""
    most = max(each.items for each in entries if each.role in RANKED or each is entry)
    if entry.items < most:
        return in_english(message("site.answered-fewer", count=entry.items, total=most))
    return None


def _position(entry: str, result: BenchmarkResult, drawn: ResampledMeans) -> Position:
    domains = {
        domain: Mean(
            value=rounded(mean.value),
            bounds=_rounded_bounds(drawn.domains.get((entry, domain))),
            tasks=len(mean.parts) - len(mean.missing),
            of=len(mean.parts),
        )
        for domain, mean in result.domains.items()
    }
    overall = Mean(
        value=rounded(result.overall.value),
        bounds=_rounded_bounds(drawn.overall.get(entry)),
        tasks=sum(each.tasks for each in domains.values()),
        of=sum(each.of for each in domains.values()),
    )
    rank, ranks = drawn.ranks.get(entry, (None, None))
    return Position(
        overall=overall,
        rank=rank,
        ranks=ranks,
        unranked=""
        if rank
        else in_english(drawn.unranked.get(entry, message("analysis.not-ranked"))),
        domains=domains,
    )


def _rounded_bounds(bounds: Bounds | None) -> Bounds | None:
    return bounds_of(bounds) if bounds else None
