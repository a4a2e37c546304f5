"""Images that cost far more to decode than they weigh: by scans, frames or directories."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image


def scanned_jpeg(side: int, more: int) -> bytes:
    """A progressive JPEG of `side` pixels a side, whose last scan is repeated `more` times."""
    out = io.BytesIO()
    Image.new("L", (side, side), 128).save(out, "JPEG", progressive=True, quality=10)
    data = out.getvalue()
    end = data.rindex(b"\xff\xd9")
    last = data[data.rindex(b"\xff\xda") : end]
    return data[:end] + last * more + data[end:]


def scans_of(data: bytes) -> int:
    """The scans of a JPEG made by `scanned_jpeg`, whose scans contain no stuffed bytes."""
    return data.count(b"\xff\xda")


def framed_gif(frames: int, side: int = 1) -> bytes:
    """A GIF of `frames` frames of one pixel, on a canvas of that size."""
    out = io.BytesIO()
    Image.new("P", (1, 1)).save(out, "GIF")
    data = bytearray(out.getvalue())
    head = data[: 13 + (3 * (2 << (data[10] & 7)) if data[10] & 0x80 else 0)]
    head[6:10] = struct.pack("<2H", side, side)
    frame = b"\x2c" + struct.pack("<4HB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return bytes(head) + frame * frames + b"\x3b"


def paged_tiff(pages: int) -> bytes:
    """A TIFF of `pages` directories, each of the same image of one pixel."""
    tags = ((256, 3, 1), (257, 3, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8),
            (277, 3, 1), (278, 3, 1), (279, 4, 1))  # fmt: skip
    out = bytearray(b"II*\0" + struct.pack("<I", 16) + b"\x80" * 8)
    size = 2 + 12 * len(tags) + 4
    for page in range(pages):
        out += struct.pack("<H", len(tags))
        for tag, kind, value in tags:
            out += struct.pack("<HHII", tag, kind, 1, value)
        out += struct.pack("<I", 16 + (page + 1) * size if page < pages - 1 else 0)
    return bytes(out)


def framed_png(frames: int) -> bytes:
    """A PNG of one pixel whose header claims that number of frames."""
    out = io.BytesIO()
    Image.new("L", (1, 1)).save(out, "PNG")
    data = out.getvalue()
    chunk = b"acTL" + struct.pack(">2I", frames, 0)
    chunk = struct.pack(">I", 8) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return data[:33] + chunk + data[33:]
