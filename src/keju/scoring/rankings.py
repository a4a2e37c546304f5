"""Tasks of pairs: the responses to all pairs of an item make one ranking of its candidates.

A request shows two images, and a metric measures how early the right candidates come. Responses
are read one after the other and only what they say is kept, so a hundred thousand of them take
little memory.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from keju.definitions import Query, missing_reference, query_of
from keju.definitions.pair_forms import asked_candidates, reduction_of
from keju.errors import recorded
from keju.items import Item, PromptVariant, Protocol, Score, Status, variant_of
from keju.messages import message
from keju.metrics import UndefinedMetricError
from keju.metrics.ranking import Ranking, rank
from keju.scoring.lookup import metric_names, metric_of, unavailable
from keju.scoring.metric import Metric
from keju.scoring.metric_value import mean
from keju.scoring.numeric_answer import extract_probability
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.signatures import metric_signature, wording_part
from keju.scoring.verdicts import Verdict
from keju.scoring.yes_no import first_yes_no

_SHOWN = 10
_YES_NO = {"Yes": 1.0, "No": 0.0}
_WITHOUT_ANSWER: tuple[Status, ...] = ("failed", "filtered")


class GalleryKey(NamedTuple):
    """Whose answers, to which item, asked how, make one ranking."""

    model: str
    task: str
    query: str
    item: str
    variant: PromptVariant
    round: int


class Gallery:
    """What one model said of each candidate of one item.

    A candidate's value is the probability stated, or 1 for yes and 0 for no; None where the answer
    could not be taken or there is none. `official` takes the first word for yes or no, `strict`
    takes an answer by `extract_yes_no`, and of a probability the corrected one.
    """

    def __init__(self, item: Item) -> None:
        self.item = item
        self.key = ""
        self._first = len(item.images)
        self._values: dict[Protocol, dict[int, float | None]] = {"official": {}, "strict": {}}
        self._statuses: Counter[Status] = Counter()
        self._verdicts: Counter[Verdict] = Counter()

    @property
    def query(self) -> Query:
        """What was asked."""
        return query_of(self.item)

    @property
    def candidates(self) -> int:
        """How many candidates the item has."""
        return len(self.item.images) - 1

    @property
    def asked(self) -> int:
        """How many of them the model was to answer; the others rank below (`PairForm`)."""
        if reduction_of(self.item) == "once":
            return self.candidates
        return asked_candidates(self.item)

    @property
    def relevant(self) -> list[int]:
        """The right candidates, numbered from 0."""
        return [place - 1 for place in self.item.relevant]

    def add(self, sample: ScoringSample) -> None:
        """Take in the answer to one pair."""
        response = sample.response
        if response.candidate <= self._first:
            self._first, self.key = response.candidate, response.key
        taken = sample.extracted.answer
        if sample.form == "yes-no":
            strict = _YES_NO.get(taken or "")
            official = _YES_NO.get(first_yes_no(sample.text).answer or "")
        else:
            first = extract_probability(sample.text).answer
            strict = None if taken is None else float(taken)
            official = None if first is None else float(first)
        self._values["strict"][response.candidate] = strict
        self._values["official"][response.candidate] = official
        self._statuses[response.status] += 1
        self._verdicts[sample.verdict] += 1

    def values(self, protocol: Protocol) -> list[float | None]:
        """One value for each candidate that the model was to answer, in their order.

        Raises:
            UndefinedMetricError: a candidate has no response yet, or the item is at fault.
        """
        said = self._values[protocol]
        lacking = self.asked - len(said)
        if lacking:
            raise UndefinedMetricError(
                message("scoring.candidates-without-response", lacking=lacking, asked=self.asked)
            )
        if any(not 1 <= place <= self.candidates for place in self.item.relevant):
            raise UndefinedMetricError(message("scoring.relevant-not-among-images"))
        return [said[place] for place in range(1, self.asked + 1)]

    def ranking(self, protocol: Protocol) -> Ranking:
        """The candidates by value, ties kept for the expectation over their orders.

        Candidates that a baseline ranked beforehand and that were not asked come last, one after
        the other in its order; asked ones without an answer come before them.

        Raises:
            UndefinedMetricError: see `values`.
        """
        values, rest = self.values(protocol), self.candidates - self.asked
        if not rest:
            return rank(values, self.relevant)
        shown = [-1.0 if value is None else value for value in values]
        return rank([*shown, *(-2.0 - place for place in range(rest))], self.relevant)

    @property
    def status(self) -> Status:
        """``answered`` if any pair was, else what befell the most of them."""
        return "answered" if self._statuses["answered"] else self._statuses.most_common(1)[0][0]

    @property
    def verdict(self) -> Verdict:
        """``ok`` if any pair's answer could be taken, else what is wrong with the most of them."""
        sound: tuple[Verdict, ...] = ("ok", "truncated")
        return next(
            (each for each in sound if self._verdicts[each]), self._verdicts.most_common(1)[0][0]
        )

    @property
    def stats(self) -> dict[str, float]:
        """How many pairs there are, and how many rank last for want of an answer."""
        failed = sum(self._statuses[status] for status in _WITHOUT_ANSWER)
        silent = sum(value is None for value in self._values["strict"].values())
        return {"pairs": self.asked, "failed": failed, "unparsable": silent - failed}

    @property
    def best(self) -> str:
        """The first candidates of the ranking with their values; = stands between equals."""
        values = self._values["strict"]
        order = sorted(values, key=lambda place: (-_or_least(values[place]), place))[:_SHOWN]
        words, before = [], None
        for place in order:
            value = values[place]
            mark = "" if before is None else " = " if value == before[0] else " > "
            words.append(f"{mark}{place}{_stated(value)}")
            before = (value,)
        return "".join(words) + (" …" if len(values) > _SHOWN else "")


