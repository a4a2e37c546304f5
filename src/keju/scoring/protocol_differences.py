"""Differences between the two protocols on a model's responses, by task and item, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from keju.definitions import Query, Task, task
from keju.extraction.rules import explain_origin
from keju.items import AnswerForm, Protocol, Record, Score, better_end
from keju.scoring.aggregate import aggregate
from keju.scoring.lookup import list_steps, lower_is_better
from keju.scoring.results import MetricResult, TaskResult
from keju.texts import _, join_clauses

PROTOCOLS: tuple[Protocol, Protocol] = ("official", "strict")

LEAST_DIFFERENCE = 0.005
"""Half a point: items with a smaller difference count as equal."""

_Where = tuple[str, str]


class ProtocolDifference(Record, frozen=True, kw_only=True):
    """A step that the two protocols do differently."""

    step: str
    official: str
    strict: str


class ItemDifference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One item's two values on one scale, errors as 1 - error, and why they differ.

    The fields of a range are those of `TaskDifference`.
    """

    id: str
    round: int
    official: float
    strict: float
    strict_if_right: float
    difference_least: float
    difference_most: float
    why: str

    @property
    def certain_difference(self) -> float:
        """The size of the difference, whatever an unclear answer is."""
        return smallest_size(self.difference_least, self.difference_most)

    @property
    def possible_difference(self) -> float:
        """The largest size that the difference can have."""
        return max(abs(self.difference_least), abs(self.difference_most))


class TaskDifference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One task's two values, where a model's responses have both.

    The metrics are each protocol's main one, or where that has no value (no weights) the first
    that has. `official` and `strict` are the task's values as reported, `strict_if_right` is
    `strict` if every unclear answer were right (`strict` itself where none is unclear). The
    difference is strict - official on one scale, where errors are 1 - min(1, error): from
    `difference_least` to `difference_most`. `apart` counts the items whose values differ by half a
    point or more whatever their unclear answers are, `apart_most` those whose values may;
    `largest` has those whose values differ with unclear answers as wrong, the largest certain
    differences first. `steps` are the steps from a response to a number in which the two metrics
    differ.
    """

    model: str
    task: str
    query: str
    official_metric: str
    official: float
    strict_metric: str
    strict: float
    strict_if_right: float
    difference_least: float
    difference_most: float
    items: int
    apart: int
    apart_most: int
    steps: tuple[ProtocolDifference, ...]
    largest: tuple[ItemDifference, ...]

    @property
    def name(self) -> str:
        """The task's id, with its query where it has several."""
        return f"{self.task}/{self.query}" if self.query else self.task

    @property
    def certain_difference(self) -> float:
        """The size of the difference, whatever the unclear answers are."""
        return smallest_size(self.difference_least, self.difference_most)


class _Both(NamedTuple):
    """One response's scores under both protocols, by metric."""

    official: dict[str, Score]
    strict: dict[str, Score]


def list_task_differences(scores: Iterable[Score], *, most: int = 3) -> list[TaskDifference]:
    """The difference of the protocols in each task of one model's scores, with its items.

    Args:
        scores: one model's, in one setting, under both protocols.
        most: how many items of each task are named.
    """
    kept = list(scores)
    found: dict[Protocol, dict[_Where, TaskResult]] = {"official": {}, "strict": {}}
    for result in aggregate(kept):
        found[result.protocol] |= {(each.task, each.query): each for each in result.tasks}
    by_task: dict[_Where, list[Score]] = {}
    for score in kept:
        by_task.setdefault((score.task, score.query), []).append(score)
    return [
        _difference(official, by_task[where], mains, most)
        for where, official in found["official"].items()
        if where in found["strict"]
        and (mains := _mains(official, found["strict"][where])) is not None
    ]


def differing_steps(
    declared: Task, query: Query, metrics: tuple[str, str]
) -> Iterator[ProtocolDifference]:
    """The steps in which an `official` and a `strict` metric of a query differ.

    Raises:
        KeyError: a metric of these has no rule.
    """
    both = (
        list_steps(protocol, declared, query, metric)
        for protocol, metric in zip(PROTOCOLS, metrics, strict=True)
    )
    for official, strict in zip(*both, strict=True):
        if official.what != strict.what:
            yield ProtocolDifference(step=official.name, official=official.what, strict=strict.what)


def to_higher_is_better(protocol: Protocol, where: _Where, metric: str, value: float) -> float:
    """A value on the scale where higher is better: of an error, 1 - error, at least 0."""
    declared, query = _declared(where)
    error = lower_is_better(protocol, declared, query, metric)
    return 1 - min(1.0, value) if error else value


def smallest_size(least: float, most: float) -> float:
    """The smallest absolute value of the numbers from `least` to `most`."""
    return 0.0 if least <= 0 <= most else min(abs(least), abs(most))


def _mains(official: TaskResult, strict: TaskResult) -> tuple[MetricResult, MetricResult] | None:
    """Each protocol's first metric that has a value; None where one has none."""
    first = [
        next((each for each in result.metrics if each.value is not None), None)
        for result in (official, strict)
    ]
    return (first[0], first[1]) if first[0] and first[1] else None


