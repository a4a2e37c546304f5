"""Numbers of a leaderboard: means, intervals and ranks of its models, from several bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import field

from keju.analysis.leaderboard import RANKED, ROLES, Extent, group_by_basis, group_title
from keju.analysis.marks import printed
from keju.analysis.resampling import (
    NO_BASIS,
    Basis,
    ResampledMeans,
    group_notes,
    resample_benchmark,
)
from keju.items import Protocol, Record
from keju.scoring import PROTOCOLS, BenchmarkResult
from keju.site.addresses import address
from keju.site.bundle_files import scores_file
from keju.site.entry_numbers import bounds_of, other_end, rounded
from keju.site.model_facts import NO_FACTS, Facts, ModelFacts
from keju.site.records import FORMAT, BoardOfBundle, Bounds, BundleSummary, Entry, Source
from keju.site.score_table import MainScores
from keju.texts import LANGUAGES, translator


class Mean(Record, frozen=True, kw_only=True, array_like=True):
    """A mean over tasks with its interval; `tasks` of the `of` tasks have a value.

    `value_if_right` is the mean if every unclear answer were right; None where it is `value`.
    """

    value: float | None = None
    bounds: Bounds | None = None
    tasks: int = 0
    of: int = 0
    value_if_right: float | None = None


class Position(Record, frozen=True, kw_only=True):
    """A row of a board under one protocol: the overall mean, the rank and the domains' means.

    `ranks` are the best and the worst rank that remain possible; None if ranks are not tested.
    `unranked` is the reason why a model has none, in each language, and `missing_items` the number
    of items that it lacks.
    """

    overall: Mean
    rank: int | None = None
    ranks: tuple[int, int] | None = None
    unranked: dict[str, str] = field(default_factory=dict)
    missing_items: int = 0
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
        return role, -(printed(values[-1]) if values else -1.0), self.entry.name, self.entry.id


class RowGroup(NamedTuple):
    """Rows of one role whose means rest on the same items of the same tasks."""

    title: str
    rows: Sequence[BoardRow]


class Board(NamedTuple):
    """A benchmark on one dataset: its rows in groups, best first, and notes on the intervals."""

    of: BoardOfBundle
    groups: Sequence[RowGroup]
    protocols: Sequence[Protocol]
    domains: Sequence[str]
    notes: Mapping[str, Sequence[str]]

    @property
    def rows(self) -> list[BoardRow]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    @property
    def items(self) -> int:
        """The number of items."""
        return sum(len(each.ids) for each in self.of.tasks)

    @property
    def scored_items(self) -> int:
        """The number of items with a metric; the others are only read by people."""
        return sum(len(each.ids) for each in self.of.tasks if each.metrics)

    @property
    def ranking_protocol(self) -> Protocol:
        """The protocol of the first rank."""
        return "strict" if "strict" in self.protocols else "official"

    @property
    def leaders(self) -> list[BoardRow]:
        """The rows that can be of the first rank, by `strict` or else `official`.

        Several if their possible ranks overlap; none if ranks are not tested.
        """
        protocol = self.ranking_protocol
        ranked = [(row, row.standings[protocol].ranks) for row in self.rows
                 if protocol in row.standings]  # fmt: skip
        return [row for row, ranks in ranked if ranks and ranks[0] == 1]

    @property
    def last_date(self) -> str:
        """The date of the last run; empty where none is stated."""
        return max(row.source.date for row in self.rows)

    @property
    def source(self) -> Source:
        """The bundle whose description of the dataset is shown, and whose items are used."""
        return min((row.source for row in self.rows), key=items_first)


class EntryGroup(Record, frozen=True, kw_only=True, array_like=True):
    """Entries of one role with equal bases; the extent is None if all entries have equal bases."""

    role: str
    extent: Extent | None
    entries: tuple[str, ...]


class BoardNumbers(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The numbers of a board that need all of its bundles, and the SHA-256 of these bundles.

    `notes` are sentences on the intervals, in each language.
    """

    format: str = FORMAT
    bundles: tuple[str, ...]
    standings: dict[str, dict[Protocol, Position]]
    groups: tuple[EntryGroup, ...]
    notes: dict[str, tuple[str, ...]]


