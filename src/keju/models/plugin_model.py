"""`PluginModel`: a model of a plug-in, with the name and the identity that every run records."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence

from keju.errors import KejuError
from keju.items import Request
from keju.models.base import Answer, AskError, Model
from keju.models.capabilities import Capabilities
from keju.registry import Plugin, PluginError, guard_call, is_debugging, make_plugin_error
from keju.texts import _


class PluginModel:
    """A model of a plug-in, as runs use it.

    Its name is the user's model string, and its identity names the plug-in, so that another version
    of the plug-in is another model: responses of the two are never mixed.

    Raises:
        PluginError: the model lacks a part, its identity is not a dict of text, its concurrency
            is not a number, or its destinations are not texts.
    """

    def __init__(self, spec: str, model: Model, plugin: Plugin) -> None:
        self._spec = spec
        self._model = model
        self._plugin = plugin
        parts = ("identity", "concurrency", "unsupported_reason", "answer", "close")
        if missing := [part for part in parts if not self._has(part)]:
            raise PluginError(
                "plug-in {}: the model {!r} has no {}. Derive its class from "
                "keju.plugins.ModelBase",
                plugin,
                spec,
                ", ".join(missing),
            )
        with guard_call(plugin, self._named("identity")):
            given: object = model.identity
        own = dict(given) if isinstance(given, Mapping) else {"": None}
        if not all(isinstance(each, str) for pair in own.items() for each in pair):
            raise PluginError(
                "plug-in {}: the identity of {!r} is not a dict from str to str", plugin, spec
            )
        with guard_call(plugin, self._named("concurrency")):
            concurrency: object = model.concurrency
        if not isinstance(concurrency, int):
            raise PluginError("plug-in {}: the concurrency of {!r} is not a number", plugin, spec)
        with guard_call(plugin, self._named("destinations")):
            hosts: object = getattr(model, "destinations", ())
        if not isinstance(hosts, tuple | list) or not all(isinstance(e, str) for e in hosts):
            raise PluginError(
                "plug-in {}: the destinations of {!r} are not a tuple of str", plugin, spec
            )
        self._destinations = tuple(hosts)
        self._concurrency = max(1, concurrency)
        self._identity = {**own, "kind": spec.partition(":")[0], "plugin": str(plugin)}

    @property
    def name(self) -> str:
        """The user's model string."""
        return self._spec

    @property
    def identity(self) -> dict[str, str]:
        """The model's, its kind, and the plug-in."""
        return dict(self._identity)

    @property
    def concurrency(self) -> int:
        """The model's, at least 1."""
        return self._concurrency

    @property
    def capabilities(self) -> Capabilities:
        """Only the hosts that the plug-in declares as `destinations`."""
        return Capabilities(destinations=self._destinations)

    def unsupported_reason(self, request: Request) -> str:
        """Why the model does not support this request, as it reports it.

        Raises:
            PluginError: the model raises an exception.
        """
        with guard_call(self._plugin, self._named("unsupported_reason")):
            return self._model.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer.

        Raises:
            AskError: there is no answer, the result is not an `Answer`, or the model raises an
                exception.
        """
        try:
            found: object = await self._model.answer(request, images)
        except (KejuError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            if is_debugging():
                traceback.print_exception(error)
            text = str(make_plugin_error(self._plugin, self._named("answer"), error))
            late = isinstance(error, TimeoutError)
            kind = "timeout" if late else "engine"
            raise AskError(kind, text, retryable=late) from error
        if not isinstance(found, Answer):
            kind = type(found).__name__
            raise AskError("engine", _("plug-in {}: {} instead of an Answer", self._plugin, kind))
        return found

    async def close(self) -> None:
        """Close the model.

        Raises:
            PluginError: the model raises an exception.
        """
        with guard_call(self._plugin, self._named("close")):
            await self._model.close()

    def _has(self, part: str) -> bool:
        with guard_call(self._plugin, self._named(part)):
            return hasattr(self._model, part)

    def _named(self, part: str) -> str:
        return f"{type(self._model).__name__}.{part} (model {self._spec!r})"
