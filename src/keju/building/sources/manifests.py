"""IIIF Presentation manifests, version 2 and 3: their pages, images and rights."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, sqrt
from typing import Any, NamedTuple, TypeGuard

from keju.errors import DataError
from keju.messages import message

_LEVEL_0 = "level0"


class Page(NamedTuple):
    """A canvas: its number in the manifest from 1, its label, and the address of its image."""

    number: int
    label: str
    image: str
    service: str
    version: int
    level_0: bool
    width: int
    height: int

    def address(self, pixels: int) -> str:
        """The address of its image, with at most so many pixels (0: full size).

        By the Image API, where the server scales; else as in the manifest.
        """
        if not self.service or self.level_0:
            return self.image
        whole = not pixels or self.width * self.height <= pixels
        if whole or not self.width or not self.height:
            size = "full" if self.version == 2 else "max"
        else:
            size = f"{max(1, floor(self.width * sqrt(pixels / (self.width * self.height))))},"
        return f"{self.service.rstrip('/')}/full/{size}/0/default.jpg"


class Manifest(NamedTuple):
    """A book as its library describes it; `rights` is empty where the manifest states none."""

    id: str
    label: str
    rights: str
    attribution: str
    pages: tuple[Page, ...]


def manifests_in(content: object) -> list[str]:
    """The addresses of the manifests and collections that a collection lists.

    Empty where it is not a collection.
    """
    if not isinstance(content, dict):
        return []
    kind = str(content.get("type") or content.get("@type") or "")
    if not kind.endswith("Collection"):
        return []
    listed: list[object] = []
    for key in ("items", "members", "manifests", "collections"):
        listed += _list(content.get(key))
    return [name for each in listed if (name := _id(each))]


def read_manifest(content: object) -> Manifest:
    """Parse a manifest of version 2 or 3.

    Raises:
        DataError: it is neither.
    """
    if not isinstance(content, dict):
        raise DataError(message("building.manifest-not-an-object"))
    kind = content.get("type") or content.get("@type")
    if kind == "Manifest" and "items" in content:
        pages = tuple(_pages_3(content))
        rights = _text(content.get("rights"))
        said = content.get("requiredStatement")
        attribution = _text(said.get("value")) if isinstance(said, dict) else ""
    elif kind == "sc:Manifest" or "sequences" in content:
        pages = tuple(_pages_2(content))
        rights = _text(content.get("license"))
        attribution = _text(content.get("attribution"))
    else:
        raise DataError(message("building.manifest-other-version", kind=kind))
    return Manifest(_id(content), _text(content.get("label")), rights, attribution, pages)


def _pages_2(content: dict[str, Any]) -> Iterator[Page]:
    sequences = _list(content.get("sequences"))
    canvases = _list(sequences[0].get("canvases")) if sequences and _is(sequences[0]) else []
    for number, canvas in enumerate(canvases, start=1):
        images = _list(canvas.get("images")) if _is(canvas) else []
        resource = images[0].get("resource") if images and _is(images[0]) else None
        if _is(resource) and resource.get("@type") == "oa:Choice":
            resource = resource.get("default")
        if _is(resource):
            yield _page(number, canvas, resource)


def _pages_3(content: dict[str, Any]) -> Iterator[Page]:
    for number, canvas in enumerate(_list(content.get("items")), start=1):
        if not _is(canvas):
            continue
        annotations = [
            annotation
            for page in _list(canvas.get("items"))
            if _is(page)
            for annotation in _list(page.get("items"))
            if _is(annotation)
        ]
        bodies = [annotation.get("body") for annotation in annotations]
        body = next((each for each in bodies if _is(each)), None)
        if body is not None and body.get("type") == "Choice":
            body = next((each for each in _list(body.get("items")) if _is(each)), None)
        if body is not None:
            yield _page(number, canvas, body)


def _page(number: int, canvas: dict[str, Any], shown: dict[str, Any]) -> Page:
    services = [each for each in _list(shown.get("service")) if _is(each)]
    service = services[0] if services else {}
    told = f"{service.get('@context')} {service.get('type')} {service.get('profile')}"
    return Page(
        number=number,
        label=_text(canvas.get("label")),
        image=_id(shown),
        service=_id(service),
        version=3 if "ImageService3" in told or "image/3" in told else 2,
        level_0=_LEVEL_0 in told,
        width=_number(shown.get("width")) or _number(canvas.get("width")),
        height=_number(shown.get("height")) or _number(canvas.get("height")),
    )


def _is(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _id(value: object) -> str:
    if isinstance(value, str):
        return value
    found = (value.get("id") or value.get("@id")) if isinstance(value, dict) else ""
    return found if isinstance(found, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(value: object) -> str:
    """A label: a text, texts, a text with its language, or texts by language, Chinese first."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        if "@value" in value:
            return _text(value["@value"])
        chosen = sorted(value, key=lambda tag: (not str(tag).startswith(("zh", "lzh")), str(tag)))
        return _text(value[chosen[0]]) if chosen else ""
    return ""
