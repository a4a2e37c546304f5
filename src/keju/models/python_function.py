"""`PythonModel`: a user's Python function as a model of a run."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Sequence

from keju.items import Request
from keju.models.base import PYTHON, Answer, status_of
from keju.texts import _

Function = Callable[[list[bytes], str], str] | Callable[[list[bytes], str], Awaitable[str]]
"""From the images of a request, as stored, and its prompt to the text of the response."""

_NAME = re.compile(r"[^\s:/\\]([^\x00-\x1f\x7f:/\\]{0,78}[^\s:/\\])?")


class PythonModel:
    """A Python function that answers requests, with the name ``python:NAME``.

    The function is called with the bytes of the images (as the dataset stores them) and the prompt,
    and returns the text of the response. It may be async. An exception in it is a failed response,
    and so is a return value that is not a str.

    keju cannot detect whether a function changed. A run has one `version` of each: resuming it with
    another is an error, so that answers of two versions are never mixed.

    Args:
        name: the model's name in runs, tables and reports, without ``python:``.
        function: the function.
        version: what distinguishes this function from others of the name: a version, a date, a
            checkpoint.
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
        for what, value, wanted in (
            ("name", name, str), ("version", version, str), ("concurrency", concurrency, int),
        ):  # fmt: skip
            if not isinstance(value, wanted) or isinstance(value, bool):
                raise TypeError(f"{what} is a {type(value).__name__}, not a {wanted.__name__}")
        if not callable(function):
            raise TypeError(f"function is a {type(function).__name__}, which cannot be called")
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"name {name!r}: give 1 to 80 characters, without line breaks, ':', '/' and '\\', "
                "that begin and end with a visible one"
            )
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}. Give 1 or more")
        self._name, self._function = name, function
        self._version, self._concurrency = version, concurrency

    def __repr__(self) -> str:
        return f"PythonModel({self._name!r})"

    @property
    def name(self) -> str:
        """``python:NAME``."""
        return f"{PYTHON}:{self._name}"

    @property
    def identity(self) -> dict[str, str]:
        """That it is a Python function, and the version that the user gave."""
        return {"kind": PYTHON, "version": self._version}

    @property
    def concurrency(self) -> int:
        """The value that the user gave."""
        return self._concurrency

    def unsupported_reason(self, request: Request) -> str:
        """A system prompt and examples, which the function does not get."""
        if request.system or request.examples:
            return _("a Python function takes a prompt alone: no system prompt and no examples")
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The function's result.

        Raises:
            TypeError: it is not a text.
        """
        function: Callable[[list[bytes], str], object] = self._function
        if inspect.iscoroutinefunction(function):
            text = await function(list(images), request.prompt)
        else:
            text = await asyncio.to_thread(function, list(images), request.prompt)
            if inspect.isawaitable(text):
                text = await text
        if not isinstance(text, str):
            raise TypeError(f"the function returned a {type(text).__name__}, not a str")
        return Answer(text=text, status=status_of(text))

    async def close(self) -> None:
        """Nothing to release."""