def _or_least(value: float | None) -> float:
    return -1.0 if value is None else value


def _stated(value: float | None) -> str:
    return " (–)" if value is None else f" ({value:g})"


class Galleries:
    """Collects the cases of tasks of pairs, and scores them when all have been seen."""

    def __init__(self) -> None:
        self._found: dict[GalleryKey, Gallery] = {}

    def add(self, sample: ScoringSample) -> None:
        """Take in the answer to one pair."""
        item, response = sample.item, sample.response
        key = GalleryKey(
            response.model, item.task, item.query, item.id, variant_of(response), response.round
        )
        if key not in self._found:
            self._found[key] = Gallery(item)
        self._found[key].add(sample)

    def scores(self, protocols: tuple[Protocol, ...]) -> list[Score]:
        """All metrics of every gallery."""
        return [
            _score(key, gallery, protocol, metric)
            for key, gallery in self._found.items()
            for protocol in protocols
            for metric in metric_names(
                gallery.query, protocol, gallery.item.benchmark, of_pairs=True
            )
        ]


def _declared(gallery: Gallery, protocol: Protocol, metric: str) -> Metric:
    """The declaration of a metric of one gallery.

    Raises:
        UndefinedMetricError: the item has no reference, or the metric is not declared.
    """
    if reason := missing_reference(gallery.item):
        raise UndefinedMetricError(reason)
    found = metric_of(protocol, gallery.item.benchmark, gallery.query.form, metric)
    if found is None:
        raise UndefinedMetricError(unavailable(metric))
    return found


def _score(key: GalleryKey, gallery: Gallery, protocol: Protocol, metric: str) -> Score:
    item, measured, reason, signed = gallery.item, None, "", ""
    try:
        declared = _declared(gallery, protocol, metric)
        value = declared.measure(gallery).value
        # Where every request failed all candidates tie, which would earn what chance earns.
        measured = mean(
            declared.worst if gallery.status in _WITHOUT_ANSWER else value, **gallery.stats
        )
        signed = metric_signature(declared)
        if form := reduction_of(item):
            signed += f"|pairs:{form}"
        signed += wording_part(key.variant.wording)
    except UndefinedMetricError as error:
        reason = recorded(error)
    strict = protocol == "strict" and not reason
    return Score(
        key=gallery.key,
        item=item.id,
        model=key.model,
        benchmark=item.benchmark,
        task=item.task,
        protocol=protocol,
        metric=metric,
        value=None if measured is None else measured.value,
        query=item.query,
        setting=key.variant.setting,
        script=key.variant.script,
        wording=key.variant.wording,
        round=key.round,
        group=item.group,
        status=gallery.status,
        verdict=gallery.verdict,
        reason=reason,
        extracted=gallery.best if strict else "",
        extracted_from=f"answers to {gallery.asked:,} pairs" if strict else "",
        stats={} if measured is None else measured.stats,
        signature=signed,
    )
