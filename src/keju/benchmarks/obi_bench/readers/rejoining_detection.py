"""`detect_rejoining`: recognises fragments of bones and the files that say which adjoin."""

from __future__ import annotations

from pathlib import Path

from keju.benchmarks.obi_bench.readers.fragment_groups import bones_by, whole_images
from keju.benchmarks.obi_bench.readers.fragment_joins import joins_in
from keju.benchmarks.obi_bench.readers.sources import source_called
from keju.datasets.readers.base import Detection
from keju.datasets.readers.listing import Listing
from keju.errors import DataError, number_of

_TASK = "rejoining"
_MOST_IMAGES = 5_000
_MOST_BYTES = 1 << 24
_MOST_PARTS = 12
"""Fragments of one bone; a folder of more is a class of characters rather than a bone."""


def detect_rejoining(listing: Listing) -> Detection | None:
    """Recognise fragments by a list of pairs of them, or by the name of the source's folder."""
    if not listing.src.is_dir() or len(listing.images) < 2 or len(listing.images) > _MOST_IMAGES:
        return None
    source = source_called(listing.src.resolve().name)
    if source and source.task != _TASK:
        return None
    images = {path.as_posix(): listing.root / path for path in listing.images}
    whole = whole_images(images)
    fragments = {name: path for name, path in images.items() if name not in whole}
    found = _with_pairs(listing, images, fragments) if _is_small(listing) else None
    if found or source is None:
        return found
    what = f"{number_of(len(fragments), 'fragment')}"
    if _are_grouped(fragments, listing.root):
        options = {"adjacency": "all"}
        return Detection(0.9, f"{what}, taken to adjoin within each bone", options)
    return Detection(0.7, what, missing="a table of the pairs that adjoin")


def _with_pairs(
    listing: Listing, images: dict[str, Path], fragments: dict[str, Path]
) -> Detection | None:
    what = f"{number_of(len(fragments), 'fragment')}"
    try:
        joins, _ = joins_in(listing.root, images, fragments, {})
    except DataError as error:
        named = any(path.stem.casefold() == "adjacency" for path in listing.files)
        return Detection(0.9, what, missing=f"a correction ({error})") if named else None
    pairs = sum(map(len, joins.values())) // 2
    return Detection(0.95, f"{what} and {number_of(pairs, 'pair')} that adjoin")


def _is_small(listing: Listing) -> bool:
    full = (listing.path(path) for path in listing.ending("csv", "tsv", "json", "jsonl", "txt"))
    return listing.complete and sum(path.stat().st_size for path in full if path) <= _MOST_BYTES


def _are_grouped(fragments: dict[str, Path], root: Path) -> bool:
    """Whether folders or names group the fragments into bones of a plausible size."""
    try:
        bones = bones_by("", fragments, root)
    except DataError:
        return False
    sizes = {len(of) for of in bones.values()}
    return max(sizes) > 1 and max(sizes) <= _MOST_PARTS
