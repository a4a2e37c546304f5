"""The metrics that need an encoder, computed for many cases at once: encoding is what costs.

Scoring hands each case over (`Batch.add`) and takes all values back at the end (`Batch.values`),
so that every unique text is encoded once, whichever models share it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from keju.benchmarks import has_reference, official_source
from keju.encoders import ENCODERS, Encoders, Pair
from keju.items import AnswerForm, Item, Protocol, Response
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.metrics.semantic import above_floor, rescale
from keju.scoring import official
from keju.scoring.case import Case
from keju.scoring.measured import Measured, mean
from keju.text import said_once

Measure = Callable[[Encoders, str, Sequence[Pair], Iterable[str]], list[float]]
"""Of pairs, with all references of the task, which set the floor."""

LONGEST = 200_000
"""Responses of more characters are not encoded: no answer is so long, and each takes minutes."""


class SemanticBinding(NamedTuple):
    """A metric of an encoder: which one, on which texts, read how.

    `pair` gives candidate and reference; `beside` is the metric that `official` averages with it.
    """

    encoder: str
    pair: Callable[[Case], Pair]
    measure: Measure
    text: str
    beside: Callable[[Case], Measured] | None = None


class Wanted(NamedTuple):
    """A value that is wanted, and where in the list of scores it belongs."""

    place: int
    pair: Pair
    beside: float | None
    failed: bool


_Group = tuple[Protocol, str, str, str, AnswerForm, str]
"""Protocol, benchmark, task, query, form and metric: floors are by task."""


class Batch:
    """The values that a whole scoring wants of encoders.

    Args:
        encoders: those that are there; the others' metrics stay unscored, with the reason.
        items: further items whose true answers set the floors.
    """

    def __init__(self, encoders: Encoders, items: Sequence[Item] = ()) -> None:
        self._encoders = encoders
        self._items = items
        self._wanted: dict[_Group, list[Wanted]] = defaultdict(list)
        self._signatures: dict[str, str] = {}

    def add(
        self, place: int, case: Case, protocol: Protocol, metric: str, binding: SemanticBinding
    ) -> None:
        """Note that the score at `place` is that metric of a case.

        Raises:
            UndefinedMetricError: it has no value, or its encoder is missing; the reason is in it.
        """
        if reason := self._encoders.missing(binding.encoder):
            raise UndefinedMetricError(reason)
        pair = binding.pair(case)
        if len(pair[0]) > LONGEST:
            raise TooLongError(f"too long to encode: {len(pair[0]):,} characters")
        beside = binding.beside(case).value if binding.beside else None
        failed = case.response.status in {"failed", "filtered"}
        item = case.item
        group = (protocol, item.benchmark, item.task, item.query, case.form, metric)
        self._wanted[group].append(Wanted(place, pair, beside, failed))

    def values(self) -> Iterator[tuple[int, Measured | str]]:
        """Each place with its value, or with the reason why there is none."""
        for (protocol, benchmark, task, query, form, metric), wanted in self._wanted.items():
            binding = semantic_binding(protocol, benchmark, form, metric)
            if binding is None:
                raise AssertionError(metric)
            pairs = [each.pair for each in wanted]
            answered = (reference for _, reference in pairs)
            references = chain(answered, self._references(task, query, binding))
            try:
                found = binding.measure(self._encoders, binding.encoder, pairs, references)
            except UndefinedMetricError as error:
                yield from ((each.place, str(error)) for each in wanted)
                continue
            for each, value in zip(wanted, found, strict=True):
                joined = value if each.beside is None else (value + each.beside) / 2
                yield each.place, mean(0.0 if each.failed else joined)

    def _references(self, task: str, query: str, binding: SemanticBinding) -> Iterator[str]:
        """The true answers of all further items of a task, prepared as the metric has them."""
        for item in self._items:
            if (item.task, item.query) == (task, query) and has_reference(item):
                with suppress(UndefinedMetricError):
                    yield binding.pair(Case(item, _no_response(item)))[1]

    def signature(self, binding: SemanticBinding) -> str:
        """The encoder's part of a number's signature."""
        name = binding.encoder
        if name not in self._signatures:
            self._signatures[name] = self._encoders.signature(name)
        return self._signatures[name]


def _no_response(item: Item) -> Response:
    return Response(
        key="", item=item.id, model="", benchmark=item.benchmark, task=item.task, status="empty"
    )


def _first_token(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    return encoders.first_token_cosine(pairs, name=name)


def _matched(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    return [score.f1 for score in encoders.bert_score(name, pairs)]


def _rescaled(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    baseline = ENCODERS[name].baseline
    if baseline is None:
        raise UndefinedMetricError(f"no published baseline to rescale {name} by")
    return [rescale(score, baseline).f1 for score in encoders.bert_score(name, pairs)]


def _matched_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    floor = _known(encoders.bert_score_floor(name, list(references)))
    values = [above_floor(score.f1, floor) for score in encoders.bert_score(name, pairs)]
    return _repeats_unpaid(values, pairs)


def _sentence(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    return encoders.sentence_cosine(pairs, name=name)


def _sentence_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    floor = _known(encoders.sentence_floor(list(references), name=name))
    values = encoders.sentence_cosine(pairs, empty=0.0, name=name)
    return _repeats_unpaid([above_floor(value, floor) for value in values], pairs)


def _repeats_unpaid(values: Sequence[float], pairs: Sequence[Pair]) -> list[float]:
    """Cut each value by what the candidate says again and its reference does not.

    An encoder hardly sees that a text is said three times over: each repeat finds its match again.
    """
    return [
        value * min(1.0, said_once(candidate) / said_once(reference))
        for value, (candidate, reference) in zip(values, pairs, strict=True)
    ]


def _known(floor: float | None) -> float:
    if floor is None:
        raise UndefinedMetricError(
            "the floor needs two items of this task with different answers to set it by"
        )
    return floor


def _converted(case: Case) -> Pair:
    return case.official_text, case.official_truth


def _raw(case: Case) -> Pair:
    return case.text, case.truth


def _answer(case: Case) -> Pair:
    return case.taken.answer or "", case.truth


def _normalised(case: Case) -> Pair:
    reference, hypothesis = case.strict_texts
    return hypothesis, reference


_MCS, _ANCIENT, _OBI = "MCS-Bench", "AncientDoc", "OBI-Bench"
_WWM, _BERT, _ROBERTA, _MINILM = "chinese-bert-wwm", "bert-base-chinese", "roberta-large", "minilm"

_BINDINGS: dict[tuple[Protocol, str, str], SemanticBinding] = {
    ("official", _MCS, "BERTScore"): SemanticBinding(_WWM, _converted, _first_token, "convert"),
    ("official", _MCS, "Avg"): SemanticBinding(
        _WWM, _converted, _first_token, "convert", official.anls
    ),
    ("official", _ANCIENT, "BS-F1"): SemanticBinding(_BERT, _raw, _matched, "raw"),
    ("official", _OBI, "cosine"): SemanticBinding(_MINILM, _raw, _sentence, "raw"),
    ("official", _OBI, "BERTScore"): SemanticBinding(_ROBERTA, _raw, _rescaled, "raw"),
    ("strict", "", "BERTScore_floor"): SemanticBinding(
        _BERT, _normalised, _matched_above_floor, "script>once"
    ),
    ("strict", _OBI, "BERTScore_floor"): SemanticBinding(
        _ROBERTA, _answer, _matched_above_floor, "answer>once"
    ),
    ("strict", "", "cosine_floor"): SemanticBinding(
        _MINILM, _answer, _sentence_above_floor, "answer>once"
    ),
}


def semantic_binding(
    protocol: Protocol, benchmark: str, form: AnswerForm, metric: str
) -> SemanticBinding | None:
    """The binding of a metric that needs an encoder, or None where it needs none."""
    if form != "text":
        return None
    own = _BINDINGS.get((protocol, official_source(benchmark), metric))
    return own or _BINDINGS.get((protocol, "", metric))
