"""Partitions: fixed numbers of rows, whose results are stored as one parquet file each.

::

    SCRATCH/parts/NAME/KEY.parquet

KEY is the hash of the rows. It depends on nothing else, so that the results are found again on any
machine and engine. Rows without results wait in a temporary folder for workers.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from keju.building.image_files import UnavailableError
from keju.building.scratch_files import ScratchFiles
from keju.building.tables import decode_part, encode_part, make_schema, make_table, read_rows
from keju.errors import DataError, KejuError
from keju.registry import PluginSource, list_plugin_sources, load_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

PARTITION_ROWS = 64
"""The default number of rows: an interruption loses at most the partitions in work."""

In = TypeVar("In", bound=Struct)
Out = TypeVar("Out", bound=Struct)


class RowFunction:
    """A function of a row; its `KejuError` becomes the row's error."""

    # Without a __dict__, which Daft would copy and send in addition to `__getstate__`.
    __slots__ = ("function", "inward", "outward")

    def __init__(self, function: Callable[[In], Out], inward: type[In], outward: type[Out]) -> None:
        self.function: Callable[[Any], Struct] = function
        self.inward = inward
        self.outward = outward

    def __reduce__(self) -> tuple[Any, ...]:
        """Plug-in files are sent along: a worker on another machine cannot import them."""
        parts = (self.function, self.inward, self.outward)
        if sources := list_plugin_sources():
            return _unpickle, (sources, _pickle(parts))
        return RowFunction, parts

    def __call__(self, row: Any) -> Struct:  # noqa: ANN401 - of the type `inward`
        """Apply the function to a row."""
        try:
            return self.function(row)
        except KejuError as error:
            # Tables of a build are stored in one language.
            return self.outward(error=error.render("en"))


class PartitionFunction:
    """A function of a partition's key, which workers apply: it stores the partition's results.

    `waiting` is the temporary folder of rows without results.
    """

    __slots__ = ("__name__", "files", "name", "rows", "waiting")

    def __init__(
        self, rows: RowFunction, name: str, waiting: ScratchFiles, files: ScratchFiles
    ) -> None:
        self.rows = rows
        self.name = name
        self.waiting = waiting
        self.files = files
        self.__name__ = "partition"

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionFunction, (self.rows, self.name, self.waiting, self.files)

    def __call__(self, key: str) -> str:
        """Compute and store the results of a partition.

        Returns:
            Why the partition cannot be computed, such as missing credentials; otherwise empty.
        """
        try:
            table = decode_part(self.waiting.read(key), make_schema(self.rows.inward))
            if table is None:
                raise DataError(
                    "a file of the scratch directory is missing or damaged",
                    file=key,
                    hint="Run the same command again",
                )
            found = [self.rows(row) for row in read_rows(table, self.rows.inward)]
            made = make_table(found, self.rows.outward)
            self.files.write(self._part_name(key), encode_part(made))
        except (KejuError, UnavailableError) as error:
            return str(error) or type(error).__name__
        return ""

    def store_rows(self, rows: Sequence[Struct]) -> tuple[str, bool]:
        """Store the rows of a partition for workers, unless its results exist.

        Returns:
            The partition's key, and whether its results exist.
        """
        table = make_table(rows, self.rows.inward)
        key = _hash(table)
        done = self._load(key)
        if done is None:
            self.waiting.write(key, encode_part(table))
        return key, done is not None

    def load(self, key: str) -> pa.Table:
        """Load the results of a partition.

        Raises:
            DataError: they do not exist, or are damaged.
        """
        table = self._load(key)
        if table is None:
            raise DataError(
                "a file of the scratch directory is missing or damaged",
                file=self._part_name(key),
                hint="Run the same command again",
            )
        return table

    def _load(self, key: str) -> pa.Table | None:
        return decode_part(self.files.read(self._part_name(key)), make_schema(self.rows.outward))

    def _part_name(self, key: str) -> str:
        return f"parts/{self.name}/{key}.parquet"


def _hash(table: pa.Table) -> str:
    import pyarrow as pa  # noqa: PLC0415 - heavy

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()[:24]


def _pickle(parts: tuple[Any, ...]) -> bytes:
    """Pickle functions and types by their modules, which `load_sources` imports again."""
    import daft.pickle  # noqa: PLC0415 - heavy, optional

    return bytes(daft.pickle.dumps(parts))


def _unpickle(sources: tuple[PluginSource, ...], parts: bytes) -> RowFunction:
    load_sources(sources)
    return RowFunction(*pickle.loads(parts))  # noqa: S301 - what `_pickle` made
