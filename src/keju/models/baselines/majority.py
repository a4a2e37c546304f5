"""``baseline:majority``: the most frequent answer of the reference split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from keju.files import sha256_bytes
from keju.items import Item, Request
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline
from keju.texts import _

_FORMS = frozenset({"letter", "yes-no", "number", "short", "probability"})


class _Place(NamedTuple):
    benchmark: str
    task: str
    query: str


class _Pairs(NamedTuple):
    right: int = 0
    all: int = 0


class Majority(Baseline):
    """The most frequent answer of the same task and query in the dataset's reference split.

    Of equally frequent answers, the first in the dataset is given; letters that are not among the
    options are skipped. For pairs of images it answers what most pairs of the reference are
    (yes-no), or the share that belongs together (probability). Running text, boxes and lists have
    no majority and are not supported.
    """

    def __init__(self, options: ModelOptions) -> None:
        answers: dict[_Place, Counter[str]] = {}
        pairs: dict[_Place, _Pairs] = {}
        for item in options.reference:
            place = _Place(item.benchmark, item.task, item.query)
            if item.relevant:
                right, all_ = pairs.get(place, _Pairs())
                pairs[place] = _Pairs(right + len(item.relevant), all_ + _candidates(item))
            elif item.answer:
                answers.setdefault(place, Counter())[item.answer] += 1
        # Counter.most_common keeps the order of first occurrence among equals.
        self._answers = {place: count.most_common() for place, count in answers.items()}
        self._pairs = pairs
        learnt = msgspec.json.encode([sorted(self._answers.items()), sorted(pairs.items())])
        super().__init__("majority", reference=sha256_bytes(learnt))

    def unsupported_reason(self, request: Request) -> str:
        """A task without a reference split has no known majority."""
        if request.form not in _FORMS:
            return _("answers of this form have no majority")
        return (
            "" if self._answer(request) else _("the dataset has no reference split for this task")
        )

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The most frequent answer."""
        del images
        return Answer(text=self._answer(request))

    def _answer(self, request: Request) -> str:
        place = _Place(request.benchmark, request.task, request.query)
        if request.candidate:
            right, all_ = self._pairs.get(place, _Pairs())
            if not all_:
                return ""
            if request.form == "probability":
                return f"{right / all_:.6f}"
            return "Yes" if 2 * right > all_ else "No"
        common = (answer for answer, _ in self._answers.get(place, []))
        if request.form == "letter" and request.choices:
            common = (answer for answer in common if answer in request.choices)
        return next(common, "")


def _candidates(item: Item) -> int:
    return len(item.images) - 1
