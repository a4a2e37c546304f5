"""Leak checks: images and texts of a dataset that also occur in others, or in both of its splits.

Texts are compared as in OCR scoring (no punctuation, one script), by runs of 13 characters: the
share of a text's runs that occur in the other set. One altered character costs 13 runs, so a copy
with an error every 40 characters still shares two thirds. Repeated wording is ignored: runs that
occur in the questions of two of our groups, or anywhere in more than ten. Runs are hashed to 64
bits; only our own are kept in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.engine import Engine
from keju.building.releasing.near_pictures import find_near_images
from keju.building.releasing.splitting import get_group
from keju.datasets.store import Dataset
from keju.items import ImageRef, Item
from keju.text import counted

RUN = 13
"""Characters of a run. Shorter ones are shared by chance and by formulas (13 is also the length, in
words, by which training texts of language models are usually compared with test sets)."""

SHARE = 0.5
"""The minimum share of a text's runs in the other set for a leak (our choice)."""

FORMULA = 10
"""A run in more than this number of our groups is repeated wording and is ignored."""

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD))

Hashes = NDArray[np.uint64]


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


class _ItemText(NamedTuple):
    item: Item
    part: str
    text: str


def find_leaks(items: Sequence[Item], others: Mapping[str, Sequence[Item]]) -> LeakComparison:
    """Find the leaks of our items into other sets.

    Args:
        items: ours.
        others: other sets' items by their names.
    """
    ours = list(_iter_texts(items))
    index = _RunIndex(ours)
    found: list[Leak] = []
    for name, theirs in others.items():
        found += _find_same_images(items, theirs, name)
        found += index.find(theirs, name)
    images = len({ref.sha256 for item in items for ref in item.images})
    return LeakComparison(found, images, index.judged, len(ours) - index.judged)


def compare_splits(items: Sequence[Item]) -> LeakComparison:
    """Find items of the test split that also occur in the reference split, of any kind."""
    test = [item for item in items if item.split == "test"]
    return find_leaks(test, {"reference": [item for item in items if item.split == "reference"]})


def compare_datasets(
    dataset: Path, against: Sequence[Path], *, pictures: bool = True, engine: Engine | None = None
) -> LeakComparison:
    """Find the leaks of a dataset's test split into its reference split, and into other datasets.

    Args:
        dataset: ours.
        against: the others.
        pictures: also search for nearly the same images, at about a tenth of a second each.
        engine: runs that search.

    Raises:
        UsageError: there is no dataset at one of the paths.
        DataError: one is damaged.
    """
    ours = Dataset.open(dataset)
    items = ours.items()
    sets = {str(path): Dataset.open(path) for path in against}
    others = {name: each.items() for name, each in sets.items()}
    within, without = compare_splits(items), find_leaks(items, others)
    leaks = [*within.leaks, *without.leaks]
    if pictures:
        engine = engine or Engine()
        test = [item for item in items if item.split == "test"]
        reference = [item for item in items if item.split == "reference"]
        leaks += _find_near_images((ours, test), (ours, reference), "reference", engine)
        for name, each in sets.items():
            leaks += _find_near_images((ours, items), (each, others[name]), name, engine)
    return without._replace(leaks=leaks)


_Items = tuple[Dataset, Sequence[Item]]


def _find_near_images(ours: _Items, theirs: _Items, name: str, engine: Engine) -> Iterator[Leak]:
    """Find images that differ only in their bytes, one row for each item of ours with one."""
    if not theirs[1]:
        return
    shown: dict[str, list[Item]] = defaultdict(list)
    for item in ours[1]:
        for ref in item.images:
            shown[ref.sha256].append(item)
    first = {ref.sha256: item for item in reversed(theirs[1]) for ref in item.images}
    for near in find_near_images(_collect_images(*ours), _collect_images(*theirs), engine):
        for item in {each.id: each for each in shown[near.ours]}.values():
            yield _make_leak("picture", item, "image", name, first[near.theirs], near.likeness)


def _collect_images(dataset: Dataset, items: Sequence[Item]) -> dict[str, tuple[Dataset, ImageRef]]:
    return {ref.sha256: (dataset, ref) for item in items for ref in item.images}


def _find_same_images(ours: Sequence[Item], theirs: Sequence[Item], name: str) -> Iterator[Leak]:
    """Find images with the same bytes in both; the first item of theirs with them is named."""
    shown: dict[str, Item] = {}
    for item in theirs:
        for ref in item.images:
            shown.setdefault(ref.sha256, item)
    for item in ours:
        for sha256 in dict.fromkeys(ref.sha256 for ref in item.images):
            if other := shown.get(sha256):
                yield _make_leak("image", item, "image", name, other, 1.0)


