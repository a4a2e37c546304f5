"""Releases: a dataset as parquet with metadata, hashes and a datasheet, after checks.

::

    RELEASE/  dataset.json · items.parquet · images-00000.parquet …   a dataset, images in tables
              items/part-00000.parquet …                              if items are partitioned
              prompts.parquet                                         the complete prompts
              README.md · DATASHEET.md · croissant.json               for hubs, people, programs
              SHA256SUMS                                              of every other file

keju runs, validates and imports the directory as it is. The same dataset gives the same bytes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.releasing import RELEASE, card, croissant
from keju.building.releasing.datasheet import FILE as SHEET
from keju.building.releasing.datasheet import (
    Check,
    DatasheetData,
    list_open_questions,
    read_answers,
    render_datasheet,
)
from keju.building.releasing.summary import ReleaseSummary
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.building.tables import write_rows
from keju.datasets.stats import stats
from keju.datasets.store import ITEMS, MANIFEST, PARTITIONED, Dataset, find_items
from keju.datasets.table import PARTS
from keju.datasets.validate import validate
from keju.datasets.writers.parquet import write_parquet
from keju.definitions import prompt_of, task
from keju.errors import DataError, UsageError, number_of
from keju.files import sha256_file, write_atomic, write_json
from keju.items import Item
from keju.local_paths import check_local
from keju.object_stores import is_address, stage_output
from keju.texts import _, join_clauses, listed, n_

SUMS = "SHA256SUMS"
PROMPTS = "prompts.parquet"

_NOT_GIVEN = frozenset({"", "-", "?", "n/a", "na", "nil", "none", "null", "tba", "tbd", "todo",
                         "unknown", "unspecified", "not given", "licence", "license",
                         "source"})  # fmt: skip
"""Placeholders that people write where a licence or a source is not known."""


class ReleaseSettings(Settings, frozen=True):
    """The metadata of a release that the dataset does not contain."""

    licence: Annotated[str, Meta(description="Licence, if the dataset does not name one.")] = ""
    source: Annotated[
        str, Meta(description="Source of the data, if the dataset does not name one.")
    ] = ""
    drafts: Annotated[
        bool, Meta(description="Release drafts that no person has accepted, too.")
    ] = False
    answers: Annotated[
        Path | None,
        Meta(description="TOML file with the maker's answers to the datasheet's questions."),
    ] = None
    url: Annotated[str, Meta(description="Address of the published dataset.")] = ""
    date: Annotated[str, Meta(description="Date of publication, as 2026-11-21.")] = ""
    citation: Annotated[str, Meta(description="Citation of the dataset.")] = ""


class WrittenRelease(NamedTuple):
    """A release: its directory, its files in order, its checks, and its open questions."""

    folder: Path
    files: tuple[str, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...]


def write_release(
    dataset: Dataset, out: Path, settings: ReleaseSettings | None = None
) -> WrittenRelease:
    """Check a dataset and write its release.

    `out` is a new or empty directory or an address, and appears when it is complete.

    Raises:
        UsageError: the directory is not empty, or the maker's answers are not valid.
        DataError: the dataset has errors, no licence or source, or drafts that were not allowed.
    """
    with stage_output(out, MANIFEST) as folder:
        done = _write_release(dataset, folder, settings or ReleaseSettings())
    return done._replace(folder=out) if is_address(out) else done


def _write_release(dataset: Dataset, out: Path, settings: ReleaseSettings) -> WrittenRelease:
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{}: not an empty folder. Choose another --out", out)
    answers = read_answers(settings.answers) if settings.answers else {}
    dataset = _add_metadata(dataset, settings)
    items = ReleaseSummary(dataset, dataset.manifest.licence)
    checks = tuple(_run_checks(dataset, items, settings))
    out = out.resolve()  # which has a name, even if it is the current directory
    partial = out.with_name(f".{out.name}.unfinished")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for __ in write_parquet(dataset, partial):
        pass
    _write_prompts(dataset, partial / PROMPTS)
    _describe(dataset, items, partial, settings, checks, answers)
    names = _list_files(partial)
    sums = "".join(f"{sha256_file(partial / name)}  {name}\n" for name in names)
    write_atomic(partial / SUMS, sums)
    if out.exists():
        out.rmdir()
    partial.replace(out)
    notes: list[str] = [
        _("not passed: {}: {}", each.what, each.found) for each in checks if not each.passed
    ]
    if left := list_open_questions(answers):
        notes.append(
            n_(
                "{}: {n:,} question is open: {}.",
                "{}: {n:,} questions are open: {}.",
                len(left),
                SHEET,
                listed(left),
            )
        )
    return WrittenRelease(out, (*names, SUMS), checks, tuple(notes))


def release_items(context: StepContext, settings: ReleaseSettings) -> None:
    """Keep every item, and write the release to OUT/release.

    Raises:
        UsageError: the maker's answers are not valid.
        DataError: see `write_release`.
    """
    for item in context.iter_items():
        context.keep(item)
    done = write_release(context.dataset, context.out / RELEASE, settings)
    context.note(_("{}/ contains {}", RELEASE, listed(done.files)))
    for line in done.notes:
        context.note(line)


STEP = Step(
    "release",
    "Write the release: parquet, Croissant, hashes, datasheet.",
    ReleaseSettings,
    release_items,
    version=3,
)


def _add_metadata(dataset: Dataset, settings: ReleaseSettings) -> Dataset:
    """Return the dataset with the licence and source of the release's settings.

    Raises:
        UsageError: the dataset has another licence or source already.
    """
    given = {"licence": settings.licence, "source": settings.source}
    manifest = dataset.manifest
    for word, value in given.items():
        known = getattr(manifest, word)
        if value and value != known and known.strip().casefold() not in _NOT_GIVEN:
            raise UsageError("--{0} {1}: {2} has the {0} {3!r}", word, value, dataset.path, known)
    return dataset.with_manifest(replace(manifest, **{k: v for k, v in given.items() if v}))


class PromptRow(Struct, frozen=True):
    """The complete prompt of an item."""

    id: str
    prompt: str


def _write_prompts(items: Iterable[Item], path: Path) -> None:
    """Write the prompts, which programs other than keju cannot make from items and templates.

    Labelled images of a pair task have none.
    """
    rows = (
        PromptRow(item.id, prompt_of(item))
        for item in items
        if not (item.split == "reference" and task(item.task).of_pairs)
    )
    write_rows(path, rows, PromptRow)


def _list_files(folder: Path) -> list[str]:
    """List the files of a release, as paths inside it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _describe(
    dataset: Dataset,
    items: ReleaseSummary,
    folder: Path,
    settings: ReleaseSettings,
    checks: Sequence[Check],
    answers: dict[str, str],
) -> None:
    """Write the metadata, the README and the datasheet of the tables in a folder."""
    manifest = dataset.manifest
    parts = find_items(folder).is_dir()
    tables = [folder / name for name in _list_files(folder) if name.endswith(".parquet")]
    about = croissant.make_croissant(
        manifest, folder, tables,
        url=settings.url, date=settings.date, citation=settings.citation,
    )  # fmt: skip
    write_json(folder / croissant.FILE, about)
    drafts = items.drafts
    count = number_of(drafts, "item is a draft", "items are drafts")
    warned = [f"{count} that no person has accepted."] if drafts else []
    readme = card.render_card(
        manifest, items, notes=warned, tables=f"{PARTITIONED}/{PARTS}" if parts else ITEMS
    )
    write_atomic(folder / card.FILE, readme)
    sizes = {name: (folder / name).stat().st_size for name in _list_files(folder)}
    known = DatasheetData(manifest, items, stats(dataset.path), checks, sizes)
    write_atomic(folder / SHEET, render_datasheet(known, answers))


