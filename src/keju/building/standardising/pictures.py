"""Standardisation of one image: JPEG, upright, RGB on white, within a pixel budget.

It succeeds or raises a named error, in little memory: large images are decoded small (JPEG, JPEG
2000) or band by band (PNG, TIFF), and only one such image at a time in a process.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import floor, log2, sqrt
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from PIL import Image, Jpeg2KImagePlugin

from keju.building.image_files import LOCAL_FILES, ImageFiles
from keju.building.scratch_files import ScratchFiles
from keju.building.standardising.bands import iter_bands
from keju.errors import DataError
from keju.files import sha256_bytes, sha256_file
from keju.images import (
    as_rgb,
    check_sums,
    decoding,
    extension_of,
    frames_of,
    open_header,
    orientation_of,
)
from keju.messages import message

FOLDER = "pictures"
"""The folder of standardised images in the scratch directory."""

JPEG_SIDE = 65_500
"""The longest side that a JPEG can have, in pixels."""

WHOLE = 40
"""Megapixels up to which an image is decoded in one piece, by default."""

_LARGE = 8_000_000
_ONE_AT_A_TIME = Lock()
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = frozenset({5, 6, 7, 8})


class ImageJob(Struct, frozen=True):
    """An image to standardise: its name for `ImageFiles` or its path, and its name in errors."""

    file: str
    name: str


class StandardImage(Struct, frozen=True):
    """The result for an image.

    `file` is its name in the scratch directory, empty where it was standard already. `frames`
    counts pages, of which the first is used; `mode` is Pillow's name for its pixels; sizes are
    upright, `size` in bytes.
    """

    file: str = ""
    sha256: str = ""
    size: int = 0
    width: int = 0
    height: int = 0
    form: str = ""
    mode: str = ""
    old_width: int = 0
    old_height: int = 0
    turned: bool = False
    frames: int = 1
    error: str = ""


class ImageTarget(NamedTuple):
    """The target: at most this number of pixels (0: any), JPEG of that quality.

    `recode`: JPEGs that fit already are encoded again too. `whole`: megapixels up to which an image
    is decoded in one piece where its kind permits nothing else, at about 4 MB each.
    """

    pixels: int
    quality: int
    recode: bool = False
    whole: int = WHOLE


def standardise_image(
    picture: ImageJob,
    *,
    measure: ImageTarget,
    images: ImageFiles = LOCAL_FILES,
    scratch: ScratchFiles,
) -> StandardImage:
    """Standardise an image and write it into the scratch directory, named by its hash.

    Raises:
        DataError: it is not a valid image, or too large for its kind.
    """
    file = images.path(picture.file)
    with decoding(file, picture.name):
        image = open_header(file, name=picture.name)
        if image.width * image.height <= _LARGE:
            facts, data = _convert(image, file, picture, measure)
        else:
            with _ONE_AT_A_TIME:
                facts, data = _convert(image, file, picture, measure)
    if data is None:
        return facts
    name = f"{FOLDER}/{facts.sha256}.jpg"
    scratch.write(name, data)
    return replace(facts, file=name)


def probe_file(picture: ImageJob, *, images: ImageFiles = LOCAL_FILES) -> StandardImage:
    """Decode an image once, in little memory, and describe it; nothing is written.

    Raises:
        DataError: as `standardise_image`.
    """
    file = images.path(picture.file)
    with decoding(file, picture.name):
        image = open_header(file, name=picture.name)
        facts = _read_facts(image, picture.name)
        limit = _Limit(picture.name, WHOLE)
        if image.width * image.height <= _LARGE:
            _decode(image, file, image.size, limit)
        else:
            with _ONE_AT_A_TIME:
                _decode(image, file, compute_target_size(*image.size, _LARGE), limit)
    return replace(
        facts,
        sha256=sha256_file(file),
        size=file.stat().st_size,
        width=facts.old_width,
        height=facts.old_height,
    )


def compute_target_size(width: int, height: int, pixels: int) -> tuple[int, int]:
    """Compute the size within a budget: same aspect, never enlarged, no side above JPEG's limit."""
    scale = min(1.0, JPEG_SIDE / max(width, height))
    if pixels:
        scale = min(scale, sqrt(pixels / (width * height)))
    return max(1, floor(width * scale)), max(1, floor(height * scale))


