r"""Records in the form of a conversation: OpenAI's messages, LLaVA's conversations, ShareGPT.

The forms are those of the makers' documentation: parts of type ``text`` and ``image_url`` in
``messages`` (OpenAI), ``{"from": "human", "value": "<image>\n…"}`` in ``conversations`` (LLaVA),
``<img>NAME</img>`` in the text (Qwen-VL).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from keju.benchmarks.mcs_bench.reader.words import plain_key
from keju.datasets.readers.records import JsonObject, Place
from keju.files import decode_json
from keju.texts import _, n_

_KEYS = frozenset({"messages", "conversations", "conversation", "dialogue", "对话"})
_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
}
_IN_TEXT = re.compile(r"(?:Picture \d{1,3}: ?)?<img>([^<]{1,1000})</img>\n?")
_MARK = re.compile(r"<\|?image(?:_\d{1,3}|_pad)?\|?>\n?|<ImageHere>\n?")


def has_conversation(record: Mapping[str, object]) -> bool:
    """Whether a record has a field with a conversation."""
    return any(plain_key(str(key)) in _KEYS for key in record)


def without_conversation(record: JsonObject, place: Place) -> JsonObject:
    """A record with the fields Question, Answer and Image instead of its conversation.

    Fields of the record itself with the names Answer and Image stay.

    Raises:
        DataError: there is not one question in it, or a message is not as the form says.
    """
    key = next((key for key in record if plain_key(str(key)) in _KEYS), None)
    if key is None:
        return record
    said: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
    images: list[object] = []
    for each in _messages(record[key], place):
        text, shown = _content(each.get("content", each.get("value")), place)
        images += shown
        role = _ROLES.get(str(each.get("role", each.get("from", ""))).casefold())
        if role is None:
            raise place.error(_("a message without its role", hint="Write user or assistant"))
        said[role].append(text)
    if len(said["user"]) != 1 or len(said["assistant"]) > 1:
        count, answers = len(said["user"]), len(said["assistant"])
        raise place.error(
            _(
                "{} and {} in a conversation",
                n_("{n:,} question", "{n:,} questions", count),
                n_("{n:,} answer", "{n:,} answers", answers),
                hint="Write one question and its answer",
            )
        )
    found: JsonObject = {name: value for name, value in record.items() if name != key}
    found["Question"] = said["user"][0]
    if said["assistant"]:
        found.setdefault("Answer", said["assistant"][0])
    if images:
        found["Image"] = images
    return found


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
    for key in ("image_url", "image", "input_image", "url", "path", "source", "file", "data"):
        value = part.get(key)
        if isinstance(value, dict):
            value = _image_of(value)
        if value:
            return value
    return None