def _iter_texts(items: Iterable[Item]) -> Iterator[_ItemText]:
    """Yield the texts of items that a model could memorize."""
    for item in items:
        parts = {
            "question": item.question,
            "answer": item.answer,
            "transcription": item.transcription or "",
        }
        seen = set()
        for part, words in parts.items():
            text = counted(words)
            if text and text not in seen:
                seen.add(text)
                yield _ItemText(item, part, text)


class _RunIndex:
    """The runs of our texts, each with the texts that contain it."""

    def __init__(self, texts: Sequence[_ItemText]) -> None:
        self._texts = texts
        runs = [np.unique(_hash_runs(each.text)) for each in texts]
        owners = np.repeat(np.arange(len(texts)), [len(each) for each in runs])
        flat = np.concatenate([np.empty(0, np.uint64), *runs])
        order = np.argsort(flat, kind="stable")
        self._runs, self._owners = self._drop_formulae(flat[order], owners[order])
        self._sizes = np.bincount(self._owners, minlength=len(texts))

    @property
    def judged(self) -> int:
        """The number of texts that have runs of their own."""
        return int((self._sizes > 0).sum())

    def _drop_formulae(
        self, runs: Hashes, owners: NDArray[np.int64]
    ) -> tuple[Hashes, NDArray[np.int64]]:
        numbers: dict[str, int] = {}
        group = np.array(
            [numbers.setdefault(get_group(each.item), len(numbers)) for each in self._texts],
            np.int64,
        )
        asked = np.array([each.part == "question" for each in self._texts], bool)[owners]
        values, run = np.unique(runs, return_inverse=True)

        def groups(which: NDArray[np.bool_]) -> NDArray[np.int64]:
            pairs = np.unique(np.stack([run[which], group[owners[which]]]), axis=1)
            return np.bincount(pairs[0], minlength=len(values))

        common = (groups(np.ones(len(run), bool)) > FORMULA) | (groups(asked) > 1)
        return runs[~common[run]], owners[~common[run]]

    def find(self, theirs: Sequence[Item], name: str) -> Iterator[Leak]:
        """Find our texts with at least `SHARE` of their runs in another set.

        Its nearest text is named.
        """
        nearest: dict[int, tuple[int, Item]] = {}
        whole = np.zeros(len(self._runs), bool)
        for other in _iter_texts(theirs):
            for owner, hits, places in self._find_hits(other.text):
                whole[places] = True
                if owner not in nearest or hits > nearest[owner][0]:
                    nearest[owner] = hits, other.item
        shared = np.bincount(self._owners[whole], minlength=len(self._texts))
        for owner in np.flatnonzero(shared >= SHARE * np.maximum(1, self._sizes)).tolist():
            ours, share = self._texts[owner], round(float(shared[owner] / self._sizes[owner]), 4)
            yield _make_leak(
                "text", ours.item, ours.part, name, nearest[owner][1], share, ours.text
            )

    def _find_hits(self, text: str) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Yield our texts that share runs with one of theirs: index, count and positions."""
        if len(text) < RUN or not len(self._runs):
            return
        runs = np.unique(_hash_runs(text))
        first = np.searchsorted(self._runs, runs, "left")
        after = np.searchsorted(self._runs, runs, "right")
        spans = [np.arange(a, b) for a, b in zip(first, after, strict=True) if b > a]
        if not spans:
            return
        places = np.concatenate(spans)
        by_owner: dict[int, list[int]] = defaultdict(list)
        for place, owner in zip(places.tolist(), self._owners[places].tolist(), strict=True):
            by_owner[owner].append(place)
        for owner, mine in by_owner.items():
            yield owner, len(mine), np.array(mine)


def _hash_runs(text: str) -> Hashes:
    """Hash every run of a text to 64 bits, in order."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    count = max(0, len(codes) - RUN + 1)
    runs = np.zeros(count, np.uint64)
    for place in range(RUN):
        runs = (runs * _MIX[0] + codes[place : place + count]) * _MIX[1]
        runs ^= runs >> np.uint64(31)
    return runs


def _make_leak(
    kind: str, item: Item, part: str, name: str, other: Item, share: float, text: str = ""
) -> Leak:
    return Leak(
        kind=kind,
        item=item.id,
        task=item.task,
        split=item.split,
        part=part,
        against=name,
        other=other.id,
        other_task=other.task,
        other_split=other.split,
        share=share,
        text=text[:60],
    )
