"""Errors of Inspect's providers: classify their exceptions as keju's kinds of failure.

Each vendor's SDK raises its own exceptions, so they are recognised by their attributes: an HTTP
status, a body and headers (OpenAI, Anthropic, Groq, Mistral), botocore's reply, Google's `code`,
gRPC's code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from keju.errors import describe_exception
from keju.models.base import AskError
from keju.models.replies import error_of_status, excerpt
from keju.texts import _

_OF_THE_WIRE = re.compile("Connect|Network|Protocol|Transport|ReadError|WriteError|ClosedResource")
_OF_SHAPE = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
_MARKUP = re.compile(r"\[/?[a-z]+\]")
_STATUS_OF_CODE = {
    "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
"""The HTTP status of a code of gRPC."""


class _Reply(NamedTuple):
    status: int
    body: object
    headers: Mapping[str, str]


def error_of_provider(error: BaseException, hide: Callable[[str], str] = str) -> AskError:
    """Classify an exception of a provider, without Inspect's wrappers around it.

    Args:
        error: the exception.
        hide: returns a text without any key; used before a long text is cut.
    """
    chain = list(_causes(error))
    for each in chain:
        if reply := _reply(each):
            return error_of_status(reply.status, without_keys(reply.body, hide), reply.headers)
    names = [each.__name__ for cause in chain for each in type(cause).__mro__]
    words = excerpt(hide(next((str(each) for each in reversed(chain) if str(each)), names[0])))
    if any("Timeout" in name for name in names):
        return AskError(
            "timeout", _("the server did not answer in time: {}", words), retryable=True
        )
    if any(map(_OF_THE_WIRE.search, names)) or any(isinstance(each, OSError) for each in chain):
        return AskError("connection", _("the connection failed: {}", words), retryable=True)
    if "OpenAIResponseError" in names or isinstance(chain[0], _OF_SHAPE):
        return AskError("bad-response", _("the reply is not an answer: {}", words), retryable=True)
    return AskError("engine", excerpt(hide(describe_exception(chain[0]))))


def plain_words(error: BaseException, hide: Callable[[str], str] = str) -> str:
    """The message of an error, in one line, without keys and the markup of Inspect's terminal."""
    return excerpt(hide(_MARKUP.sub("", str(getattr(error, "message", "") or error))), 400)


def without_keys(value: object, hide: Callable[[str], str]) -> object:
    """A value of JSON with its texts changed by `hide`."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {name: without_keys(each, hide) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_keys(each, hide) for each in value]
    return value


def _reply(error: BaseException) -> _Reply | None:
    """The server's reply, if the exception contains it."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        about, said = response.get("ResponseMetadata", {}), response.get("Error", {})
        words = {"message": said.get("Message"), "code": said.get("Code")}
        status = about.get("HTTPStatusCode")
        return _Reply(status, words, about.get("HTTPHeaders", {})) if status else None
    places = ((error, "status_code"), (error, "code"), (response, "status_code"))
    said = [getattr(place, name, None) for place, name in places]
    code = said[1]() if callable(said[1]) else None
    said.append(_STATUS_OF_CODE.get(str(getattr(code, "name", ""))))
    status = next((number for number in said if type(number) is int and number >= 300), None)
    if status is None:
        return None
    bodies = [getattr(error, name, None) for name in ("body", "details")]
    found = [each for each in bodies if each and isinstance(each, dict | str)]
    body: object = found[0] if found else str(error)
    return _Reply(status, body, getattr(response, "headers", None) or {})


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes.

    Of tenacity's and Inspect's wrappers only the inner exception.
    """
    inside: BaseException | None = error
    for __ in range(10):
        if inside is None:
            return
        last = getattr(inside, "last_attempt", None)
        if last is not None:
            inside = last.exception()
        elif type(inside).__name__ == "ModelGenerateError":
            inside = inside.__cause__
        else:
            yield inside
            inside = inside.__cause__ or inside.__context__
