"""Parser of an OpenAI-compatible server's reply: content, reasoning, stop reason."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Struct

from keju.errors import printable, shortened
from keju.items import Status, Usage
from keju.messages import message
from keju.models.base import Answer, AskError, status_of
from keju.models.openai_errors import error_of_object, excerpt
from keju.models.token_counts import CheckedUsage, checked_usage
from keju.text import read_content
from keju.text.content import Content

_CUT_SHORT = frozenset({"length", "max_tokens", "max_length", "model_length"})
_FILTERED = frozenset({"safety", "recitation", "prohibited_content", "refusal", "sensitive"})

_LONGEST_NAME = 120


class _Message(Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: Any = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    model: Any = None
    system_fingerprint: Any = None


_DECODER = msgspec.json.Decoder(_Completion)


def answer_of(body: bytes) -> Answer:
    """Parse the body of a chat completion; the content is kept as it was returned.

    `thinking` is only the content of a separate field (``reasoning_content`` or ``reasoning``).

    Raises:
        AskError: it contains no answer: not JSON, no choice, an error instead (``bad-response`` or
            the error's own class), or a refusal by policy (``refused``).
    """
    completion = _decode(body)
    if completion.error:
        raise error_of_object(completion.error)
    reply = completion.choices[0].message if completion.choices else None
    if reply is None:
        raise _bad(message("models.no-choices"), body)
    reason = _text_of(completion.choices[0].finish_reason if completion.choices else None)
    if reason == "abort":
        raise AskError("server", message("models.answer-broken-off"), retryable=True)
    content, refusal = _content(reply.content), _text_of(reply.refusal)
    if refusal and not content.text:
        raise AskError("refused", excerpt(refusal))
    counts = _usage(completion.usage, content.text)
    return Answer(
        text=content.text,
        not_text=content.not_text,
        thinking=_text_of(reply.reasoning_content) or _text_of(reply.reasoning),
        status=_status(reason, content.text),
        finish_reason=reason,
        usage=counts.usage,
        ignored_usage=counts.ignored,
        served_model=_name(completion.model),
        fingerprint=_name(completion.system_fingerprint),
    )


def _name(value: object) -> str:
    """A name that the server reports, as one short line; empty where it is not a text."""
    return shortened(printable(value.strip()), _LONGEST_NAME) if isinstance(value, str) else ""


def _content(value: object) -> Content:
    """A content; a number, a boolean or a non-empty object is kept as JSON text too.

    A server that parses a model's answer as JSON returns 12345 for the text "12345".
    """
    content = read_content(value)
    if isinstance(value, int | float | dict) and value != {}:
        return content._replace(text=json.dumps(value, ensure_ascii=False))
    return content


def _decode(body: bytes) -> _Completion:
    try:
        return _DECODER.decode(body)
    except msgspec.ValidationError as error:
        raise _bad(message("models.not-a-chat-completion", error=error), body) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    start = body[:200].lstrip().lower()
    what = (
        message("models.html-page")
        if start.startswith((b"<!doctype html", b"<html"))
        else message("models.not-whole-json")
    )
    raise _bad(message("models.reply-is", what=what), body)


def _bad(problem: str, body: bytes) -> AskError:
    words = excerpt(body[:400].decode("utf-8", "replace"), 120)
    return AskError("bad-response", f"{problem}: {words!r}", retryable=True)


def _text_of(value: object) -> str:
    """A text, or the joined texts of a list of parts; anything else is empty."""
    return read_content(value).text


def _status(reason: str, text: str) -> Status:
    word = reason.lower()
    if word in _CUT_SHORT:
        return "truncated"
    if word.startswith("content_filter") or word in _FILTERED:
        return "filtered"
    return status_of(text)


def _usage(value: object, text: str) -> CheckedUsage:
    if not isinstance(value, dict):
        return CheckedUsage(Usage(), "" if value is None else f"usage {excerpt(str(value), 40)}")
    details = value.get("completion_tokens_details")
    return checked_usage(
        value.get("prompt_tokens"),
        value.get("completion_tokens"),
        details.get("reasoning_tokens") if isinstance(details, dict) else None,
        text,
    )
