"""FORMAT ``idx``: labelled crops in IDX files, such as MNIST and Oracle-MNIST."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from PIL import Image

from keju.datasets.readers.base import (
    Detection,
    Reader,
    kept_inside,
    source_bytes,
    source_text,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.errors import DataError
from keju.items import Item
from keju.local_paths import shell_quoted
from keju.messages import message
from keju.settings import Settings

LAYOUT = """\
SRC/                                a folder, or one -images- file beside its labels
  NAME-images-idx3-ubyte[.gz]       N images of 8-bit grey: magic 0x00000803, N, rows, columns
  NAME-labels-idx1-ubyte[.gz]       N class indices: magic 0x00000801, N
Every set that has both files is imported; labels without images are skipped. Each crop is
stored as PNG, its pixels unchanged, and becomes a labelled example of the reference split, from
which baselines learn and which no model is asked."""

MAX_BYTES = 600 << 20
"""Maximum size of an IDX file after decompression; MNIST's largest has 47 MB."""

_GZIP = 31
"""The windowBits by which zlib reads only gzip."""

_IMAGES, _LABELS = "-images", "-labels"
_TASK = "classification"
_UBYTE = 8


class IdxSettings(Settings, frozen=True, kw_only=True):
    """The names of the classes of IDX files."""

    classes: Annotated[
        Path | None,
        Meta(description="a UTF-8 file with the name of class 0, 1, 2 … on a line each"),
    ] = None


def read_idx(src: Path, writer: DatasetWriter, settings: IdxSettings) -> Iterator[str]:
    """Read labelled crops, one reference item each, its class in answer and metadata.

    Raises:
        DataError: no IDX files; one that contradicts its header, is larger than `MAX_BYTES`,
            truncated or damaged; another number of labels than images; a class without name.
    """
    names = _class_names(settings.classes) if settings.classes else []
    pairs, without_images = _pairs(src)
    for pair in pairs:
        pictures = _array(pair.images, 3)
        labels = _array(pair.labels, 1)
        if len(pictures) != len(labels):
            raise DataError(
                message(
                    "obi-bench.idx-labels-differ",
                    count=len(labels),
                    name=pair.images.name,
                    images=len(pictures),
                ),
                file=pair.labels,
            )
        for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
            _add(writer, pair, number, picture, _class_of(int(label), names, pair.labels, number))
    for path in without_images:
        yield f"skipped {path.name}: labels without images"


def detect_idx(listing: Listing) -> Detection | None:
    """Recognise IDX files by name and by their first four bytes."""
    images = [path for path in listing.files if _IMAGES in path.name]
    images = [path for path in images if _magic(listing, path) == bytes((0, 0, _UBYTE, 3))]
    if not images:
        return None
    folder = images[0].parent
    names = [path.name for path in listing.root.joinpath(folder).iterdir()]
    without = [
        path.name
        for path in images
        if not any(name.startswith(path.name.partition(_IMAGES)[0] + _LABELS) for name in names)
    ]
    missing = ""
    if without:
        missing = f"the labels of {without[0]}: NAME{_LABELS}-idx1-ubyte[.gz] beside it"
    elif folder.parts:
        missing = f"its folder as SRC: {shell_quoted(str(listing.root / folder))}"
    what = f"{len(images)} IDX file{'s'[: len(images) > 1]} of crops"
    return Detection(0.4 if folder.parts else 1.0, what, missing=missing)


def _magic(listing: Listing, path: PurePosixPath) -> bytes:
    head = listing.head(path, 4096)
    if head[:2] != b"\x1f\x8b":
        return head[:4]
    try:
        return zlib.decompressobj(wbits=31).decompress(head, 4)
    except zlib.error:
        return b""


READER = Reader(
    "idx",
    "labelled crops in IDX files (Oracle-MNIST)",
    LAYOUT,
    read_idx,
    IdxSettings,
    detect_idx,
)


class _Pair(NamedTuple):
    name: str
    images: Path
    labels: Path


class _Class(NamedTuple):
    number: int
    name: str


