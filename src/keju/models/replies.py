"""Parsers of servers' replies: JSON, errors, waits, and reasons why an answer ended.

Replies of all servers are read here: of chat completions, batches and OCR services. They are
untrusted, and a whole answer is not thrown away because its JSON is damaged.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, Final

import msgspec

from keju.items import Status
from keju.models.base import AskError, status_of
from keju.models.secrets import Secrets
from keju.texts import _

LONGEST_MESSAGE = 4000
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
    (re.compile("unauth|authentication|invalid_?api_?key"), 401),
    (re.compile("billing"), 402),
    (re.compile("permission|forbidden"), 403),
    (re.compile("not_found"), 404),
    (re.compile("too_large"), 413),
    (re.compile("exhausted|rate_limit|too_many_requests|throttl"), 429),
    (re.compile("invalid_?(?:argument|request|param)|failed_precondition|out_of_range|bad_?request"
                "|context_length"), 400),
    (re.compile("unimplemented"), 501),
    (re.compile("unavailable"), 503),
    (re.compile("deadline|timeout"), 504),
    (re.compile("overloaded"), 529),
    (re.compile("^internal|^api_error|server_error"), 500),
)  # fmt: skip
"""The HTTP status of the words with which vendors and gRPC class their errors, in lower case."""

_CODES = ("code", "status_code", "statusCode", "status", "http_status", "error_code", "type")
_MESSAGES = (
    "error", "message", "detail", "msg", "error_msg", "error_message", "errorMessage", "err_msg",
    "errmsg", "error_description", "status_msg", "Message", "faultstring", "title", "description",
    "reason", "reasons", "metadata", "raw", "details", "errors", "innererror", "inner_error",
    "cause", "base_resp", "fault", "fieldViolations", "upstream_error", "provider_error",
)  # fmt: skip
"""Names of fields in which servers and gateways put words about an error, or other errors."""

_DEEPEST, _MOST_PARTS = 8, 20

_ENDINGS: Final = tuple(
    (re.compile(words), outcome)
    for words, outcome in (
        (r"rate_limit.*", "rate"),
        (r"time_?limit|timed?_?out", "timeout"),
        (r"length|limit|error_limit|token_limit|incomplete|pause_turn|repetition(?:_truncation)?"
         r"|model_length|max(?:imum)?_.*|.*_length_(?:reached|exceeded)|.*_window_exceeded",
         "truncated"),
        (r"content_filter.*|content_policy.*|refusal|guardrail_.*|(?:image_)?safety|language"
         r"|(?:image_)?recitation|(?:image_)?prohibited_content|blocklist|spii|model_armor"
         r"|sensitive|.*toxic|moderation|data_inspection.*", "filtered"),
        (r"|stop(?:ped)?|(?:stop|eos|end)_.*|eos|end|endoftext|finish(?:ed)?|completed?"
         r"|normal|done|success|tool_(?:calls?|use)|function_call|null|none|(?:.*_)?unspecified",
         "answered"),
        (r".*error|fail(?:ed|ure)|(?:user_)?(?:abort|cancel).*|interrupted|disconnect(?:ed)?"
         r"|insufficient_system_resource|overloaded|preempted|(?:model_)?(?:un)?load(?:ed)?|other"
         r"|unknown|malformed_.*|unexpected_tool_call|too_many_tool_calls", "server"),
    )
)  # fmt: skip
"""Finish reasons of servers, in lower case with ``_`` between words: each with the status of the
answer, or the kind of failure. A model that calls a tool which it does not have has answered."""

_INCOMPLETE: Final[dict[str, Status]] = {"truncated": "truncated", "filtered": "filtered"}
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+")
_ENUMERATION = re.compile(r"^(?:\w+\.)?(?:(?:finish|stop)_?reason[._])?")
_LONGEST_REASON = 60

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EAST_ASIAN = re.compile(
    r"charset\s*=\s*[\"']?((?:gb|big5|euc|shift|sjis|cp9)[\w-]{0,20})", re.IGNORECASE
)
_EVENT = re.compile(r"(?:data|event|id|retry)?:")
_PADDING = " \t\r\n\x00\ufeff"
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def excerpt(text: str, length: int = 300) -> str:
    """Text from outside as one printable line of at most `length` characters."""
    line = " ".join(text[: 4 * length].split())
    plain = "".join(mark for mark in line if mark.isprintable())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def body_of(status: int, body: bytes, headers: Mapping[str, str], secrets: Secrets) -> bytes:
    """The body of a successful reply as UTF-8, without keys.

    Raises:
        AskError: the status is that of an error.
    """
    plain = {name.lower(): secrets.hide(value) for name, value in headers.items()}
    body = secrets.hide_bytes(as_utf8(body, plain.get("content-type", "")))
    if not 200 <= status < 300:
        try:
            error = json_value(body)
        except (AskError, ValueError):
            error = body.decode("utf-8", "replace")
        raise error_of_status(status, error, plain)
    return body


def as_utf8(body: bytes, content_type: str = "") -> bytes:
    """A reply in UTF-8 without a byte-order mark; bytes of no character become U+FFFD.

    Args:
        body: the reply.
        content_type: its header. An East Asian encoding that it names counts where most of the
            bytes are not UTF-8: headers are often wrong.
    """
    encoding = json.detect_encoding(body)
    text = body.decode(encoding, "replace")
    if encoding == "utf-8":
        if "\ufffd" not in text:
            return body
        charset = _EAST_ASIAN.search(content_type)
        damaged = text.count("\ufffd")
        if charset and damaged >= sum(not mark.isascii() for mark in text) - damaged:
            with suppress(UnicodeError, LookupError):
                text = body.decode(charset[1])
    return text.removeprefix("\ufeff").encode()


def json_value(body: bytes | str) -> object:
    """The JSON value in a reply, also where what is around it or single characters are damaged.

    ``NaN`` and infinite numbers, which JSON does not have, become null, and half a surrogate pair
    becomes U+FFFD.

    Raises:
        AskError: the server streams (a ``bad-response`` that is not retryable).
        ValueError: the reply contains no whole value.
    """
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(body)
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    text = text.strip(_PADDING)
    if _EVENT.match(text):
        raise streams()
    try:
        value, end = _DECODER.raw_decode(text)
        whole = json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if text[end:].lstrip(_PADDING).startswith("{"):
        raise streams()  # a JSON object in each line
    return msgspec.json.decode(_LONE_SURROGATE.sub("\ufffd", whole))


def streams() -> AskError:
    """The error of a server that streams its answer unasked."""
    return AskError(
        "bad-response",
        _(
            "the server streams its answer (server-sent events), although keju does not ask for a "
            "stream"
        ),
    )


def error_of_status(status: int, body: object, headers: Mapping[str, str]) -> AskError:
    """Classify an HTTP error.

    Args:
        status: the HTTP status code.
        body: the error object of the reply, or the whole reply, decoded or as text.
        headers: of the reply; names in lower case, or a mapping that ignores case.
    """
    shown = _excerpt_of(body) or _("no reason given")
    if 300 <= status < 400:
        address = excerpt(headers.get("location", "")) or shown
        return AskError(
            "connection",
            _("HTTP {}: the server redirects to another address: {}", status, address),
            retry_after=retry_after(headers),
        )
    usual = "server" if status >= 500 else "bad-request" if status >= 400 else "bad-response"
    kind = _specific_kind(body) or _KINDS.get(status, usual)
    return AskError(
        kind,
        _("HTTP {}: {}", status, shown),
        retryable=kind in _RETRYABLE and status not in _LASTING,
        retry_after=retry_after(headers),
        overloaded=kind in _RETRYABLE and status in _OVERLOADED,
        said=" ".join(message_of(body)[:LONGEST_MESSAGE].split()),
    )


def error_of_object(error: object) -> AskError:
    """Classify an error object that was returned instead of an answer with HTTP 200.

    Gateways do this when the server behind them fails; its ``code`` is then an HTTP status.
    """
    if status := next(filter(None, map(_status_of_code, _codes_in(error))), None):
        return error_of_status(status, error, {})
    if kind := _specific_kind(error):
        return AskError(kind, _excerpt_of(error))
    return AskError(
        "bad-response", _("an error in place of an answer: {}", _excerpt_of(error)), retryable=True
    )


def error_in_batch(error: object) -> AskError:
    """Classify an error in a line of a batch's results, without a reply of the server."""
    if not states_error(error):
        return AskError("server", _("the batch gave no reply"))
    failure = error_of_object(error)
    return AskError("server", _excerpt_of(error)) if failure.kind == "bad-response" else failure


