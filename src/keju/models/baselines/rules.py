"""Baselines that look at no image: `Copy`, `Chance`, `Majority`, and their base class."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import msgspec

from keju.files import sha256_bytes
from keju.items import Item, Request
from keju.models.base import Answer, DatasetAccess, Model, ModelOptions
from keju.texts import _

_YES_NO = ("Yes", "No")
_CLOSED = frozenset({"letter", "yes-no", "probability"})
_COUNTED = frozenset({"letter", "yes-no", "number", "short", "probability"})


class Baseline(Model):
    """A rule with a name, and what its answers depend on besides, such as a seed."""

    def __init__(self, name: str, **identity: str) -> None:
        self.name = f"baseline:{name}"
        self.identity = {"kind": "baseline", "baseline": name, **identity}


class Copy(Baseline):
    """Returns the text that the setting supplied, or else the prompt."""

    def __init__(self, options: ModelOptions) -> None:
        del options
        super().__init__("copy")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The source text or the prompt."""
        del images
        return Answer(text=request.source or request.prompt)


class Chance(Baseline):
    """A uniform random letter of the choices, yes or no, or a probability.

    The same request gets the same answer under the same seed, in any order of requests. Numbers and
    boxes are not supported: they have no uniform distribution, and any other one would be a guess
    about the data (``baseline:components`` uses the image instead).
    """

    def __init__(self, options: ModelOptions) -> None:
        super().__init__("chance", seed=str(options.seed))
        self._seed = options.seed

    def unsupported_reason(self, request: Request) -> str:
        """Only requests with a closed set of answers are supported."""
        if request.form == "letter" and not request.choices:
            return _("no letters on offer to guess from")
        if request.form in _CLOSED:
            return ""
        return _("chance answers only letters, yes or no, and probabilities")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """One of the choices."""
        del images
        draw = random.Random(sha256_bytes(msgspec.json.encode([self._seed, request])))  # noqa: S311
        if request.form == "probability":
            return Answer(text=f"{draw.random():.6f}")
        return Answer(text=draw.choice(request.choices or _YES_NO))


class Majority(Baseline):
    """The most frequent answer of the same task and query in the dataset's reference split.

    Of equally frequent answers, the first in the dataset is given; letters that are not among the
    options are skipped. For pairs of images it answers what most pairs of the reference are
    (yes-no), or the share that belongs together (probability).
    """

    def __init__(self, options: ModelOptions, access: DatasetAccess) -> None:
        del options
        counts: dict[tuple[str, str, str], Counter[str]] = {}
        pairs: dict[tuple[str, str, str], tuple[int, int]] = {}
        for item in access.reference:
            if item.relevant:
                right, total = pairs.get(_place(item), (0, 0))
                pairs[_place(item)] = right + len(item.relevant), total + len(item.images) - 1
            elif item.answer:
                counts.setdefault(_place(item), Counter())[item.answer] += 1
        # Counter.most_common keeps the order of first occurrence among equals.
        self._answers = {place: count.most_common() for place, count in counts.items()}
        self._pairs = pairs
        learnt = msgspec.json.encode([sorted(self._answers.items()), sorted(pairs.items())])
        super().__init__("majority", reference=sha256_bytes(learnt))

    def unsupported_reason(self, request: Request) -> str:
        """Running text, boxes and lists have no majority; neither has a task without reference."""
        if request.form not in _COUNTED:
            return _("answers of this form have no majority")
        if self._answer(request):
            return ""
        if request.candidate:
            return _("the dataset has no reference split for this task")
        return _(
            "the dataset has no reference split for this task; make one with: keju build split"
        )

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The most frequent answer."""
        del images
        return Answer(text=self._answer(request))

    def _answer(self, request: Request) -> str:
        if request.candidate:
            right, total = self._pairs.get(_place(request), (0, 0))
            if request.form == "probability":
                return f"{right / total:.6f}" if total else ""
            return ("Yes" if 2 * right > total else "No") if total else ""
        answers = [answer for answer, _count in self._answers.get(_place(request), [])]
        if request.form == "letter" and request.choices:
            answers = [answer for answer in answers if answer in request.choices]
        return answers[0] if answers else ""


def _place(record: Item | Request) -> tuple[str, str, str]:
    return record.benchmark, record.task, record.query
