"""`RunFolder`: a run directory on disk, with its manifest, items, responses and scores.

::

    RUN/  run.json · items.parquet · responses/<model>/<task>.jsonl · scores/*.parquet · run.lock
          readings/<model>.jsonl      transcriptions for own-ocr, own-text and ocr+llm
          timings.json                the times of OCR engines on this machine

`keju.running` writes a run directory; scoring and reports read it. It contains everything that they
need except the images.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from keju.datasets.store import Dataset
from keju.datasets.table import iter_items, iter_rows, write_items
from keju.definitions import register_definition
from keju.definitions.wordings import register_wordings
from keju.errors import DataError, UsageError, shortened
from keju.files import is_reserved, read_json, read_jsonl, sha256_bytes, sha256_file, write_json
from keju.items import Item, Response
from keju.local_paths import check_local, shell_quoted
from keju.object_stores import is_address
from keju.runs.manifest import FORMAT, RunManifest
from keju.runs.record_list import StoredItems

T = TypeVar("T")


def file_name(name: str) -> str:
    """A safe name for a directory or file, made from the name of a model or task.

    Characters outside ``[A-Za-z0-9._-]`` become ``_``, and then a short hash distinguishes
    different names. A name that Windows reserves, such as ``aux.txt``, gets one too.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80] or "_"
    digest = sha256_bytes(name.encode())[:8]
    unique = name if plain == name else f"{plain}-{digest}"
    return f"{unique.replace('.', '_')}-{digest}" if is_reserved(unique) else unique


def read_responses(path: Path) -> Iterator[Response]:
    """The responses of a file as stored."""
    return read_jsonl(path, Response, appended=True)


