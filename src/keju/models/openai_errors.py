"""Classification of HTTP errors as kinds of failure, each retryable or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from keju.models.base import AskError
from keju.models.reply_json import repaired_json
from keju.models.retry_headers import retry_after
from keju.texts import _

LONGEST_MESSAGE = 4000
"""The number of characters of a server's message that are searched for refused parameters."""

_KIND_OF_CODE = {
    **dict.fromkeys((
        "content_filter", "content_policy_violation", "responsibleaipolicyviolation",
        "data_inspection_failed", "moderation_blocked", "image_content_policy_violation",
        "1301",  # Zhipu
    ), "refused"),
    **dict.fromkeys((
        "invalid_image", "invalid_image_format", "invalid_image_url", "image_parse_error",
        "invalid_base64_image", "unsupported_image_media_type",
    ), "unreadable-image"),
    **dict.fromkeys((
        "insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "arrearage",
        "exceeded_current_quota_error", "accountoverdueerror",
        "1113",  # Zhipu
    ), "auth"),
}  # fmt: skip
"""Error codes of servers that are more specific than the HTTP status."""

_KIND_OF_STATUS = {
    401: "auth", 402: "auth", 403: "auth", 408: "timeout", 409: "server", 425: "server",
    407: "connection", 429: "rate", 504: "timeout", 524: "timeout",
}  # fmt: skip
_RETRYABLE = frozenset({"rate", "timeout", "server"})
_LASTING = frozenset({501, 505, 506, 508, 510, 511, 525, 526})
"""Statuses of servers that another attempt does not change."""

STATUS_OF_WORD = {
    **dict.fromkeys((
        "invalid_argument", "failed_precondition", "out_of_range", "invalid_request_error",
        "invalid_request", "bad_request", "badrequesterror", "context_length_exceeded",
        "invalidparameter",
    ), 400),
    **dict.fromkeys((
        "unauthenticated", "authentication_error", "invalid_api_key", "invalidapikey",
        "unauthorized",
    ), 401),
    "billing_error": 402,
    **dict.fromkeys(("permission_denied", "permission_error", "forbidden"), 403),
    **dict.fromkeys(("not_found", "not_found_error", "model_not_found"), 404),
    "request_too_large": 413,
    **dict.fromkeys((
        "resource_exhausted", "rate_limit_error", "rate_limit_exceeded", "rate_limit_reached",
        "too_many_requests", "throttling", "throttlingexception",
    ), 429),
    **dict.fromkeys((
        "internal", "api_error", "server_error", "internal_error", "internal_server_error",
    ), 500),
    "unimplemented": 501,
    **dict.fromkeys(("unavailable", "service_unavailable"), 503),
    **dict.fromkeys(("deadline_exceeded", "timeout_error", "timeout"), 504),
    "overloaded_error": 529,
}  # fmt: skip
"""The HTTP status of the words with which vendors and gRPC class their errors, in lower case."""

_CODES = ("code", "status_code", "statusCode", "status", "http_status", "error_code", "type")
_WORDS = (
    "message", "detail", "msg", "error_msg", "error_message", "errorMessage", "err_msg", "errmsg",
    "error_description", "status_msg", "Message", "faultstring", "title", "description", "reason",
    "reasons",
)  # fmt: skip
_INSIDE = (
    "metadata", "raw", "details", "errors", "innererror", "inner_error", "cause", "base_resp",
    "fault", "fieldViolations", "upstream_error", "provider_error",
)  # fmt: skip
"""Names of fields in which servers and gateways put words about an error, or other errors."""

_DEEPEST, _MOST_WORDS = 8, 20
_OVERLOADED = frozenset({429, 503, 529})


def excerpt(text: str, length: int = 300) -> str:
    """Text from outside as one printable line of at most `length` characters."""
    line = " ".join(text[: 4 * length].split())
    plain = "".join(mark for mark in line if mark.isprintable())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def error_of_reply(status: int, body: bytes, headers: Mapping[str, str]) -> AskError:
    """Classify a reply with an HTTP error whose body is JSON, HTML or anything else."""
    try:
        decoded = msgspec.json.decode(repaired_json(body))
    except (AskError, ValueError, RecursionError):
        decoded = body[:LONGEST_MESSAGE].decode("utf-8", "replace")
    return error_of_status(status, decoded, headers)


