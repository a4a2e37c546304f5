"""IIIF Presentation manifests, version 2 and 3: their pages, images and rights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import floor, sqrt
from typing import Any, NamedTuple, TypeGuard

from keju.errors import DataError

_LEVEL_0 = "level0"
_VERSIONS = (
    (3, ("imageservice3", "/image/3")),
    (2, ("imageservice2", "/image/2")),
    (1, ("imageservice1", "/image/1", "library.stanford.edu/iiif/image-api")),
)
"""Versions of the Image API, and what a service of each has in its context, type or profile."""

_IMAGE_REQUEST = re.compile(
    r"/(full|square|[\d.]+,[\d.]+,[\d.]+,[\d.]+|pct:[\d.,]+)/([^/]+)/(!?[\d.]+)/(\w+)(?:\.\w+)?$"
)
"""Region, size, rotation and quality at the end of an address of the Image API."""

_LONGEST = 1e9
_DEEPEST = 10
"""The maximum depth of resources in resources."""

_REGION = re.compile(r"\d+,\d+,\d+,\d+|pct:[\d.]+(?:,[\d.]+){3}")
_ROTATION = re.compile(r"!?\d+(?:\.\d+)?")
_NO_IMAGE_SERVICE = ("auth", "search", "physdim", "georef", "geojson", "/content/", "otherservice")


class Page(NamedTuple):
    """An image of a canvas, with the number of the canvas from 1, its label and its image.

    `image` is the address in the manifest, empty if the canvas shows no image; `service` that of
    the Image API in `version` (0: not declared). `part` counts the images of the canvas from 1.
    `alternatives` is the number of images of which this is the first or the default one. `sizes`
    are those that a server without scaling has.
    """

    number: int
    label: str
    image: str = ""
    service: str = ""
    version: int = 0
    level_0: bool = False
    width: int = 0
    height: int = 0
    part: int = 1
    alternatives: int = 1
    region: str = ""
    rotation: str = ""
    sizes: tuple[tuple[int, int], ...] = ()

    def get_image_address(self, pixels: int) -> str:
        """Return the address of its image with at most `pixels` pixels (0: full size).

        If the server scales images, it is an address of the Image API, else that of the manifest.
        """
        whole = not pixels or self.width * self.height <= pixels
        fitting = [size for size in self.sizes if size[0] * size[1] <= pixels]
        if not self.service or (self.level_0 and self.image and (whole or not self.sizes)):
            return self.image
        stated = _IMAGE_REQUEST.search(self.image)
        region, stated_size, rotation, quality = stated.groups() if stated else ("full", *[""] * 3)
        # Only version 1 has the quality `native`, and `default` is new in version 2.
        if self.version >= 2 and quality in {"", "native"}:
            quality = "default"
        elif not quality:
            quality = "native" if self.version == 1 else "default"
        rotation = self.rotation or rotation or "0"
        if self.level_0 and self.sizes and not whole:
            size = "{},{}".format(*(max(fitting) if fitting else min(self.sizes)))
        elif whole or self.level_0 or not self.width or not self.height:
            size = "max" if self.version == 3 or stated_size == "max" else "full"
        else:
            sideways = rotation.lstrip("!") in {"90", "270"}
            width = self.height if sideways else self.width
            size = f"{max(1, floor(width * sqrt(pixels / (self.width * self.height))))},"
        return f"{self.service}/{self.region or region}/{size}/{rotation}/{quality}.jpg"


class Manifest(NamedTuple):
    """A book as its library describes it; `rights` is empty where the manifest states none.

    `without_image` are the canvases that show no image, each as a page.
    """

    id: str
    label: str
    rights: str
    attribution: str
    pages: tuple[Page, ...]
    without_image: tuple[Page, ...] = ()


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
        raise DataError("not an IIIF manifest: expected an object")
    kind = content.get("type") or content.get("@type")
    if kind == "Manifest" and "items" in content:
        pages = list(_read_pages_3(content))
        rights = _read_label(content.get("rights"))
        statement = content.get("requiredStatement")
        attribution = _read_label(statement.get("value")) if isinstance(statement, dict) else ""
    elif kind == "sc:Manifest" or "sequences" in content:
        pages = list(_read_pages_2(content))
        rights = _read_label(content.get("license"))
        attribution = _read_label(content.get("attribution"))
    else:
        raise DataError("not an IIIF manifest of version 2 or 3: its type is {!r}", kind)
    return Manifest(
        _read_id(content),
        _read_label(content.get("label")),
        rights,
        attribution,
        tuple(page for page in pages if page.image or page.service),
        tuple(page for page in pages if not (page.image or page.service)),
    )


def _read_pages_2(content: dict[str, Any]) -> Iterator[Page]:
    sequences = _as_list(content.get("sequences"))
    canvases = (
        _as_list(sequences[0].get("canvases")) if sequences and _is_object(sequences[0]) else []
    )
    for number, canvas in enumerate(canvases, start=1):
        if _is_object(canvas):
            yield from _read_canvas(number, canvas, _as_list(canvas.get("images")), "resource")


def _read_pages_3(content: dict[str, Any]) -> Iterator[Page]:
    for number, canvas in enumerate(_as_list(content.get("items")), start=1):
        if not _is_object(canvas):
            continue
        annotations = [
            annotation
            for page in _as_list(canvas.get("items"))
            if _is_object(page)
            for annotation in _as_list(page.get("items"))
        ]
        yield from _read_canvas(number, canvas, annotations, "body")


def _read_canvas(
    number: int, canvas: dict[str, Any], annotations: list[Any], key: str
) -> Iterator[Page]:
    """Read each image that a canvas shows; one page without image if it shows none."""
    blank = Page(
        number=number,
        label=_read_label(canvas.get("label")),
        width=_read_number(canvas.get("width")),
        height=_read_number(canvas.get("height")),
    )
    seen: set[tuple[str, str]] = set()
    for annotation in annotations:
        if not _is_object(annotation) or not _is_painting(annotation):
            continue
        for page in _read_images(annotation.get(key), blank):
            place = page.service or page.image, page.region
            if place[0] and place not in seen:
                seen.add(place)
                yield page._replace(part=len(seen))
    if not seen:
        yield blank


def _is_painting(annotation: dict[str, Any]) -> bool:
    """Whether an annotation is part of the canvas, not about it."""
    motivation = annotation.get("motivation")
    return motivation is None or "painting" in str(motivation)


def _read_images(shown: object, page: Page, depth: int = 0) -> Iterator[Page]:
    """Read the images in a resource: itself, its parts, or the first of alternatives."""
    if depth > _DEEPEST:
        return
    depth += 1
    if isinstance(shown, list):
        for each in shown:
            yield from _read_images(each, page, depth)
        return
    if isinstance(shown, str) and shown != "rdf:nil":  # the choice of no image
        yield page._replace(image=shown)
    if not _is_object(shown):
        return
    kind = str(shown.get("type") or shown.get("@type") or "").casefold()
    if "choice" in kind:
        offered = [*_as_list(shown.get("default")), *_as_list(shown.get("item"))]
        offered += _as_list(shown.get("items"))
        images = (image for each in offered for image in _read_images(each, page, depth))
        by_address = {image.service or image.image: image for image in images}
        yield from (
            image._replace(alternatives=len(by_address)) for image in list(by_address.values())[:1]
        )
    elif "specificresource" in kind:
        for image in _read_images(shown.get("full") or shown.get("source"), page, depth):
            yield _select_part(image, shown)
    elif not kind or "image" in kind:
        yield _read_image(shown, page)


def _select_part(image: Page, shown: dict[str, Any]) -> Page:
    """The region and rotation of an image that a canvas shows."""
    selectors = [each for each in _as_list(shown.get("selector")) if _is_object(each)]
    for selector in selectors:
        value = str(selector.get("value") or "").rpartition("xywh=")[2].removeprefix("pixel:")
        region = str(selector.get("region") or value)
        rotation = str(selector.get("rotation") or "")
        if _ROTATION.fullmatch(rotation):
            image = image._replace(rotation=rotation)
        if _REGION.fullmatch(region):
            width, height = image.width, image.height
            if not region.startswith("pct:"):
                width, height = map(int, region.split(",")[2:])
            own = _read_id(shown)
            image = image._replace(
                region=region,
                width=width,
                height=height,
                image=own if _IMAGE_REQUEST.search(own) else image.image,
            )
    return image


def _read_image(shown: dict[str, Any], page: Page) -> Page:
    service = _choose_service(_as_list(shown.get("service")))
    declared = _read_declared(service)
    sizes = [each for each in _as_list(service.get("sizes")) if _is_object(each)]
    pairs = [(_read_number(each.get("width")), _read_number(each.get("height"))) for each in sizes]
    sources = (shown, service)
    return page._replace(
        image=_read_id(shown),
        service=_read_id(service).removesuffix("/info.json").rstrip("/"),
        version=_read_version(declared),
        level_0=_LEVEL_0 in declared,
        width=next(filter(None, (_read_number(each.get("width")) for each in sources)), page.width),
        height=next(
            filter(None, (_read_number(each.get("height")) for each in sources)), page.height
        ),
        sizes=tuple(pair for pair in pairs if all(pair)),
    )


def _choose_service(services: list[Any]) -> dict[str, Any]:
    """The first service that is declared as one of images, else the first of no other kind."""
    named = ({"@id": each} if isinstance(each, str) else each for each in services)
    objects = [each for each in named if _is_object(each)]
    declared = [each for each in objects if _read_version(_read_declared(each))]
    others = [
        each
        for each in objects
        if not any(word in _read_declared(each) for word in _NO_IMAGE_SERVICE)
    ]
    return next(iter([*declared, *others]), {})


def _read_declared(service: dict[str, Any]) -> str:
    keys = ("@context", "context", "type", "@type", "profile", "dcterms:conformsTo")
    return " ".join(str(service.get(key) or "") for key in keys).casefold()


def _read_version(declared: str) -> int:
    """The version of the Image API that a service declares; 0 if none."""
    return next(
        (version for version, words in _VERSIONS if any(word in declared for word in words)), 0
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
    """Read a length, which some libraries write as a text or with decimals; 0 if there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0
    try:
        number = float(value)
    except ValueError:
        return 0
    return round(number) if 0 < number < _LONGEST else 0


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
