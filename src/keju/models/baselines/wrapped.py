"""`WrappedModel`, the base class of baselines that ask another model, and ``blind:MODEL``."""

from __future__ import annotations

from collections.abc import Sequence

from keju.errors import UsageError
from keju.items import Request, without_images
from keju.models.base import Answer, Model, ModelOptions
from keju.models.capabilities import Capabilities, capabilities_of
from keju.models.declarations import Role
from keju.models.registry import open_model, role_of
from keju.texts import _


class WrappedModel:
    """Another model, with a name and an identity that include the wrapper.

    Args:
        kind: the name of the wrapper, before the colon.
        spec: the model string of the wrapped model.
        options: for that model.
        roles: its permitted roles.

    Raises:
        UsageError: no such model, or one of another role.
        PrerequisiteError: it needs something that is not installed.
    """

    def __init__(
        self, kind: str, spec: str, options: ModelOptions, *, roles: tuple[Role, ...]
    ) -> None:
        if not spec:
            raise UsageError("{0}: needs a model after it, as in {0}:openai:MODEL", kind)
        role = role_of(spec)
        if role is not None and role not in roles:
            raise UsageError("{}:{}: asks a {}, not {}", kind, spec, " or an ".join(roles), role)
        self._kind = kind
        self.model: Model = open_model(spec, options)
        self._destinations = capabilities_of(self.model).destinations

    @property
    def name(self) -> str:
        """``KIND:MODEL``."""
        return f"{self._kind}:{self.model.name}"

    @property
    def identity(self) -> dict[str, str]:
        """The model's, and the wrapper."""
        return {**self.model.identity, "baseline": self._kind}

    @property
    def concurrency(self) -> int:
        """The model's."""
        return self.model.concurrency

    @property
    def capabilities(self) -> Capabilities:
        """Only the hosts: what the model can do besides applies to its own images."""
        return Capabilities(destinations=self._destinations)

    def unsupported_reason(self, request: Request) -> str:
        """Settings without an image or with a text, and what the model does not support."""
        if not request.images or request.setting != "image":
            return _("{} changes the images: use --setting image", self._kind)
        return self.model.unsupported_reason(request)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


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
