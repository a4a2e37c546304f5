"""Decoding of large images in horizontal bands.

Pillow decodes a PNG or a TIFF in one piece: 120 megapixels are 480 MB. Here a few rows at a time
are written as a small file of the same kind, which Pillow then decodes.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, TiffImagePlugin

_BAND_PIXELS = 1_500_000

_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_CHANNELS = {_GREY: 1, _RGB: 3, _PALETTE: 1, _GREY_ALPHA: 2, _RGBA: 4}
_KIND_OF_BYTES = {1: _GREY, 2: _GREY_ALPHA, 3: _RGB, 4: _RGBA}
"""Filters of a PNG work on bytes: any row can be unfiltered as 8-bit pixels of this number of
bytes."""
_READ = 1 << 16

_COPIED_TAGS = (
    258, 259, 262, 266, 277, 284, 292, 293, 317, 320, 338, 339, 347, 530, 531,
)  # fmt: skip
_LONG = 4
_PACKED = {1: "B", 3: "H", _LONG: "L", 7: "B"}
"""The struct codes of values, by a TIFF's number for their type."""

_WIDTH, _HEIGHT, _ROWS_PER_STRIP, _PLANES = 256, 257, 278, 284
_STRIPS, _STRIP_SIZES, _TILES, _TILE_SIZES = 273, 279, 324, 325
_TILE_WIDTH, _TILE_HEIGHT = 322, 323
_COMPRESSION, _OLD_JPEG, _UNCOMPRESSED = 259, 6, 1
_BITS = 258
_MOST_BAND_PIXELS = 24_000_000


def iter_bands(image: Image.Image, file: Path) -> Iterator[Image.Image] | None:
    """Yield the bands of an opened but not decoded image; None if its format has none.

    Each band is decoded and has the image's palette and transparency, but is not yet RGB.
    """
    if image.format == "PNG":
        return _iter_png_bands(file)
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        return _iter_tiff_bands(image, file)
    return None


