"""Classification of HTTP errors as kinds of failure, each retryable or not."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from keju.messages import message
from keju.models.base import AskError
from keju.models.retry_headers import retry_after

LONGEST_MESSAGE = 4000
"""The number of characters of a server's message that are searched for refused parameters."""

_KIND_OF_CODE = {
    **dict.fromkeys((
        "content_filter", "content_policy_violation", "responsibleaipolicyviolation",
        "data_inspection_failed", "moderation_blocked", "image_content_policy_violation",
    ), "refused"),
    **dict.fromkeys((
        "invalid_image", "invalid_image_format", "invalid_image_url", "image_parse_error",
        "invalid_base64_image", "unsupported_image_media_type",
    ), "unreadable-image"),
    **dict.fromkeys(("insufficient_quota", "billing_hard_limit_reached"), "auth"),
}  # fmt: skip
"""Error codes of servers that are more specific than the HTTP status."""

_KIND_OF_STATUS = {
    401: "auth", 402: "auth", 403: "auth", 408: "timeout", 409: "server", 425: "server",
    429: "rate", 504: "timeout",
}  # fmt: skip
_RETRYABLE = frozenset({"rate", "timeout", "server", "bad-response"})
_LASTING = frozenset({501, 505})
_OVERLOADED = frozenset({429, 503, 529})


def excerpt(text: str, length: int = 300) -> str:
    """Text from outside as one printable line of at most `length` characters."""
    line = " ".join(text[: 4 * length].split())
    plain = "".join(mark for mark in line if mark.isprintable())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def error_of_reply(status: int, body: bytes, headers: Mapping[str, str]) -> AskError:
    """Classify a reply with an HTTP error whose body is JSON, HTML or anything else."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decoded = body[:2000].decode("utf-8", "replace")
    return error_of_status(status, decoded, headers)


def error_of_status(status: int, body: object, headers: Mapping[str, str]) -> AskError:
    """Classify an HTTP error.

    Args:
        status: the HTTP status code.
        body: the error object of the reply, or the whole reply, decoded or as text.
        headers: of the reply; names in lower case, or a mapping that ignores case.
    """
    words = _message(body)
    said = excerpt(words) or message("models.no-reason-given")
    if 300 <= status < 400:
        elsewhere = excerpt(headers.get("location", "")) or said
        return AskError(
            "connection",
            message("models.server-redirects", status=status, elsewhere=elsewhere),
            retry_after=retry_after(headers, status),
        )
    kind = _KIND_OF_CODE.get(_code(body)) or _KIND_OF_STATUS.get(status) or _kind(status)
    return AskError(
        kind,
        message("models.http-status", status=status, said=said),
        retryable=kind in _RETRYABLE and status not in _LASTING,
        retry_after=retry_after(headers, status),
        overloaded=kind in _RETRYABLE and status in _OVERLOADED,
        said=" ".join(words[:LONGEST_MESSAGE].split()),
    )


def _kind(status: int) -> str:
    if status >= 500:
        return "server"
    return "bad-request" if status >= 400 else "bad-response"


def error_of_object(error: object) -> AskError:
    """Classify an error object that was returned instead of an answer with HTTP 200.

    Gateways do this when the server behind them fails; its ``code`` is then an HTTP status.
    """
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal() and code.isascii():
        code = int(code[:4])
    if isinstance(code, int) and 400 <= code < 600:
        return error_of_status(code, error, {})
    if kind := _KIND_OF_CODE.get(_code(error)):
        return AskError(kind, excerpt(_message(error)))
    return AskError(
        "bad-response",
        message("models.error-for-answer", excerpt=excerpt(_message(error))),
        retryable=True,
    )


def _inner(body: object) -> object:
    """The error object inside a reply; some servers nest it, Gemini wraps it in a list."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    return body["error"] if isinstance(body, dict) and body.get("error") else body


def _code(body: object) -> str:
    """The code of an error object that is in `_KIND_OF_CODE`, or an empty string."""
    inner = _inner(body)
    if not isinstance(inner, dict):
        return ""
    codes = [inner.get("code"), inner.get("type")]
    deeper = inner.get("innererror")
    if isinstance(deeper, dict):
        codes.append(deeper.get("code"))
    words = [code.lower() for code in codes if isinstance(code, str)]
    return next((word for word in words if word in _KIND_OF_CODE), "")


def _message(body: object) -> str:
    inner = _inner(body)
    if isinstance(inner, dict):
        for name in ("message", "detail", "msg"):
            if value := _words(inner.get(name)):
                return value
    return inner if isinstance(inner, str) else ""


def _words(value: object) -> str:
    """A message that is a text, or a list of validation errors as FastAPI and Mistral send them."""
    if isinstance(value, dict):
        value = value.get("detail")
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    faults = [
        each for each in value if isinstance(each, dict) and isinstance(each.get("loc"), list)
    ]
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each.get('msg', '')}" for each in faults)
