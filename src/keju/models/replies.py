"""Parsers of servers' replies: JSON, errors, waits, and reasons why an answer ended.

Untrusted replies of all servers are read here: of chat completions, batches and OCR services. A
whole answer, which is paid for, is not thrown away because its JSON is damaged.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from operator import itemgetter
from typing import Final

import msgspec

from keju.items import Status
from keju.models.base import AskError, status_of
from keju.texts import _

_LONGEST_MESSAGE = 4000
"""The number of characters of a server's message that are searched for refused parameters."""

LONGEST_WAIT = 7 * 24 * 3600.0
"""Seconds; a wait longer than a week counts as a week."""

_KINDS = {
    401: "auth", 402: "auth", 403: "auth", 407: "connection", 408: "timeout", 409: "server",
    425: "server", 429: "rate", 504: "timeout", 524: "timeout",
}  # fmt: skip
"""The kind of an HTTP status that is not that of its hundred."""

_LASTING = frozenset({501, 505, 506, 508, 510, 511, 525, 526})
"""Statuses of servers that another attempt does not change."""

_OVERLOADED = frozenset({429, 503, 529})
_RETRYABLE = frozenset({"rate", "timeout", "server"})

_SPECIFIC: Final = (
    ("refused", re.compile(
        r"content.?filter|content.?policy|responsibleai|data_inspection|moderation|\b1301\b")),
    ("unreadable-image", re.compile("invalid_(?:base64_)?image|image_parse|unsupported_image")),
    ("auth", re.compile(
        r"insufficient_(?:quota|balance)|billing_hard|arrearage|current_quota|overdue|\b1113\b")),
)  # fmt: skip
"""Codes of errors that are more specific than the HTTP status (1301, 1113: Zhipu)."""

_CODE = re.compile(r"""(code|status|type)\\*"\s*:\s*\\*"?([\w.-]+)""")
"""A code of an error in JSON, also in JSON inside a text, where quotes are escaped."""

_HTTP_STATUS = re.compile("[45][0-9]{2}")

_MESSAGES = ("error", "message", "detail", "msg", "error_msg")
"""Names of the field with the words about an error, or with the error itself."""

