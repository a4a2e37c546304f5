"""`ReleaseSummary`: what a release states about its items, counted in one pass over them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import msgspec
import numpy as np

from keju.datasets.checks import unscored_reason
from keju.datasets.licences import LicenceCounts
from keju.definitions import NO_REFERENCE, has_task, task
from keju.items import Item, get_group


class ReleaseSummary:
    """The items of a dataset in numbers; of each, hashes of a few bytes are in memory.

    Numbers are those of items: `unscored` of those that need a reference and have none,
    `provenance` of those with each step, tool and person.
    """

    def __init__(self, items: Iterable[Item], licence: str) -> None:
        self.items = self.transcribed = self.with_lines = self.with_boxes = 0
        self.unscored = self.drafts = self.without_provenance = 0
        self.first_draft = ""
        self.tasks: set[str] = set()
        self.splits: Counter[str] = Counter()
        self.sources: Counter[tuple[str, ...]] = Counter()
        self.provenance: Counter[tuple[str, ...]] = Counter()
        self.licences = LicenceCounts(licence)
        self._groups = array("Q")
        self._questions = array("Q")
        self._sides = {
            (kind, split): array("Q")
            for kind in ("group", "image")
            for split in ("test", "reference")
        }
        for item in items:
            self._add(item)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return _count_distinct(self._groups)

    @property
    def repeated(self) -> int:
        """The number of items with a question about images that an item before them has."""
        return self.items - _count_distinct(self._questions)

    @property
    def in_both_splits(self) -> tuple[int, int]:
        """The number of groups and of images that are in both splits.

        In pair tasks the group is a class, whose labelled images belong to the questions about it:
        there only the images count.
        """
        return self._count_both("group"), self._count_both("image")

    def _count_both(self, kind: str) -> int:
        test, reference = (
            np.frombuffer(self._sides[kind, split], np.uint64) for split in ("test", "reference")
        )
        return len(np.intersect1d(test, reference))

    def _add(self, item: Item) -> None:
        self.items += 1
        self.tasks.add(item.task)
        self.splits[item.split] += 1
        self.transcribed += item.transcription is not None
        self.with_lines += bool(item.lines)
        self.with_boxes += bool(item.boxes)
        self.unscored += unscored_reason(item) == NO_REFERENCE
        if item.draft:
            self.first_draft = self.first_draft or item.id
            self.drafts += 1
        self.licences.add(item)
        self._add_provenance(item)
        self._add_hashes(item)

    def _add_provenance(self, item: Item) -> None:
        sources = {step.source for step in item.provenance} - {""} or {"that of the whole set"}
        self.sources.update((source,) for source in sources)
        steps = {(each.step, each.tool, each.person) for each in item.provenance}
        self.provenance.update(steps)
        self.without_provenance += not steps

    def _add_hashes(self, item: Item) -> None:
        group = _hash(get_group(item).encode("utf-8", "surrogatepass"))
        self._groups.append(group)
        # A task that is not known is an error of `validate`.
        if not (has_task(item.task) and task(item.task).of_pairs):
            self._sides["group", item.split].append(group)
        for ref in item.images:
            self._sides["image", item.split].append(_hash(ref.sha256.encode()))
        asked = msgspec.json.encode(
            [item.task, item.query, [ref.sha256 for ref in item.images], item.question,
             item.fields, item.options, item.transcription if not item.images else ""],
            order="sorted",
        )  # fmt: skip
        self._questions.append(_hash(asked))


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _count_distinct(hashes: array[int]) -> int:
    return len(np.unique(np.frombuffer(hashes, np.uint64))) if hashes else 0
