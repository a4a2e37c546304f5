"""`take_scans`: import scans into a work directory, once for each state of the scans."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.base import walk
from keju.datasets.readers.listing import LOWEST, Candidate, Listing, find_candidates
from keju.datasets.readers.words import shell_word
from keju.datasets.store import MANIFEST, begin_with_images, find_items
from keju.errors import UsageError
from keju.files import locked_file, read_json, sha256_bytes, write_json
from keju.items import UNKNOWN, Record
from keju.local_paths import check_local
from keju.texts import _

_STATE = "scans.json"
_NEW = "importing"
_LOCK = "importing.lock"
_PAGES = ("pages", "page-xml", "alto")


class Origin(Record, frozen=True, kw_only=True):
    """The origin of the data, and the options of its format."""

    licence: str = UNKNOWN
    source: str = UNKNOWN
    options: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it


class TakenScans(NamedTuple):
    """A dataset of scans, and the notes of its import, if one was needed."""

    dataset: Path
    notes: tuple[str, ...] = ()


class _State(Record, frozen=True, kw_only=True):
    """The last import: the path and a hash of the state of the scans, and the dataset."""

    scans: str
    fingerprint: str
    dataset: str


def is_dataset(path: Path) -> bool:
    """Whether a directory is a keju dataset."""
    return (path / MANIFEST).is_file() and find_items(path).exists()


def is_scans(path: Path) -> bool:
    """Whether a path contains page images or PDF files, and no other format fits better."""
    if is_dataset(path) or not path.exists():
        return False
    best, has_scans = _best(path)
    return best.reader.name in _PAGES if best else has_scans


def take_scans(scans: Path, work: Path, origin: Origin) -> TakenScans:
    """Import scans, unless they have not changed since the last import to this work directory.

    Every state of the scans has a dataset of its own in the work directory, so that a process that
    still reads an earlier one is not disturbed. Images of the previous one are linked, not copied.

    Args:
        scans: a directory or file that `import_dataset` reads, or a dataset, which is used as it
            is.
        work: the work directory; new, empty, or made by this function from the same scans.
        origin: licence, source and options of the import.

    Raises:
        UsageError: there are no scans; the work directory is inside them, has other content, or
            another process imports to it.
        DataError: the scans cannot be imported.
    """
    check_local(scans)
    check_local(work)
    if not scans.exists():
        raise UsageError("{}: no such file or folder", scans)
    _check_work(scans, work)
    if is_dataset(scans):
        return TakenScans(scans)
    work.mkdir(parents=True, exist_ok=True)
    busy = _(
        "{}: another process imports the scans there. Wait until it has ended, or choose "
        "another --work",
        work,
    )
    with locked_file(work / _LOCK, busy=busy):
        place, fingerprint = str(scans.resolve()), _fingerprint(scans, origin)
        last = read_json(work / _STATE, _State) if (work / _STATE).is_file() else None
        if last and last.scans != place:
            raise UsageError(
                "{}: the work folder belongs to other scans ({}). Choose another -o or --work",
                work,
                last.scans,
            )
        new = work / _NEW
        shutil.rmtree(new, ignore_errors=True)
        if last:
            if last.fingerprint == fingerprint and is_dataset(work / last.dataset):
                return TakenScans(work / last.dataset)
            begin_with_images(new, work / last.dataset)
        form, options = _form(scans, origin.options)
        imported = import_dataset(
            form, scans, new, name=scans.resolve().stem, version="1", licence=origin.licence,
            source=origin.source, options=options,
        )  # fmt: skip
        dataset = work / f"dataset-{imported.manifest.hash[:12]}"
        shutil.rmtree(dataset, ignore_errors=True)
        new.rename(dataset)
        state = _State(scans=place, fingerprint=fingerprint, dataset=dataset.name)
        write_json(work / _STATE, state)
        return TakenScans(dataset, imported.notes)


def run_folder(work: Path, limit: int | None) -> Path:
    """The run directory in a work directory, or that of the first items; it follows the scans."""
    return work / ("run" if limit is None else f"run-first-{limit}")


def _check_work(scans: Path, work: Path) -> None:
    """Check that a work directory is new, empty or one of this module, outside of the scans."""
    if work.resolve().is_relative_to(scans.resolve()) and scans.is_dir():
        raise UsageError(
            "{}: the work folder would be inside the scans, and its images would be imported as "
            "scans. Choose a folder outside {} with -o or --work",
            work,
            scans,
        )
    if work.exists() and not work.is_dir():
        raise UsageError("{}: not a folder. Choose another --work", work)
    names = [path.name for path in work.iterdir()] if work.is_dir() else []
    ours = (_NEW, _LOCK, "dataset-", "run")
    strangers = [name for name in names if not name.startswith(ours)]
    if strangers and _STATE not in names:
        raise UsageError(
            "{}: the work folder contains other files ({}). Choose another --work",
            work,
            strangers[0],
        )


def _fingerprint(scans: Path, origin: Origin) -> str:
    """A hash of the origin, and the name, size and time of each file of scans or beside a file."""
    root, facts = scans, [repr(origin)]
    # A `Listing` has only the first 20,000 files.
    files = [place / name for place, _folders, names in walk(scans) for name in names]
    if not scans.is_dir():
        root = scans.parent
        of_pages = sorted(scans.with_suffix("").rglob("*"))
        files = [*sorted(root.glob(f"{glob.escape(scans.stem)}*")), *of_pages]
    for file in filter(Path.is_file, files):
        stat = file.stat()
        # The name is relative, so that it does not depend on how a user writes the path.
        facts.append(f"{str(file.relative_to(root))!r} {stat.st_size} {stat.st_mtime_ns}")
    return sha256_bytes("\n".join(facts).encode("utf-8", "backslashreplace"))


def _form(scans: Path, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The format of scans and its options: pages where that is likely, else the detected one.

    Invalid scans are read as pages nevertheless, because that reader reports every error; nothing
    is skipped unless the user asked for it.
    """
    best, has_scans = _best(scans)
    if not has_scans or (best and best.reader.name != "pages"):
        return "auto", dict(options)
    detected = dict(best.detection.options) if best else {}
    detected.pop("skip-missing", None)
    return "pages", {**detected, **options}


def _best(scans: Path) -> tuple[Candidate | None, bool]:
    """The format that fits scans best, if any fits, and whether there are images or PDF files."""
    listing = Listing(scans)
    ranked = find_candidates(listing, FORMATS.list_usable())
    best = ranked[0] if ranked and ranked[0].detection.fit >= LOWEST else None
    return best, bool(listing.images or listing.ending("pdf"))


def ocr_report_command(scans: Path, models: tuple[str, ...] = ()) -> str:
    """The command that imports, runs, scores and reports scans, quoted for the shell."""
    place = f"./{scans}" if str(scans).startswith("-") else str(scans)
    words = ["keju", "ocr-report", place, "-o", "report.html"]
    words += [word for model in models for word in ("--model", model)]
    return " ".join(map(shell_word, words))
