"""`Bundle`: an open bundle, with its manifest, items, responses and scores."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec
import polars as pl

from keju.bundles.archive import Archive
from keju.bundles.manifest import (
    BUNDLE_MANIFEST,
    ENVIRONMENT,
    FORMAT,
    INDEX,
    RUN,
    RUN_ITEMS,
    RUN_MANIFEST,
    SCORES,
    BundledItem,
    BundleManifest,
    definition_member,
    responses_folder,
    scores_member,
)
from keju.bundles.tables import ITEMS, check_table, read_index
from keju.errors import DataError, shortened
from keju.files import json_problem, sha256_file
from keju.items import Response, Score
from keju.runs import RunManifest, read_responses
from keju.scoring.stored import SCHEMA, iter_scores_of, read_frames
from keju.texts import _

MAX_MANIFEST_BYTES = 64 << 20
MAX_RUN_MANIFEST_BYTES = 64 << 20
MAX_DEFINITION_BYTES = 4 << 20
"""The maximum sizes in bytes of members that are read as a whole."""

_SCHEMAS = {INDEX: ITEMS, RUN_ITEMS: None}
"""The columns of tables; all others are tables of scores."""

T = TypeVar("T")


def open_bundle(path: Path) -> Bundle:
    """Open a bundle; it is untrusted, and each member is checked when it is read.

    Use it as a context manager: members that are read are in a temporary folder until it closes.

    Raises:
        DataError: the file is missing, is not a bundle, or has members that bundle.json does not
            list.
        UsageError: the path is an address.
    """
    return Bundle(path)


class Bundle:
    """An open bundle (see `open_bundle`).

    Attributes:
        path: the file.
        archive: its members.
        manifest: the content of bundle.json.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.archive = Archive(path)
        self.manifest = self._read_manifest()
        self._folder: Path | None = None
        self._checked: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary folder of the members that were read."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file, by which statements refer to the bundle."""
        return sha256_file(self.path)

    @property
    def models(self) -> list[str]:
        """The names of the models."""
        return list(self.manifest.models)

    @property
    def environment(self) -> dict[str, str]:
        """Python, platform and packages on the machine that made the bundle."""
        return self.read(ENVIRONMENT, dict[str, str], MAX_MANIFEST_BYTES)

    @cached_property
    def run_manifest(self) -> RunManifest:
        """The run's manifest; the benchmarks that it defines are not registered.

        Raises:
            DataError: it is damaged.
        """
        return self.read(RUN_MANIFEST, RunManifest, MAX_RUN_MANIFEST_BYTES)

    def definitions(self) -> dict[str, str]:
        """The texts of the benchmarks' definitions (TOML), by name.

        Raises:
            DataError: a member is missing or damaged.
        """
        names = {each.name: each.definition for each in self.manifest.benchmarks}
        for name, member in names.items():
            if member != definition_member(name):
                raise self._error(
                    _(
                        "bundle.json does not list this member",
                        hint="The bundle was changed after it was written. Ask for the file again",
                    ),
                    member,
                )
        texts = {name: self._bytes(member, MAX_DEFINITION_BYTES) for name, member in names.items()}
        return {name: text.decode("utf-8", "replace") for name, text in texts.items()}

    def items(self) -> Iterator[BundledItem]:
        """The items, one after the other, in the order of the run.

        Raises:
            DataError: the member is missing or damaged.
        """
        with self._naming(INDEX):
            yield from read_index(self.table(INDEX))

    def responses(self, model: str) -> Iterator[Response]:
        """The responses of a model, streamed, without those that were replaced.

        Raises:
            DataError: a member is damaged.
        """
        folder = f"{responses_folder(model)}/"
        for member in sorted(self.manifest.members):
            if member.startswith(folder):
                yield from read_responses(self.file(member))

    def scores(self, model: str) -> Iterator[Score]:
        """The stored scores of a model, streamed; none if it has no responses.

        Raises:
            DataError: the member is damaged.
        """
        if (member := scores_member(model)) in self.manifest.members:
            with self._naming(member):
                yield from iter_scores_of(self.table(member))

    def score_frames(self, model: str) -> Iterator[pl.DataFrame]:
        """The same as tables (`read_frames`).

        Raises:
            DataError: the member is damaged.
        """
        if (member := scores_member(model)) in self.manifest.members:
            with self._naming(member):
                yield from read_frames(self.table(member))

    def file(self, member: str) -> Path:
        """A member as a file in the temporary folder, after its hash was checked.

        Raises:
            DataError: it is missing, damaged, or not the one of bundle.json.
        """
        target = self._temporary() / member
        if target.exists():
            return target
        known = self.manifest.members.get(member)
        if known is None:
            raise self._error(
                _("the bundle does not contain this member", hint="Ask for the file again"), member
            )
        extracted = self.archive.extract(member, target)
        if extracted.damaged or (extracted.size, extracted.sha256) != (known.size, known.sha256):
            target.unlink()
            raise self._error(
                _("the member is damaged", hint="Ask for the file again")
                if extracted.damaged
                else _(
                    "the SHA-256 is not the one in bundle.json",
                    hint="The bundle was changed after it was written. Ask for the file again",
                ),
                member,
            )
        return target

    def extract_all(self) -> list[tuple[str, str]]:
        """Extract every member, also damaged ones; returns those with their problems.

        Afterwards all methods read what was extracted, so that a verification can name the item
        that was altered. Only a table with damaged bytes is an error for each method.
        """
        problems: list[tuple[str, str]] = []
        for member, known in self.manifest.members.items():
            target = self._temporary() / member
            extracted = self.archive.extract(member, target)
            if extracted.damaged:
                if target.suffix == ".parquet":
                    target.unlink(missing_ok=True)  # Damaged metadata can end pyarrow's process.
                problems.append((member, _("the member is damaged", hint="Ask for the file again")))
            elif extracted != (known.size, known.sha256, False):
                altered = _(
                    "the SHA-256 is not the one in bundle.json",
                    hint="The bundle was changed after it was written. Ask for the file again",
                )
                problems.append((member, altered))
        return problems

    def extract_run(self, folder: Path) -> None:
        """Write the members of the run but its scores into a new directory; no items or images.

        Raises:
            DataError: a member is damaged.
        """
        for member in self.manifest.members:
            if member.startswith(f"{RUN}/") and not member.startswith(f"{SCORES}/"):
                target = folder / member.removeprefix(f"{RUN}/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.file(member), target)

    def read(self, member: str, shape: type[T], most: int) -> T:
        """Read a JSON member of at most `most` bytes as `shape`.

        Raises:
            DataError: it is missing, damaged, too large, or does not have the shape.
        """
        return self._decode(self._bytes(member, most), member, shape)

    def _bytes(self, member: str, most: int) -> bytes:
        if member in self.manifest.members and self.manifest.members[member].size > most:
            raise self._error(
                _(
                    "the member is larger than keju reads, or far larger than its compressed form",
                    hint="Do not use the file if you do not know who made it",
                ),
                member,
            )
        return self.file(member).read_bytes()

    def _decode(self, data: bytes, member: str, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._error(
                _(
                    "the member does not have the expected content: {}",
                    json_problem(error),
                    hint="Ask for the file again",
                ),
                member,
            ) from None

    def _read_manifest(self) -> BundleManifest:
        if BUNDLE_MANIFEST not in self.archive:
            raise DataError(
                "the file is not a bundle: it has no member bundle.json",
                file=self.path,
                hint="Create one with: keju bundle RUN -o NAME.keju.zip",
            )
        data = self.archive.read(BUNDLE_MANIFEST, MAX_MANIFEST_BYTES)
        stated = self._decode(data, BUNDLE_MANIFEST, dict[str, msgspec.Raw]).get("format")
        if stated is None or bytes(stated) != f'"{FORMAT}"'.encode():
            raise self._error(
                _("the format is not {}", FORMAT, hint="Use the keju version that wrote it"),
                BUNDLE_MANIFEST,
            )
        manifest = self._decode(data, BUNDLE_MANIFEST, BundleManifest)
        listed, there = set(manifest.members), set(self.archive.names) - {BUNDLE_MANIFEST}
        for name in sorted(there - listed):
            raise self._error(
                _(
                    "bundle.json does not list this member",
                    hint="The bundle was changed after it was written. Ask for the file again",
                ),
                name,
            )
        for name in sorted(listed - there):
            raise self._error(
                _("the bundle does not contain this member", hint="Ask for the file again"), name
            )
        return manifest

    def table(self, member: str) -> Path:
        """A table as a file in the temporary folder, after its hash and size were checked.

        Raises:
            DataError: it is missing, damaged, not the one of bundle.json, or too large.
        """
        path = self.file(member)
        if member not in self._checked:
            with self._naming(member):
                check_table(path, _SCHEMAS.get(member, SCHEMA))
            self._checked.add(member)
        return path

    @contextmanager
    def _naming(self, member: str) -> Iterator[None]:
        """Name the bundle and the member in errors of reading, not the temporary file."""
        try:
            yield
        except DataError as error:
            if error.file == str(self.path):
                raise
            raise self._error(error.problem, member) from None

    def _temporary(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="keju-bundle-"))
        return self._folder

    def _error(self, problem: str, member: str) -> DataError:
        return DataError(problem, file=self.path, item=shortened(member))


def is_bundle(path: Path) -> bool:
    """Whether a path is a zip file with the ending of bundles, in place of a run directory."""
    return path.is_file() and path.name.endswith(".zip")
