"""Leaderboards: overall and domain means with intervals and ranks, grouped by role.

Groups (books, plates) are drawn once for all tasks and models together, so that a mean over tasks
and a rank among models keep their correlation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from keju.analysis.cells import Cell
from keju.analysis.engine_times import Speed, span, speeds
from keju.analysis.human_rows import NOTE, with_people
from keju.analysis.labels import NOTHING, percent, task_name
from keju.analysis.no_results import unranked
from keju.analysis.own_drafts import own_draft_notes
from keju.analysis.own_prompts import prompt_notes
from keju.analysis.resampling import Resampled, resample_benchmark
from keju.analysis.run_set import PEOPLE, ModelResponses, RunSet
from keju.definitions import (
    OWN_BENCHMARK,
    benchmark_title,
    has_reference,
    options_of,
    query_of,
    task,
    tasks,
)
from keju.items import Item, Protocol
from keju.running.prices import Prices
from keju.scoring import NO_RESPONSES, PROTOCOLS, BenchmarkResult, MeanResult, Result

Results = Mapping[tuple[str, Protocol], Result]

ROLES = {
    "engine": "OCR engines",
    "model": "models",
    "answers": "answers made elsewhere",
    "human": "people",
    "baseline": "baselines: the floor",
}
_RANKED = ("engine", "model", "answers")


class Standing(NamedTuple):
    """A model of the leaderboard: its overall mean, rank and domains under each protocol."""

    model: str
    overall: list[Cell]
    ranks: list[Cell]
    domains: list[list[Cell]]
    failures: list[tuple[str, int]]
    hours: str
    tokens: str
    money: str


class Group(NamedTuple):
    """Models of one role."""

    title: str
    rows: list[Standing]


class Leaderboard(NamedTuple):
    """One benchmark: its models, best first within their groups, and the value of guessing.

    `protocols` are those with scores, and `heads` their column heads. `results` and `sure` are the
    numbers behind the cells, for figures.
    """

    benchmark: str
    title: str
    protocols: Sequence[Protocol]
    heads: Sequence[str]
    domains: list[str]
    groups: list[Group]
    chance: list[str]
    notes: list[str]
    currency: str
    results: Mapping[tuple[str, Protocol], BenchmarkResult]
    sure: Mapping[Protocol, Resampled]


def leaderboards(
    gathered: RunSet, results: Results, prices: Prices | None = None
) -> list[Leaderboard]:
    """One leaderboard for each benchmark; with the cost of a thousand items at these prices.

    People have a row each, and two or more of them one together.
    """
    if (joined := with_people(gathered)) is not gathered:
        gathered, results = joined, joined.results
    names = dict.fromkeys(
        found.benchmark for result in results.values() for found in result.benchmarks
    )
    return [_leaderboard(gathered, results, name, prices) for name in names]


def _leaderboard(
    gathered: RunSet, results: Results, name: str, prices: Prices | None
) -> Leaderboard:
    found = {
        (model, protocol): benchmark
        for (model, protocol), result in results.items()
        for benchmark in result.benchmarks
        if benchmark.benchmark == name
    }
    timed = speeds(gathered)
    lacking = dict(unranked(gathered)) if name == OWN_BENCHMARK else {}
    protocols = [each for each in PROTOCOLS if any(its == each for _, its in found)]
    sure = {
        protocol: resample_benchmark(
            {
                place: scores
                for place, scores in gathered.mains[protocol].items()
                if task(place[0]).benchmark == name
            },
            {model: each for (model, its), each in found.items() if its == protocol},
            ranked=[m for m in _ranked(gathered) if m not in lacking],
        )
        for protocol in protocols
    }
    for each in sure.values():
        each.unranked.update(lacking)
    domains = list(dict.fromkeys(domain for each in found.values() for domain in each.domains))
    groups = []
    for role, title in ROLES.items():
        rows = [
            _standing(voice.of(name), model, domains, found, sure)._replace(
                hours=_hours(voice.of(name), timed.get(model)),
                money=_money(voice.of(name), prices),
            )
            for model, voice in gathered.voices.items()
            if voice.role == role and any((model, protocol) in found for protocol in protocols)
        ]
        if rows:
            groups.append(Group(title, sorted(rows, key=lambda row: -_number(row.overall))))
    notes = [note for protocol in protocols for note in sure[protocol].notes]
    if sum(voice.role == PEOPLE for voice in gathered.voices.values()) > 1:
        notes.append(NOTE)
    notes += [*own_draft_notes(gathered, name), *prompt_notes(gathered, name)]
    items = [each.item for each in gathered.asked.values() if each.item.benchmark == name]
    if prices:
        notes.append(f"Prices as of {prices.seen}: check them")
    return Leaderboard(
        benchmark=name,
        title=benchmark_title(name),
        protocols=protocols,
        heads=[_head(name, protocol) for protocol in protocols],
        domains=domains,
        groups=groups,
        chance=list(_chances(items)),
        notes=list(dict.fromkeys(notes)),
        currency=prices.currency if prices else "",
        results=found,
        sure=sure,
    )


def _ranked(gathered: RunSet) -> list[str]:
    return [name for name, voice in gathered.voices.items() if voice.role in _RANKED]


def _head(benchmark: str, protocol: Protocol) -> str:
    """The head of a column of overall values: the protocol, and the metric if there is only one."""
    queries = [query for each in tasks() if each.benchmark == benchmark for query in each.queries]
    return f"{protocol}: {getattr(queries[0], protocol)[0]}" if len(queries) == 1 else protocol


def _standing(
    voice: ModelResponses,
    model: str,
    domains: Sequence[str],
    found: Mapping[tuple[str, Protocol], BenchmarkResult],
    sure: Mapping[Protocol, Resampled],
) -> Standing:
    overall, ranks, by_domain = [], [], []
    for protocol, known in sure.items():
        result = found.get((model, protocol))
        overall.append(_mean_cell(result, known.overall.get(model)))
        ranks.append(_rank_cell(known, model))
        by_domain.append(
            [_domain_cell(result, domain, known.domains.get((model, domain))) for domain in domains]
        )
    failures = [(status, n) for status, n in voice.statuses.items() if status != "answered"]
    return Standing(
        model=model,
        overall=overall,
        ranks=ranks,
        domains=by_domain,
        failures=failures,
        hours=NOTHING,
        tokens=_tokens(voice),
        money=NOTHING,
    )


def _mean_cell(result: BenchmarkResult | None, bounds: tuple[float, float] | None) -> Cell:
    if result is None:
        return Cell()
    missing = [why for each in result.domains.values() for why in each.missing.values()]
    parts = sum(len(each.parts) for each in result.domains.values())
    notes = [_range(bounds)] if bounds else []
    if missing:
        notes.append(f"{parts - len(missing)} of {parts} tasks")
    reasons = "; ".join(_so_many(count, why) for why, count in Counter(missing).items())
    return Cell(percent(result.overall.value), note="\n".join(notes), title=reasons)


def _domain_cell(
    result: BenchmarkResult | None, domain: str, bounds: tuple[float, float] | None
) -> Cell:
    found: MeanResult | None = result.domains.get(domain) if result else None
    if found is None or found.value is None:
        return Cell()
    notes = [_range(bounds)] if bounds else []
    if found.missing:
        notes.append(f"{len(found.parts) - len(found.missing)} of {len(found.parts)} tasks")
    reasons = [(n, why) for n, why in found.missing.items() if why != NO_RESPONSES]
    silent = len(found.missing) - len(reasons)
    named = [f"{name}: {reason}" for name, reason in reasons]
    why = "; ".join([*named, *([_so_many(silent, NO_RESPONSES)] if silent else [])])
    return Cell(percent(found.value), note="\n".join(notes), title=why)


def _rank_cell(known: Resampled, model: str) -> Cell:
    if model not in known.ranks:
        return Cell(title=known.unranked.get(model, "not ranked"))
    rank, span = known.ranks[model]
    return Cell(str(rank), note=f"{span[0]} to {span[1]}" if span else "", best=rank == 1)


def _range(bounds: tuple[float, float]) -> str:
    return f"{percent(bounds[0])} to {percent(bounds[1])}"


def _number(cells: Iterable[Cell]) -> float:
    """The strict overall value, else the official one, for sorting."""
    shown = [float(cell.value) for cell in cells if cell.value != NOTHING]
    return shown[-1] if shown else -1.0


def _hours(voice: ModelResponses, speed: Speed | None) -> str:
    """The time of a thousand items; for people, who pause, from the median of one answer.

    For models that compute on this machine it is as measured, over all tasks, without the start-up.
    """
    if speed is not None:
        return span(speed.thousand)
    if voice.times:
        return f"{median(voice.times):.3g} s an answer, median"
    return NOTHING if voice.seconds_an_item is None else span(voice.seconds_an_item * 1000)


def _tokens(voice: ModelResponses) -> str:
    if voice.output_tokens is None or not voice.items:
        return NOTHING
    counts = [(voice.input_tokens, "in"), (voice.output_tokens, "out")]
    return ", ".join(
        f"{1000 * count / voice.items / 1000:,.0f}k {way}" for count, way in counts if count
    )


def _money(voice: ModelResponses, prices: Prices | None) -> str:
    spent = money(voice, prices)
    return NOTHING if spent is None else f"{spent:,.2f}"


def money(voice: ModelResponses, prices: Prices | None) -> float | None:
    """The cost of a thousand items by the tokens that the server counted; None where not known."""
    said = voice.model.removeprefix("ocr+llm:").rpartition("+")[2]
    price = prices.price(said.partition(":")[2]) if prices and ":" in said else None
    if price is None or voice.role != "model" or not voice.items or voice.output_tokens is None:
        return None
    return 1000 * price.of(voice.input_tokens or 0, voice.output_tokens) / voice.items


def _chances(items: Sequence[Item]) -> Iterator[str]:
    """The mean value of blind guessing, for tasks where a guess has a value above 0."""
    guesses: dict[str, list[float]] = {}
    for item in items:
        if guess := chance(item):
            guesses.setdefault(task_name(item.task, item.query), []).append(guess)
    earned: dict[str, list[str]] = {}
    for name, of_task in guesses.items():
        earned.setdefault(percent(fmean(of_task)), []).append(name)
    for value, names in earned.items():
        yield f"{value}: {', '.join(names)}"


def chance(item: Item) -> float:
    """The expected value of a blind guess on an item; 0 where the answer is free text."""
    if not has_reference(item):
        return 0.0
    if item.relevant:
        return len(item.relevant) / max(1, len(item.images) - 1)
    form = query_of(item).form
    if form == "letter":
        return 1 / len(options_of(item)) if options_of(item) else 0.0
    return 0.5 if form == "yes-no" else 0.0


def _so_many(tasks_without: int, why: str) -> str:
    """The number of tasks without a value, and why."""
    return f"{tasks_without} {'task' if tasks_without == 1 else 'tasks'}: {why}"
