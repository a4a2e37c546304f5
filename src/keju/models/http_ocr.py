"""``http-ocr:SERVICE``: OCR services that accept an image over HTTP, declared as data."""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Literal

import msgspec
from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import read_toml, sha256_bytes, shipped_toml
from keju.items import Line, Point, Request
from keju.models.base import AskError, ModelOptions
from keju.models.endpoints import Secrets, checked_url, destinations_of
from keju.models.engine import Engine, PageReading
from keju.models.http_client import Wire
from keju.models.replies import excerpt, json_value
from keju.texts import _

_PUBLISHED = "kandianguji"
_RETRYABLE = frozenset({"rate", "server", "bad-response"})

_Value = str | bool | int | float


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class of failure (see `AskError`), and words in the service's message that indicate it."""

    says: tuple[str, ...]
    kind: Literal["auth", "rate", "server", "refused", "unreadable-image", "bad-request"]


class ReplyForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The structure of a reply, as dotted paths of names.

    `lines` is a list of texts, or of objects with `text`, and optionally `polygon` (points, or a
    flat list of numbers: corners x, y, or left, top, right, bottom; in pixels of the image as it
    was sent) and `confidence` (0 to 1). `right` are fields and their values in a successful reply;
    in any other, `problem` contains the error, and `faults` classify it.
    """

    lines: str
    text: str = "text"
    polygon: str = ""
    confidence: str = ""
    right: dict[str, _Value] = {}
    problem: str = ""
    faults: tuple[Fault, ...] = ()


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An OCR service, as a TOML file declares it.

    `image` is the field of the image in base64. `fields` are posted with it and `headers` are sent;
    ``$NAME`` in them is replaced by an environment variable. `body` is the format of the fields,
    `at_once` the number of concurrent requests. `ordered` is false where its lines have no reading
    order and keju has to find it from their polygons.

    The hash of these fields is part of request keys: another order or name of a field changes them.
    """

    url: str
    image: str
    reply: ReplyForm
    fields: dict[str, _Value] = {}
    headers: dict[str, str] = {}
    body: Literal["json", "form"] = "json"
    at_once: int = 2
    ordered: bool = True


class HttpOcr(Engine):
    """One OCR service; its declaration describes its requests and replies (see `Service`).

    The image is sent as it is stored, in base64. The lines are in the service's order, or in keju's
    where the service has none. Secrets are read from the environment and are removed from all
    replies of the service.

    Raises:
        UsageError: no such service, or an environment variable that it needs is not set.
        DataError: its file is not valid.
    """

    program = "http-ocr"

    def __init__(self, spec: str, options: ModelOptions) -> None:
        self.name = f"http-ocr:{spec}"
        self._service = service = service_of(spec)
        self.ordering = options.reading_order and not service.ordered
        self.concurrency = service.at_once
        self.destinations = destinations_of(service.url)
        texts = map(str, (*service.fields.values(), *service.headers.values()))
        names = {name for text in texts for name in Template(text).get_identifiers()}
        self._values = {name: os.environ.get(name, "").strip() for name in sorted(names)}
        missing = [name for name, value in self._values.items() if not value]
        if missing and options.asking:
            raise UsageError("the OCR service needs the environment variable {}", missing[0])
        headers = {name: str(self._filled(text)) for name, text in service.headers.items()}
        self._wire = Wire(service.url, options.timeout, headers, Secrets(self._values.values()))

    @cached_property
    def identity(self) -> dict[str, str]:
        """The address and the declaration's hash, with names of variables instead of values."""
        return {
            "kind": "http-ocr",
            "endpoint": self._service.url,
            "service": sha256_bytes(msgspec.json.encode(self._service)),
            "reading_order": "keju" if self.ordering else "service",
        }

    async def read_page(self, request: Request, images: Sequence[bytes], index: int) -> PageReading:
        """The lines of one image."""
        fields = {name: self._filled(value) for name, value in self._service.fields.items()}
        fields[self._service.image] = base64.b64encode(images[index]).decode()
        data: list[bytes] | dict[str, str] = [msgspec.json.encode(fields)]
        if self._service.body == "form":
            data = {
                name: str(value).lower() if isinstance(value, bool) else str(value)
                for name, value in fields.items()
            }
        body = await self._wire.send("POST", data=data)
        try:
            reply = json_value(body)
        except ValueError:
            words = excerpt(body[:2000].decode("utf-8", "replace"))
            raise _bad_reply(f"no JSON: {words}") from None
        ref = request.images[index]
        return PageReading(list(lines_of(reply, self._service.reply)), (ref.width, ref.height))

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    def _filled(self, value: _Value) -> _Value:
        """A declared value with environment variables replaced."""
        return Template(value).safe_substitute(self._values) if isinstance(value, str) else value


def service_of(spec: str) -> Service:
    """The service that a TOML file declares, 看典古籍, or one at an address with the same API.

    Raises:
        UsageError: no such service or file, or not a valid address.
        DataError: the file does not declare a service.
    """
    is_address = spec.startswith(("http://", "https://"))
    if spec.endswith(".toml") and not is_address:
        service = read_toml(Path(spec), Service, what="a declaration of an OCR service")
    elif is_address or spec == _PUBLISHED:
        service = shipped_toml("keju.models", f"services/{_PUBLISHED}.toml", Service)
    else:
        raise UsageError(
            "http-ocr: needs an address, a file.toml or {} after it, not {!r}", _PUBLISHED, spec
        )
    url = spec if is_address else service.url
    place = "an environment variable"
    url = checked_url(url, "an OCR service's address", "https://host/ocr", place)
    return replace(service, url=url)


def lines_of(reply: object, form: ReplyForm) -> Iterator[Line]:
    """The lines of a decoded reply, which is untrusted, in its order.

    Raises:
        AskError: the service reports a failure, or the reply does not have the declared form.
    """
    if any(_at(reply, path) != value for path, value in form.right.items()):
        message = excerpt(str(_at(reply, form.problem) or "it did not say why"))
        kinds = (fault.kind for fault in form.faults if any(word in message for word in fault.says))
        kind = next(kinds, "bad-response")
        problem = _("the service reports: {}", message)
        raise AskError(kind, problem, retryable=kind in _RETRYABLE, overloaded=kind == "rate")
    entries = _at(reply, form.lines)
    if not isinstance(entries, list):
        raise _bad_reply(f"no list at {form.lines}")
    for number, entry in enumerate(entries, start=1):
        text = entry if isinstance(entry, str) else _at(entry, form.text)
        if not isinstance(text, str):
            raise _bad_reply(f"line {number} has no {form.text}")
        share = _at(entry, form.confidence)
        confidence = share if isinstance(share, float | int) and 0 <= share <= 1 else None
        polygon = polygon_of(_at(entry, form.polygon))
        yield Line(id="", text=text, polygon=polygon, confidence=confidence)


def polygon_of(value: object) -> tuple[Point, ...]:
    """A polygon from points, from a flat list of coordinates, or from left, top, right, bottom.

    Empty where it is none of them: a line without a position is still a line.
    """
    if not isinstance(value, list):
        return ()
    flat = [number for part in value for number in (part if isinstance(part, list) else [part])]
    numbers = [float(number) for number in flat if isinstance(number, int | float)]
    if len(numbers) != len(flat) or len(flat) % 2 or not all(map(math.isfinite, numbers)):
        return ()
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return points if len(points) > 2 else ()


def _bad_reply(problem: str) -> AskError:
    return AskError("bad-response", _("the service's reply: {}", problem), retryable=True)


def _at(value: object, path: str) -> object:
    """The value at a dotted path of names; None where there is none."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
