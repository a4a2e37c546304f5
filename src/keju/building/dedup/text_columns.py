"""`TextColumns`: what `dedup-texts` needs of each item, as numbers, and its canonical form."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from keju.building.dedup.canonical import Canonical, canonicalize, is_labelled
from keju.building.dedup.groups import REPEATED, SameImage, get_image_key, rank_item
from keju.building.dedup.union_find import Indices
from keju.definitions import query_of
from keju.items import CODED_FORMS, Item
from keju.runs.record_list import LazyList, RecordList

_LATELY_READ = 1024

Numbers = NDArray[np.uint64]


class StoredForm(NamedTuple):
    """The canonical form of an item, with its id and task."""

    id: str
    task: str
    form: Canonical


class TextColumns:
    """The items of a dataset by columns: numbers, hashes of 64 bits, and stored forms.

    About 100 bytes of an item are in memory. Hashes are of what makes items the same; two different
    forms of a dataset of 10^8 items have equal ones (128 bits) with a probability of 10^-23.

    Raises:
        DataError: an item's task is not in the catalogue.
    """

    def __init__(self, items: Iterable[Item], *, simplify: bool = False) -> None:
        self._stored = RecordList(StoredForm)
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._coded: set[int] = set()
        self._hashes = array("Q")
        self._small = array("q")
        for item in items:
            self._add(item, canonicalize(item, simplify=simplify))
        self._read = lru_cache(_LATELY_READ)(self._stored.__getitem__)
        hashes = np.frombuffer(self._hashes, np.uint64).reshape(-1, 6)
        small = np.frombuffer(self._small, np.int64).reshape(-1, 3)
        self.queries, self._lengths, self.ranks = small.T
        self.forms, self._asked, self.pictures = hashes[:, :2], hashes[:, 2], hashes[:, 3]
        self.subjects, self.contents = hashes[:, 4], hashes[:, 5]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def shows(self) -> NDArray[np.bool_]:
        """Whether each item has an image."""
        return np.asarray(self.ranks & 1, bool)

    @property
    def is_coded(self) -> NDArray[np.bool_]:
        """Whether each item's answer is a letter, a number or boxes, and not a text."""
        return np.isin(self.queries, sorted(self._coded))

    @property
    def has_subject(self) -> NDArray[np.bool_]:
        """Whether each item has an image, or a question of its own words."""
        return np.asarray((self.pictures != 0) | (self._lengths > 0), bool)

    def rank(self, at: int) -> int:
        """The rank of an item among its duplicates (`rank_item`)."""
        return int(self.ranks[at]) >> 1

    def read(self, at: int) -> StoredForm:
        """Read the canonical form of an item."""
        return self._read(at)

    def texts(self, places: Indices) -> Sequence[str]:
        """The texts of some items' forms, read from disk as they are needed."""
        return LazyList(len(places), lambda at: self.read(int(places[at])).form.text)

    def needs_image(self, rule: SameImage, own_words: int) -> NDArray[np.bool_]:
        """Return for each item whether it is a duplicate only of items about the same image.

        ``always`` and ``never`` apply to all items with an image. By ``templated`` it holds for
        items whose question has fewer than `own_words` characters of its own, since the author,
        script or text of *this* image is another question for each image, and for those whose
        question occurs with three or more images in the task.
        """
        if rule != "templated":
            return self.shows & (rule == "always")
        if not self.shows.any():
            return self.shows
        question = number_rows(self._asked)
        pairs = np.unique(np.stack((question, number_rows(self.pictures))), axis=1)
        pictures = np.bincount(pairs[0])[question]
        return self.shows & ((self._lengths < own_words) | (pictures >= REPEATED))

    def _add(self, item: Item, form: Canonical) -> None:
        picture = get_image_key(item)
        query = item.benchmark, item.task, item.query
        self._stored.append(StoredForm(item.id, item.task, form))
        whole = blake2b(msgspec.json.encode(form), digest_size=16).digest()
        self._hashes.extend(
            (
                int.from_bytes(whole[:8], "big"),
                int.from_bytes(whole[8:], "big"),
                _hash(item.task, item.query, form.asked),
                _hash(picture) if picture else 0,
                _hash(query, form.asked, form.options, picture),
                _hash(item.question, item.fields, item.options, item.answer,
                      [ref.sha256 for ref in item.images]),
            )
        )  # fmt: skip
        number = self._numbers.setdefault(query, len(self._numbers))
        if is_labelled(item) or query_of(item).form in CODED_FORMS:
            self._coded.add(number)
        self._small.extend((number, len(form.asked), rank_item(item) << 1 | bool(item.images)))


def number_rows(*columns: NDArray[np.generic]) -> Indices:
    """Number rows in order of their first appearance; equal rows have the same number."""
    order = np.lexsort(columns)
    new = np.ones(len(order), bool)
    new[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    group = np.cumsum(new) - 1
    # Of equal rows the first is before the others in `order`, which is stable.
    first = np.argsort(np.argsort(order[new]))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = first[group]
    return numbers


def _hash(*parts: object) -> int:
    digest = blake2b(msgspec.json.encode(parts, order="deterministic"), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1
