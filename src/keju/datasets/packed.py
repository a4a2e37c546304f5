"""Images in parquet tables, each stored once: the format of released datasets.

Rows are in small groups and images are not compressed again, so that one image can be read alone:
the table is memory-mapped, and one group of at most 4 MiB is copied. A table or an image that is
missing, damaged or altered raises `DataError`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from keju.datasets.table import reporting_damage
from keju.errors import DataError
from keju.items import ImageRef
from keju.texts import _

if TYPE_CHECKING:
    import pyarrow as pa  # slow to import
    from pyarrow.parquet import ParquetFile

TABLES = "images-*.parquet"
"""The files of a directory that contain images."""

SHARD_BYTES = 256 << 20
"""The maximum size of the images in one table, in bytes: suitable for hubs and networks."""

ROWS = 100
"""The maximum number of rows in a group: with all rows in one group, reading one image takes a
second."""

GROUP_BYTES = 4 << 20
"""The maximum size of the images in a group, unless a single one is larger: reading one copies its
group."""

_EXPORT_AGAIN = _("Export the dataset again")

# Metadata by which the `datasets` library recognises the bytes as images.
_COLUMNS = {"path": {"dtype": "string", "_type": "Value"}, "image": {"_type": "Image"}}
_FEATURES = msgspec.json.encode({"info": {"features": _COLUMNS}})


def table_name(number: int) -> str:
    """The name of a table; numbers begin at 0."""
    return TABLES.replace("*", f"{number:05d}")


def write_packed(
    refs: Iterable[ImageRef], read: Callable[[ImageRef], bytes], out: Path
) -> list[Path]:
    """Write images into tables: ``path``, and ``image`` as the hub keeps it (bytes, path).

    Each image must be given once. One group of rows is in memory at a time.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("path", pa.string()), ("image", image)], {b"huggingface": _FEATURES})
    files = []
    for number, groups in enumerate(_shards(refs)):
        files.append(out / table_name(number))
        # Images are compressed already: compressing them again makes reading slower and saves
        # nothing.
        compression = {"path": "zstd", "image.bytes": "none", "image.path": "zstd"}
        with ParquetWriter(
            files[-1], schema, compression=compression, use_dictionary=False, write_statistics=False
        ) as writer:
            for group in groups:
                rows = [
                    {"path": ref.path, "image": {"bytes": read(ref), "path": ref.path}}
                    for ref in group
                ]
                writer.write_table(pa.Table.from_pylist(rows, schema), row_group_size=ROWS)
    return files


def _shards(refs: Iterable[ImageRef]) -> Iterator[list[list[ImageRef]]]:
    """The images table by table, group by group."""
    shard: list[list[ImageRef]] = []
    total = size = 0
    for ref in refs:
        if shard and total + ref.size > SHARD_BYTES:
            yield shard
            shard, total = [], 0
        if not shard or len(shard[-1]) >= ROWS or size + ref.size > GROUP_BYTES:
            shard.append([])
            size = 0
        shard[-1].append(ref)
        total += ref.size
        size += ref.size
    if shard:
        yield shard


class Packed(dict[str, "tuple[str, ParquetFile, int, int]"]):
    """The images of a directory's tables, read one at a time: the place of each by its path.

    `files` are the tables themselves, if they are not in a directory: a name for errors, and a file
    open for reading. The last group of rows is cached, because neighbours are read in turn.
    Thread-safe.
    """

    def __init__(self, folder: Path, files: Iterable[tuple[str, Any]] | None = None) -> None:
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

        super().__init__()
        self._lock = threading.Lock()
        self._last: tuple[ParquetFile, int, pa.Table] | None = None
        for name, file in files or [(str(path), path) for path in sorted(folder.glob(TABLES))]:
            with reporting_damage(name):
                table = ParquetFile(file, memory_map=isinstance(file, Path))
                columns = table.schema_arrow.names
                if not {"path", "image"} <= set(columns):
                    names = ", ".join(columns)
                    problem = _("expected the columns path, image; found {}", names)
                    raise DataError(problem, file=name, hint=_EXPORT_AGAIN)
                for group in range(table.num_row_groups):
                    paths = table.read_row_group(group, columns=["path"]).column(0).to_pylist()
                    for row, path in enumerate(paths):
                        self[str(path)] = name, table, group, row

    def image_bytes(self, path: str) -> bytes:
        """The bytes of the image with that path in the items."""
        if path not in self:
            raise DataError("none of the tables contains the image", item=path, hint=_EXPORT_AGAIN)
        name, table, group, row = self[path]
        with reporting_damage(name), self._lock:
            if self._last is None or self._last[:2] != (table, group):
                images = table.read_row_group(group, columns=["image.bytes"], use_threads=False)
                self._last = table, group, images
            image = self._last[2].slice(row, 1).to_pylist()[0].get("image")
        data = image.get("bytes") if isinstance(image, dict) else None
        if not isinstance(data, bytes):
            raise DataError("the cell has no image", file=name, item=path, hint=_EXPORT_AGAIN)
        return data
