"""Conclusions of a report on benchmarks: who is ahead, what is missing, and what to do about it.

Every sentence follows from numbers of the report. None states an order where ranks overlap, and
none compares means that rest on other items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from keju.analysis.leaderboard import RANKED, Leaderboard
from keju.analysis.resampling import ResampledMeans
from keju.analysis.run_set import RunSet
from keju.analysis.unfinished import Unfinished
from keju.formatting import percent, percent_range, unclear_percent
from keju.items import Protocol
from keju.local_paths import shell_quoted
from keju.reporting.answer_readings import answer_readings, sum_of_tasks
from keju.scoring import NO_RESPONSES
from keju.texts import Text, _, join_clauses, join_parts, listed, n_, recognised

_MOST_NAMED = 6
_FEW = 0.01
"""The share of unclear answers up to which they are not mentioned."""

_WEIGHTS = re.compile(r"needs the weights of ([^:]+): ")
_OPTION = re.compile(r"--semantic [\w.-]+=DIR")


class Sentence(NamedTuple):
    """A conclusion without its full stop, and what to do about it."""

    text: Text
    steps: Sequence[str] = ()


def benchmark_sentences(
    boards: Sequence[Leaderboard],
    unfinished: Sequence[Unfinished],
    run_set: RunSet,
    decision: Text | None = None,
) -> Iterator[Sentence]:
    """The conclusions, the most important ones first.

    Args:
        boards: the leaderboards of the report.
        unfinished: the models of its runs that lack responses.
        run_set: the data of the report.
        decision: the commands that decide the unclear answers (`decision_line`).
    """
    for board in boards:
        yield from _describe_order(board, decision)
        if board.resampled[board.protocols[-1]].undecided:
            decision = None  # The first sentence that needs it names it.
    yield from _describe_unfinished(unfinished)
    yield from _describe_unscored(boards, run_set)
    yield from _describe_failures(run_set)
    yield from _describe_unclear(run_set, decision)


def _describe_order(board: Leaderboard, decision: Text | None) -> Iterator[Sentence]:
    """Who is first, or may be, and how many pairs of models differ reliably."""
    protocol: Protocol = board.protocols[-1]
    found = board.resampled[protocol]
    title = recognised(board.title)
    possible = {model: span for model, (_, span) in found.ranks.items()} | found.undecided
    spans = {model: span for model, span in possible.items() if span}
    if found.undecided:
        yield _describe_undecided(board, found, decision)
    if len(possible) < 2:
        if names := [row.model for row in board.rows if row.role in RANKED]:
            yield Sentence(
                _(
                    "{}: no two models answered the same items, so nothing is ranked ({})",
                    title,
                    _names(names),
                )
            )
        return
    if not spans or not found.gaps:
        yield Sentence(
            _(
                "{}, {}: the differences between the {} models cannot be tested, so their order "
                "is not certain",
                title,
                protocol,
                len(possible)
            )
        )  # fmt: skip
        return
    first = [model for model, (low, _) in spans.items() if low == 1]
    if len(first) == 1:
        overall = board.results[first[0], protocol].overall
        yield Sentence(
            n_(
                "{}, {}: {} is first with {} % and reliably ahead of {n:,} other model that "
                "answered the same items",
                "{}, {}: {} is first with {} % and reliably ahead of {n:,} other models that "
                "answered the same items",
                len(spans) - 1,
                title,
                protocol,
                first[0],
                percent_range(overall.value, overall.value_if_right)
            ),
            _describe_pairs(found, [model for model in spans if model != first[0]]),
        )  # fmt: skip
        return
    if len(found.undecided) == len(possible):
        return  # What can be said of their order is in the first sentence.
    pairs = len(found.gaps) // 2
    if any(gap.significant for gap in found.gaps.values()):
        yield Sentence(
            _(
                "{}, {}: no model is reliably first; each of these may be: {}",
                title,
                protocol,
                _names(first)
            ),
            _describe_pairs(found, list(spans)),
        )  # fmt: skip
        return
    yield Sentence(
        n_(
            "{}, {}: no difference between the {} models that answered the same items is "
            "reliable ({n:,} pair tested)",
            "{}, {}: no difference between the {} models that answered the same items is "
            "reliable ({n:,} pairs tested)",
            pairs,
            title,
            protocol,
            len(spans)
        ),
        found.few_groups,
    )  # fmt: skip


def _describe_undecided(
    board: Leaderboard, found: ResampledMeans, decision: Text | None
) -> Sentence:
    """The models whose order depends on unclear answers."""
    largest = max(found.undecided, key=lambda model: found.unclear[model])
    share = max(found.unclear[model] for model in (*found.ranks, *found.undecided))
    return Sentence(
        _(
            "{}, {}: the order of {} is undecided: up to {} % unclear",
            recognised(board.title),
            board.protocols[-1],
            _names(sorted(found.undecided, key=lambda model: (model != largest, model))),
            unclear_percent(share),
        ),
        [decision] if decision else (),
    )


def _describe_pairs(found: ResampledMeans, models: Sequence[str]) -> list[Text]:
    """How many of the pairs among these models differ reliably; nothing for a single model."""
    pairs = list(combinations(models, 2))
    if not pairs:
        return []
    differ = sum(found.gaps[pair].significant for pair in pairs if pair in found.gaps)
    return [
        n_(
            "Of the {n:,} pair among these, {:,} differ reliably",
            "Of the {n:,} pairs among these, {:,} differ reliably",
            len(pairs),
            differ,
        )
    ]


def _describe_unfinished(unfinished: Sequence[Unfinished]) -> Iterator[Sentence]:
    if unfinished:
        parts = [
            _("{} has {:,} of {:,} responses", each.model, each.there, each.planned)
            for each in unfinished[:_MOST_NAMED]
        ]  # fmt: skip
        yield Sentence(
            _("The run is not complete: {}", join_clauses(parts)),
            [
                _(
                    "Resume it with its options: keju {0} DATASET --out {1}, then keju score {1}",
                    unfinished[0].command,
                    shell_quoted(unfinished[0].run),
                )
            ],
        )


def _describe_unscored(boards: Sequence[Leaderboard], run_set: RunSet) -> Iterator[Sentence]:
    """The tasks with responses and without a value, and the command that scores them."""
    tasks: dict[str, dict[str, None]] = {}
    for board in boards:
        for result in board.results.values():
            for domain in result.domains.values():
                for name, why in domain.missing.items():
                    if why != NO_RESPONSES and "is an error rate" not in why:
                        tasks.setdefault(why, {})[name] = None
    weights = {why: names for why, names in tasks.items() if _WEIGHTS.match(why)}
    if weights:
        lacking = dict.fromkeys(name for names in weights.values() for name in names)
        encoders = [found[1] for why in weights if (found := _WEIGHTS.match(why))]
        options = [found[0] for why in weights if (found := _OPTION.search(why))]
        run = shell_quoted(run_set.runs[0].name) if len(run_set.runs) == 1 else "RUN"
        yield Sentence(
            n_(
                "{n:,} task has no value, since the weights of {} are missing",
                "{n:,} tasks have no value, since the weights of {} are missing",
                len(lacking),
                listed(encoders),
            ),
            [
                _(
                    "This command scores them: {}",
                    " ".join(["keju score", run, *dict.fromkeys(options)]),
                )
            ],
        )
    for why, names in tasks.items():
        if why not in weights:
            yield Sentence(
                n_(
                    "{n:,} task has no value ({}): {}",
                    "{n:,} tasks have no value ({}): {}",
                    len(names),
                    _names(list(names)),
                    recognised(why)
                )
            )  # fmt: skip


def _describe_failures(run_set: RunSet) -> Iterator[Sentence]:
    """The failed and filtered requests of each model, in all its prompt variants."""
    failed: Counter[str] = Counter()
    filtered: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for each in run_set.by_model.values():
        failed[each.model] += each.statuses["failed"]
        filtered[each.model] += each.statuses["filtered"]
        total[each.model] += each.items
    models = [model for model in total if failed[model] + filtered[model]]
    if models:
        parts = [
            n_(
                "{} {} of {n:,} item",
                "{} {} of {n:,} items",
                total[model],
                model,
                join_parts(_count_failures(failed[model], filtered[model]))
            )
            for model in models[:_MOST_NAMED]
        ]  # fmt: skip
        again = (
            [_("Send the failed ones again with --retry-failed, and score the run again")]
            if +failed
            else []
        )
        yield Sentence(
            _("Requests without an answer count as wrong: {}", join_clauses(parts)), again
        )


def _count_failures(failed: int, filtered: int) -> Iterator[Text]:
    if failed:
        yield _("{:,} failed", failed)
    if filtered:
        yield _("{:,} filtered", filtered)


def _describe_unclear(run_set: RunSet, decision: Text | None) -> Iterator[Sentence]:
    """The names with the largest shares of unclear answers, and the command that decides them."""
    rows = answer_readings(run_set.results.values())
    ranked = [row for row in rows if run_set.by_model[row.model].role in RANKED]
    shares = {row.model: row.share("unclear") for row in sum_of_tasks(ranked)}
    worst = sorted(shares, key=lambda name: -shares[name])[:3]
    parts = [_("{} {} %", name, percent(shares[name])) for name in worst if shares[name] >= _FEW]
    if parts:
        yield Sentence(
            _("Values are ranges while answers are unclear: {}", join_clauses(parts)),
            [decision] if decision else (),
        )


def _names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = listed(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return _("{}; {:,} more", shown, more) if more > 0 else shown
