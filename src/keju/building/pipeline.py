"""A build: read and join a recipe's sources, and run its steps, in a resumable directory.

::

    BUILD/  build.json · sources/NN-form/ · steps/00-join/ · steps/NN-name/ ·
            dataset (the last step's) · release (of a step `release`) · fetched/ (what came over
            the network)

Parts that exist already are not built again. Everything in the directory belongs to keju.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keju import __version__
from keju.building.engine import Engine
from keju.building.joining import SourcePart, join_sources
from keju.building.links import link_folder, link_target, remove_link
from keju.building.recipe import PlannedSource, Recipe
from keju.building.releasing import RELEASE
from keju.building.running import (
    RECORD,
    BuildRecord,
    DatasetInfo,
    PlannedStage,
    StageRecord,
    StepCall,
    StepRecord,
    StepResult,
    load_finished,
    run_step,
    settings_to_json,
)
from keju.building.settings import compute_fingerprint, list_paths
from keju.building.sources import SOURCES
from keju.building.sources.base import Site, SourceForm
from keju.building.step_context import SCRATCH
from keju.datasets.readers import FORMATS
from keju.datasets.store import UNFINISHED, Dataset, DatasetManifest
from keju.errors import DataError, UsageError
from keju.files import locked_file, read_json, write_json
from keju.local_paths import check_local
from keju.registry import Plugin, list_returned
from keju.texts import _, n_, recognised

FORMAT = "keju-build-1"
_BUILD = "build.json"
_LOCK = ".lock"
_JOIN = "00-join"
_NUMBERED = re.compile("[0-9]{2,}-.+")

Say = Callable[[str], None]


def build(recipe: Recipe, out: Path, *, engine: Engine, say: Say = lambda _: None) -> BuildRecord:
    """Run a recipe; parts that exist from an earlier call are reused.

    The same recipe gives the same dataset hash on every engine, with and without interruptions.

    `say` gets progress messages, a line at a time.

    Raises:
        UsageError: the directory contains something else, the build of a recipe of another name, or
            another build is running in it.
        DataError: a source or a step fails.
    """
    _check_apart(recipe, out)
    with _lock(out):
        _check_owner(recipe, out)
        parts, sources = [], []
        for planned in recipe.sources:
            done = _build_source(planned, out, engine)
            sources.append(_report_stage(planned.folder, planned.form.name, "sources", done, say))
            parts.append(_open_part(planned, out))
        last = out / "steps" / _JOIN
        done = _build_join(parts, recipe.head, last)
        steps = [_report_stage(_JOIN, "join", "steps", done, say)]
        for step in recipe.steps:
            work = StepCall(step.step, step.settings, Dataset.open(last), recipe.seed, recipe.head)
            last = out / "steps" / step.folder
            _clear(last, work.fingerprint)
            try:
                done = run_step(work, last, engine=engine)
            except UsageError as error:
                raise UsageError("{}: step {}: {}", recipe.file, step.number, error) from None
            steps.append(_report_stage(step.folder, step.step.name, "steps", done, say))
        link_folder(out / "dataset", last)
        _update_release_link(recipe, out)
        record = BuildRecord(
            format=FORMAT,
            keju=__version__,
            recipe=recipe.file.name,
            seed=recipe.seed,
            engine=engine.name,
            sources=sources,
            steps=steps,
            hash=steps[-1].hash,
        )
        write_json(out / _BUILD, record)
        _remove_old(out, record, say)
        return record


def plan_build(recipe: Recipe, out: Path) -> Iterator[PlannedStage]:
    """List the parts of a build, and whether each exists already; nothing is written.

    Raises as `build`.
    """
    _check_owner(recipe, out)
    parts: list[SourcePart] | None = []
    for source in recipe.sources:
        folder = out / "sources" / source.folder
        exists = load_finished(folder, _fingerprint_source(source)) is not None
        yield PlannedStage(source.form.name, f"sources/{source.folder}", exists)
        if exists and parts is not None:
            parts.append(_open_part(source, out))
        else:
            parts = None
    last = out / "steps" / _JOIN
    exists = (
        parts is not None and load_finished(last, _fingerprint_join(parts, recipe.head)) is not None
    )
    # The result of anything built again may be the same; with another name it cannot.
    named = _has_info(last, recipe.head)
    made = all(_read_manifest(out / "sources" / source.folder) for source in recipe.sources)
    may_change = named and made and parts is None and _is_same_step(last, "join", 1, {})
    yield PlannedStage("join", f"steps/{_JOIN}", exists, may_change)
    for step in recipe.steps:
        folder = out / "steps" / step.folder
        may_change = (
            not exists
            and named
            and _is_same_step(
                folder,
                step.step.name,
                step.step.version,
                settings_to_json(step.settings),
                recipe.seed,
            )
        )
        if exists:
            given = Dataset.open(last)
            work = StepCall(step.step, step.settings, given, recipe.seed, recipe.head)
            exists = load_finished(folder, work.fingerprint) is not None
        yield PlannedStage(step.step.name, f"steps/{step.folder}", exists, may_change)
        last = folder


def _is_same_step(
    folder: Path, name: str, version: int, settings: dict[str, Any], seed: int = 0
) -> bool:
    """Return whether a finished step has the same settings, whatever its input was."""
    if not (folder / "dataset.json").is_file() or not (folder / RECORD).is_file():
        return False
    try:
        record = read_json(folder / RECORD, StepRecord)
    except DataError:
        return False
    made = (record.step, record.version, record.settings, record.seed)
    return made == (name, version, settings, seed)


def _has_info(folder: Path, head: DatasetInfo) -> bool:
    """Return whether the dataset in a directory has the name and other values of a recipe."""
    made = _read_manifest(folder)
    return made is not None and all(
        getattr(head, name) in {"", getattr(made, name)} for name in head.__struct_fields__
    )


def _read_manifest(folder: Path) -> DatasetManifest | None:
    if not (folder / "dataset.json").is_file():
        return None
    try:
        return Dataset.open(folder).manifest
    except DataError:
        return None


def _check_owner(recipe: Recipe, out: Path) -> None:
    """Check that a build belongs to a recipe of this name; another would remove its parts."""
    made = _read_manifest(out / "steps" / _JOIN)
    if made is not None and made.name != recipe.head.name:
        raise UsageError(
            "{} is the build of {!r}, but {} is called {!r}. Choose another --out, or delete "
            "that build",
            out,
            made.name,
            recipe.file,
            recipe.head.name,
        )


def _remove_old(out: Path, record: BuildRecord, say: Say) -> None:
    """Remove the parts of an earlier version of the recipe that this one does not have."""
    kept = {stage.folder for stage in (*record.sources, *record.steps)}
    for within in ("sources", "steps"):
        for folder in sorted((out / within).iterdir()):
            name = f"{within}/{folder.name}"
            ours = any((folder / mark).exists() for mark in (RECORD, "dataset.json", UNFINISHED))
            if name not in kept and _NUMBERED.fullmatch(folder.name) and ours:
                shutil.rmtree(folder)
                say(_("{}: removed, because the recipe does not contain it any more", name))


def _check_apart(recipe: Recipe, out: Path) -> None:
    """Check that no source contains the build: a second run would read what the first one wrote."""
    for planned in recipe.sources:
        for key, path in list_paths(planned.settings):
            if path.is_dir() and out.resolve().is_relative_to(path.resolve()):
                raise UsageError(
                    "{}: source {} ({}): {}: the build in {} would be inside this directory. "
                    "Choose another --out",
                    recipe.file,
                    planned.number,
                    planned.form.name,
                    key,
                    out,
                )


def _build_source(planned: PlannedSource, out: Path, engine: Engine) -> StepResult:
    folder = out / "sources" / planned.folder
    mark = _fingerprint_source(planned)
    if done := load_finished(folder, mark):
        return done
    # A source is read again after an interruption; fetched files and processed rows are kept.
    shutil.rmtree(folder, ignore_errors=True)
    scratch = out / SCRATCH / mark
    site = Site(folder, out / "fetched", engine.within(scratch))
    try:
        notes = list_returned(planned.form.make, planned.form.make(planned.settings, site), str)
    except UsageError as error:
        raise UsageError("source {} ({}): {}", planned.number, planned.form.name, error) from None
    manifest = Dataset.open(folder).manifest
    record = StepRecord(
        step=planned.form.name,
        version=planned.form.version,
        fingerprint=mark,
        given="",
        seed=0,
        settings=settings_to_json(planned.settings),
        notes=notes,
        plugins=_list_plugins(planned.form),
    )
    write_json(folder / RECORD, record)
    shutil.rmtree(scratch, ignore_errors=True)
    return StepResult(record, manifest, built=True)


def _open_part(planned: PlannedSource, out: Path) -> SourcePart:
    name = getattr(planned.settings, "name", "") or planned.folder
    dataset = Dataset.open(out / "sources" / planned.folder)
    plugins = (*dataset.manifest.plugins, *map(str, _list_plugins(planned.form)))
    return SourcePart(planned.form.name, name, dataset, plugins)


def _fingerprint_source(planned: PlannedSource) -> str:
    form, settings = planned.form, planned.settings
    return compute_fingerprint(
        form.name, form.version, settings, form.stat_extra_files(settings), *_list_plugins(form)
    )


def _list_plugins(form: SourceForm[Any]) -> tuple[Plugin, ...]:
    """List the plug-in that provides a form of source, if one does."""
    plugin = SOURCES.plugin_of(form.name) or FORMATS.plugin_of(form.name)
    return (plugin,) if plugin else ()


def _fingerprint_join(parts: list[SourcePart], head: DatasetInfo) -> str:
    given = [(part.form, part.name, part.dataset.manifest) for part in parts]
    return compute_fingerprint("join", head, given)


def _build_join(parts: list[SourcePart], head: DatasetInfo, out: Path) -> StepResult:
    mark = _fingerprint_join(parts, head)
    if done := load_finished(out, mark):
        return done
    shutil.rmtree(out, ignore_errors=True)
    manifest, notes = join_sources(parts, head, out)
    given = ",".join(part.dataset.manifest.hash for part in parts)
    record = StepRecord(
        step="join", version=1, fingerprint=mark, given=given, seed=0, settings={}, notes=notes
    )
    write_json(out / RECORD, record)
    return StepResult(record, manifest, built=True)


def _clear(folder: Path, mark: str) -> None:
    """Remove a finished step that differs from this one; an unfinished one is resumed."""
    if (folder / "dataset.json").exists() and load_finished(folder, mark) is None:
        shutil.rmtree(folder)


def _report_stage(folder: str, name: str, within: str, done: StepResult, say: Say) -> StageRecord:
    made: DatasetManifest = done.manifest
    place, items, images = f"{within}/{folder}", made.items, made.images
    if done.built:
        say(
            _(
                "{}: {}, {}",
                place,
                n_("{n:,} item", "{n:,} items", items),
                n_("{n:,} image", "{n:,} images", images),
            )
        )
    else:
        say(
            _(
                "{}: {}, {} (up to date)",
                place,
                n_("{n:,} item", "{n:,} items", items),
                n_("{n:,} image", "{n:,} images", images),
            )
        )
    for line in done.record.notes:
        say(_("    {}", recognised(line)))
    return StageRecord(
        name=name,
        folder=place,
        items=items,
        images=images,
        hash=made.hash,
        notes=done.record.notes,
    )


def _update_release_link(recipe: Recipe, out: Path) -> None:
    """Link BUILD/release to the last release that the recipe writes; keep a directory there."""
    link = out / RELEASE
    made = [out / "steps" / each.folder / RELEASE for each in recipe.steps]
    made = [folder for folder in made if folder.is_dir()]
    if not made:
        remove_link(link)
    elif not link.is_dir() or link_target(link):
        link_folder(link, made[-1])


@contextmanager
def _lock(out: Path) -> Iterator[None]:
    """Lock a build directory, so that only one build writes to it; check that it is a build's."""
    check_local(out)
    if out.exists() and not out.is_dir():
        raise UsageError("{}: not a folder. Choose another --out", out)
    if out.is_dir() and not (out / _LOCK).exists() and any(out.iterdir()):
        raise UsageError(
            "{}: the directory is not empty and not a build. Choose another --out", out
        )
    out.mkdir(parents=True, exist_ok=True)
    lock = locked_file(
        out / _LOCK, busy=_("{}: another build is writing there. Wait for it to end", out)
    )
    try:
        yield
    finally:
        lock.release()
        # Newer file locks remove their file; it also distinguishes a build from other directories.
        (out / _LOCK).touch()
