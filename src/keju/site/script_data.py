"""Data files of the site as scripts: a page opened from a disk may load scripts, but no data."""

from __future__ import annotations

from pathlib import Path

from keju.files import write_atomic
from keju.reporting.item_pages import escape, inert


def script(key: str, data: bytes) -> bytes:
    """A script that gives JSON to the page under a key.

    The JSON contains untrusted texts as values only, never as the names of fields.
    """
    return f"kejuData({inert(key)},{escape(data)});\n".encode()


def write_changed(path: Path, data: bytes) -> Path:
    """Write a file, unless it has these bytes already."""
    if not path.is_file() or path.stat().st_size != len(data) or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    return path
