"""CLIP's vectors of images, computed by workers in batches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.image_files import ImageFiles, label_image
from keju.building.step_context import StepContext
from keju.building.worker_encoders import load_encoder, open_encoder, release_encoders
from keju.encoders.pictures import PictureEncoder
from keju.errors import DataError
from keju.images import open_image
from keju.items import ImageRef

_IMAGES = 256


class ImageBatch(Struct, frozen=True):
    """Images by their names for `ImageFiles`, and the hash of the weights that encode them."""

    images: tuple[str, ...]
    weights: str


class BatchVectors(Struct, frozen=True):
    """The vectors of a batch: float32, one after the other."""

    vectors: bytes = b""
    error: str = ""


def encode_images(
    context: StepContext, folder: Path, refs: Sequence[ImageRef]
) -> NDArray[np.float32]:
    """Compute CLIP's vector of each image; finished batches survive an interruption.

    Returns:
        One row of length 1 for each image.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    folder = folder.absolute()
    weights = load_encoder(PictureEncoder, folder).weights_hash
    names = [context.image_name(ref) for ref in refs]
    batches = [
        ImageBatch(tuple(names[start : start + _IMAGES]), weights)
        for start in range(0, len(names), _IMAGES)
    ]
    encode = partial(encode_batch, folder=str(folder), images=context.image_files())
    found = context.engine.map("clip", batches, encode, BatchVectors, chunk=1)
    release_encoders()
    if error := next((each.error for each in found if each.error), ""):
        raise DataError(error)
    values = np.frombuffer(b"".join(each.vectors for each in found), np.float32)
    return values.reshape(len(refs), -1)


def encode_batch(batch: ImageBatch, *, folder: str, images: ImageFiles) -> BatchVectors:
    """Encode the images of a batch.

    Raises:
        DataError: one of them is not a valid image.
        UnavailableError: as `open_encoder` and `ImageFiles.read`.
    """
    pictures = (open_image(images.read(name), name=label_image(name)) for name in batch.images)
    with open_encoder(PictureEncoder, Path(folder), batch.weights) as encoder:
        return BatchVectors(np.stack(list(encoder.vectors(pictures))).tobytes())
