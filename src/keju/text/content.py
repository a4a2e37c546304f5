"""The content of a response as text, also where a server returns another JSON value."""

from __future__ import annotations

import json
from typing import NamedTuple


class Content(NamedTuple):
    """A content as text, and in JSON where it is not text.

    `not_text` is empty where the content is text, null, or a list of parts with a `text` each, as
    chat servers may write a text. `thinking` is the text of parts that are reasoning.
    """

    text: str
    not_text: str = ""
    thinking: str = ""


_REASONING_PARTS = frozenset({"thinking", "reasoning", "thought", "redacted_thinking"})


def read_content(value: object) -> Content:
    """Convert a content: text unchanged, null to empty text, a list to its texts joined.

    A number, a boolean, an object and a list with anything but parts with a `text` are also kept as
    JSON, because an authors' script may not treat them as text.
    """
    if value is None or isinstance(value, str):
        return Content(value or "")
    if not isinstance(value, list):
        return Content("", json.dumps(value))
    thinking = "".join(_thinking_in(part) for part in value if _is_reasoning(part))
    parts = [part for part in value if not _is_reasoning(part)]
    texts = [_text_in(part) for part in parts]
    is_text = all(isinstance(part, dict) for part in value) and (
        thinking or any(isinstance(part.get("text"), str) for part in parts)
    )
    return Content("".join(texts), "" if is_text else json.dumps(value), thinking)


def _is_reasoning(part: object) -> bool:
    """Whether a part is reasoning, as Mistral, Anthropic and Google mark it."""
    return isinstance(part, dict) and (
        str(part.get("type")) in _REASONING_PARTS or part.get("thought") is True
    )


def _thinking_in(part: dict[str, object]) -> str:
    for name in ("thinking", "reasoning", "text", "summary"):
        value = part.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "".join(map(_text_in, value))
    return ""


def _text_in(part: object) -> str:
    value = part.get("text") if isinstance(part, dict) else part
    return value if isinstance(value, str) else ""
