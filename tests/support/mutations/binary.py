"""Mutations of binary tables and containers: IDX, gzip, PDF."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

_ZEROS = 256 << 20
_COUNTS = (0, 1, 2, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1)


def _plain(path: Path) -> bytes | None:
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError):
        return None


def _packed(path: Path, data: bytes) -> None:
    zipped = path.read_bytes().startswith(b"\x1f\x8b")
    path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)


def _on_plain(change: Callable[[bytearray, Random], bool]) -> Callable[[Path, Random], bool]:
    """A mutation of the content, of a gzip file that of what is in it."""

    def mutate(path: Path, draw: Random) -> bool:
        data = _plain(path)
        if not data:
            return False
        changed = bytearray(data)
        if not change(changed, draw):
            return False
        _packed(path, bytes(changed))
        return True

    return mutate


def _magic(data: bytearray, draw: Random) -> bool:
    """The first bytes: of IDX the type and the number of dimensions."""
    data[draw.randrange(min(4, len(data)))] = draw.choice((0, 1, 4, 8, 9, 13, 14, 255))
    return True


def _count(data: bytearray, draw: Random) -> bool:
    """One of the counts at the beginning of an IDX file."""
    if data[:2] != b"\0\0" or len(data) < 8:
        return False
    at = 4 * draw.randrange(1, 1 + max(1, min(data[3], 4)))
    data[at : at + 4] = draw.choice(_COUNTS).to_bytes(4, "big")
    return True


def _length(data: bytearray, draw: Random) -> bool:
    if draw.random() < 0.5:
        data.extend(b"\x07" * draw.choice((1, 16, 5000)))
    else:
        del data[draw.randrange(len(data)) :]
    return True


def _bomb(path: Path, draw: Random) -> bool:
    """A small gzip file of very much."""
    head = (_plain(path) or b"")[:16] if draw.random() < 0.7 else b""
    path.write_bytes(gzip.compress(head + bytes(_ZEROS), 1, mtime=0))
    return True


def _gzip(path: Path, draw: Random) -> bool:
    data = bytearray(path.read_bytes())
    if not data.startswith(b"\x1f\x8b"):
        path.write_bytes(gzip.compress(bytes(data), mtime=0))
        return True
    match draw.randrange(4):
        case 0:
            data[3] = draw.randrange(256)
        case 1:
            data[-8:-4] = b"abcd"
        case 2:
            data = bytearray(bytes(data) * 2)
        case _:
            path.write_bytes(gzip.decompress(bytes(data)))
            return True
    path.write_bytes(data)
    return True


def _pdf(path: Path, draw: Random) -> bool:
    """Numbers, names and references of a PDF."""
    data = path.read_bytes()
    if not data.startswith(b"%PDF"):
        return False
    found = list(re.finditer(rb"/[A-Za-z]+|[0-9]+|<<|>>|endobj|obj|stream|xref", data))
    if not found:
        return False
    at = draw.choice(found)
    news = (b"", b"0", b"-1", b"99999999", b"1e9", b"/Null", b"<<", b"/Kids [1 0 R]", b"[" * 500)
    path.write_bytes(data[: at.start()] + draw.choice(news) + data[at.end() :])
    return True


MUTATIONS = {
    "first bytes changed": _on_plain(_magic),
    "count changed": _on_plain(_count),
    "content longer or shorter": _on_plain(_length),
    "gzip bomb": _bomb,
    "gzip changed": _gzip,
    "PDF changed": _pdf,
}
