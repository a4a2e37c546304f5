"""Engines that apply a function to many rows: Daft on this machine or on Ray, with the same result.

Rows are divided into partitions of a fixed number, and one query of Daft computes all partitions of
which no results are stored. A worker stores the results of each partition as soon as it is finished
(`keju.building.partitions`), so that an interrupted build resumes, on either engine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from keju.building.driver_files import DriverFiles, serve_files
from keju.building.partitions import PARTITION_ROWS, PartitionFunction, RowFunction
from keju.building.scratch_files import ScratchFiles
from keju.building.tables import read_rows
from keju.clusters import count_cores, start_ray
from keju.errors import DataError, PrerequisiteError, UsageError

if TYPE_CHECKING:
    from keju.console import Console

EngineName = Literal["native", "ray"]

In = TypeVar("In", bound=Struct)
Out = TypeVar("Out", bound=Struct)

_TASKS_A_CORE = 8
"""Tasks of a query for each core of a Ray cluster; several per core balance the load."""
_QUIET = {
    "DAFT_PROGRESS_BAR": "0",
    "RAY_TQDM": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""Settings by which neither Daft nor Ray draws on the terminal. For their telemetry see
`keju.telemetry`."""


@dataclass(frozen=True)
class Engine:
    """Processes the rows of a step.

    Args:
        name: ``native``: threads of this process; ``ray``: a Ray cluster.
        scratch: the directory for finished partitions; `within` sets a step's own.
        address: the address of the Ray cluster (default: RAY_ADDRESS, else a cluster on this
            machine).
        console: where a progress bar is drawn, if it is a terminal.
        store: the address of an object store for finished partitions, in place of any directory.
    """

    name: EngineName = "native"
    _: KW_ONLY
    scratch: Path | None = None
    address: str = ""
    console: Console | None = None
    store: str = ""

    def __post_init__(self) -> None:
        """Check the name."""
        if self.name not in {"native", "ray"}:
            raise UsageError("no engine {!r}. There are: native, ray", self.name)

    def within(self, scratch: Path) -> Engine:
        """Return the same engine with another directory for finished partitions."""
        return replace(self, scratch=scratch)

    def storing_at(self, store: str) -> Engine:
        """Return the same engine with the address of an object store for finished partitions."""
        return replace(self, scratch=None, store=store)

    def driver_files(self) -> DriverFiles | None:
        """How workers get files of this machine; None if they open the files themselves.

        Raises:
            PrerequisiteError: Ray is not installed.
            UsageError: the cluster does not respond.
        """
        if self.name == "native":
            return None
        self._start_daft()
        return serve_files()

    def files(self) -> ScratchFiles:
        """The scratch directory, as workers use it.

        Raises:
            ValueError: the engine has none.
            UsageError: as `driver_files`.
        """
        if self.store:
            return ScratchFiles(self.store)
        if self.scratch is None:
            raise ValueError("the engine has no scratch directory")
        return ScratchFiles(str(self.scratch.absolute()), self.driver_files())

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
            chunk: number of rows of a partition; by default 64.

        Returns:
            One record for each row, in the rows' order.
        """
        return list(self.iter_map(name, rows, function, out, chunk=chunk))

    def iter_map(
        self,
        name: str,
        rows: Iterable[In],
        function: Callable[[In], Out],
        out: type[Out],
        *,
        chunk: int = 0,
    ) -> Iterator[Out]:
        """Yield the results of `map` in order.

        Only the partitions that are computed at the time are in memory. All rows are read, once,
        and stored on disk, before the first result is yielded.

        Raises:
            DataError: a worker cannot get the rows or an image, or cannot store its results.
        """
        _check_output(out)
        rest = iter(rows)
        first = next(rest, None)
        if first is None:
            return
        with self._temporary_folder() as folder:
            waiting = ScratchFiles(folder, self.driver_files())
            files = self.files() if self.store or self.scratch else waiting
            work = PartitionFunction(RowFunction(function, type(first), out), name, waiting, files)
            keys, missing = [], []
            for partition in _iter_partitions(chain([first], rest), chunk or PARTITION_ROWS):
                key, done = work.store_rows(partition)
                keys.append(key)
                if not done:
                    missing.append(key)
            if missing:
                self._compute(list(dict.fromkeys(missing)), work)
            for key in keys:
                yield from read_rows(work.load(key), out)

    @contextmanager
    def _temporary_folder(self) -> Iterator[str]:
        """A temporary folder, in the scratch directory if there is one."""
        if self.scratch:
            self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".rows-", dir=self.scratch) as folder:
            yield str(Path(folder).absolute())

    def _compute(self, keys: list[str], work: PartitionFunction) -> None:
        """Compute partitions by one query of Daft; workers store the results."""
        daft = self._start_daft()
        apply = daft.func(work, return_dtype=daft.DataType.string())
        frame = daft.from_pydict({"key": keys})
        if self.name == "ray":
            frame = frame.into_partitions(min(len(keys), _TASKS_A_CORE * count_cores()))
        # A batch is one thread's work.
        found = frame.into_batches(1).select(apply(daft.col("key")).alias("error"))
        for row in self._show_progress(work.name, found.iter_rows(), len(keys)):
            if row["error"]:
                raise DataError(row["error"])

    def _start_daft(self) -> Any:  # noqa: ANN401 - the module
        os.environ.update(_QUIET)
        try:
            import daft  # noqa: PLC0415 - heavy, optional
        except ImportError:
            extra = "ray" if self.name == "ray" else "build"
            raise PrerequisiteError("keju build", f'pip install "keju[{extra}]"') from None
        if self.name == "ray":
            start_ray(self.address)
        try:
            daft.set_runner_ray() if self.name == "ray" else daft.set_runner_native()
        except daft.exceptions.DaftCoreException:
            # Daft accepts a runner only once per process, even the same one.
            if daft.get_or_infer_runner_type() != self.name:
                raise UsageError(
                    "an engine other than {} is already running in this process", self.name
                ) from None
        return daft

    def _show_progress(
        self, name: str, found: Iterable[dict[str, Any]], total: int
    ) -> Iterator[dict[str, Any]]:
        """Yield what a query returns; on a terminal with a progress bar of its partitions."""
        if self.console is None or not self.console.is_terminal:
            yield from found
            return
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

        columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task(name, total=total)
            for row in found:
                yield row
                bar.advance(task)


def check_rows(found: Iterable[Any]) -> None:
    """Check the results of `Engine.map`, for work that needs every row.

    Raises:
        DataError: the first error of a row.
    """
    if error := next((row.error for row in found if row.error), ""):
        raise DataError(error)


def _iter_partitions(rows: Iterable[In], size: int) -> Iterator[list[In]]:
    rest = iter(rows)
    return iter(lambda: list(islice(rest, size)), [])


def _check_output(out: type[Struct]) -> None:
    """Check that a result record can be made with only an error."""
    fields = msgspec.structs.fields(out)
    if any(each.required for each in fields) or "error" not in {each.name for each in fields}:
        raise TypeError(f"{out.__name__}: all fields need defaults, and one is called error")
