"""`preview`: the first items of a source as a reader would import them, without writing them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from keju.datasets.manifest import IMAGES
from keju.datasets.readers.base import Options, Reader
from keju.datasets.readers.import_log import logging_import
from keju.datasets.readers.time_limit import TimeUpError, check_time, time_limit
from keju.datasets.writing import DatasetWriter
from keju.errors import DataError, KejuError
from keju.files import sha256_bytes
from keju.images import decoding, extension_of, open_header, upright_size
from keju.items import UNKNOWN, ImageRef, Item

ITEMS = 3
"""The number of items of a preview."""

SECONDS = 10.0
"""Time limit of a preview. A reader that draws at random reads all images before the first item."""


class Preview(NamedTuple):
    """The first items of a source.

    `used` maps each role to the fields that were used for it; `kept` and `ignored` are the fields
    that became metadata and those that did not. `error` is the reader's error about the source,
    `timed_out` whether the time limit was reached first.
    """

    items: tuple[Item, ...]
    used: dict[str, tuple[str, ...]]
    kept: tuple[str, ...]
    ignored: tuple[str, ...]
    error: KejuError | None = None
    timed_out: bool = False


def preview(
    reader: Reader[Any], src: Path, options: Options, *, most: int = ITEMS, seconds: float = SECONDS
) -> Preview:
    """Read a source until its first `most` items are known, or `seconds` have passed."""
    error: KejuError | None = None
    timed_out = False
    with (
        TemporaryDirectory() as folder,
        logging_import(options.get("encoding", "")) as log,
        time_limit(seconds),
    ):
        writer = _PreviewWriter(Path(folder) / "preview", most)
        try:
            settings = reader.parse(options)
            with suppress(PreviewEndError):
                for _ in reader.read(src, writer, settings):
                    pass
        except TimeUpError:
            timed_out = True
        except KejuError as found:
            error = found.with_traceback(None)  # a traceback would keep the data in memory
        finally:
            writer.abandon()
    if not (writer.items or error or timed_out):
        error = DataError("the reader finds no items", file=src)
    return Preview(tuple(writer.items), *log.fields(), error, timed_out)


class PreviewEndError(Exception):
    """The preview has its items. Not a `KejuError`, so that no reader treats it as damage."""


class _PreviewWriter(DatasetWriter):
    """Collects items, and stops the reader after `most`; only links to images are written."""

    def __init__(self, folder: Path, most: int) -> None:
        super().__init__(folder, name="preview", version="1", licence=UNKNOWN, source=UNKNOWN)
        self.items: list[Item] = []
        self._most = most

    def add_image(self, data: bytes, name: str) -> ImageRef:
        """The reference that a `DatasetWriter` would return; only the header of the image is read.

        Raises:
            DataError: it is not an image.
            TimeUpError: the time limit is reached.
        """
        check_time()
        sha256 = sha256_bytes(data)
        if sha256 not in self._refs:
            with decoding(data, name):
                image = open_header(data, name=name)
                width, height = upright_size(image)
            path = f"{IMAGES}/{sha256}.{extension_of(image)}"
            self._refs[sha256] = ImageRef(
                path=path, sha256=sha256, width=width, height=height, size=len(data)
            )
        return self._refs[sha256]

    def add(self, item: Item) -> None:
        """Keep an item.

        Raises:
            PreviewEndError: there are enough.
        """
        check_time()
        self.items.append(item)
        if len(self.items) >= self._most:
            raise PreviewEndError
