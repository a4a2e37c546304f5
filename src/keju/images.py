"""Image decoding: validation, conversion to RGB, and thumbnails.

Pillow is the only decoder of four measured that rejects truncated, corrupted and oversized files
alike. Any exception inside it becomes one `DataError` that names the image.
"""

from __future__ import annotations

import io
import mmap
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import GifImagePlugin, Image, ImageOps, UnidentifiedImageError

from keju.errors import DataError
from keju.messages import message

MAX_PIXELS = 400_000_000
"""Maximum size of an image in pixels. Painted scrolls of 120 MP exist; 400 MP leaves room for them
and takes 1.6 GB as RGB. A larger file is treated as a decompression bomb."""

MOST_FRAMES = 10_000
"""Maximum frames of a file. Pillow's time to find them grows with the square of their number."""

FREE_SCANS, MOST_SCANS, MOST_SCANNED = 20, 500, 4_000_000_000
"""Limits for scans of a progressive JPEG: the number that is always allowed (encoders write 20 at
most), the maximum, and between them the maximum of pixels times scans: a scan of few bytes takes as
much time as all pixels of the image."""

_MOST_SEGMENTS = 100_000
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd8]")
"""The marker of a JPEG's next segment. FF 00 within a scan is data, FF D0 to D7 are restart
markers."""
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9

_EXTENSIONS = {
    "JPEG": "jpg", "MPO": "jpg", "PNG": "png", "TIFF": "tif", "WEBP": "webp",
    "JPEG2000": "jp2", "GIF": "gif", "BMP": "bmp",
}  # fmt: skip
_FORMATS = tuple(name for name in _EXTENSIONS if name != "MPO")  # opened as JPEG
EXTENSIONS = frozenset({*_EXTENSIONS.values(), "jpeg", "tiff"})
"""File extensions of the formats that keju reads, in lower case, without the point."""

_ORIENTATION = 0x0112
_BITS_PER_SAMPLE = 258
_WHITE = (255, 255, 255)

# Pillow warns between its limit and twice that; here the limit is strict. Its other warnings (odd
# tags, broken EXIF) do not affect images and would only clutter the terminal.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
warnings.simplefilter("error", Image.DecompressionBombWarning)


class ImageFacts(NamedTuple):
    """The properties of an image: its usual file extension, and its upright size in pixels.

    `turned` means that the EXIF orientation makes the upright size differ from the stored one or
    flips it; `frames` counts pages or animation frames, of which only the first is ever used.
    """

    format: str
    width: int
    height: int
    turned: bool = False
    frames: int = 1


def probe_image(data: bytes, *, name: str) -> ImageFacts:
    """Decode an image completely, and return its properties.

    Args:
        data: the bytes of the file.
        name: its name in errors.

    Raises:
        DataError: empty, not an image, a format that keju does not read, truncated, damaged, larger
            than `MAX_PIXELS`, or with too many frames or scans.
    """
    with decoding(data, name):
        return _probe(data, name)[0]


def probe_pixels(data: bytes, *, name: str) -> tuple[ImageFacts, Image.Image]:
    """The results of `probe_image` and `open_image`, from one decoding of the image.

    Raises:
        DataError: as `probe_image`.
    """
    with decoding(data, name):
        facts, image = _probe(data, name)
        if facts.frames == 1:
            return facts, as_rgb(_upright(image))
    return facts, open_image(data, name=name)


def _probe(data: bytes, name: str) -> tuple[ImageFacts, Image.Image]:
    """The properties of an image, and the decoded image."""
    image = open_header(data, name=name)
    check_sums(data, image, name=name)
    frames = frames_of(image, name=name)
    image.load()
    turned = orientation_of(image) != 1
    width, height = image.size
    if orientation_of(image) in {5, 6, 7, 8}:
        width, height = height, width
    return ImageFacts(extension_of(image), width, height, turned, frames), image


def open_image(data: bytes, *, name: str) -> Image.Image:
    """Open an image as RGB, 8 bits per channel, upright by its EXIF orientation.

    16-bit grey is scaled, transparency is composed on white, and colour profiles are not applied.

    Args:
        data: the bytes of the file.
        name: its name in errors.

    Raises:
        DataError: as `probe_image`.
    """
    with decoding(data, name):
        image = open_header(data, name=name)
        image.load()
        return as_rgb(_upright(image))


def thumbnail(data: bytes, *, name: str, max_side: int, quality: int = 60) -> bytes:
    """A small JPEG of an image, its longer side at most `max_side` pixels, never enlarged.

    Large JPEGs are decoded at a reduced scale, which takes a tenth of the time and memory.

    Raises:
        DataError: as `probe_image`.
    """
    with decoding(data, name):
        image = open_header(data, name=name)
        scale = max_side / max(image.size)
        if image.format in {"JPEG", "MPO"} and scale < 1:
            wanted = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
            image.draft(None, wanted)
        image.load()
        small = as_rgb(_upright(image))
        small.thumbnail((max_side, max_side), Image.Resampling.LANCZOS, reducing_gap=3.0)
        out = io.BytesIO()
        small.save(out, "JPEG", quality=quality, optimize=True)
        return out.getvalue()


@contextmanager
def decoding(source: bytes | Path, name: str) -> Iterator[None]:
    """Convert any exception of a decoder to one `DataError` that names the image.

    Args:
        source: the data, to recognise other kinds of files.
        name: its name in errors.
    """
    try:
        yield
    except DataError:
        raise
    except UnidentifiedImageError:
        raise _not_an_image(source, name) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large(name, "") from None
    except MemoryError:
        raise DataError(message("images.memory"), file=name) from None
    except Exception as error:  # noqa: BLE001 - decoders raise almost anything on hostile bytes
        reason = str(error) or type(error).__name__
        raise DataError(message("images.damaged", reason=reason), file=name) from None


