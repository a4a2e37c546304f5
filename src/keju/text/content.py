"""The content of a response as text, also where a server returns another JSON value; its answer.

Responses are stored as they were returned. All users of the answer (scoring, reports, judges,
pipelines, drafting) extract it with `answer_part`, so that there is one rule for all.
"""

from __future__ import annotations

import json
import re
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


_CLOSING = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


def answer_part(content: str) -> str:
    """The content without its reasoning; the content itself where it has none.

    The answer is what follows the last ``</think>`` (some chat templates open the tag in the
    prompt, so that the content has only the closing one), up to a ``<think>`` that is not closed.
    Where nothing follows, it is what precedes the first ``<think>``. Reasoning that is never closed
    extends to the end. ``<thinking>`` and ``<reasoning>`` are treated in the same way. White space
    around the answer is removed only where reasoning was (our reading).
    """
    opening = _OPENING.search(content)
    closings = list(_CLOSING.finditer(content))
    if opening is None and not closings:
        return content
    first = opening.start() if opening else len(content)
    begun_inside = bool(closings) and closings[0].start() < first
    before = "" if begun_inside else content[:first]
    if not closings:
        return before.strip()
    after = content[closings[-1].end() :]
    if unclosed := _OPENING.search(after):
        after = after[: unclosed.start()]
    return after.strip() or before.strip()


def add_reasoning(content: str, reasoning: str) -> str:
    """The content with separately returned reasoning put before it (our reading).

    The form is ``<think>REASONING</think>CONTENT`` with nothing inserted, as a server without a
    parser for reasoning returns the same output.
    """
    return f"<think>{reasoning}</think>{content}" if reasoning else content
