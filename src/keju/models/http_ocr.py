"""``http-ocr:SERVICE``: 看典古籍, an OCR service for old Chinese books, or a server like it.

Requests and replies are as programs of its users send and read them; keju was not tried against the
service itself. Its words for failures are not documented, so their classes are our reading.
"""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec

from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Line, Point, Request
from keju.models.base import AskError, ModelOptions
from keju.models.endpoints import Secrets, checked_url, destinations_of
from keju.models.engine import Engine, PageReading
from keju.models.http_client import Wire
from keju.models.replies import excerpt, json_value
from keju.texts import _

_SERVICE = "kandianguji"
_ADDRESS = "https://ocr.kandianguji.com/ocr_api"
_VARIABLES = {"token": "KANDIANGUJI_TOKEN", "email": "KANDIANGUJI_EMAIL"}
_FIELDS = {"det_mode": "auto", "version": "v2", "return_position": True}
_FAULTS = {"auth": ("token", "Token", "email", "账号", "额度"), "rate": ("并发", "频繁")}
"""Words in the service's message, by the kind of failure that they indicate."""

_RETRYABLE = frozenset({"rate", "bad-response"})


class HttpOcr(Engine):
    """One OCR service: ``kandianguji``, or the address of a server with the same interface.

    The image is sent as it is stored, in base64; the lines are in the service's order. Token and
    e-mail address are read from the environment and are removed from all replies of the service.
    """

    program = "http-ocr"
    concurrency = 2

    def __init__(self, spec: str, options: ModelOptions) -> None:
        if spec != _SERVICE and not spec.startswith(("http://", "https://")):
            raise UsageError("http-ocr: needs an address or {} after it, not {!r}", _SERVICE, spec)
        self.name = f"http-ocr:{spec}"
        url = checked_url(_ADDRESS if spec == _SERVICE else spec)
        self.destinations = destinations_of(url)
        self._secrets = {
            field: os.environ.get(variable, "").strip() for field, variable in _VARIABLES.items()
        }
        unset = [_VARIABLES[field] for field, secret in self._secrets.items() if not secret]
        if unset and options.asking:
            raise UsageError("the OCR service needs the environment variable {}", unset[0])
        self._wire = Wire(url, options.timeout, {}, Secrets(self._secrets.values()))

    @cached_property
    def identity(self) -> dict[str, str]:
        """The address, and a hash of what is sent and read, with names of variables for secrets."""
        interface = {
            "url": self._wire.url,
            "image": "image",
            "reply": {
                "lines": "data.text_lines", "text": "text", "polygon": "position",
                "confidence": "", "right": {"message": "success"}, "problem": "info",
                "faults": [{"says": words, "kind": kind} for kind, words in _FAULTS.items()],
            },
            "fields": {name: f"${variable}" for name, variable in _VARIABLES.items()} | _FIELDS,
            "headers": {}, "body": "json", "at_once": self.concurrency, "ordered": True,
        }  # fmt: skip
        return {
            "kind": "http-ocr",
            "endpoint": self._wire.url,
            "service": sha256_bytes(msgspec.json.encode(interface)),
            "reading_order": "service",
        }

    async def read_page(self, request: Request, images: Sequence[bytes], index: int) -> PageReading:
        """The lines of one image."""
        del request
        image = base64.b64encode(images[index]).decode()
        fields = {**self._secrets, **_FIELDS, "image": image}
        body = await self._wire.send("POST", data=[msgspec.json.encode(fields)])
        try:
            reply = json_value(body)
        except ValueError:
            words = excerpt(body[:2000].decode("utf-8", "replace"))
            raise _bad_reply(f"no JSON: {words}") from None
        return PageReading(list(lines_of(reply)))

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()


def lines_of(reply: Any) -> Iterator[Line]:  # noqa: ANN401 - any JSON
    """The lines of a decoded reply, which is untrusted, in its order.

    Raises:
        AskError: the service reports a failure, or the reply does not have the service's form.
    """
    fields = reply if isinstance(reply, dict) else {}
    if fields.get("message") != "success":
        message = excerpt(str(fields.get("info") or "it did not say why"))
        kinds = (kind for kind, words in _FAULTS.items() if any(word in message for word in words))
        kind = next(kinds, "bad-response")
        problem = _("the service reports: {}", message)
        raise AskError(kind, problem, retryable=kind in _RETRYABLE, overloaded=kind == "rate")
    data = fields.get("data")
    rows = data.get("text_lines") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise _bad_reply("no list at data.text_lines")
    for number, row in enumerate(rows, start=1):
        text = row.get("text") if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise _bad_reply(f"line {number} has no text")
        position = row.get("position") if isinstance(row, dict) else None
        yield Line(id="", text=text, polygon=polygon_of(position))


def polygon_of(position: object) -> tuple[Point, ...]:
    """A polygon from three points or more; empty for anything else."""
    try:
        points = msgspec.convert(position, tuple[Point, ...])
    except msgspec.ValidationError:
        return ()
    is_finite = all(math.isfinite(number) for point in points for number in point)
    return points if is_finite and len(points) > 2 else ()


def _bad_reply(problem: str) -> AskError:
    return AskError("bad-response", _("the service's reply: {}", problem), retryable=True)
