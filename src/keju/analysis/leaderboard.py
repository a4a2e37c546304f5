"""Leaderboards: overall and domain means with intervals and ranks, grouped by role.

Groups (books, plates) are drawn for all tasks and models together, so that a mean over tasks keeps
the correlation of its tasks. Only means over the same items of the same tasks can be compared, so
models that answered other ones are in a group of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Generic, NamedTuple, TypeVar

from keju.analysis.engine_times import Speed, speeds
from keju.analysis.human_rows import with_people
from keju.analysis.labels import task_name
from keju.analysis.marks import printed
from keju.analysis.no_results import unranked
from keju.analysis.own_drafts import own_draft_notes
from keju.analysis.resampling import (
    NO_BASIS,
    Basis,
    Bounds,
    ResampledMeans,
    group_notes,
    resample_benchmark,
)
from keju.analysis.run_set import PEOPLE, ModelResponses, RunSet, main_metric
from keju.analysis.unpublished_settings import prompt_notes
from keju.definitions import (
    OWN_BENCHMARK,
    has_reference,
    options_of,
    query_of,
    task,
    tasks,
)
from keju.definitions import benchmark as benchmark_named
from keju.items import Item, Protocol
from keju.running.prices import Prices
from keju.runs.served_models import served_line
from keju.scoring import PROTOCOLS, BenchmarkResult, MeanResult, Result
from keju.texts import _, n_

Who = TypeVar("Who")
Results = Mapping[tuple[str, Protocol], Result]

ROLES = {
    "engine": _("OCR engines"),
    "model": _("models"),
    "answers": _("answers made elsewhere"),
    "human": _("people"),
    "baseline": _("baselines"),
}
"""The roles in the order of the groups, with the ids of the groups' titles."""

RANKED = ("engine", "model", "answers")
"""The roles with ranks."""


_Parts = tuple[Sequence[str], Sequence[tuple[str, str]]]
"""The domains of a leaderboard, and the directions within them."""


class Mean(NamedTuple):
    """A mean over tasks with its interval; `missing` has the reason of each task without value.

    `value_if_right` is the mean if every unclear answer were right; else equal to `value`.
    """

    value: float | None
    bounds: Bounds | None
    tasks: int
    missing: Mapping[str, str]
    value_if_right: float | None = None


class Rank(NamedTuple):
    """A rank and the ranks that remain possible, or why there is none (empty: of its role)."""

    place: int | None = None
    possible: tuple[int, int] | None = None
    why: str = ""


class Extent(NamedTuple):
    """How much was answered: the number of tasks and of items.

    `others` is whether another group of the same role has as many, but other ones.
    """

    tasks: int
    items: int
    others: bool = False


class LeaderboardRow(NamedTuple):
    """A model of the leaderboard: its overall mean, rank and domains under each protocol.

    It answered `answered` of the `items` of its run. `directions` are means within domains, without
    intervals. `seconds`, tokens and `money` are for a thousand items; None where not known, as on
    a busy machine. For people, who pause, `answer_seconds` is the median of one answer.
    """

    model: str
    role: str
    answered: int
    items: int
    overall: list[Mean | None]
    ranks: list[Rank]
    domains: list[list[Mean | None]]
    directions: list[list[Mean | None]]
    failures: list[tuple[str, int]]
    seconds: float | None
    answer_seconds: float | None
    input_tokens: float | None
    output_tokens: float | None
    money: float | None

    @property
    def unanswered(self) -> int:
        """The number of items of its run to which it has no response."""
        return self.items - self.answered


class Group(NamedTuple):
    """Models of one role whose means rest on the same items of the same tasks, best first.

    Models with equal values, as they are printed, are in the order of their names.

    `extent` is how many tasks and items they answered, those without a value included; None where
    all rows of the leaderboard rest on the same ones.
    """

    role: str
    rows: list[LeaderboardRow]
    extent: Extent | None = None

    @property
    def title(self) -> str:
        """The name of the group."""
        return group_title(self.role, self.extent)


def group_title(role: str, extent: Extent | None) -> str:
    """The name of a group of rows: their role and, if rows differ in it, what they answered."""
    title = ROLES.get(role, role)
    if extent is None:
        return title
    items = n_("{n:,} item", "{n:,} items", extent.items)
    tasks = n_("{n:,} task", "{n:,} tasks", extent.tasks)
    if extent.others:
        return _("{} · {} of {}, other items", title, items, tasks)
    return _("{} · {} of {}", title, items, tasks)