def _difference(
    result: TaskResult,
    scores: Sequence[Score],
    mains: tuple[MetricResult, MetricResult],
    count: int,
) -> TaskDifference:
    where = (result.task, result.query)
    items = sorted(
        _items(where, scores, mains),
        key=lambda each: (-each.certain_difference, -abs(each.difference_least)),
    )
    official, strict = (main.value or 0.0 for main in mains)
    strict_if_right = mains[1].better_end or 0.0
    metrics = (mains[0].metric, mains[1].metric)
    of_official = to_higher_is_better("official", where, metrics[0], official)
    least, most = (
        to_higher_is_better("strict", where, metrics[1], end) - of_official
        for end in (strict, strict_if_right)
    )
    return TaskDifference(
        model=scores[0].model,
        task=result.task,
        query=result.query,
        official_metric=metrics[0],
        official=official,
        strict_metric=metrics[1],
        strict=strict,
        strict_if_right=strict_if_right,
        difference_least=least,
        difference_most=most,
        items=len(items),
        apart=sum(each.certain_difference >= LEAST_DIFFERENCE for each in items),
        apart_most=sum(each.possible_difference >= LEAST_DIFFERENCE for each in items),
        steps=tuple(differing_steps(*_declared(where), metrics)),
        largest=tuple(
            each for each in items[:count] if abs(each.difference_least) >= LEAST_DIFFERENCE
        ),
    )


def _items(
    where: _Where, scores: Iterable[Score], mains: tuple[MetricResult, MetricResult]
) -> Iterator[ItemDifference]:
    answers: dict[tuple[str, int], _Both] = {}
    for score in scores:
        both = answers.setdefault((score.item, score.round), _Both({}, {}))
        named = both.official if score.protocol == "official" else both.strict
        named[score.metric] = score
    form = _declared(where)[1].form
    for (item, number), both in answers.items():
        pair = both.official.get(mains[0].metric), both.strict.get(mains[1].metric)
        if pair[0] is None or pair[1] is None or pair[0].value is None or pair[1].value is None:
            continue
        left = to_higher_is_better("official", where, mains[0].metric, pair[0].value)
        right, if_right = (
            to_higher_is_better("strict", where, mains[1].metric, end)
            for end in (pair[1].value, better_end(pair[1]).value or 0.0)
        )
        yield ItemDifference(
            id=item,
            round=number,
            official=left,
            strict=right,
            strict_if_right=if_right,
            difference_least=right - left,
            difference_most=if_right - left,
            why=join_clauses(_why(form, both, pair[1])),
        )


def _declared(where: _Where) -> tuple[Task, Query]:
    declared = task(where[0])
    return declared, next(each for each in declared.queries if each.name == where[1])


def _why(form: AnswerForm, both: _Both, strict: Score) -> Iterator[str]:
    """The reasons for the difference that the stored scores show, in short clauses."""
    if strict.verdict != "ok":
        yield strict.verdict
    yield from _WHY.get(form, _of_text)(both, strict)


def _of_choice(both: _Both, strict: Score) -> Iterator[str]:
    official = next(iter(both.official.values()))
    if official.value:
        yield _("official finds the answer inside the response")
    else:
        yield _("official does not find the answer as it is written")
    yield _describe_extraction(strict)


def _of_extraction(_both: _Both, strict: Score) -> Iterator[str]:
    yield _describe_extraction(strict)


def _describe_extraction(strict: Score) -> str:
    rule = explain_origin(strict.extracted_from)
    if not strict.extracted:
        return _("strict takes no answer ({})", rule)
    return _("strict takes “{}” ({})", strict.extracted[:40], rule)


def _of_transcription(both: _Both, strict: Score) -> Iterator[str]:
    if not strict.extracted_from.startswith(("all", "paragraph")):
        yield _("strict reads {}", explain_origin(strict.extracted_from))
    plain = both.official.get("CR") or both.official.get("CER")
    error = both.strict.get("CER")
    if plain is None or error is None or not error.stats:
        return
    stats, layered = plain.stats, error.stats
    if extra := stats.get("insertions"):
        yield _("{:,.0f} characters too many, which cost official CR nothing", extra)
    if "edits" in stats and any(
        stats[name] != layered[f"{name}_exact"] for name in ("edits", "length")
    ):
        yield _(
            "official counts white space and punctuation: {:,.0f} edits of {:,.0f} characters, "
            "without them {:,.0f} of {:,.0f}",
            stats["edits"],
            stats["length"],
            layered["edits_exact"],
            layered["length_exact"],
        )
    same = layered["edits_exact"] - layered["edits_script"]
    if same > 0:
        yield _(
            "{:,.0f} of {:,.0f} edits are variants or other script", same, layered["edits_exact"]
        )
    yield _(
        "strict counts {:,.0f} edits of {:,.0f}",
        layered["edits_script"],
        layered["length_script"],
    )


def _of_names(both: _Both, strict: Score) -> Iterator[str]:
    hits, predicted, expected = (
        strict.stats.get(name, 0.0) for name in ("hits", "predicted", "expected")
    )
    yield _(
        "strict matches {:,.0f} of {:,.0f} given to {:,.0f} true ones", hits, predicted, expected
    )
    recall = both.official.get("Recall")
    if recall is not None and recall.value is not None and recall.value > 1:
        yield _("official counts repeats: recall {:,.0f}", 100 * recall.value)


def _of_text(both: _Both, strict: Score) -> Iterator[str]:
    if strict.extracted_from and not strict.extracted_from.startswith("all"):
        yield _("strict reads the text {}", explain_origin(strict.extracted_from))
    left = next((each.metric for each in both.official.values() if each.value is not None), "")
    yield _("{} and {} measure different things", left, strict.metric)


_WHY: dict[AnswerForm, Callable[[_Both, Score], Iterator[str]]] = {
    "letter": _of_choice,
    "short": _of_choice,
    "yes-no": _of_choice,
    "number": _of_extraction,
    "boxes": _of_extraction,
    "probability": _of_extraction,
    "transcription": _of_transcription,
    "punctuated": _of_names,
    "entities": _of_names,
    "text": _of_text,
}
