"""The images of a report: small copies, within a maximum total size."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.store import Dataset
from keju.errors import KejuError
from keju.images import thumbnail
from keju.items import ImageRef

_SIDES = (1100, 700, 420)


class Pictures:
    """Small copies (JPEG) of the images of a report, each once.

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
            copy = self._copy(ref)
            self._known[ref.sha256] = None if copy is None else len(self.copies)
            if copy is None:
                self.left_out += 1
            else:
                self.copies.append(copy)
        return self._known[ref.sha256]

    def _copy(self, ref: ImageRef) -> bytes | None:
        if self._dataset is None or self._budget <= 0:
            return None
        try:
            data = self._dataset.image_bytes(ref)
            for side in _SIDES:
                small = thumbnail(data, name=ref.path, max_side=side)
                if len(small) <= self._budget:
                    self._budget -= len(small)
                    return small
        except (KejuError, OSError):
            # An image that cannot be opened is an error in the dataset, which `validate` reports;
            # the report counts it and continues.
            return None
        return None


def pictures_of(path: Path | None, *, budget: int) -> Pictures:
    """The images of the dataset at `path`; none where the dataset is missing."""
    try:
        dataset = None if path is None else Dataset.open(path)
    except KejuError:
        dataset = None
    return Pictures(dataset, budget=budget)
