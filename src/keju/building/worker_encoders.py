"""`encode_images`: images encoded by workers in batches, with an encoder that stays loaded.

The weights must be in the same folder on every node, like the packages that read them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.engine import check_rows
from keju.building.image_files import ImageFiles, UnavailableError, label_image
from keju.building.step_context import StepContext
from keju.encoders.clip import MatchEncoder, PictureEncoder
from keju.errors import KejuError
from keju.images import open_image
from keju.items import ImageRef
from keju.texts import _

E = TypeVar("E", bound=PictureEncoder)

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
    context: StepContext,
    kind: type[PictureEncoder],
    folder: Path,
    images: Sequence[tuple[ImageRef, str]],
    *,
    batch: int,
) -> NDArray[np.float32]:
    """Encode images of a step's input, each with a text; finished batches survive an interruption.

    Returns:
        One after the other: of a `MatchEncoder` the cosine of each image and its text, of another
            encoder the vector of each image, of length 1.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    folder = folder.absolute()
    weights = load_encoder(kind, folder).weights_hash
    parts = [images[start : start + batch] for start in range(0, len(images), batch)]
    rows = [
        ImageBatch(
            tuple(context.image_name(ref) for ref, _ in part),
            tuple(text for _, text in part),
            weights,
        )
        for part in parts
    ]
    work = partial(encode_batch, kind=kind, folder=folder, images=context.image_files())
    found = context.engine.map("clip", rows, work, BatchNumbers, chunk=1)
    release_encoders()
    check_rows(found)
    return np.frombuffer(b"".join(each.numbers for each in found), np.float32)


def encode_batch(
    batch: ImageBatch, *, kind: type[PictureEncoder], folder: Path, images: ImageFiles
) -> BatchNumbers:
    """Encode the images of a batch.

    Raises:
        DataError: one of them is not a valid image.
        UnavailableError: as `open_encoder` and `ImageFiles.read`.
    """
    pictures = (open_image(images.read(name), name=label_image(name)) for name in batch.images)
    with open_encoder(kind, folder, batch.weights) as encoder:
        if isinstance(encoder, MatchEncoder):
            return BatchNumbers(encoder.matches(list(pictures), batch.texts).tobytes())
        return BatchNumbers(np.stack(list(encoder.vectors(pictures))).tobytes())


@contextmanager
def open_encoder(kind: type[E], folder: Path, weights_hash: str) -> Iterator[E]:
    """Give the encoder to one thread of this process at a time.

    `weights_hash` is that of the machine that runs the command.

    Raises:
        UnavailableError: the worker's machine lacks the weights or their packages, or has others.
    """
    with _ONE_AT_A_TIME:
        try:
            encoder = load_encoder(kind, folder)
        except KejuError as error:
            raise UnavailableError(str(error)) from None
        if encoder.weights_hash != weights_hash:
            raise UnavailableError(
                _("the encoder weights in {} on a node are not those of this machine", folder)
            )
        yield encoder


def load_encoder(kind: type[E], folder: Path) -> E:
    """Load an encoder, unless this process has it; `release_encoders` frees its memory.

    Raises:
        DataError: the folder does not contain a complete encoder.
        PrerequisiteError: its packages are not installed.
    """
    found = _LOADED.get(folder)
    if type(found) is not kind:
        _LOADED.clear()
        found = _LOADED[folder] = kind(folder)
    return found


def release_encoders() -> None:
    """Free the memory of this process's encoders."""
    _LOADED.clear()


_LOADED: dict[Path, Any] = {}
