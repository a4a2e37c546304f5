"""``blind:MODEL``: a model that is asked without being shown anything."""

from __future__ import annotations

from collections.abc import Sequence

from keju.items import Request, without_images
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.wrapped import Wrapped


class Blind(Wrapped):
    """Puts the same prompt to a model without the images.

    What it gets right was in the question, or in what it has learnt; only what the seeing model
    gets right beyond that shows that it looked.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        super().__init__("blind", spec, options, roles=("model",))

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer to the words alone.

        Raises:
            AskError: no answer came.
        """
        del images
        return await self.model.answer(without_images(request), ())