class RunFolder:
    """One run directory, with the paths of its files.

    Raises:
        UsageError: the path is an address, such as ``s3://…``.
        DataError: in every method that reads a file, it is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        check_local(path)
        self.path = path
        self.manifest_path = path / "run.json"
        self.lock_path = path / "run.lock"
        self.items_path = path / "items.parquet"
        self.timings_path = path / "timings.json"
        self.scores_dir = path / "scores"
        self._read: dict[tuple[Path, Callable[[Path], Any]], tuple[object, Any]] = {}

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run, and register the benchmarks that it defines.

        Raises:
            UsageError: there is no run at that path, or another definition of its benchmark is
                registered.
            PluginError: a plug-in that a definition names is missing.
        """
        folder = cls(path)
        if not folder.exists():
            raise UsageError(
                "{}: not a run directory (no run.json). Create a run with: keju run DATASET "
                "--model MODEL --out {}",
                path,
                shell_quoted(str(path)),
            )
        folder.manifest()
        return folder

    def exists(self) -> bool:
        """Whether a run was started here."""
        return self.manifest_path.is_file()

    def _unchanged(self, path: Path, reader: Callable[[Path], T]) -> T:
        """The content of a file as `reader` returns it; read again only if the file has changed."""
        status = path.stat() if path.is_file() else None  # The reader reports a missing file.
        # Every writer of keju replaces the file, so that even a change of the same size in the same
        # instant has another inode.
        stamp = status and (status.st_ino, status.st_size, status.st_mtime_ns)
        entry = self._read.get((path, reader))
        if entry is None or not stamp or entry[0] != stamp:
            entry = self._read[path, reader] = stamp, reader(path)
        content: T = entry[1]
        return content

    def manifest(self) -> RunManifest:
        """The content of run.json. Reading it registers the benchmarks and wordings it defines."""
        return self._unchanged(self.manifest_path, _read_manifest)

    def write_manifest(self, manifest: RunManifest) -> None:
        """Write run.json, atomically."""
        write_json(self.manifest_path, manifest)

    def items(self) -> list[Item]:
        """The items of this run, with their answers."""
        return list(self.iter_items())

    def iter_items(self) -> Iterator[Item]:
        """The items of this run, one after the other, so that only a few are in memory."""
        self.check_items()
        yield from iter_items(self.items_path)

    def stored_items(self) -> StoredItems:
        """The items of this run with their places, read again only if the file has changed.

        For commands that use them several times; `iter_items` keeps none of them.
        """
        self.check_items()
        return self._unchanged(self.items_path, _read_stored_items)

    def iter_item_ids(self) -> Iterator[str]:
        """The ids of the items of this run, one after the other."""
        return (str(row["id"]) for row in iter_rows(self.items_path, ["id"]))

    def check_items(self) -> None:
        """Check that items.parquet is the file that the run stored.

        Raises:
            DataError: it is another file.
        """
        if not self.has_its_items():
            raise DataError(
                "the file is not the one that the run stored (its SHA-256 is not that in run.json)",
                file=self.items_path,
                hint="Restore the file, for example with the keju run command that made this run. "
                "For corrected references, run it on a dataset with them: no request is sent again",
            )

    def has_its_items(self) -> bool:
        """Whether items.parquet is the file that the run stored, or run.json has no hash of it."""
        stored = self.manifest().items_sha256 if self.exists() else ""
        return not stored or self.items_hash() == stored

    def items_hash(self) -> str:
        """The SHA-256 of the file items.parquet, computed again only if the file has changed."""
        if not self.items_path.is_file():
            raise DataError("no such file", file=self.items_path, hint="Restore the run's items")
        return self._unchanged(self.items_path, sha256_file)

    def write_items(self, items: list[Item]) -> None:
        """Store the items of this run."""
        write_items(self.items_path, items)

    def dataset(self) -> Dataset:
        """The dataset of this run, which has the images.

        Raises:
            UsageError: the dataset is not at the place that the run recorded.
        """
        recorded = self.manifest().dataset_path
        if not recorded:
            raise UsageError("{} does not record where its dataset with the images is", self.path)
        return Dataset.open(Path(recorded) if is_address(recorded) else self.path / recorded)

    def batches_dir(self, model: str) -> Path:
        """The directory of the unfinished batches of a model's server."""
        return self.path / "batches" / file_name(model)

    def readings_path(self, reader: str) -> Path:
        """The file of the transcriptions that one model made before answering."""
        return self.path / "readings" / f"{file_name(reader)}.jsonl"

    def reading_files(self, reader: str | None = None) -> list[Path]:
        """The files of transcriptions, all or that of one reader, in a fixed order."""
        path = self.readings_path(reader) if reader else self.path / "readings" / "*.jsonl"
        return sorted(path.parent.glob(path.name))

    def readings(self, reader: str | None = None) -> Iterator[Response]:
        """The transcriptions of all models or one: a response per image (or item) and round."""
        for path in self.reading_files(reader):
            yield from read_responses(path)

    def responses_path(self, model: str, task: str) -> Path:
        """The file of one model's responses to one task."""
        return self.path / "responses" / file_name(model) / f"{file_name(task)}.jsonl"

    def response_files(self, model: str | None = None) -> list[Path]:
        """The files of responses, all or one model's, in a fixed order."""
        root = self.path / "responses"
        folders = [root / file_name(model)] if model else sorted(root.glob("*"))
        return [path for folder in folders for path in sorted(folder.glob("*.jsonl"))]

    def responses(
        self, model: str | None = None, tasks: Collection[str] | None = None
    ) -> Iterator[Response]:
        """Every stored response, or one model's, file by file in the order of arrival.

        With `tasks`, no other task's files are read.
        """
        stems = None if tasks is None else {*map(file_name, tasks)}
        for path in self.response_files(model):
            if stems is None or path.stem in stems:
                yield from read_responses(path)


def _read_stored_items(path: Path) -> StoredItems:
    return StoredItems(iter_items(path))


def _read_manifest(path: Path) -> RunManifest:
    manifest = read_json(path, RunManifest)
    for name, text in manifest.benchmarks.items():
        register_definition(text, f"{path}: {shortened(name)}")
    try:
        register_wordings(manifest.prompts)
    except DataError as error:
        raise DataError(error.problem, file=path, item=error.item) from None
    if manifest.format != FORMAT:
        raise DataError(
            "format {!r}, but this keju reads {!r}",
            manifest.format,
            FORMAT,
            file=path,
            hint="Use the keju version that wrote it",
        )
    return manifest