def states_error(value: object) -> bool:
    """Whether the field ``error`` of a reply states one: not where it has only empty fields."""
    if isinstance(value, dict):
        return any(value.values())
    return bool(value) and isinstance(value, str | list)


def message_of(body: object) -> str:
    """The words of a server and of the providers behind it about an error, joined by colons.

    They are found in every field where servers put them, in lists of validation errors (FastAPI)
    and in JSON inside a text. Words that repeat others are dropped.
    """
    lines: list[str] = []
    for words in islice((part for part in _parts(body) if isinstance(part, str)), _MOST_PARTS):
        line = words[:LONGEST_MESSAGE].strip()
        if line and not any(line in other for other in lines):
            lines = [*(other for other in lines if other not in line), line]
    return ": ".join(lines)


def _parts(value: object, depth: int = 0) -> Iterator[str | dict[str, Any]]:
    """The texts and the objects of an error, the outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        inner = list(_parts(_json_in(value), depth + 1))
        yield from inner or [value]
    elif isinstance(value, list):
        for part in value:
            yield from _parts(part, depth + 1)
    elif isinstance(value, dict):
        yield value
        if isinstance(place := value.get("loc"), list):
            yield f"{'.'.join(map(str, place))}: {value.get('msg', '')}"
            return
        for name in _MESSAGES:
            yield from _parts(value.get(name), depth + 1)


def _json_in(text: str) -> object:
    """The object or list that a text contains as JSON; None where it does not."""
    with suppress(AskError, ValueError):
        value = json_value(text)
        return value if isinstance(value, dict | list) else None
    return None


def _codes_in(body: object) -> Iterator[str]:
    for part in _parts(body):
        for name in _CODES if isinstance(part, dict) else ():
            value = part.get(name)  # type: ignore[union-attr]
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value)


def _excerpt_of(body: object) -> str:
    """The words of an error, else its codes, as one short line."""
    return excerpt(
        message_of(body) or ", ".join(dict.fromkeys(islice(_codes_in(body), _MOST_PARTS)))
    )


def _specific_kind(body: object) -> str:
    """The kind of the first code that is more specific than the HTTP status, or ""."""
    codes = map(str.lower, _codes_in(body))
    return next((kind for code in codes for words, kind in _SPECIFIC if words.search(code)), "")


def _status_of_code(code: str) -> int | None:
    """The HTTP status that a code is, as a number or by a word."""
    if code.isascii() and code.isdecimal() and 400 <= int(code[:4]) < 600:
        return int(code[:4])
    return status_of_word(code)


def status_of_word(word: str) -> int | None:
    """The HTTP status of a word with which vendors and gRPC class their errors, or None."""
    lower = word.lower()
    return next((status for words, status in _STATUS_OF_WORD if words.search(lower)), None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait that a server requests in seconds, from 0 to `LONGEST_WAIT`; None without one.

    The first of ``retry-after-ms`` (OpenAI, Azure) and ``retry-after`` (RFC 9110: seconds or a
    date) that can be parsed counts.

    Args:
        headers: of the reply; names in lower case, or a mapping that ignores case.
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
        AskError: the reason is a failure, or is not known.
    """
    outcome = _outcome(reason)
    if outcome == "answered":
        return status_of(text)
    if status := stated_status(reason):
        return status
    if not outcome:
        shown = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
        raise AskError(
            "bad-response",
            _(
                "the answer ended with the finish reason {!r}, which keju does not know, so it may "
                "be incomplete",
                shown,
            ),
        )
    raise AskError(
        outcome,
        _("the server ended the answer before it was complete (finish reason: {})", reason),
        retryable=True,
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
