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

    def get_image_address(self, pixels: int) -> str:
        """Return the address of its image with at most `pixels` pixels (0: full size).

        If the server scales images, it is an address of the Image API, else that of the manifest.
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


def list_manifests(content: object) -> list[str]:
    """List the addresses of the manifests and collections in a collection.

    The list is empty if `content` is not a collection.
    """
    if not isinstance(content, dict):
        return []
    kind = str(content.get("type") or content.get("@type") or "")
    if not kind.endswith("Collection"):
        return []
    listed: list[object] = []
    for key in ("items", "members", "manifests", "collections"):
        listed += _as_list(content.get(key))
    return [name for each in listed if (name := _read_id(each))]


def read_manifest(content: object) -> Manifest:
    """Parse a manifest of version 2 or 3.

    Raises:
        DataError: it is neither.
    """
    if not isinstance(content, dict):
        raise DataError(message("building.manifest-not-an-object"))
    kind = content.get("type") or content.get("@type")
    if kind == "Manifest" and "items" in content:
        pages = tuple(_read_pages_3(content))
        rights = _read_label(content.get("rights"))
        statement = content.get("requiredStatement")
        attribution = _read_label(statement.get("value")) if isinstance(statement, dict) else ""
    elif kind == "sc:Manifest" or "sequences" in content:
        pages = tuple(_read_pages_2(content))
        rights = _read_label(content.get("license"))
        attribution = _read_label(content.get("attribution"))
    else:
        raise DataError(message("building.manifest-other-version", kind=kind))
    return Manifest(
        _read_id(content), _read_label(content.get("label")), rights, attribution, pages
    )


def _read_pages_2(content: dict[str, Any]) -> Iterator[Page]:
    sequences = _as_list(content.get("sequences"))
    canvases = (
        _as_list(sequences[0].get("canvases")) if sequences and _is_object(sequences[0]) else []
    )
    for number, canvas in enumerate(canvases, start=1):
        images = _as_list(canvas.get("images")) if _is_object(canvas) else []
        resource = images[0].get("resource") if images and _is_object(images[0]) else None
        if _is_object(resource) and resource.get("@type") == "oa:Choice":
            resource = resource.get("default")
        if _is_object(resource):
            yield _read_page(number, canvas, resource)


def _read_pages_3(content: dict[str, Any]) -> Iterator[Page]:
    for number, canvas in enumerate(_as_list(content.get("items")), start=1):
        if not _is_object(canvas):
            continue
        annotations = [
            annotation
            for page in _as_list(canvas.get("items"))
            if _is_object(page)
            for annotation in _as_list(page.get("items"))
            if _is_object(annotation)
        ]
        bodies = [annotation.get("body") for annotation in annotations]
        body = next((each for each in bodies if _is_object(each)), None)
        if body is not None and body.get("type") == "Choice":
            body = next((each for each in _as_list(body.get("items")) if _is_object(each)), None)
        if body is not None:
            yield _read_page(number, canvas, body)


def _read_page(number: int, canvas: dict[str, Any], shown: dict[str, Any]) -> Page:
    services = [each for each in _as_list(shown.get("service")) if _is_object(each)]
    service = services[0] if services else {}
    declared = f"{service.get('@context')} {service.get('type')} {service.get('profile')}"
    return Page(
        number=number,
        label=_read_label(canvas.get("label")),
        image=_read_id(shown),
        service=_read_id(service),
        version=3 if "ImageService3" in declared or "image/3" in declared else 2,
        level_0=_LEVEL_0 in declared,
        width=_read_number(shown.get("width")) or _read_number(canvas.get("width")),
        height=_read_number(shown.get("height")) or _read_number(canvas.get("height")),
    )


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read_id(value: object) -> str:
    if isinstance(value, str):
        return value
    found = (value.get("id") or value.get("@id")) if isinstance(value, dict) else ""
    return found if isinstance(found, str) else ""


def _read_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _read_label(value: object) -> str:
    """Read a label: a text, several, one with its language, or texts by language (zh first)."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(_read_label, value)))
    if isinstance(value, dict):
        if "@value" in value:
            return _read_label(value["@value"])
        chosen = sorted(value, key=lambda tag: (not str(tag).startswith(("zh", "lzh")), str(tag)))
        return _read_label(value[chosen[0]]) if chosen else ""
    return ""