class BasisGroup(NamedTuple, Generic[Who]):
    """Rows of one role with equal bases; without an extent if all rows have equal bases."""

    role: str
    extent: Extent | None
    rows: list[Who]


def group_by_basis(rows: Mapping[Who, tuple[str, Sequence[Basis]]]) -> list[BasisGroup[Who]]:
    """Divide the rows of a leaderboard by role and by what their means rest on.

    Every presentation of a leaderboard uses this rule. The groups are in the order of roles, then
    those of the most tasks and items first; the rows of a group keep their order.

    Args:
        rows: the role and the bases under each protocol, by row.
    """
    groups: dict[tuple[str, frozenset[tuple[int, str, bytes]]], list[Who]] = {}
    extents: dict[tuple[str, frozenset[tuple[int, str, bytes]]], tuple[int, int]] = {}
    for who, (role, bases) in rows.items():
        digests = frozenset(
            (place, *each) for place, basis in enumerate(bases) for each in basis.digests.items()
        )
        groups.setdefault((role, digests), []).append(who)
        extents[role, digests] = max((basis.extent for basis in bases), default=(0, 0))
    several = len({digests for _, digests in groups}) > 1
    order = {role: place for place, role in enumerate(ROLES)}
    found: list[BasisGroup[Who]] = []
    seen: set[tuple[str, int, int]] = set()
    for key in sorted(
        groups, key=lambda key: (order.get(key[0], len(order)), *(-n for n in extents[key]))
    ):
        role, extent = key[0], Extent(*extents[key], others=(key[0], *extents[key]) in seen)
        seen.add((role, *extents[key]))
        found.append(BasisGroup(role, extent if several else None, groups[key]))
    return found


class Leaderboard(NamedTuple):
    """One benchmark: its models, best first within their groups, and the value of guessing.

    `protocols` are those with scores, and `heads` their column heads. `chance` is the value of
    blind guessing by task, where it is above 0. `results` are the numbers behind the
    means, by model and protocol, and `resampled` their intervals and ranks, by protocol.
    `directions` are those of the definition with a value, each after its domain.
    """

    benchmark: str
    title: str
    protocols: Sequence[Protocol]
    heads: Sequence[str]
    domains: list[str]
    directions: list[tuple[str, str]]
    groups: list[Group]
    chance: Mapping[str, float]
    notes: list[str]
    currency: str
    results: Mapping[tuple[str, Protocol], BenchmarkResult]
    resampled: Mapping[Protocol, ResampledMeans]

    @property
    def rows(self) -> list[LeaderboardRow]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    @property
    def has_tokens(self) -> bool:
        """Whether any model has a count of tokens."""
        return any(row.output_tokens is not None for row in self.rows)


def leaderboards(
    run_set: RunSet, results: Results, prices: Prices | None = None
) -> list[Leaderboard]:
    """One leaderboard for each benchmark; with the cost of a thousand items at these prices.

    People have a row each, and two or more of them one together.
    """
    if (joined := with_people(run_set)) is not run_set:
        run_set, results = joined, joined.results
    names = dict.fromkeys(
        found.benchmark for result in results.values() for found in result.benchmarks
    )
    counts = _count_items(run_set)
    return [_leaderboard(run_set, results, name, counts, prices) for name in names]


def _leaderboard(
    run_set: RunSet, results: Results, name: str, counts: _Counts, prices: Prices | None
) -> Leaderboard:
    found = {
        (model, protocol): benchmark
        for (model, protocol), result in results.items()
        for benchmark in result.benchmarks
        if benchmark.benchmark == name
    }
    protocols = [each for each in PROTOCOLS if any(its == each for _, its in found)]
    resampled = {each: _resample(run_set, found, name, each) for each in protocols}
    domains = list(dict.fromkeys(domain for each in found.values() for domain in each.domains))
    directions = [
        (domain, direction)
        for domain, inside in next((e.directions for e in found.values()), {}).items()
        for direction in inside
        if any(each.directions[domain][direction].value is not None for each in found.values())
    ]
    return Leaderboard(
        benchmark=name,
        title=benchmark_named(name).title,
        protocols=protocols,
        heads=[_format_head(name, protocol) for protocol in protocols],
        domains=domains,
        directions=directions,
        groups=_groups(run_set, name, found, (domains, directions), resampled, counts, prices),
        chance=_chances(run_set, name),
        notes=_notes(run_set, name, resampled, prices),
        currency=prices.currency if prices else "",
        results=found,
        resampled=resampled,
    )


