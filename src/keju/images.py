"""Image decoding: validation, conversion to RGB, and thumbnails.

Pillow is the only decoder of four measured that rejects truncated, corrupted and oversized files
alike. Any exception inside it becomes one `DataError` that names the image: it is empty, not an
image, of a format that keju does not read, truncated, damaged, larger than `MAX_PIXELS`, or has too
many frames or scans. Functions that take the bytes of a file and its name in errors raise it; use
the others within `decoding`.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import GifImagePlugin, Image, ImageOps, TiffImagePlugin, UnidentifiedImageError

from keju.errors import DataError
from keju.texts import _

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
_WIDTH, _HEIGHT, _BITS_PER_SAMPLE = 256, 257, 258

_NEW_SUBFILE_TYPE, _SUBFILE_TYPE = 254, 255
_REDUCED_OR_MASK, _OLD_REDUCED = 1 | 4, 2
"""Values of a TIFF's two tags for the kind of a frame: a reduced copy of another frame, a mask."""

_WHITE = (255, 255, 255)

# Pillow warns between its limit and twice that; here the limit is strict. Its other warnings (odd
# tags, broken EXIF) do not affect images and would only clutter the terminal.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
warnings.simplefilter("error", Image.DecompressionBombWarning)


class ImageFacts(NamedTuple):
    """The properties of an image: its usual file extension, and its upright size in pixels.

    `turned` means that the EXIF orientation turns or flips it; `frames` counts pages or animation
    frames, of which only the first is ever used. The reduced copies and masks in a TIFF are not
    counted.
    """

    format: str
    width: int
    height: int
    turned: bool = False
    frames: int = 1


def probe_image(data: bytes, *, name: str) -> ImageFacts:
    """Decode an image completely, and return its properties."""
    with decoding(data, name):
        image = open_header(data, name=name)
        check_sums(data, image, name=name)
        frames = len(frames_of(image, name=name))
        turned = orientation_of(image) != 1
        width, height = upright_size(image)
        image.load()
        return ImageFacts(extension_of(image), width, height, turned, frames)


def open_image(data: bytes, *, name: str) -> Image.Image:
    """Open an image as RGB, 8 bits per channel, upright by its EXIF orientation.

    16-bit grey is scaled, transparency is composed on white, and colour profiles are not applied.
    """
    with decoding(data, name):
        image = open_header(data, name=name)
        image.load()
        return as_rgb(upright(image))


def thumbnail(data: bytes, *, name: str, max_side: int, quality: int = 60) -> bytes:
    """A small JPEG of an image, its longer side at most `max_side` pixels, never enlarged.

    Large JPEGs are decoded at a reduced scale, which takes a tenth of the time and memory.
    """
    with decoding(data, name):
        image = open_header(data, name=name)
        scale = max_side / max(image.size)
        if image.format in {"JPEG", "MPO"} and scale < 1:
            wanted = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
            image.draft(None, wanted)
        image.load()
        small = as_rgb(upright(image))
        small.thumbnail((max_side, max_side), Image.Resampling.LANCZOS, reducing_gap=3.0)
        out = io.BytesIO()
        small.save(out, "JPEG", quality=quality, optimize=True)
        return out.getvalue()


@contextmanager
def decoding(source: bytes | Path, name: str) -> Iterator[None]:
    """Convert any exception of a decoder to one `DataError` that names the image."""
    try:
        yield
    except DataError:
        raise
    except UnidentifiedImageError:
        what = _describe_other_file(source)
        hint = _("Formats: JPEG, PNG, TIFF, WebP, JPEG 2000, GIF, BMP")
        raise DataError(what, file=name, hint=hint) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            "more than the limit of {} megapixels",
            MAX_PIXELS // 1_000_000,
            file=name,
            hint="Cut or scale it down first",
        ) from None
    except MemoryError:
        raise DataError("too large for this machine's memory", file=name) from None
    except Exception as error:  # noqa: BLE001 - decoders raise almost anything on hostile bytes
        reason = str(error) or type(error).__name__
        raise DataError(
            "truncated or damaged image: {}", reason, file=name, hint="Fetch the file again"
        ) from None


