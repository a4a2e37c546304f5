"""`history_of`: the scores of one model over labels (checkpoints, dates), and their changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import field
from msgspec.structs import replace

from keju.analysis.comparison_sides import LabelledSide, SideChoice, only_side
from keju.analysis.intervals import task_intervals
from keju.analysis.resampling import overall_intervals
from keju.analysis.score_sources import ScoredRun, contents_of, source_of
from keju.definitions import task, tasks
from keju.errors import UsageError, shortened
from keju.items import Protocol, Record, Score, better_end
from keju.runs.served_models import served_lines
from keju.scoring import (
    BenchmarkResult,
    Difference,
    OverallComparison,
    Result,
    SideScores,
    TaskComparison,
    adjust_comparisons,
    aggregate,
    compare_sides,
    scores_frame,
)
from keju.scoring.aggregate import task_value
from keju.statistics import LEVEL
from keju.texts import _, listed, n_

Order = Literal["time", "given"]


class LabelledRun(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One label of a history: its run, model, and the time when the run was created (ISO 8601)."""

    label: str
    run: str
    model: str
    created: str


class LabelValue(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A value of one label with its 95 % interval by group; None where there is none.

    `value` counts unclear answers as wrong, `value_if_right` as right; the interval contains those
    of both.
    """

    value: float | None
    value_if_right: float | None = None
    low: float | None = None
    high: float | None = None


class HistoryRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A benchmark's overall value (`task` is empty) or a task's main metric, by label in order."""

    benchmark: str
    task: str
    query: str
    metric: str
    values: list[LabelValue]

    @property
    def name(self) -> str:
        """The task and its query; the benchmark for an overall value."""
        return "/".join(filter(None, (self.task, self.query))) or self.benchmark


class Change(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The tests between two labels: later - earlier.

    `before` and `after` are labels. The first side is the later label: `difference` is later -
    earlier, and `better` is ``first`` where it improved significantly. `overall` are the means of
    the benchmarks. P values of tasks are adjusted over the tasks of all changes (Holm), and those
    of a benchmark's mean over all changes.
    """

    before: str
    after: str
    overall: list[OverallComparison]
    tasks: list[TaskComparison]

    @property
    def improved(self) -> list[TaskComparison]:
        """The tasks that improved significantly."""
        return [each for each in self.tasks if each.better == "first"]

    @property
    def declined(self) -> list[TaskComparison]:
        """The tasks that declined significantly."""
        return [each for each in self.tasks if each.better == "second"]

    @property
    def undecided(self) -> list[TaskComparison]:
        """The tasks in which unclear answers decide whether the change is significant."""
        return [each for each in self.tasks if each.undecided]


class History(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The scores of a model over labels under one protocol.

    `changes` are between consecutive labels; with three labels or more, the last entry is the
    change from the first label to the last. `level` is the family-wise level of the tests of the
    tasks, and of those of a benchmark's mean. `notes` are remarks on the runs.
    """

    protocol: Protocol
    order: Order
    level: float
    labels: list[LabelledRun]
    rows: list[HistoryRow]
    changes: list[Change]
    notes: list[str] = field(default_factory=list)


def history_of(
    runs: Sequence[ScoredRun],
    protocol: Protocol = "strict",
    wanted: SideChoice | None = None,
    *,
    order: Order = "time",
) -> History:
    """The scores of one model over two or more labelled runs of the same items and prompts.

    Args:
        runs: scored runs or bundles. One without a label has the name of its directory or file.
        protocol: the protocol whose main metrics are shown.
        wanted: selects the `model`, `setting`, `script` and `wording` if a run has several.
        order: ``time`` orders by the creation of the runs, ``given`` keeps the order of `runs`.

    Raises:
        UsageError: fewer than two runs, two have the same label, or items, benchmark, prompts or
            scoring differ; the error names the difference.
        DataError: a file of a run is damaged.
    """
    if len(runs) < 2:
        raise UsageError("keju history needs two runs or more, one for each label")
    sources = [source_of(run) for run in runs]
    if protocol == "official" and (why := sources[0].without_official()):
        raise UsageError(f"{sources[0].path}: {why}")
    if order == "time":
        sources.sort(key=lambda source: source.manifest().created)
    sides = [only_side(source, wanted or SideChoice(), protocol) for source in sources]
    labels = _labels(sides)
    _check_alike(list(zip(labels, sides, strict=True)), protocol)
    rows = _rows(labels, [side.scores for side in sides], protocol)
    if not rows:
        raise UsageError("the runs have no values under the protocol {}", protocol)
    return History(
        protocol=protocol,
        order=order,
        level=LEVEL,
        labels=[
            LabelledRun(
                label=label,
                run=str(side.run.path),
                model=side.model,
                created=side.run.manifest().created,
            )
            for label, side in zip(labels, sides, strict=True)
        ],
        rows=rows,
        changes=_changes(
            labels, [SideScores(protocol, scores_frame(side.scores)) for side in sides]
        ),
        notes=[line for side in sides for line in served_lines(side.run.responses(side.model))],
    )


def _labels(sides: Sequence[LabelledSide]) -> list[str]:
    labels = [side.run.manifest().label or side.run.name for side in sides]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        paths = [str(side.run.path) for side, label in zip(sides, labels, strict=True)
                 if label == twice[0]]  # fmt: skip
        raise UsageError(
            "two runs have the label {}: {}. Run one of them with another --label, or omit it",
            twice[0],
            listed(paths),
        )
    return labels


def _changes(labels: Sequence[str], sides: Sequence[SideScores]) -> list[Change]:
    pairs = [(place, place + 1) for place in range(len(labels) - 1)]
    if len(labels) > 2:
        pairs.append((0, len(labels) - 1))
    compared = [compare_sides(sides[after], sides[before]) for before, after in pairs]
    tasks = iter(adjust_comparisons([each for found, _ in compared for each in found]))
    # The labels have the same items, so that every change has the same benchmarks.
    means = [
        adjust_comparisons(changes)
        for changes in zip(*(overall for _, overall in compared), strict=True)
    ]
    return [
        Change(
            before=labels[before],
            after=labels[after],
            overall=[changes[place] for changes in means],
            tasks=[next(tasks) for _ in found],
        )
        for place, ((before, after), (found, _)) in enumerate(zip(pairs, compared, strict=True))
    ]


def _rows(
    labels: Sequence[str], scores: Sequence[list[Score]], protocol: Protocol
) -> list[HistoryRow]:
    """The overall value of each benchmark, followed by its tasks, in the catalogue's order."""
    named = [
        [replace(score, model=label) for score in of_label]
        for label, of_label in zip(labels, scores, strict=True)
    ]
    results = {each.model: each for of_label in named for each in aggregate(of_label)}
    main_scores = _main_scores(named, protocol)
    rows: list[HistoryRow] = []
    for benchmark in dict.fromkeys(task(name).benchmark for name, *__ in main_scores):
        own = {key: by_label for key, by_label in main_scores.items()
               if task(key[0]).benchmark == benchmark}  # fmt: skip
        rows.append(_overall(benchmark, labels, results, own))
        rows += [
            HistoryRow(
                benchmark=benchmark, task=name, query=query, metric=metric,
                values=[_value(by_label.get(label, ())) for label in labels],
            )
            for (name, query, metric), by_label in own.items()
        ]  # fmt: skip
    return rows


_MainScores = dict[tuple[str, str, str], dict[str, list[Score]]]
"""The scores of the main metrics with a value, by task, query and metric, then by label."""


def _main_scores(named: Sequence[Sequence[Score]], protocol: Protocol) -> _MainScores:
    found: _MainScores = {}
    for each in tasks():
        for query in each.queries:
            for metric in query.metrics(protocol)[:1]:
                found[each.id, query.name, metric] = {}
    for of_label in named:
        for score in of_label:
            by_label = found.get((score.task, score.query, score.metric))
            if by_label is not None and score.value is not None:
                by_label.setdefault(score.model, []).append(score)
    return {key: by_label for key, by_label in found.items() if by_label}


def _overall(
    benchmark: str, labels: Sequence[str], results: Mapping[str, Result], main_scores: _MainScores
) -> HistoryRow:
    of_label: dict[str, BenchmarkResult] = {
        label: each
        for label, result in results.items()
        for each in result.benchmarks
        if each.benchmark == benchmark
    }
    values = []
    for label in labels:
        result = of_label.get(label)
        bounds = None
        if result:
            scores = {
                (name, query): by_label.get(label, [])
                for (name, query, _), by_label in main_scores.items()
            }
            # Alone: in bundles the groups of the same book can have another name.
            bounds = overall_intervals(scores, {label: result}).get(label)
        low, high = bounds or (None, None)
        mean = result.overall if result else None
        values.append(
            LabelValue(
                value=mean.value if mean else None,
                value_if_right=mean.value_if_right if mean else None,
                low=low,
                high=high,
            )
        )
    return HistoryRow(benchmark=benchmark, task="", query="", metric="", values=values)


def _value(scores: Sequence[Score]) -> LabelValue:
    if not scores:
        return LabelValue(value=None)
    interval = task_intervals(scores).get(scores[0].model)
    return LabelValue(
        value=task_value(scores),
        value_if_right=task_value(list(map(better_end, scores))),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def history_records(history: History) -> list[dict[str, str | float | None]]:
    """All values as flat records: a row for each benchmark or task and label.

    Values are fractions. `change` is the difference from the previous label (from `change_least`
    to `change_most` while answers are unclear), with its interval and the adjusted p value;
    `significant` is ``improved``, ``declined``, ``undecided`` (unclear answers decide it) or empty.
    The columns with ``total`` have the change since the first label, in the rows of the last label.
    """
    count = len(history.labels)
    steps = [comparisons_of(each) for each in history.changes[: count - 1]]
    total = comparisons_of(history.changes[-1])
    records = []
    for row in history.rows:
        for place, (label, value) in enumerate(zip(history.labels, row.values, strict=True)):
            key = row.benchmark, row.task, row.query
            step = steps[place - 1].get(key) if place else None
            change = total.get(key) if place == count - 1 else None
            records.append(
                {
                    "benchmark": row.benchmark,
                    "task": row.task,
                    "query": row.query,
                    "protocol": history.protocol,
                    "metric": row.metric,
                    "label": label.label,
                    "model": label.model,
                    "created": label.created,
                    "value": value.value,
                    "value_if_right": value.value_if_right,
                    "low": value.low,
                    "high": value.high,
                    **_described(step, ""),
                    **_described(change, "total_"),
                }
            )
    return records


def comparisons_of(change: Change) -> dict[tuple[str, str, str], Difference]:
    """The comparisons of a change by benchmark, task and query, as the rows are."""
    means = {(each.benchmark, "", ""): each for each in change.overall}
    return means | {
        (task(each.task).benchmark, each.task, each.query): each for each in change.tasks
    }


def _described(each: Difference | None, prefix: str) -> dict[str, str | float | None]:
    words = {"first": "improved", "second": "declined", "": ""}
    ends = [end.difference for end in each.ends] or [each.difference] if each else [None]
    return {
        f"{prefix}change": each.difference if each else None,
        f"{prefix}change_least": ends[0],
        f"{prefix}change_most": ends[-1],
        f"{prefix}change_low": each.low if each else None,
        f"{prefix}change_high": each.high if each else None,
        f"{prefix}p_holm": each.p_holm if each else None,
        f"{prefix}significant": "undecided"
        if each and each.undecided
        else words[each.better]
        if each
        else "",
    }


_Labelled = tuple[str, LabelledSide]


def _check_alike(sides: Sequence[_Labelled], protocol: Protocol) -> None:
    """Check each label against the first.

    Args:
        sides: the labels with their sides.
        protocol: the protocol whose scores are compared.

    Raises:
        UsageError: two labels differ in the prompt variant, system prompt, boxes, rounds, pair
            form, benchmark, items, answered items or the signature of a metric.
        DataError: a file of a run is damaged.
    """
    first = sides[0]
    for other in sides[1:]:
        for what, one, two in _differences(first[1], other[1], protocol):
            if one != two:
                raise UsageError(
                    "{} and {} differ in {}: {} and {}. The runs of a history must have the same "
                    "items, prompts and scoring",
                    first[0],
                    other[0],
                    what,
                    shortened(one) or _("none"),
                    shortened(two) or _("none")
                )  # fmt: skip
        _check_items(first, other)
        _check_answered(first, other, protocol)


def _differences(
    first: LabelledSide, second: LabelledSide, protocol: Protocol
) -> Iterator[tuple[str, str, str]]:
    """The properties that must be equal, each with its value on both sides."""
    one, two = (side.run.manifest() for side in (first, second))
    options = ("--setting", "--script", "--wording")
    yield from zip(options, first.variant, second.variant, strict=True)
    yield "--system-prompt", one.system_hash(first.model), two.system_hash(second.model)
    yield "--boxes", one.settings.get("boxes", ""), two.settings.get("boxes", "")
    yield "--rounds", str(one.rounds), str(two.rounds)
    yield "--pairs", one.pairs, two.pairs
    names = sorted({*one.benchmarks, *two.benchmarks})
    for name in names:
        texts = one.benchmarks.get(name), two.benchmarks.get(name)
        own, other = (_definition(name, text) for text in texts)
        yield _("the definition of the benchmark"), own, other
    yield _("the signature of a metric"), *_signatures(first, second, protocol)


def _definition(name: str, text: str | None) -> str:
    """The name of a benchmark with a short hash of its definition; empty if there is none."""
    return f"{name} ({sha256(text.encode()).hexdigest()[:8]})" if text is not None else ""


def _signatures(first: LabelledSide, second: LabelledSide, protocol: Protocol) -> tuple[str, str]:
    """The first differing signature of a metric of both sides; two empty texts if none differs."""
    one, two = (
        {
            (score.task, score.query, score.metric): score.signature
            for score in side.scores
            if score.protocol == protocol and score.signature and score.value is not None
        }
        for side in (first, second)
    )
    return next(
        ((one[key], two[key]) for key in one if two.get(key, one[key]) != one[key]), ("", "")
    )


def _check_items(first: _Labelled, second: _Labelled) -> None:
    one, two = map(dict, contents_of(first[1].run, second[1].run))
    differing = [key for key in {**one, **two} if one.get(key) != two.get(key)]
    if differing:
        raise UsageError(
            n_(
                "the items of {} and {} differ ({n:,} item, for example {}). Run both labels "
                "with the same dataset and the same selection of items",
                "the items of {} and {} differ ({n:,} items, for example {}). Run both labels "
                "with the same dataset and the same selection of items",
                len(differing),
                first[0],
                second[0],
                shortened(differing[0][2])
            )
        )  # fmt: skip


def _check_answered(first: _Labelled, second: _Labelled, protocol: Protocol) -> None:
    one, two = (
        {
            (score.task, score.query, score.item, score.round)
            for score in side.scores
            if score.protocol == protocol
        }
        for _, side in (first, second)
    )
    if one != two:
        fewer = first[0] if len(one) < len(two) else second[0]
        lacking = sorted(one ^ two)
        raise UsageError(
            n_(
                "{} has no scores of {n:,} item that another label has, for example {}. Resume "
                "its run with keju run, and score it again",
                "{} has no scores of {n:,} items that another label has, for example {}. Resume "
                "its run with keju run, and score it again",
                len(lacking),
                fewer,
                shortened(lacking[0][2])
            )
        )  # fmt: skip
