"""OCR services over HTTP, declared as data: the request, and where the text is in the reply."""

from __future__ import annotations

import os
from pathlib import Path
from string import Template
from typing import Literal

import msgspec
from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import read_toml, shipped_toml
from keju.models.addresses import checked_url

_PUBLISHED = "kandianguji"
_URL = ("http://", "https://")

Value = str | bool | int | float


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class of failure (see `AskError`), and words in the service's message that indicate it."""

    says: tuple[str, ...]
    kind: Literal["auth", "rate", "server", "refused", "unreadable-image", "bad-request"]


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    right: dict[str, Value] = {}
    problem: str = ""
    faults: tuple[Fault, ...] = ()


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An OCR service, as a TOML file declares it.

    `image` is the field of the image in base64. `fields` are posted with it and `headers` are sent;
    ``$NAME`` in them is replaced by an environment variable. `body` is the format of the fields,
    `at_once` the number of concurrent requests. `ordered` is false where its lines have no reading
    order and keju has to find it from their polygons.
    """

    url: str
    image: str
    reply: Reply
    fields: dict[str, Value] = {}
    headers: dict[str, str] = {}
    body: Literal["json", "form"] = "json"
    at_once: int = 2
    ordered: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its environment variables, each once."""
        values = (*self.fields.values(), *self.headers.values())
        found = (name for value in values if isinstance(value, str)
                 for name in Template(value).get_identifiers())  # fmt: skip
        return tuple(dict.fromkeys(found))

    def secrets(self) -> dict[str, str]:
        """The values of its environment variables.

        Raises:
            UsageError: one is not set.
        """
        found = {name: os.environ.get(name, "").strip() for name in self.variables}
        if missing := [name for name, value in found.items() if not value]:
            raise UsageError("the OCR service needs the environment variable {}", missing[0])
        return found


def service_of(spec: str) -> Service:
    """The service of that name: one that keju knows, a TOML file, or an address.

    A service at an address is assumed to have the API of 看典古籍.

    Raises:
        UsageError: no such service or file, or not a valid address.
        DataError: the file does not declare a service.
    """
    if spec.startswith(_URL):
        service = replace(_bundled(_PUBLISHED), url=spec)
    elif spec.endswith(".toml"):
        service = _declared(Path(spec))
    elif spec == _PUBLISHED:
        service = _bundled(spec)
    else:
        raise UsageError(
            "http-ocr: needs an address, a file.toml or {} after it, not {!r}", _PUBLISHED, spec
        )
    url = checked_url(
        service.url, what="an OCR service's address", example="https://host/ocr",
        secret_in="an environment variable",  # noqa: S106 - where it belongs, not a secret
    )  # fmt: skip
    return replace(service, url=url)


def _bundled(name: str) -> Service:
    return shipped_toml("keju.models", f"services/{name}.toml", Service)


def _declared(path: Path) -> Service:
    service = read_toml(path, Service, what="a declaration of an OCR service")
    _ = service.variables
    return service
