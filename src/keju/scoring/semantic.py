"""The metrics that need an encoder, computed for many cases at once: encoding is what costs.

Scoring hands each case over (`Batch.add`) and takes all values back at the end (`Batch.values`),
so that every unique text is encoded once, whichever models share it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from keju.definitions import has_reference
from keju.encoders import ENCODERS, Encoders, Pair
from keju.errors import english_problem
from keju.items import Item, Response
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.metrics.semantic import above_floor, rescale
from keju.scoring.lookup import metric_of
from keju.scoring.metric import Metric, MetricValue, Stats, mean
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.signatures import metric_signature
from keju.text import unrepeated_share
from keju.texts import _

LONGEST = 200_000
"""Responses of more characters are not encoded: no answer is so long, and each takes minutes."""


class EncoderRequest(NamedTuple):
    """A value that is wanted, and where in the list of scores it belongs."""

    place: int
    pair: Pair
    beside: float | None
    failed: bool
    unclear: bool


class _Group(NamedTuple):
    """A metric of one task's query: floors are by task."""

    metric: Metric
    task: str
    query: str


class Batch:
    """The values that a whole scoring wants of encoders.

    Args:
        encoders: those that are there; the others' metrics stay unscored, with the reason.
        items: further items whose true answers set the floors; they are iterated for each metric.

    Attributes:
        last: the place of the score that was added last; -1 before the first.
    """

    def __init__(self, encoders: Encoders, items: Iterable[Item] = ()) -> None:
        self.last = -1
        self._encoders = encoders
        self._items = items
        self._wanted: dict[_Group, list[EncoderRequest]] = defaultdict(list)
        self._signatures: dict[str, str] = {}

    def add(
        self, place: int, sample: ScoringSample, metric: Metric, *, unclear: bool = False
    ) -> None:
        """Note that the score at `place` is that metric of a case.

        Of an `unclear` answer the value of the reference in its place is computed, too.

        Raises:
            UndefinedMetricError: it has no value, or its encoder is missing; the reason is in it.
        """
        if reason := self._encoders.unavailable_reason(metric.encoder):
            raise UndefinedMetricError(reason)
        candidate, reference = metric.prepare.inputs(sample)
        if len(candidate) > LONGEST:
            raise TooLongError(_("too long to encode: {:,} characters", len(candidate)))
        second_value = None
        if metric.beside:
            second_metric = metric_of(metric.protocol, metric.benchmark, metric.form, metric.beside)
            second_value = second_metric.measure(sample).value if second_metric else None
        failed = sample.response.status in {"failed", "filtered"}
        group = _Group(metric, sample.item.task, sample.item.query)
        request = EncoderRequest(place, (candidate, reference), second_value, failed, unclear)
        self._wanted[group].append(request)
        self.last = place

    def values(self) -> Iterator[tuple[int, MetricValue | str, Stats]]:
        """Each place with its value, or the reason why it has none, and the statistics if right.

        The last are empty where the answer is not unclear.
        """
        for group, wanted in self._wanted.items():
            metric = group.metric
            pairs = [each.pair for each in wanted]
            answered = (reference for _, reference in pairs)
            references = chain(answered, self._references(group))
            references_twice = [(each.pair[1],) * 2 for each in wanted if each.unclear]
            try:
                values = metric.values(self._encoders, [*pairs, *references_twice], references)
            except UndefinedMetricError as error:
                yield from ((each.place, english_problem(error), {}) for each in wanted)
                continue
            values_if_right = iter(values[len(pairs) :])
            for each, value in zip(wanted, values[: len(pairs)], strict=True):
                value_if_right = next(values_if_right) if each.unclear else None
                if isinstance(value, str):
                    yield each.place, value, {}
                    continue
                joined = value if each.beside is None else (value + each.beside) / 2
                if_right = mean(value_if_right).stats if isinstance(value_if_right, float) else {}
                yield each.place, mean(metric.worst if each.failed else joined), if_right

    def _references(self, group: _Group) -> Iterator[str]:
        """The true answers of all further items of a task, prepared as the metric has them."""
        for item in self._items:
            if (item.task, item.query) == (group.task, group.query) and has_reference(item):
                with suppress(UndefinedMetricError):
                    yield group.metric.prepare.inputs(ScoringSample(item, _no_response(item)))[1]

    def signature(self, metric: Metric) -> str:
        """The signature of a metric's values, with its encoder's."""
        name = metric.encoder
        if name not in self._signatures:
            self._signatures[name] = self._encoders.signature(name)
        return metric_signature(metric, self._signatures[name])


def _no_response(item: Item) -> Response:
    return Response(
        key="", item=item.id, model="", benchmark=item.benchmark, task=item.task, status="empty"
    )


def first_token_cosine(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """The cosine of mean first-token vectors."""
    return encoders.first_token_cosine(pairs, name=name)


def token_match_f1(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """F1 by token matching."""
    return [score.f1 for score in encoders.bert_score(name, pairs)]


def token_match_f1_rescaled(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """F1 by token matching, rescaled by the published baseline."""
    baseline = ENCODERS[name].baseline
    if baseline is None:
        raise UndefinedMetricError(_("{} has no published baseline for rescaling", name))
    return [rescale(score, baseline).f1 for score in encoders.bert_score(name, pairs)]


def token_match_f1_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    """F1 by token matching, rescaled by the task's floor."""
    values = [score.f1 for score in encoders.bert_score(name, pairs)]
    return _above_floor(values, encoders.bert_score_floor(name, list(references)), pairs)


def sentence_cosine(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """The cosine of sentence vectors."""
    return encoders.sentence_cosine(pairs, name=name)


def sentence_cosine_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    """The cosine of sentence vectors, rescaled by the task's floor."""
    values = encoders.sentence_cosine(pairs, empty=0.0, name=name)
    return _above_floor(values, encoders.sentence_floor(list(references), name=name), pairs)


def _above_floor(
    values: Sequence[float], floor: float | None, pairs: Sequence[Pair]
) -> list[float]:
    """Values above a floor, each cut by what the candidate repeats and its reference does not.

    An encoder hardly sees that a text is said three times over: each repeat finds its match again.
    """
    if floor is None:
        raise UndefinedMetricError(
            _("the floor needs two items of this task with different references")
        )
    return [
        above_floor(value, floor)
        * min(1.0, unrepeated_share(candidate) / unrepeated_share(reference))
        for value, (candidate, reference) in zip(values, pairs, strict=True)
    ]
