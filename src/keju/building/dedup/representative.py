"""Selection of the best scan among duplicate images, by a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from keju.items import ImageRef

AS_LARGE = 0.8
"""Share of the largest image's pixels from which an image counts as equally large: cropping a few
percent on every side does not make a scan worse, and more lossy pixels do not make it better."""

_LOSSLESS = frozenset({".png", ".tif", ".tiff", ".bmp"})


def choose_representative(group: Iterable[int], refs: Sequence[ImageRef]) -> int:
    """Choose the representative image of a group.

    Of those as large as the largest: lossless before lossy, then the most bytes, then the most
    pixels, then the first. Enlarged copies cannot be distinguished from large scans, nor a PNG made
    from a JPEG from an original one.

    Args:
        group: indices in `refs` of images that are the same; one or more.
        refs: images of a dataset.
    """
    places = list(group)
    most = max(_count_pixels(refs[at]) for at in places)
    large = [at for at in places if _count_pixels(refs[at]) >= AS_LARGE * most]
    return min(
        large,
        key=lambda at: (not _is_lossless(refs[at]), -refs[at].size, -_count_pixels(refs[at]), at),
    )


def _count_pixels(ref: ImageRef) -> int:
    return ref.width * ref.height


def _is_lossless(ref: ImageRef) -> bool:
    return PurePosixPath(ref.path).suffix.lower() in _LOSSLESS
