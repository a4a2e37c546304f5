"""Similarity of images and answers: CLIP's cosine, where its weights are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from keju.building.step_context import StepContext
from keju.definitions import query_of
from keju.files import sha256_bytes
from keju.images import open_image
from keju.items import Item

_CHUNK = 64


def compute_matches(context: StepContext, items: Iterable[Item], clip: Path) -> dict[str, float]:
    """Compute the cosine of an item's first image and its answer, by the item's id.

    Only of items with a text about an image: a letter or a transcription does not describe what an
    image looks like. Finished batches survive an interruption.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    from keju.encoders.matches import MatchEncoder  # noqa: PLC0415 - torch

    asked = [item for item in items if _has_described_image(item)]
    encoder = MatchEncoder(clip)
    found: dict[str, float] = {}
    for start in range(0, len(asked), _CHUNK):
        some = asked[start : start + _CHUNK]
        shown = "".join(f"{item.images[0].sha256}{item.answer}\0" for item in some)
        mark = sha256_bytes(f"{encoder.weights_hash}{shown}".encode("utf-8", "replace"))
        file = context.scratch("clip") / f"{mark[:24]}.npy"
        if not file.exists():
            pictures = [
                open_image(context.dataset.image_bytes(item.images[0]), name=item.id)
                for item in some
            ]
            partial = file.with_suffix(".part.npy")
            np.save(partial, encoder.matches(pictures, [item.answer for item in some]))
            partial.replace(file)
        values = np.load(file).tolist()
        found |= {item.id: round(value, 4) for item, value in zip(some, values, strict=True)}
    return found


def _has_described_image(item: Item) -> bool:
    asked = item.split == "test" and bool(item.images) and bool(item.answer.strip())
    return asked and query_of(item).form == "text"
