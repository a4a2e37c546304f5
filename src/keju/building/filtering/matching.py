"""Similarity of images and answers: CLIP's cosine, where its weights are given."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import Struct

from keju.building.image_files import ImageFiles, label_image
from keju.building.step_context import StepContext
from keju.building.worker_encoders import load_encoder, open_encoder, release_encoders
from keju.definitions import query_of
from keju.encoders.matches import MatchEncoder
from keju.errors import DataError
from keju.images import open_image
from keju.items import Item

_CHUNK = 64


class DescribedImages(Struct, frozen=True):
    """Images by their names for `ImageFiles`, their descriptions, and the hash of the weights."""

    images: tuple[str, ...]
    answers: tuple[str, ...]
    weights: str


class Matches(Struct, frozen=True):
    """The cosines of images and descriptions: float32, one after the other."""

    cosines: bytes = b""
    error: str = ""


def compute_matches(context: StepContext, items: Iterable[Item], clip: Path) -> dict[str, float]:
    """Compute the cosine of an item's first image and its answer, by the item's id.

    Only of items with a text about an image: a letter or a transcription does not describe what an
    image looks like. Finished batches survive an interruption.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    folder = clip.absolute()
    weights = load_encoder(MatchEncoder, folder).weights_hash
    asked = [item for item in items if _has_described_image(item)]
    pairs = [
        DescribedImages(
            tuple(context.image_name(item.images[0]) for item in some),
            tuple(item.answer for item in some),
            weights,
        )
        for some in (asked[start : start + _CHUNK] for start in range(0, len(asked), _CHUNK))
    ]
    compute = partial(compute_batch, folder=str(folder), images=context.image_files())
    batches = context.engine.map("clip", pairs, compute, Matches, chunk=1)
    release_encoders()
    if error := next((each.error for each in batches if each.error), ""):
        raise DataError(error)
    values = np.frombuffer(b"".join(each.cosines for each in batches), np.float32).tolist()
    return {item.id: round(value, 4) for item, value in zip(asked, values, strict=True)}


def compute_batch(some: DescribedImages, *, folder: str, images: ImageFiles) -> Matches:
    """Compute the cosines of a batch.

    Raises:
        DataError: an image is not valid.
        UnavailableError: as `open_encoder` and `ImageFiles.read`.
    """
    pictures = [open_image(images.read(name), name=label_image(name)) for name in some.images]
    with open_encoder(MatchEncoder, Path(folder), some.weights) as encoder:
        return Matches(encoder.matches(pictures, some.answers).tobytes())


def _has_described_image(item: Item) -> bool:
    asked = item.split == "test" and bool(item.images) and bool(item.answer.strip())
    return asked and query_of(item).form == "text"
