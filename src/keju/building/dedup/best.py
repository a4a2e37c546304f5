"""Which of pictures that are one stands for them: the best scan, by an order that is declared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from keju.items import ImageRef

AS_LARGE = 0.8
"""Share of the largest one's pixels from which a picture is as large: a crop by a few percent on
every side doesn't make a scan worse, and lossy pixels in plenty no better than true ones."""

_LOSSLESS = frozenset({".png", ".tif", ".tiff", ".bmp"})


def best(group: Iterable[int], refs: Sequence[ImageRef]) -> int:
    """The picture of a group that stands for it.

    Of those as large as the largest: lossless before lossy, then the most bytes, then the most
    pixels, then the first. Enlarged copies can't be told from large scans, nor a PNG that was made
    of a JPEG from one that never was.

    Args:
        group: places in `refs` of pictures that are one; one or more.
        refs: pictures of a dataset.
    """
    places = list(group)
    most = max(_pixels(refs[at]) for at in places)
    large = [at for at in places if _pixels(refs[at]) >= AS_LARGE * most]
    return min(
        large,
        key=lambda at: (not _lossless(refs[at]), -refs[at].size, -_pixels(refs[at]), at),
    )


def _pixels(ref: ImageRef) -> int:
    return ref.width * ref.height


def _lossless(ref: ImageRef) -> bool:
    return PurePosixPath(ref.path).suffix.lower() in _LOSSLESS
