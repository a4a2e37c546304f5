"""``blind:MODEL``: a model that gets the prompt without the images."""

from __future__ import annotations

from collections.abc import Sequence

from keju.items import Request, without_images
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.wrapped import WrappedModel


class Blind(WrappedModel):
    """Sends the same prompt to a model without the images.

    Whatever it still answers correctly did not require the image: it was in the question, or
    learned.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        super().__init__("blind", spec, options, roles=("model",))

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer to the text alone.

        Raises:
            AskError: there is no answer.
        """
        del images
        return await self.model.answer(without_images(request), ())
