"""Mutations of images: headers, chunks, modes, frames, and other files under an image's name."""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

from PIL import Image, PngImagePlugin

_ZEROS = 32 << 20


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, *chunks: bytes, depth: int = 8, colour: int = 2) -> bytes:
    """A PNG of that header and those chunks, true or not."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join((_chunk(b"IHDR", head), *chunks, _chunk(b"IEND", b"")))


def _saved(image: Image.Image, form: str, **more: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def _opened(path: Path) -> Image.Image | None:
    try:
        image = Image.open(io.BytesIO(path.read_bytes()))
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return image


def _bomb(path: Path, draw: Random) -> bool:
    """Few bytes that claim, or are, very many pixels."""
    lines = zlib.compress(bytes(_ZEROS), 1)
    path.write_bytes(draw.choice((
        lambda: png(100_000, 100_000), lambda: png(2**31 - 1, 1), lambda: png(0, 5),
        lambda: png(50_000, 50_000, _chunk(b"IDAT", lines), depth=1, colour=0),
        lambda: png(19_000, 19_000, _chunk(b"IDAT", lines), depth=1, colour=0),
        lambda: b"GIF89a" + struct.pack("<HHBBB", 65_535, 65_535, 0, 0, 0),
        lambda: b"II*\0" + struct.pack("<IH", 8, 65_535) + b"\xff" * 5000,
        lambda: b"BM" + struct.pack("<IIIIii", 99, 0, 54, 40, 2**31 - 1, -(2**31)) + b"\1" * 30,
    ))())  # fmt: skip
    return True


def _mode(path: Path, draw: Random) -> bool:
    """The same image in another mode or format under the same name."""
    image = _opened(path)
    if image is None:
        return False
    form, mode = draw.choice((
        ("JPEG", "CMYK"), ("TIFF", "CMYK"), ("PNG", "I;16"), ("TIFF", "F"), ("PNG", "1"),
        ("PNG", "LA"), ("GIF", "P"), ("WEBP", "RGBA"), ("BMP", "RGB"), ("TIFF", "LAB"),
        ("JPEG2000", "RGB"), ("PPM", "RGB"), ("ICO", "RGBA"), ("PDF", "RGB"), ("TGA", "RGB"),
    ))  # fmt: skip
    image = image.convert("RGB")
    path.write_bytes(_saved(image.convert("L" if mode == "I;16" else mode), form))
    return True


def _frames(path: Path, draw: Random) -> bool:
    image = _opened(path)
    if image is None:
        return False
    form = draw.choice(("GIF", "TIFF", "WEBP", "PNG"))
    others = [image.convert("RGB").rotate(n) for n in range(draw.choice((1, 40)))]
    path.write_bytes(_saved(image.convert("RGB"), form, save_all=True, append_images=others))
    return True


def _metadata(path: Path, draw: Random) -> bool:
    """Texts that swell, profiles, orientation."""
    image = _opened(path)
    if image is None:
        return False
    info = PngImagePlugin.PngInfo()
    info.add_text("k" * 70, "x" * (4 << 20), zip=True)
    exif = Image.Exif()
    exif[0x0112] = draw.choice((0, 3, 6, 9, 65_535))
    path.write_bytes(draw.choice((
        lambda: _saved(image.convert("RGB"), "PNG", pnginfo=info),
        lambda: _saved(image.convert("RGB"), "JPEG", exif=exif),
        lambda: _saved(image.convert("RGB"), "PNG", icc_profile=b"\0" * 99),
        lambda: _saved(image.convert("RGB"), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" * 9),
        lambda: _saved(image.convert("P"), "PNG", transparency=b"\0" * 3),
    ))())  # fmt: skip
    return True


def _other(path: Path, draw: Random) -> bool:
    path.write_bytes(draw.choice((
        b"", b"\0", b"\x89PNG\r\n\x1a\n", b"<!DOCTYPE html><html>404</html>", b"%PDF-1.7\n",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", b"PK\x03\x04",
        b'<svg xmlns="http://www.w3.org/2000/svg"/>', b"%!PS-Adobe-3.0 EPSF-3.0\n", b"GIF89a",
        b"RIFF\xff\xff\xff\xffWEBPVP8X", b"\xff\xd8\xff\xe0\0\x10JFIF", b"II*\0\x08\0\0\0",
        b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff" * 5000,
    )))  # fmt: skip
    return True


def _chunks(path: Path, draw: Random) -> bool:
    """Lengths and sums of a PNG's chunks, or the markers of a JPEG."""
    data = bytearray(path.read_bytes())
    if len(data) < 40:
        return False
    names = [found.start() for found in re.finditer(b"IHDR|IDAT|IEND", data) if found.start() > 4]
    at = draw.choice(names) - draw.choice((1, 4, -3, -5)) if names else draw.randrange(2, 40)
    data[at] ^= draw.randrange(1, 256)
    path.write_bytes(data)
    return True


MUTATIONS: dict[str, Callable[[Path, Random], bool]] = {
    "image bomb": _bomb,
    "image in another mode": _mode,
    "image of several frames": _frames,
    "metadata of an image": _metadata,
    "another file under an image's name": _other,
    "chunks of an image": _chunks,
}
