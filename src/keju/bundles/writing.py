"""`write_bundle`: pack a scored run into one file from which its scores can be computed again."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from keju import __version__
from keju.bundles.cleaning import Cleaner
from keju.bundles.crate import make_crate
from keju.bundles.data import check_allowed, find_dataset, write_images
from keju.bundles.environment import describe_environment
from keju.bundles.index import find_hidden, iter_bundled_items, number_groups
from keju.bundles.manifest import (
    BUNDLE_MANIFEST,
    CRATE,
    ENVIRONMENT,
    GRADES,
    IMAGES,
    INDEX,
    RUN_ITEMS,
    BundledBenchmark,
    BundledDataset,
    BundledItem,
    BundledModel,
    BundleManifest,
    Member,
    definition_member,
)
from keju.bundles.staging import RunStager, check_clean, stored_grades
from keju.bundles.tables import write_index
from keju.datasets.licences import list_restricted
from keju.datasets.store import Dataset
from keju.definitions import benchmark
from keju.errors import UsageError
from keju.files import sha256_file, write_atomic, write_json
from keju.items import get_group
from keju.local_paths import check_local
from keju.runs import RunFolder, RunManifest
from keju.scoring import check_scores

ENDING = ".zip"

_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all members: the first that a zip file can store."""
_CHUNK = 1 << 20


class WrittenBundle(NamedTuple):
    """A bundle that was written: its file, size in bytes, SHA-256, and content."""

    path: Path
    size: int
    sha256: str
    manifest: BundleManifest


def write_bundle(run: Path, out: Path, *, include_data: bool = False) -> WrittenBundle:
    """Pack a scored run into a bundle; the same run gives the same bytes.

    Args:
        run: the run directory.
        out: the file, whose name ends in ``.zip``; an existing one is replaced.
        include_data: also pack the items with their references, and the images.

    Raises:
        UsageError: there is no run, it must be scored (again), the name has another ending, or a
            response contains a secret of the environment or a local path.
        DataError: a file of the run is damaged, or with `include_data` the dataset is not at its
            place or its licence is unknown or does not allow copies.
    """
    check_local(out)
    if not out.name.endswith(ENDING):
        raise UsageError(
            "{}: the name of a bundle ends in .zip, such as results.keju.zip. Use -o NAME.keju.zip",
            out,
        )
    folder = RunFolder.open(run)
    check_scores(folder)
    dataset = folder.dataset() if include_data else find_dataset(folder)
    if include_data:
        assert dataset is not None
        check_allowed(dataset, folder)
    with tempfile.TemporaryDirectory(prefix="keju-bundle-") as name:
        stage = Path(name) / "members"
        manifest = _stage(folder, stage, dataset, include_data=include_data)
        packed = Path(name) / "packed"
        _pack(stage, packed)
        with packed.open("rb") as file:
            write_atomic(out, iter(lambda: file.read(_CHUNK), b""))
    return WrittenBundle(out, out.stat().st_size, sha256_file(out), manifest)


def _stage(
    run: RunFolder, stage: Path, dataset: Dataset | None, *, include_data: bool
) -> BundleManifest:
    """Write all members to a folder; returns the content of bundle.json."""
    cleaner = Cleaner(run.path)
    groups = number_groups(map(get_group, run.iter_items()))
    stager = RunStager(run, stage, cleaner, groups)
    items = stage / RUN_ITEMS
    items.parent.mkdir(parents=True)
    # Fingerprints of scores contain its hash.
    shutil.copyfile(run.items_path, items)
    run_manifest = stager.stage_manifest()
    staged = {model: stager.stage_model(model) for model in run.manifest().models}
    stager.stage_decisions()
    stager.stage_readings()
    if include_data and dataset:
        write_images(dataset, run, stage)
    else:
        items.unlink()
    count = _write_index(run, stage, cleaner, groups)
    _write_grades(run, stage, stager.names, cleaner)
    write_json(stage / ENVIRONMENT, describe_environment())
    models = {
        stager.names[model]: BundledModel(
            identity=run_manifest.models[stager.names[model]],
            cleaned=run_manifest.models[stager.names[model]] != run.manifest().models[model],
            role=run_manifest.roles.get(stager.names[model], ""),
            **part._asdict(),
        )
        for model, part in staged.items()
    }
    manifest = BundleManifest(
        keju=__version__,
        run_keju=run_manifest.keju,
        created=run_manifest.created,
        label=getattr(run_manifest, "label", ""),
        dataset=_describe_dataset(run_manifest, dataset, run, included=include_data),
        benchmarks=tuple(_write_definitions(run, stage, cleaner)),
        models=models,
        settings=cleaner.hide_in(run.manifest().settings),
        items=count,
    )
    members = _list_members(stage)
    write_json(stage / CRATE, make_crate(manifest, members))
    manifest = replace(manifest, members=members | {CRATE: _member(stage / CRATE)})
    write_json(stage / BUNDLE_MANIFEST, manifest)
    return manifest