def _run_checks(
    dataset: Dataset, items: ReleaseSummary, settings: ReleaseSettings
) -> Iterator[Check]:
    """Run the checks of a release; errors that make it useless are raised.

    Raises:
        DataError: an error that `keju data validate` finds, no licence or source, or drafts.
    """
    required = {"licence": _("there is a licence"), "source": _("there is a source")}
    for field, check in required.items():
        value = getattr(dataset.manifest, field)
        if value.strip().casefold() in _NOT_GIVEN:
            raise DataError(
                "the {} is {!r}, and a release requires one",
                field,
                value,
                file=dataset.path / "dataset.json",
                hint=_("Find it out, and set it in the release: --{} …", field),
            )
        yield Check(check, value, passed=True)
    yield _check_licences(items)
    if items.drafts and not settings.drafts:
        raise DataError(
            n_(
                "{n:,} item is a draft that no person has accepted",
                "{n:,} items are drafts that no person has accepted",
                items.drafts,
                hint="Have them reviewed, or use --drafts to release them without review",
            ),
            file=dataset.path,
            item=items.first_draft,
        )
    yield Check(
        _("no item is a draft that no person has accepted"),
        n_("{n:,} is", "{n:,} are", items.drafts),
        not items.drafts,
    )
    counts: Counter[str] = Counter()
    for finding in validate(dataset.path):
        if finding.severity == "error":
            raise DataError(
                finding.problem,
                file=dataset.path,
                item=finding.item,
                hint=_("{} See: keju data validate", finding.hint),
            )
        counts[finding.severity] += 1
    yield Check(
        _(
            "every item and image is valid (keju data validate: each image is decoded, its size "
            "and SHA-256 agree with its item)"
        ),
        _(
            "0 errors, {}, {}",
            n_("{n:,} warning", "{n:,} warnings", counts["warning"]),
            n_("{n:,} notice", "{n:,} notices", counts["notice"]),
        ),
        passed=True,
    )
    yield _check_references(items)
    yield _check_splits(items)
    yield _check_repeats(items)


def _check_licences(items: ReleaseSummary) -> Check:
    """Check that no item has a licence that the release's does not name."""
    others = items.licences.list_others()
    licences = join_clauses(_("{:,} under {}", count, licence) for licence, count in others)
    return Check(
        _("no item has another licence than the release"), licences or _("none has"), not others
    )


def _check_references(items: ReleaseSummary) -> Check:
    """Check that every item that is scored has a reference."""
    bare = items.unscored
    found = (
        _("{:,} of {:,} have none: their responses are not scored", bare, items.items)
        if bare
        else _("0 have none")
    )
    return Check(_("every item has a reference"), found, not bare)


def _check_splits(items: ReleaseSummary) -> Check:
    """Check that no group and no image is in both splits."""
    groups, images = items.in_both_splits
    found = _(
        "{} and {} in both",
        n_("{n:,} group", "{n:,} groups", groups),
        n_("{n:,} image", "{n:,} images", images),
    )
    return Check(
        _("no group and no image is in both test and reference"), found, not groups + images
    )


def _check_repeats(items: ReleaseSummary) -> Check:
    """Check that no two items have the same question about the same images."""
    again = items.repeated
    return Check(
        _("no two items have the same question about the same images"),
        _("{} repeated", again),
        not again,
    )
