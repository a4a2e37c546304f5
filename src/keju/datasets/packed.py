"""Images in parquet tables, each stored once: the format of released datasets.

Rows are in small groups and images are not compressed again, so that one image can be read alone:
the table is memory-mapped, and one group of at most 4 MiB is copied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from keju.datasets.table import reporting_damage
from keju.errors import DataError
from keju.items import ImageRef

if TYPE_CHECKING:
    import pyarrow as pa
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

_FEATURES = {
    "info": {
        "features": {"path": {"dtype": "string", "_type": "Value"}, "image": {"_type": "Image"}}
    }
}
"""Metadata by which the `datasets` library recognises the bytes as images."""


def write_packed(
    refs: Iterable[ImageRef], read: Callable[[ImageRef], bytes], out: Path
) -> list[Path]:
    """Write images into tables: ``path``, and ``image`` as the hub keeps it (bytes, path).

    Each image must be given once. One group of rows is in memory at a time.

    Raises:
        DataError: an image is missing or altered.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    metadata = {b"huggingface": msgspec.json.encode(_FEATURES)}
    schema = pa.schema([("path", pa.string()), ("image", image)], metadata=metadata)
    files = []
    for number, groups in enumerate(_shards(refs)):
        files.append(out / f"images-{number:05d}.parquet")
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


class _Place(NamedTuple):
    """The position of an image."""

    table: int
    group: int
    row: int


class Packed:
    """The images of a directory's tables, read one at a time; thread-safe.

    Opening reads only the column of paths, which is the index. A table that is damaged, or is not
    one of images, raises `DataError`.

    Args:
        folder: the directory of the tables.
        files: the tables themselves, if they are not in a directory: a name for errors, and a file
            open for reading.
    """

    def __init__(self, folder: Path, files: Sequence[tuple[str, Any]] | None = None) -> None:
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

        self._lock = threading.Lock()
        self._last: tuple[int, int, pa.Array | None] = (-1, -1, None)
        self._names: list[str] = []
        self._tables: list[ParquetFile] = []
        self._places: dict[str, _Place] = {}
        for name, file in files or [(str(path), path) for path in sorted(folder.glob(TABLES))]:
            with reporting_damage(name):
                table = ParquetFile(file, memory_map=isinstance(file, Path))
                columns = table.schema_arrow.names
                if not {"path", "image"} <= set(columns):
                    raise DataError(
                        "expected the columns path, image; found {}",
                        ", ".join(columns),
                        file=name,
                        hint="Export the dataset again",
                    )
                for group in range(table.num_row_groups):
                    paths = table.read_row_group(group, columns=["path"]).column(0).to_pylist()
                    for row, path in enumerate(paths):
                        self._places[str(path)] = _Place(len(self._tables), group, row)
            self._names.append(name)
            self._tables.append(table)

    def __bool__(self) -> bool:
        return bool(self._tables)

    def __contains__(self, path: object) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def image_bytes(self, path: str) -> bytes:
        """The bytes of the image with that path in the items."""
        place = self._places.get(path)
        if place is None:
            raise DataError(
                "none of the tables contains the image", item=path, hint="Export the dataset again"
            )
        file = self._names[place.table]
        with reporting_damage(file):
            data = self._group(place.table, place.group)[place.row].as_py()
        if not isinstance(data, bytes):
            raise DataError(
                "the cell has no image", file=file, item=path, hint="Export the dataset again"
            )
        return data

    def _group(self, table: int, group: int) -> pa.Array:
        """The images of a group; the last one is cached, because neighbours are read in turn."""
        with self._lock:
            if self._last[:2] != (table, group):
                read = self._tables[table].read_row_group(
                    group, columns=["image.bytes"], use_threads=False
                )
                self._last = table, group, read.column(0).combine_chunks().field("bytes")
            return self._last[2]


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
