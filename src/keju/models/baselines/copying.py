"""``baseline:copy``: returns the text of the request."""

from __future__ import annotations

from collections.abc import Sequence

from keju.items import Request
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline


class Copy(Baseline):
    """Returns the text that the setting supplied, or else the prompt."""

    def __init__(self, options: ModelOptions) -> None:
        del options
        super().__init__("copy")

    def unsupported_reason(self, request: Request) -> str:
        """Any prompt can be returned."""
        del request
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The source text or the prompt."""
        del images
        return Answer(text=request.source or request.prompt)
