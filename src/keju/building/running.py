"""Run one step in a directory: once, resumable, and complete or not at all; records of builds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from keju.building.engine import Engine
from keju.building.scratch_files import ScratchFiles
from keju.building.settings import check_paths, compute_fingerprint
from keju.building.step import Step
from keju.building.step_context import SCRATCH, StepContext
from keju.building.steps import STEPS
from keju.datasets.store import MANIFEST, Dataset, DatasetManifest, DatasetWriter
from keju.errors import DataError, UsageError
from keju.files import read_json, write_json
from keju.items import Record
from keju.object_stores import is_address, parse_address, stage_output
from keju.registry import Plugin
from keju.texts import _

RECORD = "step.json"
"""The file beside a step's dataset.json: what was done, and the fingerprint that identifies it."""


class DatasetInfo(Record, frozen=True, kw_only=True):
    """The names of the datasets of a build; an empty value is copied from the input."""

    name: str = ""
    version: str = ""
    licence: str = ""
    source: str = ""
    language: str = ""
    script: str = ""


class StepRecord(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of step.json.

    `fingerprint` covers the step and its version, its settings with the content of their paths, the
    seed, the head, the hash of the input dataset, and `plugins`, which provided the step.
    """

    step: str
    version: int
    fingerprint: str
    given: str
    seed: int
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    plugins: tuple[Plugin, ...] = ()


class StepResult(NamedTuple):
    """The result of a step: its record, its dataset's manifest, and whether it was built now.

    `built` is False if the result existed already.
    """

    record: StepRecord
    manifest: DatasetManifest
    built: bool


class StepCall(NamedTuple):
    """A step with everything that determines its result."""

    step: Step[Any]
    settings: Struct
    given: Dataset
    seed: int = 0
    head: DatasetInfo = DatasetInfo()

    @property
    def fingerprint(self) -> str:
        """The hash that identifies the result."""
        return compute_fingerprint(
            self.step.name,
            self.step.version,
            self.settings,
            self.seed,
            self.head,
            self.given.manifest,
            *self.plugins,
        )

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-in that provides the step, if one does."""
        plugin = STEPS.plugin_of(self.step.name)
        return (plugin,) if plugin else ()


def load_finished(out: Path, mark: str) -> StepResult | None:
    """Load the finished step with that fingerprint from a directory; None if there is none.

    Raises:
        DataError: its record or its dataset.json is damaged, or files are missing.
    """
    if not (out / "dataset.json").is_file() or not (out / RECORD).is_file():
        return None
    again = _("Delete {} to rebuild it", out)
    try:
        record = read_json(out / RECORD, StepRecord)
        if record.fingerprint != mark:
            return None
        given = Dataset.open(out)
        whole = given.items_path.exists() and _has_images(given)
    except DataError as error:
        raise DataError(error.problem, file=error.file, hint=again) from None
    if not whole:
        raise DataError(
            "The output of the step is incomplete: files are missing", file=out, hint=again
        )
    shutil.rmtree(out / SCRATCH, ignore_errors=True)
    return StepResult(record, given.manifest, built=False)


def _has_images(given: Dataset) -> bool:
    """Return whether the directory has as many images as recorded; their bytes are not read."""
    if given.packed or not given.manifest.images:
        return True
    folder = given.path / "images"
    return folder.is_dir() and len(list(folder.iterdir())) >= given.manifest.images


def run_step(work: StepCall, out: Path, *, engine: Engine) -> StepResult:
    """Run a step in a directory, unless its result exists already.

    Tables are written first, then step.json, then dataset.json, so that a directory with
    dataset.json is complete. The rest of an interrupted run is resumed if it has the same
    fingerprint, else built again.

    `out` is new, empty, or left by an earlier run of this step; or an address of an object store at
    which nothing exists. Until the step is complete, finished partitions are at ``OUT.scratch/``.

    Raises:
        UsageError: the directory contains something else, or a path of the settings does not exist.
        DataError: the step fails.
    """
    if is_address(out):
        # Beside the address, at which nothing may exist: there an interrupted step finds them.
        store = f"{parse_address(out)}.scratch/{work.fingerprint}"
        with stage_output(out, MANIFEST) as folder:
            made_there = run_step(work, folder, engine=engine.storing_at(store))
        ScratchFiles(store).delete_all()
        return made_there
    mark = work.fingerprint
    if done := load_finished(out, mark):
        return done
    check_paths(work.settings, work.step.name)
    manifest = work.given.manifest
    head = {
        name: getattr(work.head, name) or getattr(manifest, name)
        for name in DatasetInfo.__struct_fields__
    }
    with DatasetWriter(out, **head, synthetic=manifest.synthetic) as writer:
        _prepare_scratch(out, mark)
        writer.declare(**manifest.made)
        writer.declare_plugins(work.plugins)
        context = StepContext(work.step.name, work.given, writer, engine=engine, seed=work.seed)
        try:
            work.step.run(context, work.settings)
        except UsageError as error:
            raise UsageError("{}: {}", work.step.name, error) from None
        except DataError as error:
            if error.file:
                raise
            place = f"{work.given.path} ({work.step.name})"
            raise DataError(error.problem, file=place, item=error.item, hint=error.hint) from None
        record = StepRecord(
            step=work.step.name,
            version=work.step.version,
            fingerprint=mark,
            given=manifest.hash,
            seed=work.seed,
            settings=settings_to_json(work.settings),
            notes=context.notes,
            plugins=work.plugins,
        )
        write_json(out / RECORD, record)
        made = writer.close()
    shutil.rmtree(out / SCRATCH, ignore_errors=True)
    return StepResult(record, made, built=True)


def settings_to_json(settings: Struct) -> dict[str, Any]:
    """Convert settings to JSON values; paths as they were given."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings, enc_hook=str))
    return values


def _prepare_scratch(out: Path, mark: str) -> None:
    """Prepare the scratch directory: keep it if it is this step's, and remove incomplete tables."""
    scratch = out / SCRATCH
    of = scratch / "fingerprint"
    if not of.is_file() or of.read_text("utf-8") != mark:
        shutil.rmtree(scratch, ignore_errors=True)
    for leftover in out.iterdir():
        if leftover.name not in {SCRATCH, ".unfinished", "images"}:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    scratch.mkdir(exist_ok=True)
    of.write_bytes(mark.encode())


class StageRecord(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A source or a step in build.json: its directory, its result, and its notes."""

    name: str
    folder: str
    items: int
    images: int
    hash: str
    notes: list[str] = field(default_factory=list)


class BuildRecord(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of build.json; `hash` is that of BUILD/dataset."""

    format: str
    keju: str
    recipe: str
    seed: int
    engine: str
    sources: list[StageRecord]
    steps: list[StageRecord]
    hash: str
    finished: bool = True


class PlannedStage(NamedTuple):
    """A part of a build, and whether it exists already.

    `may_change`: an earlier part will be built again; if its result does not change, this part is
    kept.
    """

    name: str
    folder: str
    exists: bool
    may_change: bool = False
