"""`as_utf8` and `repaired_json`: the JSON of a reply whose wrapping is damaged.

A whole answer is not thrown away because of what is around it: a byte-order mark, another encoding,
padding before it, ``data: [DONE]`` behind it, half a surrogate pair or a cut character in it.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from keju.models.base import AskError
from keju.texts import _

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EAST_ASIAN = re.compile(
    r"charset\s*=\s*[\"']?((?:gb|big5|euc|shift|sjis|cp9)[\w-]{0,20})", re.IGNORECASE
)
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MORE = re.compile(r"(?:data:\s*)?\{")
_EVENT_FIELD = re.compile(r"(?:data|event|id|retry)?:")
_DONE = "[DONE]"
_PADDING = " \t\r\n\x00\ufeff"
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def as_utf8(body: bytes, content_type: str = "") -> bytes:
    """A reply in UTF-8 without a byte-order mark; bytes of no character become U+FFFD.

    Args:
        body: the reply.
        content_type: its header. An East Asian encoding that it names counts where most of the
            bytes are not UTF-8: headers are often wrong.
    """
    encoding = json.detect_encoding(body)
    text = body.decode(encoding, "replace")
    if encoding == "utf-8":
        if "\ufffd" not in text:
            return body
        named = _EAST_ASIAN.search(content_type)
        damaged = text.count("\ufffd")
        if named and damaged >= sum(not mark.isascii() for mark in text) - damaged:
            with suppress(UnicodeError, LookupError):
                text = body.decode(named[1])
    return text.removeprefix("\ufeff").encode()


def repaired_json(body: bytes) -> bytes:
    """The JSON value in a reply of UTF-8, in a form that every parser reads.

    ``NaN`` and infinite numbers, which JSON does not have, become null.

    Raises:
        AskError: the server streams (a ``bad-response`` that is not retryable).
        ValueError: the reply contains no whole value.
    """
    text = body.decode("utf-8", "replace").strip(_PADDING)
    try:
        if _EVENT_FIELD.match(text):
            value = _value_of_events(text)
        else:
            value, end = _DECODER.raw_decode(text)
            if _MORE.match(text[end:].lstrip(_PADDING)):
                raise streams()
        if isinstance(value, str):
            with suppress(ValueError):
                value = _DECODER.decode(value)  # JSON in a JSON text
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        whole = json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return _LONE_SURROGATE.sub("\ufffd", whole).encode()


def _value_of_events(text: str) -> object:
    """The value of server-sent events, where one event contains the whole reply or an error."""
    lines = _LINE_BREAK.split(text)
    events = [line.partition(":")[2].strip() for line in lines if line.startswith("data:")]
    if not events:
        # Comments as padding before the reply.
        rest = "\n".join(line for line in lines if not _EVENT_FIELD.match(line))
        return _DECODER.raw_decode(rest.strip(_PADDING))[0]
    try:
        values = [_DECODER.decode(event) for event in events if event not in {"", _DONE}]
    except ValueError:
        raise streams() from None
    errors = [value for value in values if isinstance(value, dict) and value.get("error")]
    if len(values) != 1 and not errors:
        raise streams()
    return errors[0] if errors else values[0]


def streams() -> AskError:
    """The error of a server that streams its answer unasked."""
    return AskError(
        "bad-response",
        _(
            "the server streams its answer (server-sent events), although keju does not ask for a "
            "stream"
        ),
    )
