"""Leak checks: images and texts of a dataset that also occur in others, or in both of its splits.

Texts are compared as in OCR scoring (no punctuation, one script), by runs of 13 characters: the
share of a text's runs that occur in the other set (`text_leaks`). One altered character costs 13
runs, so a copy with an error every 40 characters still shares two thirds. Repeated wording is
ignored: runs that occur in the questions of two of our groups, or anywhere in more than ten. Runs
are hashed to 64 bits and are on disk if they are many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import Struct

from keju.building.dedup.image_hashes import ImageFile, find_near_hashes, hash_images
from keju.building.dedup.image_similarity import SAME_IMAGE, compare_pairs
from keju.building.engine import Engine
from keju.building.image_files import ImageFiles
from keju.building.releasing.text_leaks import ItemPlace, TextIndex
from keju.datasets.store import Dataset
from keju.items import ImageRef, Item
from keju.runs.record_list import RecordList


class Leak(Struct, frozen=True):
    """An image or text of ours that occurs elsewhere.

    `kind` is ``image`` (the same bytes), ``picture`` (nearly the same image) or ``text``; `part` is
    the part of the item: image, question, answer or transcription. `share` is the share of the
    text's runs in the other set, or the similarity of images; `other` is the item there with most
    of the runs, or with the image.
    """

    kind: str
    item: str
    task: str
    split: str
    part: str
    against: str
    other: str
    other_task: str
    other_split: str
    share: float
    text: str = ""


class LeakComparison(NamedTuple):
    """The leaks, and the numbers of compared texts; texts too short to judge are only counted."""

    leaks: list[Leak]
    images: int
    texts: int
    short: int


def find_leaks(items: Iterable[Item], others: Mapping[str, Iterable[Item]]) -> LeakComparison:
    """Find the leaks of our items into other sets.

    All items are read several times.
    """
    index = TextIndex(items)
    own = {ref.sha256 for item in items for ref in item.images}
    found: list[Leak] = []
    for name, theirs in others.items():
        found += _find_same_images(items, own, theirs, name)
        for ours, other, share in index.find(theirs):
            found.append(Leak("text", *ours.item, ours.part, name, *other, share, ours.text))
    return LeakComparison(found, len(own), index.judged, len(index) - index.judged)


def compare_splits(items: Iterable[Item]) -> LeakComparison:
    """Find items of the test split that also occur in the reference split, of any kind."""
    return find_leaks(_OfSplit(items, "test"), {"reference": _OfSplit(items, "reference")})


def compare_datasets(
    dataset: Path, against: Sequence[Path], *, pictures: bool = True
) -> LeakComparison:
    """Find the leaks of a dataset's test split into its reference split, and into other datasets.

    With `pictures`, nearly the same images are found too, at about a tenth of a second each.

    Raises:
        UsageError: there is no dataset at one of the paths.
        DataError: one is damaged.
    """
    ours = Dataset.open(dataset)
    sets = {str(path): Dataset.open(path) for path in against}
    items = _read(ours)
    others = {name: _read(each) for name, each in sets.items()}
    within, without = compare_splits(items), find_leaks(items, others)
    leaks = [*within.leaks, *without.leaks]
    if pictures:
        engine = Engine()
        test, reference = _OfSplit(items, "test"), _OfSplit(items, "reference")
        leaks += _find_near_images((ours, test), (ours, reference), "reference", engine)
        for name, each in sets.items():
            leaks += _find_near_images((ours, items), (each, others[name]), name, engine)
    return without._replace(leaks=leaks)


def _read(dataset: Dataset) -> RecordList[Item]:
    """The items of a dataset with what is compared, on disk if they are many."""
    return RecordList(Item, map(_compared, dataset))


def _compared(item: Item) -> Item:
    """The parts of an item that are compared or named."""
    return Item(
        id=item.id,
        benchmark=item.benchmark,
        task=item.task,
        images=item.images,
        question=item.question,
        answer=item.answer,
        transcription=item.transcription,
        group=item.group,
        split=item.split,
    )


class _OfSplit(Iterable[Item]):
    """The items of one split."""

    def __init__(self, items: Iterable[Item], split: str) -> None:
        self._items = items
        self._split = split

    def __iter__(self) -> Iterator[Item]:
        return (item for item in self._items if item.split == self._split)


_Items = tuple[Dataset, Iterable[Item]]


def _find_near_images(ours: _Items, theirs: _Items, name: str, engine: Engine) -> Iterator[Leak]:
    """Find images that differ only in their bytes, one row for each item of ours with one."""
    if not (their_images := _collect_images(*theirs)):
        return
    found = list(find_near_images(_collect_images(*ours), their_images, engine))
    wanted = {near.ours for near in found}
    shown: dict[str, dict[str, ItemPlace]] = defaultdict(dict)
    for item in ours[1] if wanted else ():
        for ref in item.images:
            if ref.sha256 in wanted:
                shown[ref.sha256][item.id] = ItemPlace.of(item)
    first = _first_items(theirs[1], {near.theirs for near in found})
    for near in found:
        for place in shown[near.ours].values():
            other = first[near.theirs]
            yield Leak("picture", *place, "image", name, *other, near.likeness)


def _collect_images(dataset: Dataset, items: Iterable[Item]) -> dict[str, tuple[Dataset, ImageRef]]:
    return {ref.sha256: (dataset, ref) for item in items for ref in item.images}


def _first_items(items: Iterable[Item], images: set[str]) -> dict[str, ItemPlace]:
    """The first item with each of these images."""
    found: dict[str, ItemPlace] = {}
    for item in items if images else ():
        for ref in item.images:
            if ref.sha256 in images:
                found.setdefault(ref.sha256, ItemPlace.of(item))
    return found


def _find_same_images(
    ours: Iterable[Item], images: set[str], theirs: Iterable[Item], name: str
) -> Iterator[Leak]:
    """Find images with the same bytes in both; the first item of theirs with them is named."""
    shown = _first_items(theirs, images)
    for item in ours if shown else ():
        for sha256 in dict.fromkeys(ref.sha256 for ref in item.images):
            if other := shown.get(sha256):
                yield Leak("image", *ItemPlace.of(item), "image", name, *other, 1.0)


class NearImage(NamedTuple):
    """An image of ours and one of theirs, by SHA-256, and their similarity, 0 to 1."""

    ours: str
    theirs: str
    likeness: float


def find_near_images(
    ours: Mapping[str, tuple[Dataset, ImageRef]],
    theirs: Mapping[str, tuple[Dataset, ImageRef]],
    engine: Engine,
) -> Iterator[NearImage]:
    """Find pairs of images that are the same, but re-encoded, scaled, rotated slightly or cropped.

    They are found as in the step ``dedup-images``.

    Raises:
        DataError: an image cannot be read.
    """
    names = [*ours, *(name for name in theirs if name not in ours)]
    with TemporaryDirectory(prefix="keju-leaks-") as folder:
        pictures = [
            ImageFile(str(_get_file(dataset, ref, Path(folder)).absolute()), ref.width, ref.height)
            for dataset, ref in map({**theirs, **ours}.__getitem__, names)
        ]
        images = ImageFiles(driver=engine.driver_files())
        hashes = hash_images(engine, pictures, images)
        first = len(ours)
        pairs = [
            (one, other)
            for some, _ in find_near_hashes(hashes)
            for one, other in some.T.tolist()
            if (one < first and names[other] in theirs) or (other < first and names[one] in theirs)
        ]
        files = ((pictures[one], pictures[other]) for one, other in pairs)
        found = compare_pairs(engine, files, images)
    for (one, other), likeness in zip(pairs, found, strict=True):
        if likeness < SAME_IMAGE:
            continue
        for mine, other_one in ((one, other), (other, one)):
            if mine < first and names[other_one] in theirs:
                yield NearImage(names[mine], names[other_one], round(likeness, 4))


def _get_file(dataset: Dataset, ref: ImageRef, folder: Path) -> Path:
    """Return the path of an image; one in a release's tables is written to a temporary file."""
    if ref.path not in dataset.packed:
        return dataset.image_path(ref)
    path = folder / Path(ref.path).name
    path.write_bytes(dataset.image_bytes(ref))
    return path