def _resample(
    run_set: RunSet,
    found: Mapping[tuple[str, Protocol], BenchmarkResult],
    name: str,
    protocol: Protocol,
) -> ResampledMeans:
    """The intervals and ranks of a benchmark's models under one protocol."""
    lacking = dict(unranked(run_set)) if name == OWN_BENCHMARK else {}
    means = resample_benchmark(
        {
            place: scores
            for place, scores in run_set.mains[protocol].items()
            if task(place[0]).benchmark == name
        },
        {model: each for (model, its), each in found.items() if its == protocol},
        ranked=[
            model
            for model, responses in run_set.by_model.items()
            if responses.role in RANKED and model not in lacking
        ],
    )
    means.unranked.update(lacking)
    return means


def _groups(
    run_set: RunSet,
    name: str,
    found: Mapping[tuple[str, Protocol], BenchmarkResult],
    parts: _Parts,
    resampled: Mapping[Protocol, ResampledMeans],
    counts: _Counts,
    prices: Prices | None,
) -> list[Group]:
    """The models with results by role and by what they answered, best first."""
    timed = speeds(run_set)
    with_results = {model for model, _ in found}
    rows: dict[str, LeaderboardRow] = {}
    for model, responses in run_set.by_model.items():
        if model not in with_results:
            continue
        own = responses.of(name)
        answered, items = counts.of(responses, model, name)
        untimed = own.times and model not in timed
        rows[model] = _build_row(own, model, parts, found, resampled)._replace(
            answered=answered,
            items=items,
            seconds=_seconds(own, timed.get(model)),
            answer_seconds=median(own.times) if untimed else None,  # People pause.
            money=money(own, prices),
        )
    order = sorted(rows, key=lambda model: (-_sort_value(rows[model].overall), model))
    grouped = group_by_basis(
        {
            model: (
                run_set.by_model[model].role,
                [each.bases.get(model, NO_BASIS) for each in resampled.values()],
            )
            for model in order
        }
    )
    return [
        Group(role, [rows[model] for model in models], extent) for role, extent, models in grouped
    ]


class _Counts(NamedTuple):
    """The number of items by dataset and benchmark, and of answered ones by model and benchmark.

    Items of queries without a metric, which only people read, are not counted.
    """

    items: Counter[tuple[str, str]]
    answered: Counter[tuple[str, str]]
    dataset_of_run: Mapping[str, str]

    def of(self, responses: ModelResponses, model: str, benchmark: str) -> tuple[int, int]:
        """How many items of a benchmark a model answered, and how many its run has."""
        dataset = self.dataset_of_run[responses.run]
        return self.answered[model, benchmark], self.items[dataset, benchmark]


def _count_items(run_set: RunSet) -> _Counts:
    datasets = {run.name: run.manifest.items_key for run in run_set.runs}
    found = _Counts(Counter(), Counter(), datasets)
    for asked in run_set.asked:
        if not any(main_metric(asked.item, protocol) for protocol in PROTOCOLS):
            continue
        benchmark = asked.item.benchmark
        found.items[asked.run.manifest.items_key, benchmark] += 1
        found.answered.update((model, benchmark) for model in {a.model for a in asked.answers})
    return found


def _notes(
    run_set: RunSet,
    name: str,
    resampled: Mapping[Protocol, ResampledMeans],
    prices: Prices | None,
) -> list[str]:
    notes: list[str] = list(group_notes(resampled))
    notes += [note for means in resampled.values() for note in (*means.notes, *means.few_groups)]
    if sum(responses.role == PEOPLE for responses in run_set.by_model.values()) > 1:
        notes.append(
            _(
                "The row of all people contains all answers of each person. Its interval shows "
                "what other books and plates would change, not what other people would"
            )
        )
    notes += [*own_draft_notes(run_set, name), *prompt_notes(run_set, name)]
    served = {model: each.of(name).served for model, each in run_set.by_model.items()}
    notes += [served_line(model, counts) for model, counts in served.items() if len(counts) > 1]
    if prices:
        notes.append(_("Prices as of {}: check them", prices.seen))
    return list(dict.fromkeys(notes))


def _format_head(benchmark: str, protocol: Protocol) -> str:
    """The head of a column of overall values: the protocol, and the metric if there is only one."""
    queries = [query for each in tasks() if each.benchmark == benchmark for query in each.queries]
    return f"{protocol}: {getattr(queries[0], protocol)[0]}" if len(queries) == 1 else protocol


