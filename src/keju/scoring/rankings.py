"""Tasks of pairs: the responses to all pairs of an item make one ranking of its candidates.

A request shows two images, and a metric measures how early the right candidates come. Responses
are read one after the other and only their answers are kept, so a hundred thousand of them take
little memory.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import cached_property
from itertools import groupby

from msgspec.structs import replace

from keju.definitions.pair_forms import reduced_form
from keju.extraction import Reading
from keju.items import Protocol, ReadBy, Status, variant_of
from keju.metrics import UndefinedMetricError
from keju.metrics.ranking import Ranking, rank
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.verdicts import Verdict
from keju.texts import _

_SHOWN = 10
_YES_NO = {"Yes": 1.0, "No": 0.0}


class Gallery(ScoringSample):
    """The answers of one model on each candidate of one item, as one sample.

    A candidate's value is the stated probability, or 1 for yes and 0 for no; None if no answer
    could be extracted. `official` takes the first word for yes or no, and of probabilities what the
    rules read; `strict` also what people or a model decided.

    Its response is that to the first pair, without text; `status` is ``answered`` if any pair was
    answered, else the most frequent status.
    """

    def __init__(self, sample: ScoringSample) -> None:
        super().__init__(
            sample.item,
            sample.response,
            decisions=sample.decisions,
            signature_part=sample.signature_part,
        )
        form = reduced_form(sample.item)
        self.pairs_part = f"|pairs:{form}" if form else ""
        self._values: dict[Protocol, dict[int, float | None]] = {"official": {}, "strict": {}}
        self._unclear: set[int] = set()
        self._readers: set[ReadBy] = set()
        self._statuses: Counter[Status] = Counter()
        self._verdicts: Counter[Verdict] = Counter()
        self.add(sample)

    @property
    def candidates(self) -> int:
        """How many candidates the item has."""
        return len(self.item.images) - 1

    @property
    def relevant(self) -> list[int]:
        """The right candidates, numbered from 0."""
        return [place - 1 for place in self.item.relevant]

    def add(self, sample: ScoringSample) -> None:
        """Add the answer to one pair."""
        response = sample.response
        if sample.form == "yes-no":
            strict = _YES_NO.get(sample.answer or "")
            official = _YES_NO.get(sample.first_yes_no or "")
        else:
            by_rules = sample.rule_reading
            strict = None if sample.answer is None else float(sample.answer)
            official = float(by_rules.value) if by_rules.state == "read" else None
        self._values["strict"][response.candidate] = strict
        self._values["official"][response.candidate] = official
        self._readers.add(sample.read_by)
        if sample.read_by == "unclear":
            self._unclear.add(response.candidate)
        self._statuses[response.status] += 1
        self._verdicts[sample.verdict] += 1
        first = min(self.response, response, key=lambda each: each.candidate)
        status = "answered" if self._statuses["answered"] else self._statuses.most_common(1)[0][0]
        self.response = replace(first, status=status, text="", thinking="", not_text="")

    def values(self, protocol: Protocol) -> list[float | None]:
        """One value for each candidate, in their order.

        Raises:
            UndefinedMetricError: a candidate has no response yet, or the item is at fault.
        """
        value_of_candidate = self._values[protocol]
        lacking = self.candidates - len(value_of_candidate)
        if lacking:
            raise UndefinedMetricError(
                _("{:,} of {:,} candidates have no response yet", lacking, self.candidates)
            )
        if any(not 1 <= place <= self.candidates for place in self.item.relevant):
            raise UndefinedMetricError(_("a relevant candidate is not among the item's images"))
        return [value_of_candidate[place] for place in range(1, self.candidates + 1)]

    def ranking(self, protocol: Protocol) -> Ranking:
        """The candidates by value, ties kept for the expectation over their orders.

        Raises:
            UndefinedMetricError: see `values`.
        """
        return rank(self.values(protocol), self.relevant)

    @property
    def read_by(self) -> ReadBy:
        """``unclear`` if any pair is; ``none`` if no pair has an answer; else who read one."""
        order: tuple[ReadBy, ...] = ("unclear", "person", "model", "reader", "none")
        return next(reader for reader in order if reader in self._readers)

    def if_right(self) -> Gallery:
        """The same answers, with the highest value for each right candidate that is unclear.

        Unclear pairs with other candidates rank last in both.
        """
        gallery = copy(self)
        raised = dict.fromkeys(self._unclear & set(self.item.relevant), 1.0)
        strict = self._values["strict"] | raised
        gallery._values = {"official": self._values["official"], "strict": strict}
        return gallery

    @cached_property
    def reading(self) -> Reading:
        """The first candidates of the ranking with their values; equal ones are joined by =.

        Nothing while a candidate has no response.
        """
        values = self._values["strict"]
        if len(values) < self.candidates:
            return Reading("none")
        ranks = {place: -1.0 if value is None else value for place, value in values.items()}
        order = sorted(values, key=lambda place: (-ranks[place], place))[:_SHOWN]
        tied = []
        for value, places in groupby(order, key=values.get):
            shown = "–" if value is None else f"{value:g}"
            tied.append(" = ".join(f"{place} ({shown})" for place in places))
        text = " > ".join(tied) + (" …" if len(values) > _SHOWN else "")
        return Reading("read", text, f"answers to {self.candidates:,} pairs")

    @property
    def verdict(self) -> Verdict:
        """``ok`` if any pair has an extracted answer, else the most frequent verdict."""
        sound: tuple[Verdict, ...] = ("ok", "truncated")
        return next(
            (each for each in sound if self._verdicts[each]), self._verdicts.most_common(1)[0][0]
        )

    @property
    def stats(self) -> dict[str, float]:
        """The number of pairs, and of those that rank last because they have no answer."""
        failed = self._statuses["failed"] + self._statuses["filtered"]
        silent = sum(value is None for value in self._values["strict"].values())
        return {"pairs": self.candidates, "failed": failed, "unparsable": silent - failed}


def add_to_gallery(galleries: dict[tuple[object, ...], Gallery], sample: ScoringSample) -> None:
    """Add the answer to one pair to the gallery of its model, item, prompt variant and round."""
    item, response = sample.item, sample.response
    key = (
        response.model, item.task, item.query, item.id, variant_of(response), response.round,
    )  # fmt: skip
    if key in galleries:
        galleries[key].add(sample)
    else:
        galleries[key] = Gallery(sample)