def _convert(
    image: Image.Image, file: Path, picture: ImageJob, measure: ImageTarget
) -> tuple[StandardImage, bytes | None]:
    """Convert an image; without bytes if it is standard already."""
    facts = _read_facts(image, picture.name)
    turn, mode, old = _read_orientation(image), image.mode, image.size
    wanted = compute_target_size(*old, measure.pixels)
    fits = image.format == "JPEG" and mode in {"RGB", "L"} and turn == 1 and wanted == old
    if fits and not measure.recode:
        image.load()
        size = file.stat().st_size
        facts = replace(facts, sha256=sha256_file(file), size=size, width=old[0], height=old[1])
        return facts, None
    profile = image.info.get("icc_profile") if mode in {"RGB", "RGBA"} else None
    small = _decode(image, file, wanted, _Limit(picture.name, measure.whole))
    if small.size != wanted:
        # An image decoded smaller by a whole number ends at the image's edge, not at a whole pixel.
        shrunk = round(max(old) / max(small.size))
        box = (0, 0, min(small.width, old[0] / shrunk), min(small.height, old[1] / shrunk))
        small = small.resize(wanted, Image.Resampling.LANCZOS, box=box, reducing_gap=3.0)
    if turn in _TURNS:
        small = small.transpose(_TURNS[turn])
    out = io.BytesIO()
    small.save(out, "JPEG", quality=measure.quality, subsampling=0, icc_profile=profile)
    data = out.getvalue()
    facts = replace(
        facts,
        sha256=sha256_bytes(data),
        size=len(data),
        width=small.width,
        height=small.height,
    )
    return facts, data


def _read_facts(image: Image.Image, name: str) -> StandardImage:
    turn = _read_orientation(image)
    frames = frames_of(image, name=name)
    width, height = image.size[::-1] if turn in _SIDEWAYS else image.size
    return StandardImage(
        form=extension_of(image),
        mode=image.mode,
        old_width=width,
        old_height=height,
        turned=turn != 1,
        frames=frames,
    )


def _read_orientation(image: Image.Image) -> int:
    """Read the EXIF orientation 1..8.

    It is read before the pixels of a large PNG, which is not decoded for it.
    """
    large = image.width * image.height > _LARGE
    if image.format == "PNG" and large and "exif" not in image.info:
        return 1
    return orientation_of(image)


class _Limit(NamedTuple):
    """The megapixels that are decoded in one piece; the name is for the error beyond."""

    name: str
    whole: int

    def check(self, image: Image.Image) -> None:
        if image.width * image.height > self.whole * 1_000_000:
            raise DataError(
                message(
                    "building.picture-not-in-pieces",
                    width=image.width,
                    height=image.height,
                    format=image.format,
                    mode=image.mode,
                    whole=self.whole,
                ),
                file=self.name,
            )


def _decode(image: Image.Image, file: Path, wanted: tuple[int, int], limit: _Limit) -> Image.Image:
    """Decode an image as RGB, at least of the wanted size, but not much larger if it was large."""
    if image.format in {"JPEG", "MPO"}:
        if image.info.get("progressive"):
            # Its coefficients are held in memory completely, at any scale.
            limit.check(image)
        image.draft(None, wanted)
        image.load()
        return as_rgb(image)
    if isinstance(image, Jpeg2KImagePlugin.Jpeg2KImageFile):
        return _decode_jpeg2000(image, file, wanted, limit)
    if image.width * image.height > _LARGE and (parts := iter_bands(image, file)) is not None:
        return _reduce_bands(parts, image.size, wanted)
    limit.check(image)
    check_sums(file, image, name=limit.name)
    image.load()
    return as_rgb(image)


def _decode_jpeg2000(
    image: Jpeg2KImagePlugin.Jpeg2KImageFile, file: Path, wanted: tuple[int, int], limit: _Limit
) -> Image.Image:
    """Decode a JPEG 2000 at the smallest of its own sizes that is large enough."""
    most = min(image.width / wanted[0], image.height / wanted[1])
    for fewer in range(int(log2(most)) if most >= 2 else 0, 0, -1):
        small = open_header(file, name=limit.name)
        assert isinstance(small, Jpeg2KImagePlugin.Jpeg2KImageFile)
        small.reduce = fewer  # set only here
        try:
            small.load()
        except OSError:
            # It has fewer sizes, or is damaged: the next attempt shows which.
            continue
        return as_rgb(small)
    limit.check(image)
    image.load()
    return as_rgb(image)


def _reduce_bands(
    parts: Iterator[Image.Image], size: tuple[int, int], wanted: tuple[int, int]
) -> Image.Image:
    """Join bands, each reduced by a whole number that leaves twice the wanted size."""
    factor = max(1, int(min(size[0] / wanted[0], size[1] / wanted[1]) / 2))
    small = Image.new("RGB", (-(-size[0] // factor), -(-size[1] // factor)))
    left: Image.Image | None = None
    place = 0
    for part in parts:
        band = _stack(left, as_rgb(part))
        whole = band.height - band.height % factor
        if whole:
            small.paste(band.crop((0, 0, band.width, whole)).reduce(factor), (0, place))
            place += whole // factor
        left = band.crop((0, whole, band.width, band.height)) if whole < band.height else None
    if left is not None:
        small.paste(left.reduce(factor), (0, place))
    return small


def _stack(upper: Image.Image | None, lower: Image.Image) -> Image.Image:
    if upper is None:
        return lower
    both = Image.new("RGB", (lower.width, upper.height + lower.height))
    both.paste(upper, (0, 0))
    both.paste(lower, (0, upper.height))
    return both
