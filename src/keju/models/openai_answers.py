"""What an OpenAI-compatible server's reply says: the answer, the thinking, how it ended."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from keju.items import Status, Usage
from keju.models.base import Answer, AskError
from keju.models.openai_errors import error_of_object, excerpt

_THINKING = re.compile(r"\A\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL)
_CLOSE = "</think>"

_CUT_SHORT = frozenset({"length", "max_tokens", "max_length", "model_length"})
_FILTERED = frozenset({"safety", "recitation", "prohibited_content", "refusal", "sensitive"})


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


class SplitText(NamedTuple):
    """A model's words, divided."""

    thinking: str
    text: str


_DECODER = msgspec.json.Decoder(_Completion)


def answer_of(body: bytes) -> Answer:
    """Read the body of a chat completion.

    Raises:
        AskError: it holds no answer: not JSON, no choice, an error in place of one
            (``bad-response`` or the error's own class), or a refusal by policy (``refused``).
    """
    completion = _decode(body)
    if completion.error:
        raise error_of_object(completion.error)
    message = completion.choices[0].message if completion.choices else None
    if message is None:
        raise _bad("the reply has no choices", body)
    reason = _text_of(completion.choices[0].finish_reason if completion.choices else None)
    if reason == "abort":
        raise AskError("server", "the server broke off the answer", retryable=True)
    content, refusal = _text_of(message.content), _text_of(message.refusal)
    if refusal and not content:
        raise AskError("refused", excerpt(refusal))
    split = split_thinking(content)
    thinking = _text_of(message.reasoning_content) or _text_of(message.reasoning)
    return Answer(
        text=split.text,
        thinking="\n".join(part for part in (thinking, split.thinking) if part),
        status=_status(reason, split.text),
        finish_reason=reason,
        usage=_usage(completion.usage),
    )


def split_thinking(content: str) -> SplitText:
    """Take a leading ``<think>…</think>`` off a text.

    Some chat templates open the tag in the prompt, so that a text may hold only the closing one:
    all before it is thinking too. A tag that is never closed is thinking to its end.
    """
    if found := _THINKING.match(content):
        return SplitText(found[1].strip(), content[found.end() :].strip())
    before, closed, after = content.partition(_CLOSE)
    if closed:
        return SplitText(before.strip(), after.strip())
    return SplitText("", content)


def _decode(body: bytes) -> _Completion:
    try:
        return _DECODER.decode(body)
    except msgspec.ValidationError as error:
        raise _bad(f"the reply is not a chat completion ({error})", body) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    start = body[:200].lstrip().lower()
    what = "an HTML page" if start.startswith((b"<!doctype html", b"<html")) else "not whole JSON"
    raise _bad(f"the reply is {what}", body)


def _bad(problem: str, body: bytes) -> AskError:
    words = excerpt(body[:400].decode("utf-8", "replace"), 120)
    return AskError("bad-response", f"{problem}: {words!r}", retryable=True)


def _text_of(value: object) -> str:
    """A text, or the joined texts of a list of parts; anything else is empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _status(reason: str, text: str) -> Status:
    word = reason.lower()
    if word in _CUT_SHORT:
        return "truncated"
    if word.startswith("content_filter") or word in _FILTERED:
        return "filtered"
    return "answered" if text.strip() else "empty"


def _usage(value: object) -> Usage:
    if not isinstance(value, dict):
        return Usage()
    details = value.get("completion_tokens_details")
    return Usage(
        input_tokens=_count(value, "prompt_tokens"),
        output_tokens=_count(value, "completion_tokens"),
        thinking_tokens=_count(details, "reasoning_tokens") if isinstance(details, dict) else None,
    )


def _count(value: dict[str, object], name: str) -> int | None:
    number = value.get(name)
    return number if isinstance(number, int) and not isinstance(number, bool) else None