_ENDINGS: Final = (
    ("rate", re.compile("rate_?limit")),
    ("timeout", re.compile("time_?limit|timed?_?out")),
    ("filtered", re.compile(
        "filter|policy|safety|prohibited|recitation|toxic|sensitive|refusal|guardrail|moderation"
        "|blocklist|spii")),
    ("truncated", re.compile("length|limit|max|window_exceeded|truncat|incomplete")),
    ("server", re.compile(
        "error|fail|abort|cancel|interrupt|disconnect|load|insufficient|other|unknown|malformed")),
    ("answered", re.compile(
        r"^\s*$|stop|(?<![a-z])(?:eos|end)|finish|complete|normal|done|tool|function|null|none")),
)  # fmt: skip
"""Words in a finish reason, each with the status of the answer or the kind of failure; the first
that occurs counts. A model that calls a tool which it does not have has answered."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PADDING = " \t\r\n\x00\ufeff"
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def excerpt(text: str, length: int = 300) -> str:
    """Text from outside as one printable line of at most `length` characters."""
    line = " ".join(text[: 4 * length].split())
    plain = "".join(mark for mark in line if mark.isprintable())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def json_value(body: bytes) -> object:
    """The JSON value in a reply, also where what follows it or single characters are damaged.

    Bytes of no character and half a surrogate pair become U+FFFD; ``NaN`` and infinite numbers,
    which JSON does not have, become null.

    Raises:
        ValueError: the reply does not begin with a whole value.
    """
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(body)
    text = body.decode("utf-8", "replace").strip(_PADDING)
    try:
        value, __ = _DECODER.raw_decode(text)
        repaired = json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return msgspec.json.decode(_LONE_SURROGATE.sub("\ufffd", repaired))


def error_of_status(status: int, body: object, headers: Mapping[str, str]) -> AskError:
    """Classify an HTTP error.

    Args:
        status: the HTTP status code; 0 for an error without one.
        body: the reply, or an error object in it.
        headers: of the reply; names in lower case, or a mapping that ignores case.
    """
    error = body
    if isinstance(body, bytes):
        error = body.decode("utf-8", "replace")
        with suppress(ValueError):
            error = json_value(body)
    words = _words_in(error)
    message = excerpt(words) or _("no reason given")
    usual = "server" if status >= 500 else "bad-request" if status >= 400 else "bad-response"
    kind = _first(_SPECIFIC, " ".join(_codes_in(error))) or _KINDS.get(status, usual)
    if 300 <= status < 400:
        kind = "connection"
        address = excerpt(headers.get("location", "")) or message
        message = _("the server redirects to another address: {}", address)
    has_no_class = kind == "bad-response" and not status
    if status:
        message = _("HTTP {}: {}", status, message)
    elif has_no_class:
        message = _("no answer in the reply: {}", message)
    return AskError(
        kind,
        message,
        retryable=has_no_class or (kind in _RETRYABLE and status not in _LASTING),
        retry_after=retry_after(headers),
        overloaded=kind in _RETRYABLE and status in _OVERLOADED,
        server_message=" ".join(words[:_LONGEST_MESSAGE].split()),
    )


def error_of_object(error: object) -> AskError:
    """Classify an error object that was returned instead of an answer with HTTP 200.

    Gateways do this when the server behind them fails; its ``code`` is then an HTTP status.
    """
    status = next(filter(_HTTP_STATUS.fullmatch, _codes_in(error)), "0")
    return error_of_status(int(status), error, {})


def _words_in(error: object) -> str:
    """The words of a server about an error; all of the error as JSON where it has several texts.

    So the words of a provider behind a gateway are among them.
    """
    while isinstance(error, dict):
        messages = [error[name] for name in _MESSAGES if error.get(name) not in (None, True, "")]
        further_fields = [value for name, value in error.items() if name not in _MESSAGES]
        if len(messages) != 1 or any(isinstance(value, dict | list) for value in further_fields):
            break
        error = messages[0]
    return error if isinstance(error, str) else _as_json(error)


def _codes_in(error: object) -> list[str]:
    """The codes of an error in lower case: before a status and a type, and outer ones first."""
    codes = _CODE.findall(_as_json(error)[:_LONGEST_MESSAGE].lower())
    return [code for __, code in sorted(codes, key=itemgetter(0))]


def _as_json(error: object) -> str:
    try:
        return msgspec.json.encode(error).decode()
    except RecursionError:
        return ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait that a server requests in seconds, from 0 to `LONGEST_WAIT`; None without one.

    The first of ``retry-after-ms`` (OpenAI, Azure) and ``retry-after`` (RFC 9110: seconds or a
    date) that can be parsed counts. `headers` are those of `error_of_status`.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        with suppress(ValueError, TypeError, OverflowError):
            try:
                seconds = float(value) * unit
            except ValueError:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            if not math.isnan(seconds):
                return min(max(seconds, 0.0), LONGEST_WAIT)
    return None


def status_of_ending(reason: str, text: str) -> Status:
    """The status of an answer that ended for this finish reason.

    Raises:
        AskError: the reason is a failure, or is not known, so that the answer may be incomplete.
    """
    outcome = _first(_ENDINGS, reason.lower())
    if outcome == "answered":
        return status_of(text)
    if status := stated_status(reason):
        return status
    problem = _("the answer may be incomplete (finish reason: {})", excerpt(reason, 61))
    raise AskError(outcome or "bad-response", problem, retryable=bool(outcome))


def stated_status(reason: str) -> Status | None:
    """``truncated`` or ``filtered`` where a stored reason states it; else None."""
    statuses: dict[str, Status] = {"truncated": "truncated", "filtered": "filtered"}
    return statuses.get(_first(_ENDINGS, reason.lower()))


def _first(classes: Iterable[tuple[str, re.Pattern[str]]], text: str) -> str:
    """The first class whose words occur in a text; empty if there is none."""
    return next((name for name, words in classes if words.search(text)), "")