def error_of_status(status: int, body: object, headers: Mapping[str, str]) -> AskError:
    """Classify an HTTP error.

    Args:
        status: the HTTP status code.
        body: the error object of the reply, or the whole reply, decoded or as text.
        headers: of the reply; names in lower case, or a mapping that ignores case.
    """
    words = words_of(body)
    said = excerpt(words or _codes_as_text(body)) or _("no reason given")
    if 300 <= status < 400:
        elsewhere = excerpt(headers.get("location", "")) or said
        return AskError(
            "connection",
            _("HTTP {}: the server redirects to another address: {}", status, elsewhere),
            retry_after=retry_after(headers, status),
        )
    kind = _kind_of_code(body) or _KIND_OF_STATUS.get(status) or _kind(status)
    return AskError(
        kind,
        _("HTTP {}: {}", status, said),
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
    if status := next(filter(None, map(_status_in, _objects(error))), None):
        return error_of_status(status, error, {})
    words = words_of(error)
    shown = excerpt(words or _codes_as_text(error))
    if kind := _kind_of_code(error):
        return AskError(kind, shown)
    return AskError(
        "bad-response",
        _("an error in place of an answer: {}", shown),
        retryable=True,
        said=" ".join(words[:LONGEST_MESSAGE].split()),
    )


def error_in_batch(error: object) -> AskError:
    """Classify an error in a line of a batch's results, without a reply of the server."""
    if not states_error(error):
        return AskError("server", _("the batch gave no reply"))
    failure = error_of_object(error)
    if failure.kind == "bad-response":
        return AskError("server", excerpt(words_of(error) or _codes_as_text(error)))
    return failure


def states_error(value: object) -> bool:
    """Whether the field ``error`` of a reply states one: not where it has only empty fields."""
    if isinstance(value, dict):
        return any(value.values())
    return bool(value) and isinstance(value, str | list)


def words_of(body: object) -> str:
    """The words of a server and of the providers behind it about an error, joined by colons.

    They are found in every field where servers put them, in lists of validation errors (FastAPI)
    and in JSON inside a text. Words that repeat others are dropped.
    """
    lines: list[str] = []
    for words in islice(_words_in(body, 0), _MOST_WORDS):
        line = words[:LONGEST_MESSAGE].strip()
        if line and not any(line in other for other in lines):
            lines = [*(other for other in lines if other not in line), line]
    return ": ".join(lines)


def _words_in(value: object, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        inner = _json_in(value)
        inside = list(_words_in(inner, depth + 1)) if inner is not None else []
        yield from inside or [value]
    elif isinstance(value, list):
        for each in value:
            yield from _words_in(each, depth + 1)
    elif isinstance(value, dict):
        if isinstance(place := value.get("loc"), list):
            yield f"{'.'.join(map(str, place))}: {value.get('msg', '')}"
            return
        for name in ("error", *_WORDS, *_INSIDE):
            yield from _words_in(value.get(name), depth + 1)


def _objects(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects of an error, the outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield from _objects(_json_in(value), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each, depth + 1)
    elif isinstance(value, dict):
        yield value
        for name in ("error", *_WORDS, *_INSIDE):
            yield from _objects(value.get(name), depth + 1)


def _json_in(text: str) -> object:
    """The object or list that a text contains as JSON; None where it does not."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None


def _codes_in(error: Mapping[str, Any]) -> Iterator[str]:
    for name in _CODES:
        value = error.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(value)


def _kind_of_code(body: object) -> str:
    """The kind of the first code that is more specific than the HTTP status, or ""."""
    codes = (code.lower() for error in _objects(body) for code in _codes_in(error))
    return next((_KIND_OF_CODE[code] for code in codes if code in _KIND_OF_CODE), "")


def _status_in(error: Mapping[str, Any]) -> int | None:
    """The HTTP status that an error object names, as a number or by a word."""
    for code in _codes_in(error):
        if code.isascii() and code.isdecimal() and 400 <= int(code[:4]) < 600:
            return int(code[:4])
        if status := STATUS_OF_WORD.get(code.lower()):
            return status
    return None


def _codes_as_text(body: object) -> str:
    """The codes of an error that has no words."""
    codes = (code for each in _objects(body) for code in _codes_in(each))
    return ", ".join(dict.fromkeys(islice(codes, _MOST_WORDS)))
