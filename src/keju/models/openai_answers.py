"""Parser of an OpenAI-compatible server's reply: content, reasoning, stop reason."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from keju.errors import printable, shortened
from keju.items import Usage
from keju.models.base import Answer, AskError
from keju.models.finish_reasons import reason_word, status_of_ending
from keju.models.openai_errors import error_of_object, excerpt, states_error, words_of
from keju.models.reply_json import repaired_json, streams
from keju.models.token_counts import CheckedUsage, checked_usage
from keju.text import read_content
from keju.text.content import Content
from keju.texts import _

_LONGEST_NAME = 120


class _Message(Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    error: Any = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: Any = None
    native_finish_reason: Any = None
    error: Any = None
    delta: Any = None


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
    choice = completion.choices[0] if completion.choices else _Choice()
    reply = choice.message
    for error in (completion.error, choice.error, reply and reply.error):
        if states_error(error):
            raise error_of_object(error)
    if reply is None:
        raise streams() if choice.delta is not None else _without_choice(body)
    reason = reason_word(choice.finish_reason) or reason_word(choice.native_finish_reason)
    content, refusal = _content(reply.content), _text_of(reply.refusal)
    if refusal and not content.text:
        raise AskError("refused", excerpt(refusal))
    status = status_of_ending(reason, content.text)
    counts = _usage(completion.usage, content.text)
    return Answer(
        text=content.text,
        not_text=content.not_text,
        thinking=_text_of(reply.reasoning_content) or _text_of(reply.reasoning) or content.thinking,
        status=status,
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
    except (ValueError, RecursionError):
        pass
    try:
        return _DECODER.decode(repaired_json(body))
    except msgspec.ValidationError as error:
        raise _bad(_("the reply is not a chat completion ({})", error), body) from None
    except (ValueError, RecursionError):
        pass
    start = body[:200].lstrip().lower()
    what = (
        _("an HTML page")
        if start.startswith((b"<!doctype html", b"<html"))
        else _("incomplete JSON")
    )
    raise _bad(_("the reply is {}", what), body)


def _without_choice(body: bytes) -> AskError:
    """The error of a reply without an answer, in the server's words where it has any."""
    with suppress(ValueError, RecursionError):
        value = msgspec.json.decode(repaired_json(body))
        if words_of(value):
            return error_of_object(value)
    return _bad(_("the reply has no choices"), body)


def _bad(problem: str, body: bytes) -> AskError:
    words = excerpt(body[:400].decode("utf-8", "replace"), 120)
    return AskError("bad-response", f"{problem}: {words!r}", retryable=True)


def _text_of(value: object) -> str:
    """A text, or the joined texts of a list of parts; anything else is empty."""
    content = read_content(value)
    return content.text or content.thinking


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
