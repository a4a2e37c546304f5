"""`Thumbnails`: small copies of the images of a dataset, within a maximum total size."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from keju.datasets.store import Dataset
from keju.errors import KejuError
from keju.images import thumbnail
from keju.items import ImageRef

_SIDES = (1100, 700, 420)


class Thumbnails:
    """Small copies (JPEG) of a dataset's images, each once.

    `budget` is the maximum total size; sides shrink in steps as it is used up, and then images are
    omitted and counted in `left_out`.
    """

    def __init__(self, dataset: Dataset | None, *, budget: int) -> None:
        self._dataset = dataset
        self._budget = budget
        self._known: dict[str, int | None] = {}
        self.copies: list[bytes] = []
        self.left_out = 0

    def index(self, ref: ImageRef) -> int | None:
        """The index of that image in `copies`, or None if it cannot be shown."""
        if ref.sha256 not in self._known:
            self._known[ref.sha256] = None
            # An image that cannot be opened is an error in the dataset, which `validate` reports;
            # the report counts it and continues.
            with suppress(KejuError, OSError):
                self._add_copy(ref)
            self.left_out += self._known[ref.sha256] is None
        return self._known[ref.sha256]

    def _add_copy(self, ref: ImageRef) -> None:
        if self._dataset is None or self._budget <= 0:
            return
        data = self._dataset.image_bytes(ref)
        for side in _SIDES:
            small = thumbnail(data, name=ref.path, max_side=side)
            if len(small) <= self._budget:
                self._budget -= len(small)
                self._known[ref.sha256] = len(self.copies)
                self.copies.append(small)
                return


def thumbnails_of(datasets: Mapping[Path, Path | None], *, budget: int) -> dict[Path, Thumbnails]:
    """The small copies of the datasets of runs, by run; the runs share the budget equally."""
    images = {}
    for run, path in datasets.items():
        dataset = None
        with suppress(KejuError):
            dataset = Dataset.open(path) if path else None
        images[run] = Thumbnails(dataset, budget=budget // len(datasets))
    return images
