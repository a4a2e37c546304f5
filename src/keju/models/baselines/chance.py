"""``baseline:chance``: an answer drawn at random from the choices."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from keju.files import sha256_bytes
from keju.items import Request
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline
from keju.texts import _

_YES_NO = ("Yes", "No")
_CLOSED = frozenset({"letter", "yes-no", "probability"})


class Chance(Baseline):
    """A uniform random letter of the choices, yes or no, or a probability.

    The same request gets the same answer under the same seed, in any order of requests. Numbers and
    boxes are not supported: they have no uniform distribution, and any other one would be a guess
    about the data (``baseline:components`` uses the image instead).
    """

    def __init__(self, options: ModelOptions) -> None:
        self._seed = options.seed
        super().__init__("chance", seed=str(options.seed))

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
        seed = msgspec.json.encode([self._seed, request])
        draw = random.Random(sha256_bytes(seed))  # noqa: S311
        if request.form == "probability":
            return Answer(text=f"{draw.random():.6f}")
        return Answer(text=draw.choice(request.choices or _YES_NO))
