"""Mutations of the bytes of any file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

_PIECES = (
    b'"', b"\\", b"\n", b"\t", b"\0", b"\xff", b"1e999", b"{}", b"<", b"../", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xff\xfe", b"]", b"}", b",", b"\r", b"\x1b", b"\xf4\x90\x80\x80",
)  # fmt: skip


def _insert(data: bytes, draw: Random) -> bytes:
    """Something put in at one place, with what it replaces."""
    place, end = (draw.randrange(len(data) + 1) for _ in range(2))
    piece = draw.choice((bytes([draw.randrange(256)]), *_PIECES, data[place:end][:50]))
    return data[:place] + piece + data[place + draw.choice((0, 1, draw.randrange(9))) :]


def _flip(data: bytes, draw: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 1 + len(data) // 100))):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(data: bytes, draw: Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _lose(data: bytes, draw: Random) -> bytes:
    start, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def _repeat(data: bytes, draw: Random) -> bytes:
    start, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    times = min(draw.choice((2, 50)), 1 + 1_000_000 // (1 + end - start))
    return data[:end] + data[start:end] * times + data[end:]


def _zeros(data: bytes, draw: Random) -> bytes:
    start, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + bytes(end - start) + data[end:]


def _noise(data: bytes, draw: Random) -> bytes:
    return draw.randbytes(draw.choice((1, 40, len(data))))


def _on_bytes(change: Callable[[bytes, Random], bytes]) -> Callable[[Path, Random], bool]:
    def mutate(path: Path, draw: Random) -> bool:
        path.write_bytes(change(path.read_bytes(), draw))
        return True

    return mutate


MUTATIONS = {
    "bytes inserted": _on_bytes(_insert),
    "bits flipped": _on_bytes(_flip),
    "file cut off": _on_bytes(_cut),
    "bytes lost": _on_bytes(_lose),
    "bytes repeated": _on_bytes(_repeat),
    "bytes zeroed": _on_bytes(_zeros),
    "noise": _on_bytes(_noise),
}