def _pairs(src: Path) -> tuple[list[_Pair], list[Path]]:
    if src.is_file():
        files = [src]
    else:
        files = [kept_inside(path, src) for path in sorted(src.iterdir()) if not path.is_dir()]
    pairs = []
    for images in files:
        stem, mark, _ = images.name.partition(_IMAGES)
        if mark:
            pairs.append(_Pair(stem or "idx", images, _labels_of(images, stem)))
    if not pairs:
        found = ", ".join(path.name for path in files[:5]) or message("obi-bench.nothing")
        raise DataError(message("obi-bench.no-idx", found=found), file=src)
    used = {pair.labels for pair in pairs}
    return pairs, [path for path in files if _LABELS in path.name and path not in used]


def _labels_of(images: Path, stem: str) -> Path:
    found = sorted(images.parent.glob("*"))
    for path in found:
        if path.name.startswith(f"{stem}{_LABELS}"):
            return path
    raise DataError(message("obi-bench.idx-labels-missing", stem=stem, labels=_LABELS), file=images)


def _class_names(file: Path) -> list[str]:
    names = [line.strip() for line in source_text(file).rstrip("\n").split("\n")]
    if not all(names):
        raise DataError(message("obi-bench.class-without-name"), file=file)
    if len(set(names)) < len(names):
        raise DataError(message("obi-bench.classes-of-one-name"), file=file)
    return names


def _class_of(label: int, names: list[str], file: Path, number: int) -> _Class:
    if names and label >= len(names):
        raise DataError(
            message("obi-bench.class-not-named", label=label, count=len(names) - 1),
            file=file,
            item=f"label {number}",
        )
    return _Class(label, names[label] if names else str(label))


def _add(
    writer: DatasetWriter, pair: _Pair, number: int, picture: NDArray[np.uint8], label: _Class
) -> None:
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG")
    ref = writer.add_image(out.getvalue(), f"{pair.images}: picture {number}")
    writer.add(
        Item(
            id=f"{pair.name}-{number:05d}",
            benchmark=task(_TASK).benchmark,
            task=_TASK,
            images=(ref,),
            answer=label.name,
            group=ref.sha256,
            split="reference",
            metadata={"class": str(label.number), "class_name": label.name, "set": pair.name},
        )
    )


def _array(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The values of an IDX file, checked against its header."""
    data = _unpacked(path)
    header = 4 + 4 * dimensions
    expected = bytes((0, 0, _UBYTE, dimensions))
    if data[:4] != expected:
        raise DataError(
            message(
                "obi-bench.idx-magic",
                expected=expected.hex(),
                dimensions=dimensions,
                found=data[:4].hex() or "00",
            ),
            file=path,
        )
    if len(data) < header:
        raise DataError(message("obi-bench.idx-truncated", count=len(data)), file=path)
    shape = struct.unpack(f">{dimensions}I", data[4:header])
    wanted = math.prod(shape)
    if wanted != len(data) - header or 0 in shape:
        size = " x ".join(map(str, shape))
        raise DataError(
            message(
                "obi-bench.idx-size-differs", size=size, wanted=wanted, count=len(data) - header
            ),
            file=path,
        )
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def _unpacked(path: Path) -> bytes:
    """The file's bytes, decompressed if it is gzip, at most `MAX_BYTES`."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(
            message("obi-bench.not-readable", reason=error.strerror), file=path
        ) from None
    if size > MAX_BYTES:
        raise _too_large(path)
    packed = source_bytes(path, MAX_BYTES)
    if packed[:2] != b"\x1f\x8b":
        return packed
    try:
        # gzip.open reads zeros after the end byte by byte, which takes minutes.
        unpacker = zlib.decompressobj(wbits=_GZIP)
        data = unpacker.decompress(packed, MAX_BYTES + 1)
    except zlib.error as error:
        raise DataError(message("obi-bench.gzip-unreadable", error=error), file=path) from None
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    if not unpacker.eof or unpacker.unused_data:
        wrong = (
            message("obi-bench.gzip-more-data")
            if unpacker.eof
            else message("obi-bench.gzip-ends-early")
        )
        raise DataError(message("obi-bench.idx-gzip-damaged", reason=wrong), file=path)
    return data


def _too_large(path: Path) -> DataError:
    return DataError(message("obi-bench.idx-too-large", most=MAX_BYTES >> 20), file=path)
