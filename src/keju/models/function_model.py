"""`PythonModel`, `PluginModel`: code of a user or of a plug-in as a model of a run."""

from __future__ import annotations

import asyncio
import inspect
import re
import traceback
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from keju.errors import KejuError
from keju.items import Request
from keju.models.base import PYTHON, Answer, AskError, Model, status_of
from keju.registry import Plugin, PluginError, describe_fault, is_debugging
from keju.texts import _

Function = Callable[[list[bytes], str], str] | Callable[[list[bytes], str], Awaitable[str]]
"""From the images of a request, as stored, and its prompt to the text of the response."""

_NAME = re.compile(r"[^\s:/\\]([^\x00-\x1f\x7f:/\\]{0,78}[^\s:/\\])?")


class PythonModel(Model):
    """A Python function that answers requests, with the name ``python:NAME``.

    The function is called with the bytes of the images (as the dataset stores them) and the prompt,
    and returns the text of the response. It may be async. An exception in it is a failed response,
    and so is a return value that is not a str.

    Args:
        name: the model's name in runs, tables and reports, without ``python:``.
        function: the function.
        version: what distinguishes this function from others of the name: a version, a date, a
            checkpoint. keju cannot detect whether a function changed; resuming a run with another
            version is an error, so that answers of two versions are never mixed.
        concurrency: how many calls run at the same time. A function that is not async is then
            called from several threads.

    Raises:
        TypeError: a value has another type.
        ValueError: the name is empty or has a character that names cannot have, or `concurrency` is
            below 1.
    """

    def __init__(
        self, name: str, function: Function, *, version: str = "", concurrency: int = 1
    ) -> None:
        texts: tuple[object, ...] = (name, version)
        if not (all(isinstance(text, str) for text in texts) and callable(function)):
            raise TypeError("name and version must be texts, and function must be callable")
        if not _NAME.fullmatch(name) or concurrency < 1:
            raise ValueError(
                f"name {name!r}, concurrency {concurrency}: give 1 to 80 characters, without line "
                "breaks, ':', '/' and '\\', that begin and end with a visible one, and 1 or more"
            )
        self.name = f"{PYTHON}:{name}"
        self.identity = {"kind": PYTHON, "version": version}
        self.concurrency = concurrency
        self._function = function

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def unsupported_reason(self, request: Request) -> str:
        """A system prompt, which the function does not get."""
        if request.system:
            return _("a Python function takes a prompt alone, without a system prompt")
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The function's text."""
        return await self._called(self._function, list(images), request.prompt)

    async def _called(self, function: Callable[..., object], *arguments: object) -> Answer:
        """The answer of a function; one that is not async is called in a thread."""
        if inspect.iscoroutinefunction(function):
            result = await function(*arguments)
        else:
            result = await asyncio.to_thread(function, *arguments)
            if inspect.isawaitable(result):
                result = await result
        if isinstance(result, str):
            return Answer(text=result, status=status_of(result))
        if not isinstance(result, Answer):
            kind = type(result).__name__
            raise AskError("engine", _("{} returned a {} instead of a text", self.name, kind))
        return result


class _Attributes(msgspec.Struct):
    identity: dict[str, str]
    concurrency: int
    destinations: tuple[str, ...]


class PluginModel(PythonModel):
    """A model of a plug-in: exceptions in it name the plug-in.

    Its name is the user's model string, and its identity names the plug-in, so that another version
    of the plug-in is another model: responses of the two are never mixed. Of a model behind an
    endpoint the plug-in only carries the requests, and another version is the same model. Batches,
    readers and files of answers are members of keju's own models only.

    Raises:
        PluginError: the model lacks an attribute, or one has another type than in `Model`.
    """

    def __init__(self, spec: str, model: Model, plugin: Plugin) -> None:
        self.name = spec
        self._model, self.plugins = model, (plugin,)
        attributes = {name: getattr(model, name) for name in _Attributes.__struct_fields__}
        try:
            declared = msgspec.convert(attributes, _Attributes)
        except msgspec.ValidationError as error:
            raise PluginError(
                "plug-in {}: the model {!r} has a wrong attribute: {}", plugin, spec, error
            ) from None
        self.identity = {**declared.identity, "kind": spec.partition(":")[0]}
        if "endpoint" not in self.identity:
            self.identity["plugin"] = str(plugin)
        self.concurrency = max(1, declared.concurrency)
        self.destinations = declared.destinations

    def unsupported_reason(self, request: Request) -> str:
        """Why the model does not support this request, as it reports it."""
        return self._model.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The model's answer."""
        try:
            return await self._called(self._model.answer, request, images)
        except (KejuError, MemoryError, BrokenPipeError):
            raise
        except (Exception, SystemExit) as error:
            if is_debugging():
                traceback.print_exception(error)
            late = isinstance(error, TimeoutError)
            fault = describe_fault(error, *self.plugins)
            raise AskError("timeout" if late else "engine", str(fault), retryable=late) from error

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
