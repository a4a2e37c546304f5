"""Similarity of images and answers: CLIP's cosine, where its weights are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from keju.building.step_context import StepContext
from keju.building.worker_encoders import encode_images
from keju.definitions import query_of
from keju.encoders.matches import MatchEncoder
from keju.items import Item

_BATCH = 64


def compute_matches(context: StepContext, items: Iterable[Item], clip: Path) -> dict[str, float]:
    """Compute the cosine of an item's first image and its answer, by the item's id.

    Only of items with a text about an image: a letter or a transcription does not describe what an
    image looks like.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    asked = [item for item in items if _has_described_image(item)]
    pairs = [(item.images[0], item.answer) for item in asked]
    values = encode_images(context, MatchEncoder, clip, pairs, batch=_BATCH)
    return {item.id: round(value, 4) for item, value in zip(asked, values.tolist(), strict=True)}


def _has_described_image(item: Item) -> bool:
    asked = item.split == "test" and bool(item.images) and bool(item.answer.strip())
    return asked and query_of(item).form == "text"