def _iter_png_bands(file: Path) -> Iterator[Image.Image] | None:
    with file.open("rb") as stream:
        head = stream.read(33)
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", head[16:29])
    pixel = max(1, _CHANNELS.get(kind, 0) * depth // 8)
    if interlaced or pixel not in _KIND_OF_BYTES:
        return None
    row = (width * _CHANNELS[kind] * depth + 7) // 8
    return _iter_png_rows(file, (width, height, depth, kind), row, pixel)


def _iter_png_rows(
    file: Path, size: tuple[int, int, int, int], row: int, pixel: int
) -> Iterator[Image.Image]:
    width, height, depth, kind = size
    rows = max(1, _BAND_PIXELS // width)
    before, done = bytes(row), 0
    kept: list[bytes] = []
    inflated = bytearray()
    inflate = zlib.decompressobj()
    with file.open("rb") as stream:
        for name, piece in _iter_png_pieces(stream):
            if name != b"IDAT":
                kept.append(_make_png_chunk(name, piece))
                continue
            while piece and done < height:
                want = min(rows, height - done)
                inflated += inflate.decompress(piece, want * (row + 1) - len(inflated))
                piece = inflate.unconsumed_tail  # noqa: PLW2901 - what is left of it
                if len(inflated) == want * (row + 1):
                    raw = _unfilter(bytes(inflated), before, row, pixel)
                    inflated.clear()
                    before, done = raw[-1].tobytes(), done + want
                    yield _decode_png_band(raw, (width, want, depth, kind), kept)
    if done < height:
        raise OSError("pixels are missing")


def _unfilter(rows: bytes, before: bytes, row: int, pixel: int) -> np.ndarray:
    """Unfilter rows of a PNG: decode them as an image whose pixels have as many bytes."""
    count = len(rows) // (row + 1)
    # The previous row goes first, unfiltered, since the first row may refer to it.
    data = b"\0" + before + rows
    whole = _make_png(row // pixel, count + 1, 8, _KIND_OF_BYTES[pixel], data, [])
    return np.asarray(whole, np.uint8).reshape(count + 1, row)[1:]


def _decode_png_band(
    raw: np.ndarray, size: tuple[int, int, int, int], kept: list[bytes]
) -> Image.Image:
    width, height, depth, kind = size
    data = np.zeros((height, raw.shape[1] + 1), np.uint8)
    data[:, 1:] = raw
    return _make_png(width, height, depth, kind, data.tobytes(), kept)


def _make_png(
    width: int, height: int, depth: int, kind: int, data: bytes, kept: list[bytes]
) -> Image.Image:
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    parts = [_PNG_HEAD, _make_png_chunk(b"IHDR", head), *kept]
    parts += [_make_png_chunk(b"IDAT", zlib.compress(data, 0)), _make_png_chunk(b"IEND", b"")]
    image = Image.open(io.BytesIO(b"".join(parts)), formats=("PNG",))
    image.load()
    return image


def _make_png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _iter_png_pieces(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield the data of a PNG: pixels in parts, palette and transparency; verify checksums."""
    stream.seek(len(_PNG_HEAD))
    while len(head := stream.read(8)) == 8:
        length, name = struct.unpack(">I4s", head)
        if name == b"IEND":
            return
        total, whole = zlib.crc32(name), bytearray()
        for start in range(0, length, _READ):
            piece = stream.read(min(_READ, length - start))
            total = zlib.crc32(piece, total)
            if name == b"IDAT":
                yield name, piece
            elif name in {b"PLTE", b"tRNS"}:
                whole += piece
        if struct.pack(">I", total) != stream.read(4):
            raise OSError(f"the sum of {name!r} differs")
        if whole:
            yield name, bytes(whole)


def _iter_tiff_bands(
    image: TiffImagePlugin.TiffImageFile, file: Path
) -> Iterator[Image.Image] | None:
    tags = image.tag_v2
    width, height = int(tags[_WIDTH]), int(tags[_HEIGHT])
    tiled = _TILES in tags
    offsets = tags.get(_TILES if tiled else _STRIPS, ())
    sizes = tags.get(_TILE_SIZES if tiled else _STRIP_SIZES, ())
    rows = int(tags[_TILE_HEIGHT]) if tiled else min(height, tags.get(_ROWS_PER_STRIP, height))
    if tags.get(_COMPRESSION) == _UNCOMPRESSED and not tiled:
        # Uncompressed data can be cut between any two rows.
        row = (width * sum(tags.get(_BITS, (1,))) + 7) // 8
        offsets = [start + row * n for start in offsets for n in range(rows)][:height]
        sizes, rows = [row] * len(offsets), 1
    across = -(-width // int(tags[_TILE_WIDTH])) if tiled else 1
    down = -(-height // max(1, rows))
    fits = len(offsets) == len(sizes) == across * down and rows * width <= _MOST_BAND_PIXELS
    odd = tags.get(_PLANES, 1) != 1 or tags.get(_COMPRESSION) == _OLD_JPEG
    odd |= any(tags.tagtype[tag] not in _PACKED for tag in _COPIED_TAGS if tag in tags)
    if odd or not fits or not offsets:
        return None
    pieces = list(zip(offsets, sizes, strict=True))
    places = [pieces[n * across : (n + 1) * across] for n in range(down)]
    return _iter_tiff_rows(image, file, places, rows)


def _iter_tiff_rows(
    image: TiffImagePlugin.TiffImageFile,
    file: Path,
    places: list[list[tuple[int, int]]],
    rows: int,
) -> Iterator[Image.Image]:
    width, height = image.tag_v2[_WIDTH], image.tag_v2[_HEIGHT]
    together = max(1, _BAND_PIXELS // (width * rows))
    with file.open("rb") as stream:
        for start in range(0, len(places), together):
            some = [place for line in places[start : start + together] for place in line]
            parts = []
            for offset, size in some:
                stream.seek(offset)
                parts.append(stream.read(size))
                if len(parts[-1]) < size:
                    raise OSError("pixels are missing")
            tall = min(together * rows, height - start * rows)
            yield _decode_tiff_band(image.tag_v2, parts, tall, rows)


def _decode_tiff_band(
    tags: TiffImagePlugin.ImageFileDirectory_v2, parts: list[bytes], tall: int, rows: int
) -> Image.Image:
    """Decode some strips or rows of tiles as a TIFF of their own."""
    tiled = _TILES in tags
    sizes = [len(part) for part in parts]
    places = list(accumulate(sizes[:-1], initial=8))
    made: dict[int, tuple[int, Sequence[int] | bytes]] = {
        tag: (tags.tagtype[tag], _get_values(tags[tag])) for tag in _COPIED_TAGS if tag in tags
    }
    made[_WIDTH], made[_HEIGHT] = (_LONG, (tags[_WIDTH],)), (_LONG, (tall,))
    if tiled:
        made[_TILE_WIDTH] = (_LONG, (tags[_TILE_WIDTH],))
        made[_TILE_HEIGHT] = (_LONG, (tags[_TILE_HEIGHT],))
    else:
        made[_ROWS_PER_STRIP] = (_LONG, (rows,))
    made[_TILES if tiled else _STRIPS] = (_LONG, places)
    made[_TILE_SIZES if tiled else _STRIP_SIZES] = (_LONG, sizes)
    end = _get_byte_order(tags)
    body = b"".join(parts)
    body += bytes(len(body) % 2)
    order = b"II" if end == "<" else b"MM"
    head = order + struct.pack(f"{end}HL", 42, 8 + len(body))
    data = head + body + _make_directory(made, end, 8 + len(body))
    image = Image.open(io.BytesIO(data), formats=("TIFF",))
    image.load()
    return image


def _get_values(value: object) -> Sequence[int] | bytes:
    if isinstance(value, bytes):
        return value
    return value if isinstance(value, tuple) else (int(str(value)),)


def _make_directory(
    entries: Mapping[int, tuple[int, Sequence[int] | bytes]], end: str, place: int
) -> bytes:
    """Make the directory of a TIFF's tags, for a position in the file."""
    table, rest = bytearray(struct.pack(f"{end}H", len(entries))), bytearray()
    after = place + 2 + 12 * len(entries) + 4
    for tag, (kind, values) in sorted(entries.items()):
        packed = (
            values
            if isinstance(values, bytes)
            else struct.pack(f"{end}{len(values)}{_PACKED[kind]}", *values)
        )
        table += struct.pack(f"{end}HHL", tag, kind, len(values))
        if len(packed) <= 4:
            table += packed.ljust(4, b"\0")
        else:
            table += struct.pack(f"{end}L", after + len(rest))
            rest += packed + bytes(len(packed) % 2)
    return bytes(table) + bytes(4) + bytes(rest)


def _get_byte_order(tags: TiffImagePlugin.ImageFileDirectory_v2) -> str:
    return "<" if tags.prefix == b"II" else ">"
