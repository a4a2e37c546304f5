"""`ScoreSource`: the scores of a run directory or of a bundle, as comparisons read them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import polars as pl
from msgspec import msgpack

from keju.analysis.asked_items import item_name
from keju.bundles import Bundle, is_bundle, item_hash, open_bundle
from keju.definitions import register_definition, without_official
from keju.definitions.wordings import register_wordings
from keju.items import Item, Response, Score
from keju.runs import RunFolder, RunManifest
from keju.scoring import ItemName, check_scores, stored_frames, stored_scores
from keju.text import in_script
from keju.texts import _, listed

ScoredRun = RunFolder | Bundle
"""A scored run: its directory, or the bundle that was made of it."""


@contextmanager
def open_scored(paths: Sequence[Path]) -> Iterator[list[ScoredRun]]:
    """Open run directories and bundles; the temporary files of bundles are removed at the end.

    Raises:
        UsageError: a path is not a run.
        DataError: a bundle is damaged.
    """
    with ExitStack() as stack:
        yield [
            stack.enter_context(open_bundle(path)) if is_bundle(path) else RunFolder.open(path)
            for path in paths
        ]


def bundle_lines(paths: Sequence[Path]) -> Iterator[str]:
    """A note on scores from bundles, which are not computed again here."""
    bundles = [str(path) for path in paths if is_bundle(path)]
    if bundles:
        yield _(
            "The scores of {} are those stored in the bundle. keju verify computes them again",
            listed(bundles),
        )


class ScoreSource(Protocol):
    """A scored run; `path` is its directory, or the file of the bundle."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the directory or file."""

    def manifest(self) -> RunManifest:
        """The manifest; the benchmarks and wordings that it defines are registered."""

    def check(self, models: Sequence[str]) -> None:
        """Check that the scores of models are those of the stored responses."""

    def scores(self, model: str) -> Iterator[Score]:
        """The scores of a model, streamed; none where it has no responses."""

    def score_frames(self, model: str) -> Iterator[pl.DataFrame]:
        """The scores of a model as tables; none where it has no responses."""

    def responses(self, model: str) -> Iterator[Response]:
        """The responses of a model."""

    def without_official(self) -> str:
        """Why `official` has no value on any of the items; empty where it has one on some."""

    def contents(self) -> Iterator[tuple[ItemName, bytes]]:
        """Each item with a hash of its images and its reference."""

    def hashes(self) -> Iterator[tuple[ItemName, bytes]]:
        """Each item with the hash that bundles store, which covers the whole item."""


class _RunSource:
    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self.path = run.path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def manifest(self) -> RunManifest:
        return self._run.manifest()

    def check(self, models: Sequence[str]) -> None:
        check_scores(self._run, models)

    def scores(self, model: str) -> Iterator[Score]:
        return stored_scores(self._run, [model])

    def score_frames(self, model: str) -> Iterator[pl.DataFrame]:
        for __, frames in stored_frames(self._run, [model]):
            yield from frames

    def responses(self, model: str) -> Iterator[Response]:
        return self._run.responses(model)

    def without_official(self) -> str:
        return without_official(self._run.iter_items())

    def contents(self) -> Iterator[tuple[ItemName, bytes]]:
        return ((item_name(item), _content(item)) for item in self._run.iter_items())

    def hashes(self) -> Iterator[tuple[ItemName, bytes]]:
        return ((item_name(item), item_hash(item).encode()) for item in self._run.iter_items())


class _BundleSource:
    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self.path = bundle.path

    @property
    def name(self) -> str:
        return self.path.name

    def manifest(self) -> RunManifest:
        manifest = self._bundle.run_manifest
        for name, text in manifest.benchmarks.items():
            register_definition(text, f"{self.path}: {name}")
        if manifest.prompts:
            register_wordings(manifest.prompts)
        return manifest

    def check(self, models: Sequence[str]) -> None:
        """Nothing to check: `keju bundle` packs no other scores, and reading checks the hashes."""

    def scores(self, model: str) -> Iterator[Score]:
        return self._bundle.scores(model)

    def score_frames(self, model: str) -> Iterator[pl.DataFrame]:
        return self._bundle.score_frames(model)

    def responses(self, model: str) -> Iterator[Response]:
        return self._bundle.responses(model)

    def without_official(self) -> str:
        return without_official(
            Item(id=item.id, benchmark=item.benchmark, task=item.task, query=item.query)
            for item in self._bundle.items()
        )

    def contents(self) -> Iterator[tuple[ItemName, bytes]]:
        return self.hashes()

    def hashes(self) -> Iterator[tuple[ItemName, bytes]]:
        return (
            ((item.task, item.query, item.id), item.hash.encode()) for item in self._bundle.items()
        )


def source_of(run: ScoredRun) -> ScoreSource:
    """The source of a run directory's or a bundle's scores."""
    return _BundleSource(run) if isinstance(run, Bundle) else _RunSource(run)


def is_bundled(source: ScoreSource) -> bool:
    """Whether a source is a bundle, whose groups have numbers in place of names."""
    return isinstance(source, _BundleSource)


def _content(item: Item) -> bytes:
    images = tuple(ref.sha256 for ref in item.images)
    content = images, in_script(item.answer, "simplified"), item.boxes, item.relevant
    return sha256(msgpack.encode(content)).digest()


def find_same_items(first: ScoreSource, second: ScoreSource) -> Collection[ItemName] | None:
    """The items that are the same in two runs; None for all, in run directories of one dataset.

    In two directories an item is the same if its images and its reference are, in either script;
    with a bundle, whose references are hashes, the whole item must be the same.
    """
    bundled = is_bundled(first) or is_bundled(second)
    if not bundled and first.manifest().dataset_hash == second.manifest().dataset_hash:
        return None
    one, two = contents_of(first, second)
    known = dict(one)
    return {name for name, content in two if known.get(name) == content}


def contents_of(
    first: ScoreSource, second: ScoreSource
) -> tuple[Iterator[tuple[ItemName, bytes]], Iterator[tuple[ItemName, bytes]]]:
    """The items of both, each with a hash that can be compared with the other's."""
    if is_bundled(first) or is_bundled(second):
        return first.hashes(), second.hashes()
    return first.contents(), second.contents()
