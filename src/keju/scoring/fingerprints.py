"""`Fingerprint`: hashes of the data that scores depend on, to detect changes since scoring."""

from __future__ import annotations

import msgspec

from keju import __version__
from keju.files import sha256_file
from keju.items import Record
from keju.runs import RunFolder

FORMAT = "keju-scores-7"
"""The format of stored scores. Scores in any other format must be computed again."""


class Fingerprint(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Hashes of everything in a run that the scores of one model depend on.

    `items` is the SHA-256 of items.parquet; the floors of some metrics depend on all items.
    `files` are the SHA-256 of the model's files of responses, by name.
    """

    format: str = FORMAT
    keju: str = __version__
    items: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)


def fingerprint_of(run: RunFolder, model: str) -> Fingerprint:
    """The fingerprint of a model's stored responses and the run's items.

    Compute it before the responses are read for scoring. A response that is stored in between then
    counts as a change.
    """
    return Fingerprint(items=run.items_hash(), files=_hashes(run, model))


def changed_files(run: RunFolder, model: str, scored: Fingerprint) -> list[str]:
    """The names of a model's files of responses that changed, are new or are gone since scoring."""
    return sorted({name for name, _ in _hashes(run, model).items() ^ scored.files.items()})


def _hashes(run: RunFolder, model: str) -> dict[str, str]:
    return {path.name: sha256_file(path) for path in run.response_files(model)}
