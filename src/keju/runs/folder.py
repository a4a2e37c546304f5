"""`RunFolder`: a run directory on disk, with its manifest, items, responses and scores.

::

    RUN/  run.json · items.parquet · responses/<model>/<task>.jsonl · scores/*.parquet · run.lock
          readings/<model>.jsonl      transcriptions for own-ocr, own-text and ocr+llm
          examples.parquet            the items of the few-shot examples
          timings.json                the times of OCR engines on this machine

`keju.running` writes a run directory; scoring and reports read it. It contains everything that they
need except the images.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.datasets.table import copy_ordered_items, iter_ids, iter_items, read_items, write_items
from keju.definitions import register_definition
from keju.definitions.wordings import register_wordings
from keju.errors import DataError, UsageError, shortened
from keju.files import (
    is_reserved,
    read_json,
    sha256_bytes,
    sha256_file,
    write_atomic,
    write_json,
)
from keju.items import Item, Response
from keju.local_paths import check_local, shell_quoted
from keju.object_stores import is_address
from keju.runs.manifest import FORMAT, RunManifest
from keju.runs.responses import read_responses


def file_name(name: str) -> str:
    """A safe name for a directory or file, made from the name of a model or task.

    Characters outside ``[A-Za-z0-9._-]`` become ``_``, and then a short hash distinguishes
    different names. A name that Windows reserves, such as ``aux.txt``, gets one too.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80] or "_"
    unique = name if plain == name else f"{plain}-{_hash(name)}"
    return f"{unique.replace('.', '_')}-{_hash(name)}" if is_reserved(unique) else unique


def path_of_name(folder: Path, name: str, suffix: str = "") -> Path:
    """The path of a model's or task's file or directory in a directory of a run."""
    return folder / f"{file_name(name)}{suffix}"


def _hash(name: str) -> str:
    return sha256_bytes(name.encode())[:8]


