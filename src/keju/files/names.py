"""Names of files and texts of cells that are safe for other programs, and SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)

_SLUG_BYTES = 80

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The characters at the beginning of a text that a spreadsheet reads as a formula."""


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of `data`, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cell_text(text: str) -> str:
    """A text for a CSV file, with an apostrophe before it if a spreadsheet would read a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def slug(name: str) -> str:
    """A name, as of a benchmark or table, as part of a file's name: its letters and digits.

    Of a name with more than 80 bytes the beginning is kept, and a hash distinguishes it from others
    with the same beginning. A name without letters and digits is its hash.
    """
    plain = re.sub(r"[\W_]+", "-", name.lower()).strip("-")
    if plain and len(plain.encode()) <= _SLUG_BYTES:
        return plain
    start = plain.encode()[: _SLUG_BYTES - 9].decode(errors="ignore").strip("-")
    digest = sha256_bytes(name.encode(errors="replace"))[:8]
    return f"{start}-{digest}" if start else digest


def relative_path(path: Path, folder: Path) -> str:
    """The path from a directory to `path`, with ``/`` on all systems.

    It is absolute if both are on different drives of Windows.
    """
    path = path.resolve()
    try:
        return Path(os.path.relpath(path, folder.resolve())).as_posix()
    except ValueError:
        return path.as_posix()


def is_reserved(name: str) -> bool:
    """Whether Windows reserves a file name for a device, as ``CON``, ``nul.txt`` and ``COM1``.

    Source: Microsoft, "Naming Files, Paths, and Namespaces".
    """
    return bool(_DEVICES.fullmatch(name))