def _build_row(
    model_responses: ModelResponses,
    model: str,
    parts: _Parts,
    found: Mapping[tuple[str, Protocol], BenchmarkResult],
    resampled: Mapping[Protocol, ResampledMeans],
) -> LeaderboardRow:
    domains, directions = parts
    overall, ranks, by_domain, by_direction = [], [], [], []
    for protocol, known in resampled.items():
        result = found.get((model, protocol))
        overall.append(_overall(result, known.overall.get(model)))
        ranks.append(_rank(known, model))
        by_domain.append(
            [_domain(result, domain, known.domains.get((model, domain))) for domain in domains]
        )
        by_direction.append([_direction(result, *place) for place in directions])
    failures = [
        (status, n) for status, n in model_responses.statuses.items() if status != "answered"
    ]
    return LeaderboardRow(
        model=model,
        role=model_responses.role,
        answered=0,
        items=0,
        overall=overall,
        ranks=ranks,
        domains=by_domain,
        directions=by_direction,
        failures=failures,
        seconds=None,
        answer_seconds=None,
        input_tokens=_tokens(model_responses, model_responses.input_tokens),
        output_tokens=_tokens(model_responses, model_responses.output_tokens),
        money=None,
    )


def _overall(result: BenchmarkResult | None, bounds: Bounds | None) -> Mean | None:
    if result is None:
        return None
    means = result.domains.values()
    missing = {name: why for each in means for name, why in each.missing.items()}
    tasks = sum(len(each.parts) for each in means)
    return Mean(result.overall.value, bounds, tasks, missing, result.overall.value_if_right)


def _domain(result: BenchmarkResult | None, domain: str, bounds: Bounds | None) -> Mean | None:
    found: MeanResult | None = result.domains.get(domain) if result else None
    if found is None or found.value is None:
        return None
    return Mean(found.value, bounds, len(found.parts), found.missing, found.value_if_right)


def _direction(result: BenchmarkResult | None, domain: str, direction: str) -> Mean | None:
    mean = result.directions.get(domain, {}).get(direction) if result else None
    if mean is None or mean.value is None:
        return None
    return Mean(mean.value, None, len(mean.parts), mean.missing, mean.value_if_right)


def _rank(known: ResampledMeans, model: str) -> Rank:
    if model not in known.ranks:
        return Rank(why=known.unranked.get(model, ""), possible=known.undecided.get(model))
    return Rank(*known.ranks[model])


def _sort_value(overall: Sequence[Mean | None]) -> float:
    """The strict overall value as it is printed, else the official one."""
    values = [mean.value for mean in overall if mean is not None and mean.value is not None]
    return printed(values[-1]) if values else -1.0


def _seconds(model_responses: ModelResponses, speed: Speed | None) -> float | None:
    """The seconds of a thousand items; of an engine of this machine as timed, without start-up."""
    if speed is not None:
        return speed.thousand
    return (
        None if model_responses.seconds_an_item is None else model_responses.seconds_an_item * 1000
    )


def _tokens(model_responses: ModelResponses, count: int | None) -> float | None:
    """The tokens of a thousand items, where the server counted them."""
    return (
        None if count is None or not model_responses.items else 1000 * count / model_responses.items
    )


def money(model_responses: ModelResponses, prices: Prices | None) -> float | None:
    """The cost of a thousand items by the tokens that the server counted; None where not known."""
    said = model_responses.model.removeprefix("ocr+llm:").rpartition("+")[2]
    price = prices.price(said.partition(":")[2]) if prices and ":" in said else None
    if (
        price is None
        or model_responses.role != "model"
        or not model_responses.items
        or model_responses.output_tokens is None
    ):
        return None
    return (
        1000
        * price.of(model_responses.input_tokens or 0, model_responses.output_tokens)
        / model_responses.items
    )


def _chances(run_set: RunSet, benchmark: str) -> dict[str, float]:
    """The mean value of blind guessing, for tasks where a guess has a value above 0."""
    guesses: dict[str, list[float]] = {}
    for asked in run_set.asked:
        item = asked.item
        if item.benchmark == benchmark and (guess := chance(item)):
            guesses.setdefault(task_name(item.task, item.query), []).append(guess)
    return {name: fmean(of_task) for name, of_task in guesses.items()}


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