def items_first(source: Source) -> tuple[bool, str]:
    """The sort key of the bundles that give a board its items: texts first, then by hash."""
    return not source.shows_texts, source.sha256


def board_of(
    board: BoardOfBundle, summaries: Sequence[BundleSummary], numbers: BoardNumbers, facts: Facts
) -> Board:
    """The rows of a board in their order."""
    by_entry = {
        entry.id: BoardRow(
            entry, summary.source, numbers.standings[entry.id], facts.get(entry.model, NO_FACTS)
        )
        for summary in summaries
        for entry in summary.entries
        if entry.board == board.id
    }
    rows = by_entry.values()
    protocols = [each for each in PROTOCOLS if any(each in row.standings for row in rows)]
    named = (
        domain for row in rows for standing in row.standings.values() for domain in standing.domains
    )
    groups = [
        RowGroup(
            group_title(group.role, group.extent),
            sorted((by_entry[entry] for entry in group.entries), key=lambda row: row.sort_key),
        )
        for group in numbers.groups
    ]
    return Board(board, groups, protocols, list(dict.fromkeys(named)), numbers.notes)


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
    bases: dict[str, list[Basis]] = {each.id: [] for each in entries}
    standings: dict[str, dict[Protocol, Position]] = {each.id: {} for each in entries}
    means: dict[Protocol, ResampledMeans] = {}
    for protocol in PROTOCOLS:
        results = {each.id: found for each in entries if (found := _result(each, protocol))}
        if not results:
            continue
        ranked = [e.id for e in entries if e.role in RANKED]
        scores = MainScores(files, board.id, protocol, places)
        drawn = resample_benchmark(scores, results, ranked=ranked)
        means[protocol] = drawn
        for entry, result in results.items():
            standings[entry][protocol] = _position(entry, result, drawn)
        for entry, of_entry in bases.items():
            of_entry.append(drawn.bases.get(entry, NO_BASIS))
    notes: list[str] = [*group_notes(means)]
    for drawn in means.values():
        notes += [*drawn.notes, *drawn.few_groups]
    return BoardNumbers(
        bundles=tuple(each.source.sha256 for each in summaries),
        standings=standings,
        groups=tuple(
            EntryGroup(role=group.role, extent=group.extent, entries=tuple(group.rows))
            for group in group_by_basis({e.id: (e.role, bases[e.id]) for e in entries})
        ),
        notes={
            language: tuple(dict.fromkeys(map(translator(language), notes)))
            for language in LANGUAGES
        },
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


def _position(entry: str, result: BenchmarkResult, drawn: ResampledMeans) -> Position:
    domains = {
        domain: Mean(
            value=rounded(mean.value),
            bounds=_rounded_bounds(drawn.domains.get((entry, domain))),
            tasks=len(mean.parts) - len(mean.missing),
            of=len(mean.parts),
            value_if_right=other_end(mean),
        )
        for domain, mean in result.domains.items()
    }
    overall = Mean(
        value=rounded(result.overall.value),
        bounds=_rounded_bounds(drawn.overall.get(entry)),
        tasks=sum(each.tasks for each in domains.values()),
        of=sum(each.of for each in domains.values()),
        value_if_right=other_end(result.overall),
    )
    rank, ranks = drawn.ranks.get(entry, (None, drawn.undecided.get(entry)))
    reason = drawn.unranked.get(entry, "")
    return Position(
        overall=overall,
        rank=rank,
        ranks=ranks,
        unranked={each: translator(each)(reason) for each in LANGUAGES} if reason else {},
        missing_items=drawn.missing[entry],
        domains=domains,
    )


def _rounded_bounds(bounds: Bounds | None) -> Bounds | None:
    return bounds_of(bounds) if bounds else None
