"""``ocr+llm``: an OCR engine transcribes, then a text model answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec.structs import replace

from keju.errors import UsageError
from keju.items import OWN_READING, TRUE_READING, Request
from keju.models.base import Answer, DatasetAccess, Model, ModelOptions
from keju.models.registry import open_model
from keju.texts import _


class Pipeline(Model):
    """``ocr+llm:ENGINE+MODEL``.

    A run first lets the engine transcribe the images and stores the transcription. It then sends
    the text to this model as the request's source, without the images.

    Raises:
        UsageError: there are not two models, or one is not a model.
        PrerequisiteError: one needs something that is not installed.
    """

    def __init__(self, spec: str, options: ModelOptions, access: DatasetAccess) -> None:
        engine, plus, model = spec.partition("+")
        if not (engine and plus and model):
            raise UsageError(
                "ocr+llm:{} needs an engine and a model, as in ocr+llm:ppocr+openai:MODEL", spec
            )
        if model.startswith("ocr+llm:"):
            raise UsageError("ocr+llm:{}: a pipeline has one engine and one model", spec)
        self.reader = self._engine = open_model(engine, options, access)
        self._model = open_model(model, options, access)
        self.name = f"ocr+llm:{self._engine.name}+{self._model.name}"
        self.concurrency = self._model.concurrency
        self.local = self._model.local
        self.role = "baseline" if self._model.role == "baseline" else "model"
        hosts = (*self._engine.destinations, *self._model.destinations)
        self.destinations = tuple(dict.fromkeys(hosts))

    @cached_property
    def identity(self) -> dict[str, str]:
        """The model's, and the engine's under ``engine.``."""
        engine = {f"engine.{name}": value for name, value in self._engine.identity.items()}
        return {**self._model.identity, **engine, "pipeline": "ocr+llm"}

    def unsupported_reason(self, request: Request) -> str:
        """Settings other than `image`, a transcription, and what the model does not support.

        A pipeline always sends only the engine's text. In another setting it would repeat that
        prompt, or send none of the engine's text.
        """
        if request.examples:
            return _("the images of examples are not read: ask a pipeline without --examples")
        if request.form == "transcription":
            return _("a transcription is what the engine itself gives: ask the engine")
        if request.setting in OWN_READING:
            return _("in a pipeline the engine reads: --setting image asks the same prompt")
        if request.setting in TRUE_READING:
            return _("the true text replaces the engine's: ask the text model alone with gold-text")
        # The request is sent after the images are transcribed, as if their text were given.
        return self._model.unsupported_reason(replace(request, images=(), setting="gold-text"))

    def source_of(self, request: Request) -> str:
        """The model's file, if its answers are files."""
        return self._model.source_of(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer to a request with the engine's transcription.

        Raises:
            AskError: there is no answer.
        """
        return await self._model.answer(request, images)

    async def close(self) -> None:
        """Close both."""
        await self._engine.close()
        await self._model.close()