def _licence_of(dataset: Dataset, run: RunFolder) -> str:
    """The licence of a dataset, or those of its items that do not allow copies.

    A site publishes responses by this licence.
    """
    whole = dataset.manifest.licence
    found = [licence for licence, _ in list_restricted(whole, run.iter_items()) if licence]
    return " AND ".join(found) or whole


def _describe_dataset(
    manifest: RunManifest, dataset: Dataset | None, run: RunFolder, *, included: bool
) -> BundledDataset:
    same = dataset is not None and dataset.manifest.hash == manifest.dataset_hash
    return BundledDataset(
        name=manifest.dataset,
        version=manifest.dataset_version,
        hash=manifest.dataset_hash,
        licence=_licence_of(dataset, run) if dataset and same else "",
        synthetic=manifest.synthetic,
        included=included,
    )


def _write_index(run: RunFolder, stage: Path, cleaner: Cleaner, groups: Mapping[str, str]) -> int:
    def checked() -> Iterator[BundledItem]:
        for item in iter_bundled_items(run.iter_items(), find_hidden(run.iter_items), groups):
            check_clean(cleaner, msgspec.json.encode(item), item.id)
            yield item

    return write_index(stage / INDEX, checked())


def _write_grades(run: RunFolder, stage: Path, names: Mapping[str, str], cleaner: Cleaner) -> None:
    def checked() -> Iterator[bytes]:
        judges: dict[str, str] = {}
        for grade in stored_grades(run, names):
            if grade.judge not in judges:
                judges |= cleaner.names_of([grade.judge])
            line = msgspec.json.encode(replace(grade, judge=judges[grade.judge]))
            check_clean(cleaner, line, f"{GRADES}, {grade.item}")
            yield line + b"\n"

    lines = checked()
    if first := next(lines, b""):
        write_atomic(stage / GRADES, _after(first, lines))


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _write_definitions(run: RunFolder, stage: Path, cleaner: Cleaner) -> Iterator[BundledBenchmark]:
    for name in sorted({item.benchmark for item in run.iter_items()}):
        member, text = definition_member(name), benchmark(name).text
        check_clean(cleaner, text.encode(), member)
        write_atomic(stage / member, text)
        yield BundledBenchmark(name=name, version=benchmark(name).version, definition=member)


def _list_members(stage: Path) -> dict[str, Member]:
    paths = sorted(path for path in stage.rglob("*") if path.is_file())
    return {path.relative_to(stage).as_posix(): _member(path) for path in paths}


def _member(path: Path) -> Member:
    return Member(size=path.stat().st_size, sha256=sha256_file(path))


def _pack(stage: Path, target: Path) -> None:
    """Write the members in the order of their names; nothing depends on the time or the user."""
    names = sorted(
        path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file()
    )
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name, _TIME)
            info.create_system, info.external_attr = 3, 0o100644 << 16
            # These are compressed already.
            stored = name.endswith(".parquet") or name.startswith(f"{IMAGES}/")
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            info.file_size = (stage / name).stat().st_size
            with (stage / name).open("rb") as source, archive.open(info, "w") as part:
                shutil.copyfileobj(source, part, _CHUNK)
