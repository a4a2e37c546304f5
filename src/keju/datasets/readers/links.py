"""`leads_out`: whether a file of a source is a link to a place outside of it."""

from __future__ import annotations

import re
from pathlib import Path

_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"(?:datasets|models|spaces)--.+")


def leads_out(path: Path, root: Path) -> bool:
    """Whether a path under a directory is, or goes through, a link to a place outside of it.

    One kind of link to outside is allowed: `huggingface_hub` stores a download as
    ``datasets--OWNER--NAME/snapshots/REVISION/…``, where each file is a link into the directory
    ``blobs`` of the same repository (its documentation, "Understand caching").
    """
    try:
        resolved, inner = path.resolve(), root.resolve()
    except (OSError, RuntimeError):  # Links to each other, in Python 3.11 and 3.12.
        return True
    if resolved.is_relative_to(inner):
        return False
    return not (path.parent.resolve().is_relative_to(inner) and _is_blob(path, resolved))


def _is_blob(path: Path, resolved: Path) -> bool:
    """Whether a link inside a snapshot leads to a file of the blobs of the same repository."""
    place = path.parent.resolve()
    for snapshots in (place, *place.parents):
        if snapshots.name == "snapshots":
            repository = snapshots.parent
            revision = place.relative_to(snapshots).parts[:1]
            return (
                bool(_REPOSITORY.fullmatch(repository.name))
                and bool(revision and _REVISION.fullmatch(revision[0]))
                and resolved.parent == repository / "blobs"
                and bool(_BLOB.fullmatch(resolved.name))
            )
    return False