def open_header(source: bytes | Path, *, name: str) -> Image.Image:
    """An image of which only the header is read; of a file, the rest is read during decoding.

    Use it within `decoding`.

    Raises:
        DataError: empty, larger than `MAX_PIXELS`, or a JPEG of too many scans.
    """
    if not (source if isinstance(source, bytes) else source.stat().st_size):
        raise DataError(message("images.empty"), file=name)
    opened = io.BytesIO(source) if isinstance(source, bytes) else source
    image = Image.open(opened, formats=_FORMATS)
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise _too_large(name, f"{width}x{height} pixels, ")
    if width < 1 or height < 1:
        raise DataError(message("images.no-area", width=width, height=height), file=name)
    if image.format in {"JPEG", "MPO"} and image.info.get("progressive"):
        _check_scans(source, width * height, name)
    return image


def frames_of(image: Image.Image, *, name: str) -> int:
    """The number of an image's frames or pages; 1 for the views of a camera's MPO.

    Use it within `decoding`. The image is at its first frame afterwards.

    Raises:
        DataError: more than `MOST_FRAMES`.
    """
    if image.format == "MPO" or not getattr(image, "is_animated", False):
        return 1
    walked = image.format in {"TIFF", "GIF"}
    number = _sought(image) if walked else int(getattr(image, "n_frames", 1))
    image.seek(0)
    if number > MOST_FRAMES:
        raise DataError(message("images.too-many-frames", most=MOST_FRAMES), file=name)
    return number


def _sought(image: Image.Image) -> int:
    """The number of frames, found without decoding them, up to one more than the limit."""
    number = 1
    with suppress(EOFError):
        while number <= MOST_FRAMES:
            if isinstance(image, GifImagePlugin.GifImageFile):
                image._seek(number, update_image=False)  # Like its `n_frames`; `seek` would decode.
            else:
                image.seek(number)
            number += 1
    return number


def _check_scans(source: bytes | Path, pixels: int, name: str) -> None:
    """Reject a JPEG whose number of scans makes decoding take minutes."""
    most = max(FREE_SCANS, min(MOST_SCANS, MOST_SCANNED // pixels))
    if isinstance(source, bytes):
        scans = _scans(source, most)
    else:
        with (
            source.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            scans = _scans(data, most)
    if scans > most:
        raise DataError(
            message("images.too-many-scans", most=most, megapixels=pixels / 1e6), file=name
        )


def _scans(data: bytes | mmap.mmap, most: int) -> int:
    """The scans of a JPEG, up to one more than `most`; the same for absurdly many segments."""
    scans, at = 0, 2
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(data, at)
        if found is None:
            return scans
        at, marker = found.end(), data[found.end() - 1]
        scans += marker == _START_OF_SCAN
        if scans > most or marker == _END_OF_IMAGE:
            return scans
        at += int.from_bytes(data[at : at + 2], "big")
    return most + 1


def _too_large(name: str, size: str) -> DataError:
    return DataError(
        message("images.too-many-pixels", size=size, most=MAX_PIXELS // 1_000_000), file=name
    )


def _not_an_image(source: bytes | Path, name: str) -> DataError:
    if isinstance(source, Path):
        with source.open("rb") as stream:
            source = stream.read(512)
    head = source[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        what = message("images.web-page")
    elif head.startswith((b"<?xml", b"<svg")):
        what = message("images.xml")
    elif head.startswith(b"%pdf"):
        what = message("images.pdf")
    elif head.startswith(b"version https://git-lfs"):
        what = message("images.git-lfs-pointer")
    else:
        what = message("images.unknown-format")
    return DataError(what, file=name, hint=message("images.formats"))


def check_sums(source: bytes | Path, image: Image.Image, *, name: str) -> None:
    """Check the checksums of a PNG's pixels, which Pillow ignores where it can decode.

    Use it within `decoding`; any exception means that the file is damaged.
    """
    if image.format == "PNG":
        open_header(source, name=name).verify()


def extension_of(image: Image.Image) -> str:
    """The usual file extension of the format from which an image was opened."""
    return _EXTENSIONS[str(image.format)]


def orientation_of(image: Image.Image) -> int:
    """EXIF orientation 1..8; a broken EXIF block does not make an image invalid."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - EXIF parsing raises almost anything on hostile bytes
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _upright(image: Image.Image) -> Image.Image:
    return image if orientation_of(image) == 1 else ImageOps.exif_transpose(image)


def as_rgb(image: Image.Image) -> Image.Image:
    """A decoded image, not rotated, as RGB with 8 bits per channel on white."""
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        page = Image.new("RGB", image.size, _WHITE)
        page.paste(layer, mask=layer.getchannel("A"))
        return page
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale grey of more than 8 bits into 0..255, by its declared depth where it has one."""
    values = np.asarray(image).astype(np.float32)
    np.nan_to_num(values, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    low, high = 0.0, 65535.0
    if image.mode.startswith("I;16"):
        bits = getattr(image, "tag_v2", {}).get(_BITS_PER_SAMPLE, (16,))
        high = float(2 ** bits[0] - 1)
    elif image.mode == "F" or values.max() > high or values.min() < low:
        low, high = float(values.min()), float(values.max())
    scaled = (values - low) * (255.0 / max(high - low, 1e-12))
    return Image.fromarray(np.clip(np.rint(scaled), 0, 255).astype(np.uint8))
