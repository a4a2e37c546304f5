"""Metrics for texts in memory: the objects of `keju.metrics`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from keju.api.inputs import text_of, texts_of
from keju.errors import number_of
from keju.items import AnswerForm, Protocol, Record
from keju.metrics import UndefinedMetricError
from keju.scoring import PROTOCOLS, Metric, metric_signature, metrics
from keju.scoring.aggregate import columns_of, pooled_value
from keju.scoring.scoring_sample import ScoringSample
from keju.texts import _

_FORMS: tuple[AnswerForm, ...] = (
    "transcription", "text", "punctuated", "short", "entities", "letter",
)  # fmt: skip
"""Answer forms whose reference and answer are texts; a metric of several forms uses the first."""


_LIST = "a list of str, or use sentence_score for one text"


class MetricScore(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The value of a metric, as a fraction, with its signature and the number of texts."""

    value: float
    signature: str
    items: int

    def __float__(self) -> float:
        return self.value


class TextMetric:
    """A metric for texts in memory, computed as in scoring.

    The hypothesis is the whole answer: nothing is extracted from it (use `keju.extract` for that).
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def __repr__(self) -> str:
        return f"<keju.metrics: {self.signature}>"

    @property
    def name(self) -> str:
        """The name in tables."""
        return self._metric.name

    @property
    def rule(self) -> str:
        """A sentence on what the metric counts."""
        return self._metric.rule

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self._metric.higher_is_better

    @property
    def signature(self) -> str:
        """Metric, protocol, preparation of the texts and version of keju."""
        return metric_signature(self._metric)

    def sentence_score(self, hypothesis: str, reference: str) -> MetricScore:
        """The value of one hypothesis.

        Raises:
            TypeError: one of the two is not a text.
            ValueError: the metric has no value for these texts, e.g. for an empty reference.
        """
        return self._score([text_of("hypothesis", hypothesis)], [text_of("reference", reference)])

    def corpus_score(self, hypotheses: Iterable[str], references: Iterable[str]) -> MetricScore:
        """The value of hypotheses, each with its reference, as scoring computes it for a task.

        That is the mean over the texts, or for a rate the sum of the edits (or hits) divided by the
        sum of the lengths.

        Raises:
            TypeError: one of the two is not a list of texts.
            ValueError: the lists are empty or of unequal length, or a text has no value.
        """
        found = texts_of("hypotheses", hypotheses, _LIST)
        wanted = texts_of("references", references, _LIST)
        if len(found) != len(wanted):
            raise ValueError(
                f"there are {number_of(len(found), 'hypothesis', 'hypotheses')}, but "
                f"{number_of(len(wanted), 'reference')}. Give one reference for each hypothesis"
            )
        if not found:
            raise ValueError("the lists are empty, so there is no value")
        return self._score(found, wanted)

    def _score(self, hypotheses: Sequence[str], references: Sequence[str]) -> MetricScore:
        stats = []
        for place, (said, reference) in enumerate(zip(hypotheses, references, strict=True)):
            if not reference:
                raise UndefinedMetricError(
                    _("reference {} is empty, so it has no {}", place, self.name)
                )
            try:
                sample = ScoringSample.of_texts(self._metric.form, reference, said)
                measured = self._metric.measure(sample)
            except UndefinedMetricError as error:
                raise UndefinedMetricError(
                    _("{} of text {}: {}", self.name, place, error)
                ) from None
            stats.append(measured.stats)
        value = pooled_value(self._metric, columns_of(stats))
        return MetricScore(value=value, signature=self.signature, items=len(stats))


def text_metric(
    name: str,
    *,
    protocol: Protocol | None = None,
    benchmark: str = "",
    form: AnswerForm | None = None,
) -> TextMetric:
    """The metric of that name.

    Args:
        name: as in tables, or with ``_`` for characters that a Python name cannot have.
        protocol: ``strict`` or ``official``; without it, ``strict`` where the metric has it.
        benchmark: whose metric it is, where several benchmarks have one of that name.
        form: the form of answer; without it, the first that has the metric of transcription, text,
            punctuated, short, entities and letter.

    Raises:
        ValueError: there is no such metric, or more than one.
    """
    known = [each for each in _known() if name in (each.name, identifier(each.name))]
    fitting = [
        each
        for each in known
        if (not benchmark or each.benchmark in (benchmark, ""))
        and protocol in (None, each.protocol)
        and form in (None, each.form)
    ]
    ranks = [(each.protocol != "strict", _FORMS.index(each.form)) for each in fitting]
    first = [each for each, rank in zip(fitting, ranks, strict=True) if rank == min(ranks)]
    if len(first) != 1:
        among = "; ".join(map(_described, first or known))
        problem = "more than one metric is" if first else "no metric is"
        raise ValueError(f"{problem} {name} with these arguments. Choose from: {among}")
    return TextMetric(first[0])


def identifier(name: str) -> str:
    """A metric's name as a Python name: ``ROUGE_L``, ``chrFpp``."""
    return re.sub(r"\W", "_", name.replace("+", "p"))


def names() -> list[str]:
    """The names of all metrics of texts, as Python names."""
    return sorted({identifier(each.name) for each in _known()})


def constructor(name: str) -> Callable[..., TextMetric]:
    """The function ``keju.metrics.NAME`` of protocol, benchmark and form.

    Raises:
        AttributeError: no metric has that name.
    """
    if name not in names():
        raise AttributeError(f"module 'keju.metrics' has no attribute {name!r}")
    made = partial(text_metric, name)
    made.__doc__ = "; ".join(_described(each) for each in _known() if identifier(each.name) == name)
    return made


def _known() -> list[Metric]:
    return [
        each
        for each in metrics()
        if each.form in _FORMS and each.protocol in PROTOCOLS and not each.encoder
    ]


def _described(metric: Metric) -> str:
    place = f", benchmark={metric.benchmark!r}" if metric.benchmark else ""
    return f"protocol={metric.protocol!r}, form={metric.form!r}{place}"
