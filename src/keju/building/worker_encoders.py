"""`open_encoder`: an image encoder in a worker, which stays loaded for further batches.

The weights must be in the same folder on every node, like the packages that read them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from keju.building.image_files import UnavailableError
from keju.encoders.pictures import PictureEncoder
from keju.errors import KejuError
from keju.messages import message

E = TypeVar("E", bound=PictureEncoder)

_ONE_AT_A_TIME = threading.Lock()
"""An encoder uses all cores that its process may use."""


@contextmanager
def open_encoder(kind: type[E], folder: Path, weights_hash: str) -> Iterator[E]:
    """Give the encoder to one thread of this process at a time.

    Args:
        kind: the class of the encoder.
        folder: its weights.
        weights_hash: of the weights on the machine that runs the command.

    Raises:
        UnavailableError: the worker's machine lacks the weights or their packages, or has others.
    """
    with _ONE_AT_A_TIME:
        try:
            encoder = load_encoder(kind, folder)
        except KejuError as error:
            raise UnavailableError(str(error)) from None
        if encoder.weights_hash != weights_hash:
            raise UnavailableError(message("building.weights-differ", folder=folder))
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
