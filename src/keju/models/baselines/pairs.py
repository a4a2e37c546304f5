"""Base class of baselines that compare two images: cached descriptors, and a learned threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from keju.definitions import Candidates, task, tasks
from keju.files import sha256_bytes
from keju.items import ImageRef, Item, Request
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline
from keju.models.lru import LruCache
from keju.models.request_pixels import grey_image
from keju.outlines import Grey
from keju.texts import _, both

_T = TypeVar("_T")

KEPT = 4096
"""The number of images whose descriptors are cached: more than the galleries of published tasks
have."""
LEARNT_PAIRS = 2000
"""The maximum number of pairs of the reference split from which a threshold is learned."""


class _Pair(NamedTuple):
    request: Request
    same: bool


class PairBaseline(Baseline, ABC, Generic[_T]):
    """The similarity of two images, 0 to 1, or whether it exceeds a threshold.

    The threshold is learned from the dataset's reference split: the one of greatest balanced
    accuracy over its pairs, or over pairs of its labelled crops. Without such pairs it is the
    declared one.

    Args:
        name: the baseline's name.
        candidates: what the candidates are in the tasks whose pairs it compares.
        threshold: the declared one.
        options: reference split and images.
        pairs_kept: the number of pairs whose similarity is cached, because both directions and all
            queries use it again; 0 where computing it takes no time.
        identity: its other constants.
    """

    def __init__(
        self,
        name: str,
        options: ModelOptions,
        *,
        candidates: Candidates,
        threshold: float,
        pairs_kept: int = 0,
        **identity: str,
    ) -> None:
        self._candidates = candidates
        self._kept: LruCache[_T] = LruCache(KEPT)
        self._alike: LruCache[float] = LruCache(pairs_kept)
        pairs = list(islice(self._known(options.reference), LEARNT_PAIRS))
        learnt = self._learn(pairs, options) if options.asking else None
        self._threshold = threshold if learnt is None else learnt
        if learnt is not None:
            names = [[ref.sha256 for ref in pair.request.images] for pair in pairs]
            identity["reference"] = sha256_bytes(msgspec.json.encode(names))
        super().__init__(name, threshold=f"{self._threshold:.6f}", **identity)

    @abstractmethod
    def describe(self, grey: Grey) -> _T:
        """The cached descriptor of an image."""

    @abstractmethod
    def compare(self, one: _T, other: _T) -> float:
        """The similarity of two images, 0 to 1; symmetric."""

    def unsupported_reason(self, request: Request) -> str:
        """Supports only pairs of its own tasks."""
        if not request.candidate or len(request.images) != 2:
            return _("{} compares two pictures", self.name)
        if not self._compares(request.task):
            known = sorted(each.id for each in tasks() if each.candidates == self._candidates)
            return _("{} compares pictures of {}", self.name, both(known))
        return ""

    def _compares(self, task_id: str) -> bool:
        return task(task_id).candidates == self._candidates

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """A probability with six digits, or Yes or No.

        Raises:
            AskError: an image cannot be read.
        """
        likeness = self.likeness(request, images)
        if request.form == "probability":
            return Answer(text=f"{likeness:.6f}")
        return Answer(text="Yes" if likeness >= self._threshold else "No")

    def likeness(self, request: Request, images: Sequence[bytes]) -> float:
        """Return the similarity of the request's two images, 0 to 1.

        Raises:
            AskError: an image cannot be read.
        """
        return self._alike.get(
            frozenset(ref.sha256 for ref in request.images),
            lambda: self.compare(
                self._descriptor(request, images, 0), self._descriptor(request, images, 1)
            ),
        )

    def _descriptor(self, request: Request, images: Sequence[bytes], index: int) -> _T:
        return self._kept.get(
            request.images[index].sha256,
            lambda: self.describe(grey_image(request, images, index)),
        )

    def _learn(self, pairs: Sequence[_Pair], options: ModelOptions) -> float | None:
        same = np.array([pair.same for pair in pairs], dtype=bool)
        if options.images_of is None or not same.any() or same.all():
            return None
        alike = np.array(
            [self.likeness(each.request, options.images_of(each.request.images)) for each in pairs]
        )
        return best_threshold(alike[same], alike[~same])

    def _known(self, reference: Sequence[Item]) -> Iterator[_Pair]:
        """Pairs of the reference split that are known to belong together or not."""
        crops = []
        for item in reference:
            if not self._compares(item.task):
                continue
            for place in range(1, len(item.images) if item.relevant else 0):
                refs = (item.images[0], item.images[place])
                yield _Pair(_request(item, refs), place in item.relevant)
            if len(item.images) == 1 and item.answer:
                crops.append(item)
        # n crops make n (n - 1) / 2 pairs.
        few = crops[:: max(1, len(crops) // int((2 * LEARNT_PAIRS) ** 0.5))]
        for one, other in combinations(few, 2):
            refs = (one.images[0], other.images[0])
            yield _Pair(_request(one, refs), one.answer == other.answer)


def best_threshold(
    same: np.ndarray[tuple[int], np.dtype[np.float64]],
    different: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    """The threshold of greatest balanced accuracy between two samples, in the middle of the gap.

    Args:
        same: similarities of pairs that belong together, one or more.
        different: those of pairs that do not, one or more.
    """
    cuts = np.unique(np.concatenate([same, different]))
    kept = 1 - np.searchsorted(np.sort(same), cuts) / len(same)
    refused = np.searchsorted(np.sort(different), cuts) / len(different)
    best = int(np.argmax(kept + refused))
    return float((cuts[max(best - 1, 0)] + cuts[best]) / 2)


def _request(item: Item, refs: tuple[ImageRef, ImageRef]) -> Request:
    return Request(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        form="probability",
        prompt="",
        images=refs,
        candidate=1,
    )
