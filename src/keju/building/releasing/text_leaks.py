"""`TextIndex`: texts of a set that also occur in others, by runs of 13 characters."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.releasing.run_table import Hashes, Numbers, RunTable, ranges_of
from keju.files import sha256_bytes
from keju.items import Item, Record, get_group
from keju.runs.record_list import RecordList
from keju.text import counted

RUN = 13
"""Characters of a run. Shorter ones are shared by chance and by formulas (13 is also the length, in
words, by which training texts of language models are usually compared with test sets)."""

SHARE = 0.5
"""The minimum share of a text's runs in the other set for a leak (our choice)."""

FORMULA = 10
"""A run in more than this number of our groups is repeated wording and is ignored."""

MOST_LEAKING = 1 << 22
"""Runs of leaking texts that are in memory while the nearest texts are searched."""

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD))
_SHOWN = 60


class ItemPlace(NamedTuple):
    """The item that a leak names."""

    id: str
    task: str
    split: str

    @classmethod
    def of(cls, item: Item) -> ItemPlace:
        """The place of an item."""
        return cls(item.id, item.task, item.split)


class OwnText(Record, frozen=True, kw_only=True):
    """A text of ours: its item, the part of the item, and the text's first 60 characters."""

    item: ItemPlace
    part: str
    text: str


class LeakingText(NamedTuple):
    """A text of ours in another set: the share of its runs there, and the item with most."""

    ours: OwnText
    other: ItemPlace
    share: float


