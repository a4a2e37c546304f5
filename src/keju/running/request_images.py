"""`LazyImages`: the images of a request, read on access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, overload

from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.items import ImageRef
from keju.models import AskError


class LazyImages(Sequence[bytes]):
    """The images of a request, read from the dataset on access."""

    def __init__(self, dataset: Dataset, refs: Sequence[ImageRef]) -> None:
        self._dataset = dataset
        self._refs = refs

    def __len__(self) -> int:
        return len(self._refs)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return LazyImages(self._dataset, self._refs[index])
        try:
            return self._dataset.image_bytes(self._refs[index])
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None
