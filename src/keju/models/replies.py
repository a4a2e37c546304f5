"""Parsers of servers' replies: JSON, errors, waits, and reasons why an answer ended.

Replies of all servers are read here: of chat completions, batches and OCR services. They are
untrusted, and a whole answer is not thrown away because its JSON is damaged.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
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
    (re.compile("content.?filter|content.?policy|responsibleai|data_inspection|moderation|^1301$"),
     "refused"),
    (re.compile("invalid_(?:base64_)?image|image_parse|unsupported_image"), "unreadable-image"),
    (re.compile("insufficient_(?:quota|balance)|billing_hard|arrearage|current_quota|overdue|^1113$"),
     "auth"),
)  # fmt: skip
"""Codes of errors that are more specific than the HTTP status (1301, 1113: Zhipu)."""

_STATUS_OF_WORD: Final = (
    (re.compile("unauth|authentication|permission|forbidden|api_?key"), 401),
    (re.compile("billing"), 402),
    (re.compile("not_found"), 404),
    (re.compile("exhausted|rate_limit|too_many_requests|throttl"), 429),
    (re.compile("invalid|failed_precondition|out_of_range|bad_?request|context_length|too_large"),
     400),
    (re.compile("unavailable|overloaded"), 503),
    (re.compile("deadline|timeout"), 504),
    (re.compile("^internal|^api_error|server_error"), 500),
)  # fmt: skip
"""The HTTP status of the words with which vendors and gRPC class their errors, in lower case."""

_CODE = re.compile(r"""(code|status|type)\\*"\s*:\s*\\*"?([\w.-]+)""")
"""A code of an error in JSON, also in JSON inside a text, where quotes are escaped."""

_MESSAGES = ("error", "message", "detail", "msg", "error_msg")
"""Names of the field with the words about an error, or with the error itself."""

_ENDINGS: Final = (
    (re.compile("rate_limit.*"), "rate"),
    (re.compile("time_?limit|timed?_?out"), "timeout"),
    (re.compile(".*filter.*|.*policy.*|.*safety.*|.*prohibited.*|.*recitation.*|.*toxic.*|sensitive"
                "|refusal|guardrail_.*|moderation|blocklist|spii"), "filtered"),
    (re.compile(".*length.*|.*limit.*|.*max.*|.*window_exceeded|.*truncat.*|incomplete"),
     "truncated"),
    (re.compile("|stop(?:ped)?|(?:stop|eos|end)_.*|eos|end|finish(?:ed)?|completed?|normal|done"
                "|tool_(?:calls?|use)|function_call|null|none|(?:.*_)?unspecified"), "answered"),
    (re.compile(".*error|fail(?:ed|ure)|abort.*|cancel.*|interrupted|disconnect.*|(?:un)?load(?:ed)?"
                "|insufficient_system_resource|overloaded|other|unknown|malformed_.*"), "server"),
)  # fmt: skip
"""Finish reasons of servers, in lower case with ``_`` between words: each with the status of the
answer, or the kind of failure. A model that calls a tool which it does not have has answered."""

_INCOMPLETE: Final[dict[str, Status]] = {"truncated": "truncated", "filtered": "filtered"}
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+")
_ENUMERATION = re.compile(r"^(?:\w+\.)?(?:(?:finish|stop)_?reason[._])?")
_LONGEST_REASON = 60

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PADDING = " \t\r\n\x00\ufeff"
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def excerpt(text: str, length: int = 300) -> str:
    """Text from outside as one printable line of at most `length` characters."""
    line = " ".join(text[: 4 * length].split())
    plain = "".join(mark for mark in line if mark.isprintable())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def json_value(body: bytes | str) -> object:
    """The JSON value in a reply, also where what follows it or single characters are damaged.

    Bytes of no character and half a surrogate pair become U+FFFD; ``NaN`` and infinite numbers,
    which JSON does not have, become null.

    Raises:
        ValueError: the reply does not begin with a whole value.
    """
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(body)
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    try:
        value, __ = _DECODER.raw_decode(text.strip(_PADDING))
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
    error: object = body
    if isinstance(body, bytes):
        try:
            error = json_value(body)
        except ValueError:
            error = body.decode("utf-8", "replace")
    words = _words_in(error)
    message = excerpt(words) or _("no reason given")
    usual = "server" if status >= 500 else "bad-request" if status >= 400 else "bad-response"
    specific = (kind for code in _codes_in(error) for form, kind in _SPECIFIC if form.search(code))
    kind = next(specific, "") or _KINDS.get(status, usual)
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
    statuses = filter(None, map(status_of_word, _codes_in(error)))
    return error_of_status(next(statuses, 0), error, {})


def states_error(value: object) -> bool:
    """Whether the field ``error`` of a reply states one: not where it has only empty fields."""
    if isinstance(value, dict):
        return any(value.values())
    return bool(value) and isinstance(value, str | list)


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


def status_of_word(word: str) -> int:
    """The HTTP status of a code: itself, or that of a word of vendors and gRPC; 0 for none."""
    lower = word.lower()
    if lower.isascii() and lower.isdecimal() and 400 <= (status := int(lower[:4])) < 600:
        return status
    return next((status for words, status in _STATUS_OF_WORD if words.search(lower)), 0)


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


def reason_word(value: object) -> str:
    """A finish reason as a text: empty for null, the `type` of an object (SGLang), else as JSON."""
    if isinstance(value, dict) and value.get("type"):
        value = value["type"]
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return msgspec.json.encode(value).decode()


def status_of_ending(reason: str, text: str) -> Status:
    """The status of an answer that ended for this finish reason.

    Raises:
        AskError: the reason is a failure, or is not known, so that the answer may be incomplete.
    """
    outcome = _outcome(reason)
    if outcome == "answered":
        return status_of(text)
    if outcome in _INCOMPLETE:
        return _INCOMPLETE[outcome]
    words = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
    raise AskError(
        outcome or "bad-response",
        _("the answer may be incomplete (finish reason: {})", words),
        retryable=bool(outcome),
    )


def stated_status(reason: str) -> Status | None:
    """``truncated`` or ``filtered`` where a stored reason states it; else None."""
    return _INCOMPLETE.get(_outcome(reason))


def _outcome(reason: str) -> str:
    """A status, a kind of failure, or an empty string for a reason that is not known."""
    word = _NEW_WORD.sub("_", reason.strip()).lower()
    forms = [word, _ENUMERATION.sub("", word, count=1)]
    forms += [form.partition(":")[0] for form in forms]  # "content_filter: PROHIBITED_CONTENT"
    outcomes = (name for form in forms for words, name in _ENDINGS if words.fullmatch(form))
    return next(outcomes, "")
