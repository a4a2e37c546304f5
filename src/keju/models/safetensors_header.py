"""`read_header`: names and shapes of the tensors of a safetensors file, without loading them.

Format: 8 bytes with the length of a JSON object (little endian), the object, then the data. The
object has dtype, shape and the two offsets of each tensor in the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError

_LENGTH = 8
_MOST = 100 << 20
"""The maximum length of the object, as in the safetensors library."""


class _Tensor(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


class SafetensorsHeader(NamedTuple):
    """The tensors of a file: the shape of each, and the file's size.

    `complete_size` is the size in bytes that the file has if nothing of it is missing.
    """

    shapes: dict[str, tuple[int, ...]]
    size: int
    complete_size: int


def read_header(path: Path) -> SafetensorsHeader:
    """Read the header of a safetensors file.

    Raises:
        DataError: the file does not begin with such a header.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if not 2 <= length <= min(_MOST, size - _LENGTH):
            raise DataError(
                "not a safetensors file",
                file=path,
                hint="Download it again; a page of Git LFS or of a login is not the file itself",
            )
        text = file.read(length)
    try:
        raw = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        raw.pop("__metadata__", None)
        tensors = {name: msgspec.json.decode(each, type=_Tensor) for name, each in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DataError(
            "not a safetensors file",
            file=path,
            hint="Download it again; a page of Git LFS or of a login is not the file itself",
        ) from None
    end = max((each.data_offsets[1] for each in tensors.values()), default=0)
    return SafetensorsHeader(
        shapes={name: tuple(each.shape) for name, each in tensors.items()},
        size=size,
        complete_size=_LENGTH + length + end,
    )
