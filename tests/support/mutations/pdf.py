"""Mutations of PDF files."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random


def _magic(path: Path, draw: Random) -> bool:
    """One of the first bytes."""
    data = bytearray(path.read_bytes())
    if not data:
        return False
    data[draw.randrange(min(4, len(data)))] = draw.choice((0, 1, 4, 8, 9, 13, 14, 255))
    path.write_bytes(data)
    return True


def _length(path: Path, draw: Random) -> bool:
    data = path.read_bytes()
    if not data:
        return False
    if draw.random() < 0.5:
        path.write_bytes(data + b"\x07" * draw.choice((1, 16, 5000)))
    else:
        path.write_bytes(data[: draw.randrange(len(data))])
    return True


def _token(path: Path, draw: Random) -> bool:
    """Numbers, names and references."""
    data = path.read_bytes()
    if not data.startswith(b"%PDF"):
        return False
    tokens = list(re.finditer(rb"/[A-Za-z]+|[0-9]+|<<|>>|endobj|obj|stream|xref", data))
    if not tokens:
        return False
    at = draw.choice(tokens)
    news = (b"", b"0", b"-1", b"99999999", b"1e9", b"/Null", b"<<", b"/Kids [1 0 R]", b"[" * 500)
    path.write_bytes(data[: at.start()] + draw.choice(news) + data[at.end() :])
    return True


MUTATIONS = {
    "first bytes changed": _magic,
    "content longer or shorter": _length,
    "PDF changed": _token,
}
