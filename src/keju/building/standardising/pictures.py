"""Standardisation of one image: JPEG, upright, RGB on white, within a pixel budget.

It succeeds or raises a named error. Large images are decoded one at a time in a process, and JPEG
and JPEG 2000 at a reduced size, so that memory is that of one decoded image.
"""

from __future__ import annotations

import io
from math import floor, log2, sqrt
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from PIL import Image, Jpeg2KImagePlugin

from keju.building.image_files import LOCAL_FILES, ImageFiles
from keju.building.scratch_files import ScratchFiles
from keju.errors import DataError
from keju.files import sha256_bytes, sha256_file
from keju.images import (
    MAX_PIXELS,
    as_rgb,
    check_sums,
    decoding,
    extension_of,
    frames_of,
    grey_depth,
    open_header,
    orientation_of,
    upright_size,
)

FOLDER = "pictures"
"""The folder of standardised images in the scratch directory."""

JPEG_SIDE = 65_500
"""The longest side that a JPEG can have, in pixels."""

WHOLE = MAX_PIXELS // 1_000_000
"""Megapixels up to which an image is decoded in one piece, by default."""

_LARGE = 8_000_000
_STRIP_PIXELS = 1_500_000
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
    is decoded in one piece where its kind permits nothing else, at 4 to 20 MB each.
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
        limit = _Limit(picture.name, WHOLE)
        if image.width * image.height <= _LARGE:
            facts = _read_facts(image, picture.name)
            _decode(image, file, image.size, limit)
        else:
            with _ONE_AT_A_TIME:
                facts = _read_facts(image, picture.name)
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
    # Pillow turns a TIFF as it decodes it; others are turned last, when they are small.
    mode, old = image.mode, upright_size(image) if image.format == "TIFF" else image.size
    wanted = compute_target_size(*old, measure.pixels)
    fits = image.format == "JPEG" and mode in {"RGB", "L"} and not facts.turned and wanted == old
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
    if (turn := orientation_of(image)) in _TURNS:
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
    frames = frames_of(image, name=name)
    width, height = upright_size(image)
    return StandardImage(
        form=extension_of(image),
        mode=image.mode,
        old_width=width,
        old_height=height,
        turned=orientation_of(image) != 1,
        frames=len(frames),
    )


class _Limit(NamedTuple):
    """The megapixels that are decoded in one piece; the name is for the error beyond."""

    name: str
    whole: int

    def check(self, image: Image.Image) -> None:
        if image.width * image.height > self.whole * 1_000_000:
            raise DataError(
                "{}x{} pixels of {} ({}) can only be decoded in one piece, which is limited to "
                "{} megapixels",
                image.width,
                image.height,
                image.format,
                image.mode,
                self.whole,
                file=self.name,
                hint="Save it as baseline JPEG, or raise 'whole'",
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
    limit.check(image)
    check_sums(file, image, name=limit.name)
    image.load()
    return _reduce(image, wanted)


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


def _reduce(image: Image.Image, wanted: tuple[int, int]) -> Image.Image:
    """Convert a decoded image to RGB, and a large one reduced by a whole number.

    At least twice the wanted size is left. Strips bound the memory of the conversion, except of
    grey whose range is only known from the whole image.
    """
    width, height = image.size
    shallow = image.mode.startswith("I;16") and grey_depth(image) < 16
    if width * height <= _LARGE or image.mode in {"I", "F"} or shallow:
        return as_rgb(image)
    factor = max(1, int(min(width / wanted[0], height / wanted[1]) / 2))
    small = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    rows = factor * max(1, _STRIP_PIXELS // (width * factor))
    for top in range(0, height, rows):
        strip = image.crop((0, top, width, min(height, top + rows)))
        small.paste(as_rgb(strip).reduce(factor), (0, top // factor))
    return small
