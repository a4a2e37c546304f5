"""Scores of a file in memory, and scores that a test writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from keju.items import Protocol, Score
from keju.scoring import PROTOCOLS
from keju.scoring.stored import Fingerprint, frames_of, iter_scores_of, write_frames


def read_scores(path: Path, protocols: Collection[Protocol] = PROTOCOLS) -> list[Score]:
    return list(iter_scores_of(path, protocols))


def write_scores(
    path: Path, scores: Iterable[Score], fingerprint: Fingerprint | None = None
) -> None:
    write_frames(path, frames_of(scores), fingerprint)
