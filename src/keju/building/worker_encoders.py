"""`encode_images`: images encoded by workers in batches, with an encoder that stays loaded.

The weights must be in the same folder on every node, like the packages that read them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.engine import check_rows
from keju.building.image_files import ImageFiles, UnavailableError, label_image
from keju.building.step_context import StepContext
from keju.encoders.clip import ClipEncoder
from keju.errors import KejuError
from keju.images import open_image
from keju.items import ImageRef
from keju.texts import _

_ONE_AT_A_TIME = threading.Lock()
"""An encoder uses all cores that its process may use."""


class ImageBatch(Struct, frozen=True):
    """Images by their names for `ImageFiles`, their texts, and the hash of the weights."""

    images: tuple[str, ...]
    texts: tuple[str, ...]
    weights: str


class BatchNumbers(Struct, frozen=True):
    """The result of an encoder for a batch: float32, one number after the other."""

    numbers: bytes = b""
    error: str = ""


def encode_images(
    context: StepContext, folder: Path, images: Sequence[tuple[ImageRef, str]], *, batch: int
) -> NDArray[np.float32]:
    """Encode images of a step's input, each with a text; finished batches survive an interruption.

    Returns:
        One after the other, the cosine of each image and its text, or the vector of each image, of
            length 1, where no image has a text.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    folder = folder.absolute()
    weights = load_encoder(folder, texts=any(text for _, text in images)).weights_hash
    parts = [images[start : start + batch] for start in range(0, len(images), batch)]
    rows = [
        ImageBatch(
            tuple(context.image_name(ref) for ref, _ in part),
            tuple(text for _, text in part),
            weights,
        )
        for part in parts
    ]
    work = partial(encode_batch, folder=folder, images=context.image_files())
    found = context.engine.map("clip", rows, work, BatchNumbers, chunk=1)
    load_encoder.cache_clear()
    check_rows(found)
    return np.frombuffer(b"".join(each.numbers for each in found), np.float32)


def encode_batch(batch: ImageBatch, *, folder: Path, images: ImageFiles) -> BatchNumbers:
    """Encode the images of a batch.

    Raises:
        DataError: one of them is not a valid image.
        UnavailableError: as `_open_encoder` and `ImageFiles.read`.
    """
    pictures = (open_image(images.read(name), name=label_image(name)) for name in batch.images)
    with _open_encoder(folder, batch) as encoder:
        if any(batch.texts):
            return BatchNumbers(encoder.matches(list(pictures), batch.texts).tobytes())
        return BatchNumbers(np.stack(list(encoder.vectors(pictures))).tobytes())


@contextmanager
def _open_encoder(folder: Path, batch: ImageBatch) -> Iterator[ClipEncoder]:
    """Give the encoder to one thread of this process at a time.

    Raises:
        UnavailableError: the worker's machine lacks the weights or their packages, or has others
            than the machine that runs the command.
    """
    with _ONE_AT_A_TIME:
        try:
            encoder = load_encoder(folder, texts=any(batch.texts))
        except KejuError as error:
            raise UnavailableError(str(error)) from None
        if encoder.weights_hash != batch.weights:
            raise UnavailableError(
                _("the encoder weights in {} on a node are not those of this machine", folder)
            )
        yield encoder


load_encoder = lru_cache(maxsize=1)(ClipEncoder)
"""Loads an encoder, which stays in this process's memory until its cache is cleared."""
