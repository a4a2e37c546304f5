"""Permanent addresses of pages and files: from stable ids, never from an order or a count."""

from __future__ import annotations

import re

import msgspec

from keju.files import sha256_bytes

_HASH = 10
"""Hexadecimal digits of a stable id: for a million names two are alike once in two million."""

_LONGEST = 48


def stable_id(*parts: str) -> str:
    """A short hash of names, the same in every build."""
    return sha256_bytes(msgspec.json.encode(parts))[:_HASH]


def address(name: str, *more: str) -> str:
    """A safe file name made from an untrusted name: readable letters, then a hash of all parts.

    Args:
        name: the name that a reader should recognise, such as a model's.
        more: what else distinguishes the page.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{plain or 'x'}-{stable_id(name, *more)}"