class TextIndex:
    """The runs of our texts, sorted by hash, each with the numbers of the texts that contain it.

    In memory are about 60 bytes per text and `run_table.MOST_PAIRS` runs; the rest is on disk.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._texts: RecordList[OwnText] = RecordList(OwnText)
        all_runs = RunTable()
        groups = array("Q")
        asked: list[bool] = []
        for number, (item, part, text) in enumerate(_iter_texts(items)):
            place = ItemPlace.of(item)
            self._texts.append(OwnText(item=place, part=part, text=text[:_SHOWN]))
            groups.append(int(sha256_bytes(get_group(item).encode("utf-8", "replace"))[:16], 16))
            asked.append(part == "question")
            all_runs.add(np.unique(_hash_runs(text)), number)
        self._runs, self._sizes = _without_formulae(
            all_runs, np.array(groups, np.uint64), np.array(asked, bool)
        )

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def judged(self) -> int:
        """The number of texts that have runs of their own."""
        return int((self._sizes > 0).sum())

    def find(self, theirs: Iterable[Item]) -> Iterator[LeakingText]:
        """Find our texts with at least `SHARE` of their runs in another set, in our order."""
        shared = self._count_shared(theirs)
        leaking = np.flatnonzero(shared >= SHARE * np.maximum(1, self._sizes))
        for some in _in_batches(leaking, self._sizes):
            nearest = self._find_nearest(some, theirs)
            for number in some.tolist():
                share = round(float(shared[number] / self._sizes[number]), 4)
                yield LeakingText(self._texts[number], nearest[number], share)

    def _count_shared(self, theirs: Iterable[Item]) -> NDArray[np.int64]:
        """The number of runs of each of our texts that occur in the other set."""
        other = RunTable()
        for _, _, text in _iter_texts(theirs):
            if len(text) >= RUN:
                other.add(np.unique(_hash_runs(text)), 0)
        shared = np.zeros(len(self._sizes), np.int64)
        for span in ranges_of(self._runs, other):
            runs, owners = self._runs.between(*span)
            found = _is_in(runs, other.between(*span)[0])
            shared += np.bincount(owners[found], minlength=len(shared))
        return shared

    def _find_nearest(
        self, numbers: NDArray[np.int64], theirs: Iterable[Item]
    ) -> dict[int, ItemPlace]:
        """The first of their items whose text has most of the runs of each of these texts."""
        runs, owners = self._runs_of(numbers)
        most = np.zeros(len(self._sizes), np.int64)
        nearest: dict[int, ItemPlace] = {}
        for item, _, text in _iter_texts(theirs):
            if len(text) < RUN:
                continue
            hit, hits = np.unique(
                owners[_places_in(runs, np.unique(_hash_runs(text)))], return_counts=True
            )
            closer = hits > most[hit]
            most[hit[closer]] = hits[closer]
            if closer.any():
                nearest.update(dict.fromkeys(hit[closer].tolist(), ItemPlace.of(item)))
        return nearest

    def _runs_of(self, numbers: NDArray[np.int64]) -> tuple[Hashes, Numbers]:
        """The runs of these texts, sorted, and the text of each."""
        wanted = np.zeros(len(self._sizes), bool)
        wanted[numbers] = True
        found = []
        for span in ranges_of(self._runs):
            runs, owners = self._runs.between(*span)
            chosen = wanted[owners]
            found.append((runs[chosen], owners[chosen]))
        return np.concatenate([each[0] for each in found]), np.concatenate(
            [each[1] for each in found]
        )


def _without_formulae(
    table: RunTable, group: NDArray[np.uint64], asked: NDArray[np.bool_]
) -> tuple[RunTable, NDArray[np.int64]]:
    """The pairs without repeated wording, and the number of the remaining runs of each text.

    `group` is the hash of each text's group, `asked` whether it is a question.
    """
    kept, sizes = RunTable(), np.zeros(len(group), np.int64)
    for span in ranges_of(table):
        runs, owners = table.between(*span)
        values, run = np.unique(runs, return_inverse=True)
        common = _count_groups(run, group[owners], len(values)) > FORMULA
        which = asked[owners]
        common |= _count_groups(run[which], group[owners[which]], len(values)) > 1
        own = ~common[run]
        kept.add(runs[own], owners[own])
        sizes += np.bincount(owners[own], minlength=len(sizes))
    return kept, sizes


def _count_groups(
    run: NDArray[np.int64], group: NDArray[np.uint64], count: int
) -> NDArray[np.int64]:
    """The number of different groups of each run, which is given by its number."""
    order = np.lexsort((group, run))
    run, group = run[order], group[order]
    new = np.ones(len(run), bool)
    new[1:] = (run[1:] != run[:-1]) | (group[1:] != group[:-1])
    return np.bincount(run[new], minlength=count)


def _in_batches(
    numbers: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Divide texts such that those of a batch have about `MOST_LEAKING` runs or fewer."""
    batch = np.cumsum(sizes[numbers]) // MOST_LEAKING
    edges = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(numbers)]
    for start, end in pairwise(edges):
        if end > start:
            yield numbers[start:end]


def _is_in(runs: Hashes, others: Hashes) -> NDArray[np.bool_]:
    """Whether each run is one of the others, which are sorted."""
    if not len(others):
        return np.zeros(len(runs), bool)
    nearest = others[np.minimum(np.searchsorted(others, runs), len(others) - 1)]
    return np.equal(nearest, runs)


def _places_in(runs: Hashes, wanted: Hashes) -> NDArray[np.int64]:
    """The indices of all occurrences of the wanted runs in sorted ones."""
    first = np.searchsorted(runs, wanted, "left")
    after = np.searchsorted(runs, wanted, "right")
    there = after > first
    spans = [np.arange(a, b) for a, b in zip(first[there], after[there], strict=True)]
    return np.concatenate([np.empty(0, np.int64), *spans])


def _iter_texts(items: Iterable[Item]) -> Iterator[tuple[Item, str, str]]:
    """Yield the texts of items that a model could memorize: item, part and text."""
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
                yield item, part, text


def _hash_runs(text: str) -> Hashes:
    """Hash every run of a text to 64 bits, in order."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    count = max(0, len(codes) - RUN + 1)
    runs = np.zeros(count, np.uint64)
    for place in range(RUN):
        runs = (runs * _MIX[0] + codes[place : place + count]) * _MIX[1]
        runs ^= runs >> np.uint64(31)
    return runs
