"""Releases: a dataset as parquet with metadata, hashes and a datasheet, after checks.

::

    RELEASE/  dataset.json · items.parquet · images-00000.parquet …   a dataset, images in tables
              prompts.parquet                                         what is asked, word for word
              README.md · DATASHEET.md · croissant.json               for hubs, people, programs
              SHA256SUMS                                              of every other file

keju runs, validates and imports the directory as it is. The same dataset gives the same bytes.
"""

from __future__ import annotations

import io
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import polars as pl
from msgspec import Meta
from msgspec.structs import replace

from keju.building.markdown import cell
from keju.building.releasing import RELEASE, card, croissant
from keju.building.releasing.datasheet import FILE as SHEET
from keju.building.releasing.datasheet import datasheet, open_questions, read_answers
from keju.building.releasing.facts import Check, Known
from keju.building.releasing.licences import misfits, unusual
from keju.building.releasing.splitting import group_of
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.checks import unscored_reason
from keju.datasets.stats import stats
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.datasets.writers.parquet import write_parquet
from keju.definitions import NO_REFERENCE, prompt_of, task
from keju.errors import DataError, UsageError, number_of
from keju.files import sha256_file, write_atomic, write_json
from keju.items import Item
from keju.local_paths import check_local
from keju.messages import message

SUMS = "SHA256SUMS"
PROMPTS = "prompts.parquet"

_NOT_GIVEN = frozenset({"", "-", "?", "n/a", "na", "nil", "none", "null", "tba", "tbd", "todo",
                         "unknown", "unspecified", "not given", "licence", "license",
                         "source"})  # fmt: skip
"""Placeholders that people write where a licence or a source is not known."""


class ReleaseSettings(Settings, frozen=True):
    """The metadata of a release that the dataset does not contain."""

    licence: Annotated[str, Meta(description="The licence, if the dataset's is unknown.")] = ""
    source: Annotated[str, Meta(description="Where the data comes from, if that is unknown.")] = ""
    drafts: Annotated[
        bool, Meta(description="Release drafts too, which no person has accepted.")
    ] = False
    rights_cleared: Annotated[
        bool,
        Meta(
            description="The maker answers for licences that the release's does not cover, or of "
            "which that cannot be told. The datasheet says so."
        ),
    ] = False
    answers: Annotated[
        Path | None,
        Meta(description="A TOML file with the maker's answers to the datasheet's questions."),
    ] = None
    url: Annotated[str, Meta(description="Where the set will be found.")] = ""
    date: Annotated[str, Meta(description="Of publication, as 2026-11-21.")] = ""
    citation: Annotated[str, Meta(description="How it wants to be cited.")] = ""


class Released(NamedTuple):
    """A release: its directory, its files in order, its checks, and its open questions."""

    folder: Path
    files: tuple[str, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...]


def write_release(dataset: Dataset, out: Path, settings: ReleaseSettings | None = None) -> Released:
    """Check a dataset and write its release.

    Args:
        dataset: the dataset.
        out: the directory; new or empty. It appears when it is complete.
        settings: its metadata, and whether it may contain drafts.

    Raises:
        UsageError: the directory is not empty, or the maker's answers are not valid.
        DataError: the dataset has errors, no licence or source, a licence that is not compatible
            with its items', or drafts that were not allowed.
    """
    settings = settings or ReleaseSettings()
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(message("building.release-out-not-empty", out=out))
    answers = read_answers(settings.answers) if settings.answers else {}
    dataset = _described(dataset, settings)
    items = dataset.items()
    checks = tuple(_checks(dataset, items, settings))
    out = out.resolve()  # which has a name, even if it is the current directory
    partial = out.with_name(f".{out.name}.unfinished")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for _ in write_parquet(dataset, items, partial):
        pass
    _write_prompts(items, partial / PROMPTS)
    _describe(dataset, items, partial, settings, checks, answers)
    names = sorted(path.name for path in partial.iterdir())
    sums = "".join(f"{sha256_file(partial / name)}  {name}\n" for name in names)
    write_atomic(partial / SUMS, sums)
    if out.exists():
        out.rmdir()
    partial.replace(out)
    notes = [f"not passed: {each.what}: {each.found}" for each in checks if not each.passed]
    if odd := unusual(dataset.manifest.licence):
        notes.append(odd)
    if left := open_questions(answers):
        notes.append(f"{SHEET}: {left}")
    return Released(out, (*names, SUMS), checks, tuple(notes))


def release(context: StepContext, settings: ReleaseSettings) -> None:
    """Keep every item, and write the release to OUT/release.

    Raises:
        UsageError: the maker's answers are not valid.
        DataError: see `write_release`.
    """
    for item in context.items():
        context.keep(item)
    done = write_release(context.given, context.out / RELEASE, settings)
    context.note(f"{RELEASE}/, beside the items: {', '.join(done.files)}")
    for line in done.notes:
        context.note(line)


STEP = Step(
    "release",
    "Write the release: parquet, Croissant, hashes, datasheet.",
    ReleaseSettings,
    release,
    version=2,
)


def _described(dataset: Dataset, settings: ReleaseSettings) -> Dataset:
    """The dataset with the licence and source that the release's settings give.

    Raises:
        UsageError: the dataset has another licence or source already.
    """
    given = {"licence": settings.licence, "source": settings.source}
    manifest = dataset.manifest
    for word, value in given.items():
        known = getattr(manifest, word)
        if value and value != known and known.strip().casefold() not in _NOT_GIVEN:
            raise UsageError(
                message(
                    "building.release-word-known",
                    field=word,
                    value=value,
                    path=dataset.path,
                    known=known,
                )
            )
    return Dataset(dataset.path, replace(manifest, **{k: v for k, v in given.items() if v}))


