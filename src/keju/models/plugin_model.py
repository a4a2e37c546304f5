"""`PluginModel`: a model of a plug-in, with the name and the identity that every run records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keju.items import Request
from keju.models.base import Answer, AskError, Model
from keju.registry import Plugin, PluginError


class PluginModel:
    """A model of a plug-in, as runs ask it.

    Its name is what the user wrote, and its identity names the plug-in, so that another version of
    the plug-in is another model: no answer of the one is taken for an answer of the other.

    Raises:
        PluginError: the model lacks a part, or its identity is not text by name.
    """

    def __init__(self, spec: str, model: Model, plugin: Plugin) -> None:
        self._spec = spec
        self._model = model
        self._plugin = plugin
        parts = ("identity", "concurrency", "declines", "answer", "close")
        if missing := [part for part in parts if not hasattr(model, part)]:
            raise PluginError(
                f"plug-in {plugin}: the model {spec!r} has no {', '.join(missing)}. Derive its "
                "class from keju.plugins.ModelBase"
            )
        given: object = model.identity
        own = dict(given) if isinstance(given, Mapping) else {"": None}
        if not all(isinstance(each, str) for pair in own.items() for each in pair):
            raise PluginError(f"plug-in {plugin}: the identity of {spec!r} is not text by name")
        self._identity = {**own, "kind": spec.partition(":")[0], "plugin": str(plugin)}

    @property
    def name(self) -> str:
        """As the user spells it."""
        return self._spec

    @property
    def identity(self) -> dict[str, str]:
        """The model's, its kind, and the plug-in."""
        return dict(self._identity)

    @property
    def concurrency(self) -> int:
        """The model's, at least 1."""
        return max(1, self._model.concurrency)

    def declines(self, request: Request) -> str:
        """Why this request is not for the model, in its words."""
        return self._model.declines(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer.

        Raises:
            AskError: no answer came, or something that is not an `Answer`.
        """
        found: object = await self._model.answer(request, images)
        if not isinstance(found, Answer):
            kind = type(found).__name__
            raise AskError("engine", f"plug-in {self._plugin}: {kind} instead of an Answer")
        return found

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
