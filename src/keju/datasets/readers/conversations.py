"""Conversations: OpenAI's messages, LLaVA's conversations, ShareGPT, and Qwen-VL's ``<img>``."""

from __future__ import annotations

import re

import msgspec

from keju.datasets.readers.records import JsonObject, Place
from keju.files import decode_json
from keju.texts import _, n_

CONVERSATION = ("messages.user", "messages.assistant", "messages.images")
"""The columns that a conversation becomes."""

_SPEAKERS = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
    "model": "assistant", "bot": "assistant", "system": "system",
}  # fmt: skip
_IN_TEXT = re.compile(r"(?:Picture \d{1,3}: ?)?<img>([^<]{1,1000})</img>\n?")
_MARK = re.compile(r"<\|?image(?:_\d{1,3}|_pad)?\|?>\n?|<ImageHere>\n?")
_IMAGE_KEYS = ("image_url", "image", "input_image", "url", "path", "source", "file", "data")


def with_conversation(cells: JsonObject, column: str, place: Place) -> JsonObject:
    """The cells with the columns of `CONVERSATION` in place of the one with the conversation.

    Raises:
        DataError: the cell is not a list of messages with one question and at most one answer.
    """
    texts: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
    images: list[object] = []
    for message in _messages(cells.get(column), place):
        text, shown = _content(message.get("content", message.get("value")), place)
        images += shown
        speaker = _SPEAKERS.get(str(message.get("role", message.get("from", ""))).casefold())
        if speaker is None:
            raise place.error(_("a message without its role"), _("Write user or assistant"))
        texts[speaker].append(text)
    if len(texts["user"]) != 1 or len(texts["assistant"]) > 1:
        problem = _(
            "{} and {} in a conversation",
            n_("{n:,} question", "{n:,} questions", len(texts["user"])),
            n_("{n:,} answer", "{n:,} answers", len(texts["assistant"])),
        )
        raise place.error(problem, _("Write one question and its answer"))
    values = (texts["user"][0], "".join(texts["assistant"]), images)
    kept = {name: cell for name, cell in cells.items() if name != column}
    return kept | {name: value for name, value in zip(CONVERSATION, values, strict=True) if value}


def _messages(value: object, place: Place) -> list[JsonObject]:
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            value = None
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return value
    raise place.error(_("the conversation is not a list of messages", hint="Write [{…}, {…}]"))


def _content(content: object, place: Place) -> tuple[str, list[object]]:
    """The text of a message, and its images as names, data URLs or objects."""
    images: list[object] = []
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text, image = part.get("text"), _image_of(part)
            if isinstance(text, str):
                texts.append(text)
            elif image is not None:
                images.append(image)
        elif part is not None:
            raise place.error(_("a message that is not text", hint="Write a text or parts"))
    text = "\n".join(texts)
    images += _IN_TEXT.findall(text)
    return _MARK.sub("", _IN_TEXT.sub("", text)).strip(), images


def _image_of(part: JsonObject) -> object:
    for key in _IMAGE_KEYS:
        value = part.get(key)
        if isinstance(value, dict):
            value = _image_of(value)
        if value:
            return value
    return None
