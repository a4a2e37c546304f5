"""The floor under every score: models that look at nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Request
from keju.models.base import Answer, ModelOptions

_YES_NO = ("Yes", "No")


class _Baseline:
    """What the baselines share: they answer at once and hold nothing open."""

    def __init__(self, name: str, **identity: str) -> None:
        self._name = name
        self._identity = identity

    @property
    def name(self) -> str:
        """``baseline:NAME``."""
        return f"baseline:{self._name}"

    @property
    def identity(self) -> dict[str, str]:
        """The baseline's name, its seed or the hash of what it learnt from."""
        return {"kind": "baseline", "baseline": self._name, **self._identity}

    @property
    def concurrency(self) -> int:
        """One: an answer takes no time."""
        return 1

    async def close(self) -> None:
        """Nothing to give back."""


class Copy(_Baseline):
    """Gives back the text that the setting supplied, or else the prompt."""

    def __init__(self, options: ModelOptions) -> None:
        del options
        super().__init__("copy")

    def declines(self, request: Request) -> str:
        """Any prompt can be given back."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The source text or the prompt."""
        del images
        return Answer(text=request.source or request.prompt)


class Chance(_Baseline):
    """A uniform random letter of those on offer, or yes or no.

    The same request gets the same answer under the same seed, in whatever order requests come.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._seed = options.seed
        super().__init__("chance", seed=str(options.seed))

    def declines(self, request: Request) -> str:
        """Only requests with a closed set of answers can be guessed."""
        if request.form == "letter" and not request.choices:
            return "no letters on offer to guess from"
        if request.form in {"letter", "yes-no"}:
            return ""
        return f"chance answers letters and yes-no, not {request.form}"

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """One of the choices."""
        del images
        choices = request.choices or _YES_NO
        seed = msgspec.json.encode([self._seed, request])
        return Answer(text=random.Random(sha256_bytes(seed)).choice(choices))  # noqa: S311


class Majority(_Baseline):
    """The commonest answer of the same task and query in the dataset's reference split.

    Of answers that are equally common, the one that comes first in the dataset is given.
    """

    def __init__(self, options: ModelOptions) -> None:
        counts: dict[tuple[str, str, str], Counter[str]] = {}
        for item in options.reference:
            counts.setdefault((item.benchmark, item.task, item.query), Counter())[item.answer] += 1
        # Counter.most_common keeps the order of first sight among equals.
        self._answers = {place: count.most_common(1)[0][0] for place, count in counts.items()}
        learnt = sha256_bytes(msgspec.json.encode(sorted(self._answers.items())))
        super().__init__("majority", reference=learnt)

    def declines(self, request: Request) -> str:
        """A task without a reference split has no known majority."""
        if (request.benchmark, request.task, request.query) in self._answers:
            return ""
        return "the dataset has no reference split for this task"

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The commonest answer."""
        del images
        return Answer(text=self._answers[request.benchmark, request.task, request.query])


_BASELINES: dict[str, Callable[[ModelOptions], Copy | Chance | Majority]] = {
    "copy": Copy,
    "chance": Chance,
    "majority": Majority,
}


def open_baseline(name: str, options: ModelOptions) -> Copy | Chance | Majority:
    """Open the baseline of that name.

    Raises:
        UsageError: there is no such baseline.
    """
    if name not in _BASELINES:
        raise UsageError(f"no baseline {name!r}. Baselines: {', '.join(_BASELINES)}")
    return _BASELINES[name](options)