_Stamp = tuple[int, int, int] | None
"""Inode, size in bytes and time of the last change in nanoseconds; None without the file."""


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class RunFolder:
    """One run directory.

    Raises:
        UsageError: the path is an address, such as ``s3://…``.
    """

    def __init__(self, path: Path) -> None:
        check_local(path)
        self.path = path
        self._manifest: tuple[_Stamp, RunManifest] | None = None
        self._items_hash: tuple[_Stamp, str] | None = None

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run, and register the benchmarks that it defines.

        Raises:
            UsageError: there is no run at that path, or another definition of its benchmark is
                registered.
            DataError: run.json is damaged.
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

    @property
    def manifest_path(self) -> Path:
        """The path of the manifest."""
        return self.path / "run.json"

    @property
    def lock_path(self) -> Path:
        """The path of the file that a writing process locks."""
        return self.path / "run.lock"

    @property
    def timings_path(self) -> Path:
        """The path of the times of OCR engines on this machine."""
        return self.path / "timings.json"

    @property
    def scores_dir(self) -> Path:
        """The directory of scoring's parquet files."""
        return self.path / "scores"

    @property
    def reasoned_scores_dir(self) -> Path:
        """The directory of `official` scores with reasoning from a separate field."""
        return self.scores_dir / "with-reasoning"

    def exists(self) -> bool:
        """Whether a run was started here."""
        return self.manifest_path.is_file()

    def manifest(self) -> RunManifest:
        """The content of run.json, which is read again only if the file has changed.

        Reading it registers the benchmarks and wordings that it defines.

        Raises:
            DataError: it is damaged, or of another format.
        """
        stamp = _stamp(self.manifest_path)
        if self._manifest is None or self._manifest[0] != stamp:
            self._manifest = stamp, self._read_manifest()
        return self._manifest[1]

    def _read_manifest(self) -> RunManifest:
        manifest = read_json(self.manifest_path, RunManifest)
        for name, text in manifest.benchmarks.items():
            register_definition(text, f"{self.manifest_path}: {shortened(name)}")
        try:
            register_wordings(manifest.prompts)
        except DataError as error:
            raise DataError(error.problem, file=self.manifest_path, item=error.item) from None
        if manifest.format != FORMAT:
            raise DataError(
                "format {!r}, but this keju reads {!r}",
                manifest.format,
                FORMAT,
                file=self.manifest_path,
                hint="Use the keju version that wrote it",
            )
        return manifest

    def write_manifest(self, manifest: RunManifest) -> None:
        """Write run.json, atomically."""
        write_json(self.manifest_path, manifest)
        self._manifest = None

    @property
    def items_path(self) -> Path:
        """The path of the items."""
        return self.path / "items.parquet"

    def items(self) -> list[Item]:
        """The items of this run, with their answers.

        Raises:
            DataError: items.parquet is damaged, or is not the file that the run stored.
        """
        self.check_items()
        return read_items(self.items_path)

    def iter_items(self) -> Iterator[Item]:
        """The items of this run, one after the other, so that only a few are in memory.

        Raises:
            DataError: as `items`.
        """
        self.check_items()
        yield from iter_items(self.items_path)

    def check_items(self) -> None:
        """Check that items.parquet is the file that the run stored.

        Raises:
            DataError: it is another file.
        """
        if not self.has_its_items():
            raise DataError(
                "the file is not the one that the run stored (its SHA-256 is not that in run.json)",
                file=self.items_path,
                hint=(
                    "Restore the file, for example with the keju run command that made this run. "
                    "To use corrected references, make a dataset with them and run keju run on "
                    "it with the same --out: no request is sent again"
                ),
            )

    def has_its_items(self) -> bool:
        """Whether items.parquet is the file that the run stored, or run.json has no hash of it."""
        stored = self.manifest().items_sha256 if self.exists() else ""
        return not stored or self.items_hash() == stored

    def items_hash(self) -> str:
        """The SHA-256 of the file items.parquet, computed again only if the file has changed.

        Raises:
            DataError: the file does not exist.
        """
        if not self.items_path.is_file():
            raise DataError("no such file", file=self.items_path, hint="Restore the run's items")
        stamp = _stamp(self.items_path)
        if self._items_hash is None or self._items_hash[0] != stamp:
            self._items_hash = stamp, sha256_file(self.items_path)
        return self._items_hash[1]

    def write_items(self, items: list[Item]) -> None:
        """Store the items of this run."""
        write_items(self.items_path, items)

    @property
    def examples_path(self) -> Path:
        """The path of the items of the few-shot examples."""
        return self.path / "examples.parquet"

    def examples(self) -> list[Item]:
        """The items of the reference split that were few-shot examples.

        Raises:
            DataError: examples.parquet is damaged, or is not the file that the run stored.
        """
        stored = self.manifest().examples_sha256 if self.exists() else ""
        if stored and self.examples_hash() != stored:
            raise DataError(
                "the file is not the one that the run stored (its SHA-256 is not that in run.json)",
                file=self.examples_path,
                hint="Restore the file, for example with the keju run command that made this run",
            )
        return read_items(self.examples_path) if self.examples_path.is_file() else []

    def examples_hash(self) -> str:
        """The SHA-256 of the file examples.parquet; empty where there is none."""
        return sha256_file(self.examples_path) if self.examples_path.is_file() else ""

    def write_examples(self, items: list[Item]) -> None:
        """Store the items of the few-shot examples, and remove their hash from run.json.

        Without a hash in run.json an interruption between the two files is not reported as damage.
        """
        if self.exists() and self.manifest().examples_sha256:
            self.write_manifest(replace(self.manifest(), examples_sha256=""))
        write_items(self.examples_path, items)

    def item_ids(self) -> list[str]:
        """The ids of the items of this run, in their order."""
        return list(iter_ids(self.items_path))

    def iter_item_ids(self) -> Iterator[str]:
        """The ids of the items of this run, one after the other."""
        return iter_ids(self.items_path)

    def copy_items_from(self, dataset: Dataset, ids: Collection[str]) -> None:
        """Copy the items with these ids from a dataset; if they are all, its file byte for byte.

        The ids are in the order of the dataset.
        """
        if len(ids) == dataset.manifest.items and dataset.items_path.is_file():
            with dataset.items_path.open("rb") as stream:
                write_atomic(self.items_path, iter(partial(stream.read, 1 << 20), b""))
        else:
            copy_ordered_items(dataset.items_path, self.items_path, ids)

    def dataset(self) -> Dataset:
        """The dataset of this run, which has the images.

        Raises:
            UsageError: the dataset is not at the place that the run recorded.
        """
        recorded = self.manifest().dataset_path
        if not recorded:
            raise UsageError("{} does not record where its dataset with the images is", self.path)
        return Dataset.open(Path(recorded) if is_address(recorded) else self.path / recorded)

    def responses_path(self, model: str, task: str) -> Path:
        """The file of one model's responses to one task."""
        return path_of_name(path_of_name(self.path / "responses", model), task, ".jsonl")

    def batches_dir(self, model: str) -> Path:
        """The directory of the records of unfinished batches of a model's server."""
        return path_of_name(self.path / "batches", model)

    def has_batches(self) -> bool:
        """Whether a server is working on batches of this run."""
        return any((self.path / "batches").glob("*/*.json"))

    def readings_path(self, reader: str) -> Path:
        """The file of the transcriptions that one model made before answering."""
        return path_of_name(self.path / "readings", reader, ".jsonl")

    def readings(self, reader: str) -> Iterator[Response]:
        """The transcriptions of a model, one response per image (or pages of an item) and round."""
        path = self.readings_path(reader)
        if path.is_file():
            yield from read_responses(path)

    def all_readings(self) -> Iterator[Response]:
        """The transcriptions of all readers."""
        for path in self.reading_files():
            yield from read_responses(path)

    def reading_files(self) -> list[Path]:
        """The files of transcriptions, in a fixed order."""
        return sorted((self.path / "readings").glob("*.jsonl"))

    def response_files(self, model: str | None = None) -> list[Path]:
        """The files of responses, all or one model's, in a fixed order."""
        root = self.path / "responses"
        folders = [path_of_name(root, model)] if model else sorted(root.glob("*"))
        return [path for folder in folders for path in sorted(folder.glob("*.jsonl"))]

    def responses(
        self, model: str | None = None, tasks: Collection[str] | None = None
    ) -> Iterator[Response]:
        """Every stored response, or one model's, file by file in the order of arrival.

        With `tasks`, no other task's files are read.
        """
        wanted = None if tasks is None else {*map(file_name, tasks)}
        for path in self.response_files(model):
            if wanted is None or path.stem in wanted:
                yield from read_responses(path)
