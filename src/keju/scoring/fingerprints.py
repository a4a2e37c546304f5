"""`Fingerprint`: hashes of the data that scores depend on, to detect changes since scoring."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from keju import __version__
from keju.files import read_jsonl_lines, sha256_file
from keju.items import PromptScript, Record, Setting
from keju.runs import RunFolder

FORMAT = "keju-scores-6"
"""The format of stored scores. Scores in any other format must be computed again."""

_HALF = 8
"""Bytes of each of the two hashes in an entry of `Fingerprint.responses`."""


class Fingerprint(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Hashes of everything in a run that the scores of one model depend on.

    `items` is the SHA-256 of items.parquet; the floors of some metrics depend on all items.
    `files` are the SHA-256 of the model's files of responses, by name. `responses` has for each
    response 8 bytes of the hash of its place and 8 of the hash of its line as stored, in ascending
    order. So the order of the responses does not matter.
    """

    format: str = FORMAT
    keju: str = __version__
    items: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    responses: bytes = b""


class Changes(Record, frozen=True, kw_only=True):
    """How many responses of a model differ from those that were scored.

    `item` is one item whose response changed or is new; empty if there is none.
    """

    changed: int = 0
    new: int = 0
    gone: int = 0
    item: str = ""

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.gone)


def fingerprint_of(run: RunFolder, model: str) -> Fingerprint:
    """The fingerprint of a model's stored responses and the run's items.

    Compute it before the responses are read for scoring. A response that is stored in between then
    counts as a change.

    Raises:
        DataError: a stored line is damaged.
    """
    files = run.response_files(model)
    hashes = {path.name: sha256_file(path) for path in files}
    entries = bytearray()
    for path in files:
        for place, line, _ in _entries(path):
            entries += place
            entries += line
    return Fingerprint(items=run.items_hash(), files=hashes, responses=_sorted_entries(entries))


def _sorted_entries(entries: bytearray) -> bytes:
    """Pairs of two hashes, sorted by the first; of pairs with the same first the last one."""
    pairs = np.frombuffer(entries, ">u8").reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    is_last = np.append(pairs[1:, 0] != pairs[:-1, 0], np.ones(min(1, len(pairs)), bool))
    return bytes(pairs[is_last].tobytes())


def changes_since(run: RunFolder, model: str, scored: Fingerprint) -> Changes:
    """Compare a model's stored responses with those that were scored.

    Raises:
        DataError: a stored line is damaged.
    """
    files = run.response_files(model)
    if {path.name: sha256_file(path) for path in files} == scored.files:
        return Changes()
    before = _unpacked(scored.responses)
    now: dict[bytes, tuple[bytes, str]] = {}
    for path in files:
        for place, line, item in _entries(path):
            now[place] = line, item
    new = [item for place, (_, item) in now.items() if place not in before]
    changed = [item for place, (line, item) in now.items() if before.get(place, line) != line]
    return Changes(
        changed=len(changed),
        new=len(new),
        gone=len(before.keys() - now.keys()),
        item=next(iter([*changed, *new]), ""),
    )


class _Place(Record, frozen=True, kw_only=True):
    """The place of a response in its run, which distinguishes it from others of its file."""

    item: str
    query: str = ""
    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"
    round: int = 1
    candidate: int = 0


def _entries(path: Path) -> Iterator[tuple[bytes, bytes, str]]:
    """For each line of a file the hash of its place, the hash of the line, and its item."""
    prefix = path.name.encode() + b"\0"
    encode = msgspec.json.Encoder().encode
    for place, line in read_jsonl_lines(path, _Place, appended=True):
        name = blake2b(prefix + encode(place), digest_size=_HALF).digest()
        yield name, blake2b(line.strip(), digest_size=_HALF).digest(), place.item


def _unpacked(responses: bytes) -> dict[bytes, bytes]:
    starts = range(0, len(responses), 2 * _HALF)
    return {
        responses[start : start + _HALF]: responses[start + _HALF : start + 2 * _HALF]
        for start in starts
    }
