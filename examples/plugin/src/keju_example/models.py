"""Model ``first-option``: always the first option of a multiple-choice question."""

from __future__ import annotations

from collections.abc import Sequence

import keju
from keju.plugins import Answer, Model, ModelOptions, Request


@keju.model("first-option", summary="always the first option", role="baseline", local=True)
class FirstOption(Model):
    """The floor under a benchmark whose options are not in random order."""

    def __init__(self, options: ModelOptions) -> None:
        del options

    def unsupported_reason(self, request: Request) -> str:
        """Every request without options."""
        return "" if request.choices else "only multiple-choice questions have options"

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The letter A."""
        del request, images
        return Answer(text="A")
