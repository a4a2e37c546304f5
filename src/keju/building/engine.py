"""Engines that apply a function to many rows: Daft on this machine or on Ray, with the same result.

Rows are processed in chunks. A finished chunk is a parquet file in the step's scratch directory,
named by the hash of its rows, so that an interrupted build resumes where it stopped, on either
engine.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from keju import telemetry
from keju.building.columns import make_schema, make_table, read_part, read_rows, write_part
from keju.errors import KejuError, PrerequisiteError, UsageError
from keju.messages import message
from keju.registry import PluginSource, list_plugin_sources, load_sources

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

EngineName = Literal["native", "ray"]

In = TypeVar("In", bound=Struct)
Out = TypeVar("Out", bound=Struct)

_ROW = "row_of_chunk"
_ROWS_A_CORE = 64
_BATCHES_A_CORE = 8
_QUIET = {
    "DAFT_PROGRESS_BAR": "0",
    "RAY_TQDM": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""Settings by which neither Daft nor Ray draws on the terminal. For their telemetry see
`keju.telemetry`."""


class Engine:
    """Processes the rows of a step.

    Args:
        name: ``native``: threads of this process; ``ray``: a Ray cluster.
        scratch: the directory for finished chunks; `within` sets a step's own.
        address: of the Ray cluster; by default that of RAY_ADDRESS, else one is started here.
        console: where a progress bar is drawn, if it is a terminal.
    """

    def __init__(
        self,
        name: EngineName = "native",
        *,
        scratch: Path | None = None,
        address: str = "",
        console: Console | None = None,
    ) -> None:
        if name not in {"native", "ray"}:
            raise UsageError(message("building.no-engine", name=name))
        self.name: EngineName = name
        self.address = address
        self._scratch = scratch
        self._console = console

    def within(self, scratch: Path) -> Engine:
        """Return the same engine with another directory for finished chunks."""
        return Engine(self.name, scratch=scratch, address=self.address, console=self._console)

    def map(
        self,
        name: str,
        rows: Sequence[In],
        function: Callable[[In], Out],
        out: type[Out],
        *,
        chunk: int = 0,
    ) -> list[Out]:
        """Apply a function to every row.

        Args:
            name: of this work within the step; two of one step need two names.
            rows: the input; flat records.
            function: of a module, or a `functools.partial` of one, so that workers can import it.
                Its `KejuError` becomes the row's `error`; any other exception is a bug and ends the
                build.
            out: the output type; flat records whose fields have defaults, one called `error`.
            chunk: number of rows after which results are stored; by default 64 per core.

        Returns:
            One record for each row, in the rows' order.
        """
        return list(self.iter_map(name, rows, function, out, chunk=chunk, total=len(rows)))

    def iter_map(
        self,
        name: str,
        rows: Iterable[In],
        function: Callable[[In], Out],
        out: type[Out],
        *,
        chunk: int = 0,
        total: int = 0,
    ) -> Iterator[Out]:
        """Yield the results of `map` in order; a chunk of the rows is in memory.

        Args:
            name: as for `map`, like the following ones.
            rows: as `map` has them; read as they are needed.
            function: as for `map`.
            out: as for `map`.
            chunk: as for `map`.
            total: number of rows, for the progress bar; 0: unknown.
        """
        _check(out)
        # Chunk size depends on the CPU count, so another machine recomputes chunks. That is safe.
        size = chunk or max(256, _ROWS_A_CORE * (os.cpu_count() or 1))
        schema = make_schema(out)
        for some in self._iter_chunks(name, rows, size, total):
            inward = type(some[0])
            table = make_table(some, inward)
            part = self._get_part(name, table)
            found = read_part(part, schema) if part else None
            if found is None:
                found = self._compute(table, _RowFunction(function, inward, out), schema)
                if part:
                    write_part(part, found)
            yield from read_rows(found, out)

    def _get_part(self, name: str, table: pa.Table) -> Path | None:
        """Return the path of a chunk's results: a file named by the hash of its input."""
        if self._scratch is None:
            return None
        import pyarrow as pa  # noqa: PLC0415 - heavy

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        digest = hashlib.sha256(sink.getvalue()).hexdigest()[:24]
        folder = self._scratch / "parts" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{digest}.parquet"

    def _compute(self, table: pa.Table, guarded: _RowFunction, schema: pa.Schema) -> pa.Table:
        import pyarrow as pa  # noqa: PLC0415 - heavy

        daft = self._start_daft()
        returned = daft.DataType.struct(
            {each.name: daft.DataType.from_arrow_type(each.type) for each in schema}
        )
        apply = daft.func(guarded, return_dtype=returned, unnest=True)
        names = table.column_names
        numbered = table.append_column(_ROW, pa.array(range(len(table)), pa.int64()))
        # One batch is one thread's work, and Ray returns batches as they finish.
        batch = max(1, len(table) // (_BATCHES_A_CORE * (os.cpu_count() or 1)))
        frame = daft.from_arrow(numbered).into_batches(batch)
        columns = [daft.col(name) for name in names]
        found = frame.select(daft.col(_ROW), apply(*columns)).to_arrow()
        return found.sort_by(_ROW).drop_columns([_ROW]).cast(schema)

    def _start_daft(self) -> Any:  # noqa: ANN401 - the module
        os.environ.update(_QUIET)
        try:
            import daft  # noqa: PLC0415 - heavy, optional
        except ImportError:
            raise PrerequisiteError("keju build", "pip install 'keju[build]'") from None
        if self.name == "ray":
            _start_ray(self.address)
        try:
            daft.set_runner_ray() if self.name == "ray" else daft.set_runner_native()
        except daft.exceptions.DaftCoreException:
            # Daft accepts a runner only once per process, even the same one.
            if daft.get_or_infer_runner_type() != self.name:
                raise UsageError(message("building.other-engine-running", name=self.name)) from None
        return daft

    def _iter_chunks(
        self, name: str, rows: Iterable[In], size: int, total: int
    ) -> Iterator[list[In]]:
        """Yield the rows in chunks; on a terminal with a progress bar."""
        rest = iter(rows)
        chunks = iter(lambda: list(islice(rest, size)), [])
        if self._console is None or not self._console.is_terminal:
            yield from chunks
            return
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

        columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task(name, total=total or None)
            for chunk in chunks:
                yield chunk
                bar.advance(task, len(chunk))


class _RowFunction:
    """Function as Daft calls it, with a row's columns; a `KejuError` becomes the row's error."""

    # Without a __dict__, which Daft would copy and send in addition to `__getstate__`.
    __slots__ = ("__name__", "function", "inward", "outward")

    def __init__(self, function: Callable[[In], Out], inward: type[In], outward: type[Out]) -> None:
        self.function: Callable[[Any], Struct] = function
        self.inward = inward
        self.outward = outward
        self.__name__ = "guarded"

    def __reduce__(self) -> tuple[Any, ...]:
        """Plug-in files are sent along: a worker on another machine cannot import them."""
        parts = (self.function, self.inward, self.outward)
        if sources := list_plugin_sources():
            return _unpickle, (sources, _pickle(parts))
        return _RowFunction, parts

    def __call__(self, *values: object) -> dict[str, Any]:
        given = dict(zip(self.inward.__struct_fields__, values, strict=True))
        try:
            found = self.function(msgspec.convert(given, self.inward))
        except KejuError as error:
            # Tables of a build are stored in one language.
            found = self.outward(error=error.render("en"))
        return {name: getattr(found, name) for name in self.outward.__struct_fields__}


def _pickle(parts: tuple[Any, ...]) -> bytes:
    """Pickle functions and types by their modules, which `load_sources` imports again."""
    import daft.pickle  # noqa: PLC0415 - heavy, optional

    return bytes(daft.pickle.dumps(parts))


def _unpickle(sources: tuple[PluginSource, ...], parts: bytes) -> _RowFunction:
    load_sources(sources)
    return _RowFunction(*pickle.loads(parts))  # noqa: S301 - what `_pickle` made


def _check(outward: type[Struct]) -> None:
    """Check that a result record can be made with only an error."""
    fields = msgspec.structs.fields(outward)
    if any(each.required for each in fields) or "error" not in {each.name for each in fields}:
        raise TypeError(f"{outward.__name__}: all fields need defaults, and one is called error")


def _start_ray(address: str) -> None:
    try:
        import ray  # noqa: PLC0415 - heavy, optional
    except ImportError:
        raise PrerequisiteError(message("building.engine-ray"), "pip install 'keju[ray]'") from None
    if ray.is_initialized():
        return
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    _check_reachable(where)
    # A local Ray starts what it needs; a running one cannot be asked for processors, and its
    # workers do not inherit this environment.
    options: dict[str, Any] = (
        {"include_dashboard": False}
        if where == "local"
        else {"runtime_env": {"env_vars": telemetry.DISABLED}}
    )
    try:
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError(
            message("building.ray-does-not-answer", where=where, reason=reason)
        ) from None


def _check_reachable(where: str) -> None:
    """Check that a cluster's address is reachable: Ray itself would retry for minutes."""
    if where in {"local", "auto"}:
        return
    host, _, port = where.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(message("building.not-a-ray-address", where=where))
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise UsageError(message("building.ray-failed", where=where, error=error)) from None