def _describe_other_file(source: bytes | Path) -> str:
    if isinstance(source, Path):
        with source.open("rb") as stream:
            source = stream.read(512)
    head = source[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    beginnings = {
        (b"<!doctype html", b"<html", b"<head", b"<body"): _("a web page, not an image"),
        (b"<?xml", b"<svg"): _("XML, not a raster image"),
        (b"%pdf",): _("a PDF, not an image"),
        (b"version https://git-lfs",): _("a Git LFS pointer, not the image itself"),
    }
    texts = (text for begin, text in beginnings.items() if head.startswith(begin))
    return next(texts, _("not an image in a format that keju reads"))


def open_header(source: bytes | Path, *, name: str) -> Image.Image:
    """An image of which only the header is read; of a file, the rest is read during decoding.

    Of a TIFF, it is the first frame that is not marked as a reduced copy or a mask: some programs
    put a thumbnail first.
    """
    if not (source if isinstance(source, bytes) else source.stat().st_size):
        raise DataError("the file is empty", file=name, hint="Fetch it again")
    opened = io.BytesIO(source) if isinstance(source, bytes) else source
    image = Image.open(opened, formats=_FORMATS)
    if _is_part(image):
        frames_of(image, name=name)
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise Image.DecompressionBombError
    if width < 1 or height < 1:
        raise DataError("the image has no area: {}x{}", width, height, file=name)
    if image.format in {"JPEG", "MPO"} and image.info.get("progressive"):
        most = max(FREE_SCANS, min(MOST_SCANS, MOST_SCANNED // (width * height)))
        data = source if isinstance(source, bytes) else source.read_bytes()
        if _count_scans(data, most) > most:
            raise DataError(
                "more than {} scans of {:,.0f} megapixels",
                most,
                width * height / 1e6,
                file=name,
                hint="Save it as a baseline JPEG",
            )
    return image


def _count_scans(data: bytes, most: int) -> int:
    """The scans of a JPEG, up to one more than `most`; the same for absurdly many segments."""
    scans, at = 0, 2
    for __ in range(_MOST_SEGMENTS):
        match = _MARKER.search(data, at)
        if match is None:
            return scans
        at, marker = match.end(), data[match.end() - 1]
        scans += marker == _START_OF_SCAN
        if scans > most or marker == _END_OF_IMAGE:
            return scans
        at += int.from_bytes(data[at : at + 2], "big")
    return most + 1


def frames_of(image: Image.Image, *, name: str) -> tuple[int, ...]:
    """The frames of an image that are pages or frames of an animation, counted from 0.

    A camera's MPO has one. In a TIFF, frames that are marked as reduced copies or masks are not
    pages. The image is at the first of these frames afterwards.
    """
    if image.format == "MPO" or not getattr(image, "is_animated", False):
        return (0,)
    seek: Callable[[int], None] | None = None
    parts: list[bool] = []
    if isinstance(image, GifImagePlugin.GifImageFile):
        seek = partial(image._seek, update_image=False)  # Like `n_frames`; `seek` would decode.
    elif isinstance(image, TiffImagePlugin.TiffImageFile):
        seek = image.seek
    else:  # The header has their number, and may exaggerate.
        parts = [False] * min(int(getattr(image, "n_frames", 1)), MOST_FRAMES + 1)
    with suppress(EOFError):
        while seek and len(parts) <= MOST_FRAMES:
            seek(len(parts))
            parts.append(_is_part(image))
    pages = [number for number, is_part in enumerate(parts) if not is_part] or [0]
    image.seek(pages[0])
    if len(parts) > MOST_FRAMES:
        raise DataError("more than {:,} frames", MOST_FRAMES, file=name, hint="Split the file")
    return tuple(pages)


def _is_part(image: Image.Image) -> bool:
    """Whether the frame of a TIFF is marked as a reduced copy of another one, or as a mask."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return False
    marks = image.tag_v2.get(_NEW_SUBFILE_TYPE, 0)
    is_marked = isinstance(marks, int) and bool(marks & _REDUCED_OR_MASK)
    return is_marked or image.tag_v2.get(_SUBFILE_TYPE) == _OLD_REDUCED


def check_sums(source: bytes | Path, image: Image.Image, *, name: str) -> None:
    """Check the checksums of a PNG's pixels, which Pillow ignores where it can decode."""
    if image.format == "PNG":
        open_header(source, name=name).verify()


def extension_of(image: Image.Image) -> str:
    """The usual file extension of the format from which an image was opened."""
    return _EXTENSIONS[str(image.format)]


def orientation_of(image: Image.Image) -> int:
    """EXIF orientation 1..8; a broken EXIF block does not make an image invalid.

    A decoded TIFF has 1: Pillow turns it as it decodes it.
    """
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - EXIF parsing raises almost anything on hostile bytes
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def upright_size(image: Image.Image) -> tuple[int, int]:
    """The size of an image when it is upright; it must not be decoded yet.

    Pillow gives the upright size of a TIFF and the stored size of other formats.
    """
    width, height = image.size
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        width, height = image.tag_v2[_WIDTH], image.tag_v2[_HEIGHT]
    return (height, width) if orientation_of(image) >= 5 else (width, height)


def upright(image: Image.Image) -> Image.Image:
    """A decoded image, turned by its EXIF orientation."""
    return image if orientation_of(image) == 1 else ImageOps.exif_transpose(image)


# Settings with which an image is encoded again.
_BEST: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 95, "subsampling": 0},
    "TIFF": {"compression": "tiff_adobe_deflate"},
    "WEBP": {"lossless": True},
}


def upright_file(data: bytes, *, name: str) -> bytes:
    """An image file whose pixels are upright, for programs that ignore the EXIF orientation.

    A file without one is returned unchanged. Otherwise its first page is encoded again in the same
    format, without the orientation; also that of a TIFF that begins with a thumbnail.
    """
    with decoding(data, name):
        image = open_header(data, name=name)
        begins_with_part = _is_part(Image.open(io.BytesIO(data), formats=_FORMATS))
        if orientation_of(image) == 1 and not begins_with_part:
            return data
        form = "JPEG" if image.format == "MPO" else str(image.format)
        image.load()
        turned = upright(image).copy()
        facts = {key: image.info[key] for key in ("icc_profile", "dpi") if key in image.info}
        turned.info = {key: turned.info[key] for key in ("transparency",) if key in turned.info}
        out = io.BytesIO()
        turned.save(out, form, **facts, **_BEST.get(form, {}))
        return out.getvalue()


def as_rgb(image: Image.Image) -> Image.Image:
    """A decoded image, not rotated, as RGB with 8 bits per channel on white."""
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        layer = image if image.mode == "RGBA" else image.convert("RGBA")
        page = Image.new("RGB", image.size, _WHITE)
        page.paste(layer, mask=layer)
        return page
    return image.convert("RGB")


def grey_depth(image: Image.Image) -> int:
    """Bits of a pixel of an image of mode I;16: 12 in some TIFF files, 16 in all other files."""
    return int(getattr(image, "tag_v2", {}).get(_BITS_PER_SAMPLE, (16,))[0])


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale grey of more than 8 bits into 0..255, by its declared depth where it has one."""
    values = np.asarray(image).astype(np.float32)
    np.nan_to_num(values, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    low, high = 0.0, 65535.0
    if image.mode.startswith("I;16"):
        high = float(2 ** grey_depth(image) - 1)
    elif image.mode == "F" or values.max() > high or values.min() < low:
        low, high = float(values.min()), float(values.max())
    # In place: as float32, an image of 100 megapixels takes 400 MB.
    values -= low
    values *= 255.0 / max(high - low, 1e-12)
    np.clip(np.rint(values, out=values), 0, 255, out=values)
    return Image.fromarray(values.astype(np.uint8))
