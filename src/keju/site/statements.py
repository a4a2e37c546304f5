"""`read_statements`: the verification statements of `keju verify` that are stored with bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from keju.errors import DataError
from keju.files import bounded_bytes

FORMAT = "keju-verification-1"

_MAX_BYTES = 16 << 20


class Statement(msgspec.Struct, frozen=True):
    """The fields of a statement that the pages show; `verified` is the time."""

    bundle_sha256: str = ""
    result: str = ""
    keju: str = ""
    verified: str = ""
    verified_by: str = ""
    format: str = ""

    @property
    def date(self) -> str:
        """The date, ``YYYY-MM-DD``."""
        return self.verified[:10]


Statements = Mapping[str, Statement]
"""The last statement about each bundle, by the SHA-256 of the bundle."""


def read_statements(folders: Sequence[Path]) -> Statements:
    """The statements in folders of bundles; other JSON files are skipped."""
    found: dict[str, Statement] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.json")):
            each = _read(path)
            if each is None or each.format != FORMAT:
                continue
            known = found.get(each.bundle_sha256)
            if known is None or known.verified <= each.verified:
                found[each.bundle_sha256] = each
    return found


def _read(path: Path) -> Statement | None:
    try:
        return msgspec.json.decode(bounded_bytes(path, _MAX_BYTES), type=Statement)
    except (DataError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
