"""`detect_pages`: recognises a source of PAGE-XML or ALTO by the root elements of its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath

from keju.datasets.readers.base import Detection
from keju.datasets.readers.listing import Listing
from keju.texts import _, n_

COMPANIONS = frozenset({"mets", "trpDocMetadata"})
"""Root elements of files that exporters write beside the pages."""

_SAMPLE = 40
_BEGINNING = 1 << 16
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
_PROLOGUE = (("<?", "?>"), ("<!--", "-->"), ("<!", ">"))
_MEASURE = re.compile(r"<(?:\w+:)?MeasurementUnit>\s*(\w+)")
_NO_PIXELS = frozenset({"mm10", "inch1200"})


def xml_roots(listing: Listing) -> Counter[str]:
    """The names of root elements in a sample of the XML files, each with its number of files."""
    return Counter(_root_in(_text(listing, path)) for path in _sample(listing))


def detect_pages(root: str, name: str) -> Callable[[Listing], Detection | None]:
    """The detection of a format with one page per XML file, by the root element of its files."""

    def detect(listing: Listing) -> Detection | None:
        roots = xml_roots(listing)
        if not roots[root]:
            return None
        known = {root, "", *COMPANIONS}
        others = {key: count for key, count in roots.items() if key not in known}
        found = len(listing.ending("xml"))
        folders = len({path.parent for path in listing.ending("xml")})
        what = _(
            "{} in {}, {}",
            n_("{n} {} file", "{n} {} files", found, name),
            n_("{n} folder", "{n} folders", folders),
            count_images(len(listing.images)),
        )
        missing = _units(listing) if root == "alto" else ""
        if others:
            kinds = ", ".join(f"<{key}>" for key in others)
            missing = _("a folder of {} alone: some of the XML files have the root {}", name, kinds)
        share = roots[root] / (roots[root] + sum(others.values()))
        return Detection(share, what, missing=missing)

    return detect


def count_images(number: int) -> str:
    """How many images there are beside the files, for a detection."""
    return n_("{n} image", "{n} images", number) if number else _("no images")


def _units(listing: Listing) -> str:
    for path in _sample(listing)[:5]:
        unit = _MEASURE.search(_text(listing, path))
        if unit and unit[1] in _NO_PIXELS:
            return _(
                "the resolution of the scans, since lengths are in {}: --option dpi=300", unit[1]
            )
    return ""


def _sample(listing: Listing) -> list[PurePosixPath]:
    files = listing.ending("xml")
    step = max(1, len(files) // _SAMPLE)
    return list(files[::step])[:_SAMPLE]


def root_of_bytes(data: bytes) -> str:
    """The name of the root element of an XML file, from its beginning; empty if there is none."""
    return _root_in(_decoded(data[:_BEGINNING]))


def _root_in(text: str) -> str:
    place = 0
    while (place := text.find("<", place)) >= 0:
        end = next((end for begin, end in _PROLOGUE if text.startswith(begin, place)), "")
        if not end:
            match = _ROOT.match(text, place)
            return match[1] if match else ""
        after = text.find(end, place)
        if after < 0:
            break
        place = after + len(end)
    return ""


def _text(listing: Listing, path: PurePosixPath) -> str:
    return _decoded(listing.head(path, _BEGINNING))


def _decoded(data: bytes) -> str:
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if wide else "utf-8", "replace")
