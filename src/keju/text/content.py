"""The content of a response as text, also where a server returns another JSON value."""

from __future__ import annotations

import json
from typing import NamedTuple


class Content(NamedTuple):
    """A content as text, and in JSON where it is not text.

    `not_text` is empty where the content is text, null, or a list of parts with a `text` each, as
    chat servers may write a text.
    """

    text: str
    not_text: str = ""


def read_content(value: object) -> Content:
    """Convert a content: text unchanged, null to empty text, a list to its texts joined.

    A number, a boolean, an object and a list with anything but parts with a `text` are also kept as
    JSON, because an authors' script may not treat them as text.
    """
    if value is None:
        return Content("")
    if isinstance(value, str):
        return Content(value)
    if not isinstance(value, list):
        return Content("", json.dumps(value))
    text = "".join(map(_text_in, value))
    if value and all(isinstance(part, dict) for part in value) and any(map(_has_text, value)):
        return Content(text)
    return Content(text, json.dumps(value))


def _text_in(part: object) -> str:
    value = part.get("text") if isinstance(part, dict) else part
    return value if isinstance(value, str) else ""


def _has_text(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
