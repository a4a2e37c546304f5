"""Recognising OBI-Bench's sources of single characters: by their names, else by their folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.class_names import TABLES
from keju.benchmarks.obi_bench.readers.descriptions import FIELDS, NAME
from keju.benchmarks.obi_bench.readers.releases import recognised_source, release_of
from keju.benchmarks.obi_bench.readers.sources import Found, Source, source_called, sources_in
from keju.datasets.readers.base import Detection
from keju.datasets.readers.listing import Listing
from keju.errors import KejuError, number_of

_MEANINGS = FIELDS["description"].names
_FEW = 2
"""Images of a class, on average, below which folders are not classes."""

_OTHERS = {"classification": "retrieval", "retrieval": "classification"}


class _Classes(NamedTuple):
    """A source in a listing, and how many images each class has."""

    found: Found
    images: Counter[str]

    @property
    def large(self) -> int:
        """The classes with enough images."""
        source = self.found.source
        return sum(n >= source.references + source.queries for n in self.images.values())


def named_sources(listing: Listing) -> list[Source]:
    """The sources that the folders in a listing are named after, else the folder itself."""
    tops = dict.fromkeys(path.parts[0] for path in listing.files if len(path.parts) > 1)
    known = [source for top in tops if (source := source_called(top))]
    if known:
        return known
    own = source_called(listing.root.resolve().name)
    return [own] if own else []


def detect_classes(listing: Listing, task: str) -> Detection | None:
    """Class folders that classification or retrieval can draw from."""
    named = named_sources(listing)
    if not listing.src.is_dir() or not listing.images:
        return None
    if named and all(source.task != task for source in named):
        return None
    if not named and not _are_classes(listing):
        return None
    try:
        every = [_classes(listing, found) for found in sources_in(listing.src, task)]
    except KejuError as error:
        return Detection(0.6, f"OBI-Bench's {task}", missing=str(error)) if named else None
    few = [each.found.source.name for each in every if not each.large]
    needed = every[0].found.source.references + every[0].found.source.queries
    missing = f"{few[0]} has no class of {needed} images" if few and listing.complete else ""
    what = "; ".join(
        f"{each.found.source.name}: "
        f"{_at_least(listing)}{number_of(sum(each.images.values()), 'image')} in "
        f"{number_of(len(each.images), 'class folder')}"
        for each in every
    )
    if named:
        return Detection(1.0, what, _smaller(listing, every, task), missing)
    # Folders of classes suit both tasks; only the folder's name may name one of them.
    fit = 0.6 if task in listing.root.resolve().name.casefold() else 0.5
    what += f" (also possible: obi-{_OTHERS[task]})"
    return Detection(fit, what, missing=missing)


def detect_characters(listing: Listing) -> Detection | None:
    """Characters to decipher: a release that is recognised, or a table of descriptions."""
    if not listing.src.is_dir() or not listing.images:
        return None
    if any(source.task == "deciphering" for source in named_sources(listing)):
        return _named_characters(listing)
    if listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv", "boxes.json"):
        return None
    if table := _table(listing, PurePosixPath()):
        columns = {key.casefold() for record in listing.records(table, 1) for key in record}
        if not (columns & set(FIELDS["image"].names) and columns & set(_MEANINGS)):
            return None
        return Detection(0.9, f"images of characters and {table.name}, which describes them")
    shown = recognised_source([path.as_posix() for path in listing.images])
    what = f"{shown} as released: {_counted(listing, listing.images)}"
    return Detection(1.0, what) if shown else None


def _named_characters(listing: Listing) -> Detection:
    try:
        found = sources_in(listing.src, "deciphering")
    except KejuError as error:
        return Detection(0.6, "OBI-Bench's deciphering", missing=str(error))
    parts = [_one_source(listing, each) for each in found]
    missing = next((each.missing for each in parts if each.missing), "")
    return Detection(1.0, "; ".join(each.what for each in parts), missing=missing)


def _one_source(listing: Listing, found: Found) -> Detection:
    """The detection of one source, with what is missing."""
    inner = PurePosixPath(found.folder.relative_to(found.src).as_posix())
    images = [path for path in listing.images if path.is_relative_to(inner)]
    name = found.source.name
    if table := _table(listing, inner):
        return Detection(1.0, f"{name}: {_counted(listing, images)}, described in {table.name}")
    names = [path.relative_to(inner).as_posix() for path in images]
    if recognised_source(names) == name:
        return Detection(1.0, f"{name} as released: {_counted(listing, images)}")
    missing = f"{NAME}.csv (keju data scaffold obi-deciphering writes one to fill in)"
    return Detection(0.6, f"{name}: {_counted(listing, images)}", missing=missing)


def _counted(listing: Listing, images: Sequence[PurePosixPath]) -> str:
    folders = len({path.parent for path in images})
    return (
        f"{_at_least(listing)}{number_of(len(images), 'image')} in {number_of(folders, 'folder')}"
    )


def _at_least(listing: Listing) -> str:
    return "" if listing.complete else "at least "


def _table(listing: Listing, folder: PurePosixPath) -> PurePosixPath | None:
    names = (f"{NAME}.csv", f"{NAME}.tsv", f"{NAME}.json", f"{NAME}.jsonl")
    return next((path for path in listing.named(*names) if path.parent == folder), None)


def _classes(listing: Listing, found: Found) -> _Classes:
    release = release_of(found.source.name)
    inner = found.folder.relative_to(found.src).as_posix()
    beside = set(release.beside)
    counts: Counter[str] = Counter()
    for path in listing.images:
        if path.is_relative_to(inner) and len(path.relative_to(inner).parts) > 1:
            folders = path.relative_to(inner).parts[:-1]
            if release.root in folders or not beside.intersection(folders):
                counts[folders[-1]] += 1
    return _Classes(found, counts)


def _are_classes(listing: Listing) -> bool:
    """Whether the images are in class folders, and nothing else is with them."""
    images = set(listing.images)
    others = [path for path in listing.files if path not in images]
    strange = [path for path in others if path.name.casefold() not in TABLES]
    if any(path.suffix.casefold() in {".xml", ".txt", ".json", ".csv"} for path in strange):
        return False
    if any(len(path.parts) == 1 for path in listing.images):
        return False
    labels = {path.parent.name for path in listing.images}
    return len(labels) > 1 and len(listing.images) >= _FEW * len(labels)


def _smaller(listing: Listing, every: Sequence[_Classes], task: str) -> dict[str, str]:
    """Options for a source with less than the paper draws of it."""
    if not listing.complete or all(each.large >= each.found.source.classes for each in every):
        return {}
    most = min(each.large for each in every)
    if task == "classification" or not most:
        return {"classes": str(most)} if most else {}
    wanted = min(most, max(1, most // 2), max(each.found.source.classes for each in every))
    source = every[0].found.source
    spare = min(
        sum(each.images.values()) - sum(n for _, n in each.images.most_common(wanted))
        for each in every
    )
    more = {"distractors": str(min(spare, source.distractors))} if spare else {}
    return {"classes": str(wanted)} | (more if source.distractors else {})
