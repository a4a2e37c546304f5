"""Models that change the requests of another: ``ocr+llm:``, ``blind:`` and ``shuffled:``."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import OWN_READING, TRUE_READING, ImageRef, Item, Request, get_group, without_images
from keju.models.base import Answer, AskError, DatasetAccess, Model, ModelOptions, Role
from keju.models.registry import open_model, role_of
from keju.texts import _


class WrappedModel(Model):
    """The model of a model string, which has one of the `roles`, asked in another way: `kind`.

    Raises:
        UsageError: no such model, or one of another role.
        PrerequisiteError: it needs something that is not installed.
    """

    kind: ClassVar[str]
    roles: ClassVar[tuple[Role, ...]] = ()

    def __init__(self, spec: str, options: ModelOptions, access: DatasetAccess) -> None:
        if not spec:
            raise UsageError("{0}: needs a model after it, as in {0}:openai:MODEL", self.kind)
        role = role_of(spec)
        if self.roles and role is not None and role not in self.roles:
            roles = " or an ".join(self.roles)
            raise UsageError("{}:{}: asks a {}, not {}", self.kind, spec, roles, role)
        self.model = open_model(spec, options, access)
        self.name = f"{self.kind}:{self.model.name}"
        self.identity = {**self.model.identity, "baseline": self.kind}
        self.concurrency = self.model.concurrency
        self.local = self.model.local
        self.destinations = self.model.destinations
        self.plugins = self.model.plugins

    def unsupported_reason(self, request: Request) -> str:
        """Settings without an image or with a text, and what the model does not support."""
        if not request.images or request.setting != "image":
            return _("{} changes the images: use --setting image", self.kind)
        return self.model.unsupported_reason(request)

    def source_of(self, request: Request) -> str:
        """The model's file, if its answers are files."""
        return self.model.source_of(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer."""
        return await self.model.answer(request, images)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


class Pipeline(WrappedModel):
    """``ocr+llm:ENGINE+MODEL``.

    A run first lets the engine transcribe the images and stores the transcription. It then sends
    the text to this model as the request's source, without the images.

    Raises:
        UsageError: there are not two models, or one is not a model.
        PrerequisiteError: one needs something that is not installed.
    """

    kind = "ocr+llm"

    def __init__(self, spec: str, options: ModelOptions, access: DatasetAccess) -> None:
        engine, __, model = spec.partition("+")
        if not (engine and model) or model.startswith("ocr+llm:"):
            raise UsageError(
                "ocr+llm:{} needs an engine and a model, as in ocr+llm:ppocr+openai:MODEL", spec
            )
        self.reader = self._engine = open_model(engine, options, access)
        super().__init__(model, options, access)
        self.name = f"ocr+llm:{self._engine.name}+{self.model.name}"
        of_engine = {f"engine.{name}": value for name, value in self._engine.identity.items()}
        self.identity = {**self.model.identity, **of_engine, "pipeline": "ocr+llm"}
        self.role = "baseline" if self.model.role == "baseline" else "model"
        hosts = (*self._engine.destinations, *self.model.destinations)
        self.destinations = tuple(dict.fromkeys(hosts))
        self.plugins = (*self._engine.plugins, *self.model.plugins)

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
        return self.model.unsupported_reason(replace(request, images=(), setting="gold-text"))

    async def close(self) -> None:
        """Close both."""
        await self._engine.close()
        await super().close()


class Blind(WrappedModel):
    """Sends the same prompt to a model without the images.

    Whatever it still answers correctly did not require the image: it was in the question, or
    learned.
    """

    kind, roles = "blind", ("model",)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer to the text alone."""
        del images
        return await self.model.answer(without_images(request), ())


class Shuffled(WrappedModel):
    """Sends the same prompt to a model with the images of another group of the same task.

    Together with `blind` it shows the effect of an image of the right kind with the wrong content.
    In a pair only the query image is replaced; the candidate stays.
    """

    kind, roles = "shuffled", ("model", "engine")

    def __init__(self, spec: str, options: ModelOptions, access: DatasetAccess) -> None:
        super().__init__(spec, options, access)
        self._images_of = access.images_of
        self._others = other_images(access.tested_items(), options.seed)
        names = [(item, [ref.sha256 for ref in refs]) for item, refs in self._others.items()]
        # Which item gets which images.
        self.identity["shown"] = sha256_bytes(msgspec.json.encode(sorted(names)))

    def source_of(self, request: Request) -> str:
        """An answer is in the model's file about the other images, if answers are files."""
        return self.model.source_of(self._with_others(request))

    def unsupported_reason(self, request: Request) -> str:
        """As for the wrapped model; also tasks with only one group are not supported."""
        if request.item not in self._others:
            return _("the task has no image of another group to show")
        return super().unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer about the other images."""
        del images
        if self._images_of is None:
            raise AskError("bad-request", _("shuffled: was opened without a dataset"))
        sent = self._with_others(request)
        return await self.model.answer(sent, self._images_of(sent.all_images))

    def _with_others(self, request: Request) -> Request:
        refs = self._others[request.item]
        kept = request.images[1:] if request.candidate else refs[1:]
        return replace(request, images=(refs[0], *kept))


def other_images(items: Iterable[Item], seed: int) -> dict[str, tuple[ImageRef, ...]]:
    """For each item the images of an item of another group of its task, if there is one.

    The groups of a task form a ring, in an order drawn with the seed: each gets the images of the
    next one with other images, so every image is used about as often as before.
    """
    tasks: dict[tuple[str, str], dict[str, list[tuple[str, tuple[ImageRef, ...]]]]] = {}
    for item in items:
        groups = tasks.setdefault((item.benchmark, item.task), {})
        groups.setdefault(get_group(item), []).append((item.id, item.images))
    images: dict[str, tuple[ImageRef, ...]] = {}
    for place, groups in tasks.items():
        names = sorted(groups)
        random.Random(sha256_bytes(msgspec.json.encode([seed, place]))).shuffle(names)  # noqa: S311
        ring = [groups[name] for name in names]
        for at, group in enumerate(ring):
            for turn, (name, own) in enumerate(group):
                others = (ring[(at + step) % len(ring)] for step in range(1, len(ring)))
                candidates = (
                    other[(turn + step) % len(other)][1]
                    for other in others
                    for step in range(len(other))
                )
                sha256 = own[0].sha256
                if refs := next((refs for refs in candidates if refs[0].sha256 != sha256), None):
                    images[name] = refs
    return images
