"""Conversations as columns: of OpenAI, LLaVA, ShareGPT, and of Qwen-VL with ``<img>``."""

from __future__ import annotations

import re

from keju.datasets.readers.choices import written_value
from keju.datasets.readers.records import JsonObject, Place
from keju.texts import _, n_

CONVERSATION = ("messages.user", "messages.assistant", "messages.images")
"""The columns that a conversation becomes."""

_SPEAKERS = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
             "system": "system"}  # fmt: skip
_IN_TEXT = re.compile(r"(?:Picture \d{1,3}: ?)?<img>([^<]{1,1000})</img>\n?")
_MARK = re.compile(r"<\|?image(?:_\d{1,3}|_pad)?\|?>\n?|<ImageHere>\n?")


def with_conversation(cells: JsonObject, column: str, place: Place) -> JsonObject:
    """The cells with the columns of `CONVERSATION` in place of the one with the conversation.

    Raises:
        DataError: the cell is not a list of messages with one question and at most one answer.
    """
    messages = cells.get(column)
    if isinstance(messages, str):
        messages = written_value(messages)
    if not messages or not isinstance(messages, list):
        messages = [None]
    texts: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
    images: list[object] = []
    for message in messages:
        if not isinstance(message, dict):
            problem = _("the conversation is not a list of messages", hint="Write [{…}, {…}]")
            raise place.error(problem)
        speaker = _SPEAKERS.get(str(message.get("role", message.get("from", ""))).casefold())
        if speaker is None:
            raise place.error(_("a message without its role"), _("Write user or assistant"))
        text, message_images = _content(message.get("content", message.get("value")), place)
        texts[speaker].append(text)
        images += message_images
    if len(texts["user"]) != 1 or len(texts["assistant"]) > 1:
        problem = _(
            "{} and {} in a conversation",
            n_("{n:,} question", "{n:,} questions", len(texts["user"])),
            n_("{n:,} answer", "{n:,} answers", len(texts["assistant"])),
        )
        raise place.error(problem, _("Write one question and its answer"))
    values = (texts["user"][0], "".join(texts["assistant"]), images)
    other_cells = {name: cell for name, cell in cells.items() if name != column}
    return other_cells | {
        name: value for name, value in zip(CONVERSATION, values, strict=True) if value
    }


def _content(content: object, place: Place) -> tuple[str, list[object]]:
    """The text of a message, and its images as names, data URLs or objects."""
    images: list[object] = []
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            image = part.get("image_url", part.get("image"))
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif image:
                images.append(image.get("url") if isinstance(image, dict) else image)
        elif part is not None:
            raise place.error(_("a message that is not text", hint="Write a text or parts"))
    text = "\n".join(texts)
    images += _IN_TEXT.findall(text)
    return _MARK.sub("", _IN_TEXT.sub("", text)).strip(), images
