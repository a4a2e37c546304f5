"""Parsing of drafts in responses: in the declared form or not at all; nothing is guessed.

A response is untrusted text. It must be one JSON object (a code fence around all of it and a
model's thinking before it are removed), with exactly the requested fields.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from keju.building.drafting.templates import Kind, Stage
from keju.errors import number_of
from keju.extraction import body_of
from keju.text import counted

MOST_CHARACTERS = 20_000
"""Maximum length of one value in characters: a whole page has a few thousand."""

Value = str | list[str]
Values = Mapping[str, Value]


class ParsedReply(NamedTuple):
    """The items of a response, or the reason why it has none."""

    items: tuple[Values, ...]
    why: str = ""


def parse_reply(text: str, stage: Stage, *, least: int, most: int) -> ParsedReply:
    """Parse the items of a response.

    Fewer items than `least` or more than `most` are an error.
    """
    try:
        reply = msgspec.json.decode(body_of(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ParsedReply((), "not a JSON object")
    if (
        not isinstance(reply, dict)
        or set(reply) != {"items"}
        or not isinstance(reply["items"], list)
    ):
        return ParsedReply((), 'not of the form {"items": […]}')
    items = reply["items"]
    if not least <= len(items) <= most:
        found = number_of(len(items), "item")
        return ParsedReply((), f"{found}, but {least} to {most} were requested")
    for number, item in enumerate(items, start=1):
        if fault := _find_fault(item, stage):
            return ParsedReply((), f"item {number}: {fault}")
    return ParsedReply(tuple(items))


def _find_fault(item: object, stage: Stage) -> str:
    if not isinstance(item, dict):
        return "not an object"
    if set(item) != set(stage.reply):
        odd = sorted(set(item) ^ set(stage.reply))
        names = ", ".join(map(str, sorted(item)))[:80]
        return f"fields {names}: {odd[0][:40]!r} is missing or unknown"
    faults = (_find_value_fault(name, kind, item[name]) for name, kind in stage.reply.items())
    return next(filter(None, faults), "")


def _find_value_fault(name: str, kind: str, value: object) -> str:
    shape, _, count = kind.partition(":")
    if not isinstance(value, str if shape == "text" else list):
        return f"{name} is not a {shape}"
    values = value if isinstance(value, list) else [value]
    if not values or (count and len(values) != int(count)):
        return f"{name} has {len(values)} values" + (f", not {count}" if count else "")
    return next((f"{name} {why}" for each in values if (why := find_text_fault(each))), "")


def find_text_fault(value: object) -> str:
    """Find why a value cannot be a draft: not a text, empty, too long, control characters."""
    if not isinstance(value, str):
        return "contains a value that is not a text"
    if not value.strip():
        return "is empty"
    if len(value) > MOST_CHARACTERS:
        return f"is longer than {MOST_CHARACTERS:,} characters"
    if any(unicodedata.category(each) in {"Cc", "Cs"} and each not in "\n\t" for each in value):
        return "has control characters"
    return ""


def find_failed_check(kind: Kind, item: Values, text: str) -> str:
    """Find the check of the kind that an item fails; empty if it passes all.

    Without a text, the quotations of an item cannot be looked up, and that check is skipped.
    """
    page = counted(text, "exact")
    for check in kind.checks:
        name, _, fields = check.partition(":")
        values = [each for one in fields.split(",") for each in as_list(item[one])]
        plain = [counted(each, "exact") for each in values]
        if name == "same-characters" and plain != [page]:
            return "the characters differ from those of the text"
        if name == "in-text" and page:
            for value, form in zip(values, plain, strict=True):
                if not form or form not in page:
                    return f"{value[:30]!r} is not in the text"
        if name == "differ" and len(set(plain)) < len(plain):
            return f"{fields}: two values are the same"
    return ""


def as_list(value: Value) -> Sequence[str]:
    """Return a value as a list of texts."""
    return [value] if isinstance(value, str) else value