def _write_prompts(items: Sequence[Item], path: Path) -> None:
    """Write the prompts, which programs other than keju could not make from items and templates.

    Labelled images of a pair task have none.
    """
    asked = [item for item in items if not (item.split == "reference" and task(item.task).of_pairs)]
    rows = {"id": [item.id for item in asked], "prompt": [prompt_of(item) for item in asked]}
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema={"id": pl.String, "prompt": pl.String}).write_parquet(
        buffer, compression="zstd", statistics=False
    )
    write_atomic(path, buffer.getvalue())


def _describe(
    dataset: Dataset,
    items: Sequence[Item],
    folder: Path,
    settings: ReleaseSettings,
    checks: Sequence[Check],
    answers: dict[str, str],
) -> None:
    """Write the metadata, the README and the datasheet of the tables in a folder."""
    manifest = dataset.manifest
    tables = sorted(folder.glob("*.parquet"))
    about = croissant.croissant_of(
        manifest, folder, tables,
        url=settings.url, date=settings.date, citation=settings.citation,
    )  # fmt: skip
    write_json(folder / croissant.FILE, about)
    drafts = sum(item.draft for item in items)
    said = number_of(drafts, "item is a draft", "items are drafts")
    warned = [f"{said} that no person has accepted."] if drafts else []
    if odds := misfits(items, manifest.licence):
        warned.append(f"Whether {cell(manifest.licence)} may be said of all of it, the maker "
                      f"answers for: {cell('; '.join(map(str, odds)))}.")  # fmt: skip
    write_atomic(folder / card.FILE, card.card(manifest, items, notes=warned))
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    known = Known(manifest, items, stats(dataset.path), checks, sizes)
    write_atomic(folder / SHEET, datasheet(known, answers))


def _checks(dataset: Dataset, items: Sequence[Item], settings: ReleaseSettings) -> Iterator[Check]:
    """The checks of a release. Errors that make it useless or unlawful are raised.

    Raises:
        DataError: an error that `keju data validate` finds, no licence or source, a licence that is
            not compatible with the items', or drafts.
    """
    for word in ("licence", "source"):
        value = getattr(dataset.manifest, word)
        if value.strip().casefold() in _NOT_GIVEN:
            raise DataError(
                message("building.release-word-missing", field=word, value=value),
                file=dataset.path / "dataset.json",
            )
        yield Check(f"there is a {word}", value, passed=True)
    yield _covered(dataset, items, settings)
    drafts = [item.id for item in items if item.draft]
    if drafts and not settings.drafts:
        raise DataError(
            message("building.drafts-not-accepted", count=len(drafts)),
            file=dataset.path,
            item=drafts[0],
        )
    yield Check(
        "no item is a draft that no person has accepted",
        f"{number_of(len(drafts), 'is', 'are')}",
        not drafts,
    )
    counts: Counter[str] = Counter()
    for finding in validate(dataset.path):
        if finding.severity == "error":
            raise DataError(
                finding.problem,
                file=dataset.path,
                item=finding.item,
                hint=message("building.hint-and-validate", hint=finding.hint),
            )
        counts[finding.severity] += 1
    yield Check(
        "every item and image is sound (keju data validate: each image decoded, its size and "
        "SHA-256 those of its item)",
        f"0 errors, {number_of(counts['warning'], 'warning')}, "
        f"{number_of(counts['notice'], 'notice')}", passed=True,
    )  # fmt: skip
    yield _referenced(items)
    yield _apart(items)
    yield _once(items)


def _covered(dataset: Dataset, items: Sequence[Item], settings: ReleaseSettings) -> Check:
    """Whether the release's licence has the conditions of the licences of its items.

    Raises:
        DataError: it has not, or this is unknown, and the maker has not confirmed it.
    """
    licence = dataset.manifest.licence
    found = misfits(items, licence)
    if found and not settings.rights_cleared:
        more = message("building.licences-more", count=len(found) - 1) if len(found) > 1 else ""
        raise DataError(
            message("building.licence-not-allowed", licence=licence, found=found[0], more=more),
            file=dataset.path,
            item=found[0].first,
        )
    said = "; ".join(map(str, found))
    return Check(
        "the licence demands what those of all items demand",
        f"declared by the maker to be cleared, not checked: {said}" if found else "it does",
        passed=not found,
    )


def _referenced(items: Sequence[Item]) -> Check:
    """Whether every item that is scored has a reference."""
    bare = sum(unscored_reason(item) == NO_REFERENCE for item in items)
    found = f"{bare:,} of {len(items):,} have none: their responses are not scored"
    return Check("every item has a reference", found if bare else "0 have none", not bare)


def _apart(items: Sequence[Item]) -> Check:
    """Whether no group and no image is in both splits.

    In pair tasks the group is a class, whose labelled images belong to the questions about it:
    there only the images count.
    """
    sides: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in items:
        if not task(item.task).of_pairs:
            sides["group", group_of(item)].add(item.split)
        for ref in item.images:
            sides["image", ref.sha256].add(item.split)
    both = Counter(kind for (kind, _), splits in sides.items() if len(splits) > 1)
    groups, images = number_of(both["group"], "group"), number_of(both["image"], "image")
    found = f"{groups} and {images} in both"
    return Check("no group and no image is in both test and reference", found, not both)


def _once(items: Sequence[Item]) -> Check:
    """Whether no two items have the same question about the same images."""
    asked = Counter(
        msgspec.json.encode(
            [item.task, item.query, [ref.sha256 for ref in item.images], item.question,
             item.fields, item.options, item.transcription if not item.images else ""],
            order="sorted",
        )
        for item in items
    )  # fmt: skip
    again = sum(count - 1 for count in asked.values())
    return Check("no two items ask the same of the same images", f"{again} again", not again)
