"""`take_scans`: import scans into a work folder, once for each state of the scans."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from keju.datasets.manifest import ITEMS, MANIFEST
from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.detecting import LOWEST, candidates
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.words import shell_word
from keju.errors import UsageError
from keju.files import locked_file, read_json, write_json
from keju.items import UNKNOWN, Record
from keju.local_paths import check_local

_STATE = "scans.json"
_NEW = "importing"
_LOCK = "importing.lock"
_NAMED = 3
_Files = Mapping[str, tuple[int, int]]
_PAGES = ("pages", "page-xml", "alto")


class Origin(Record, frozen=True, kw_only=True):
    """What an import says of the data, and the options of its format."""

    licence: str = UNKNOWN
    source: str = UNKNOWN
    options: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it


class TakenScans(NamedTuple):
    """A dataset of scans.

    `notes` are the import's, none where nothing was imported. `changed` names the files that differ
    from those of the import before, if so does the dataset.
    """

    dataset: Path
    notes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class _State(Record, frozen=True, kw_only=True):
    """What was imported: the scans, size and time of change of each file, and the dataset made.

    Names of files are relative to the folder that has them, so that it does not matter how a user
    writes its path.
    """

    scans: str
    files: dict[str, tuple[int, int]]
    origin: Origin
    dataset: str


def is_dataset(path: Path) -> bool:
    """Whether a folder is a dataset of keju."""
    return (path / MANIFEST).is_file() and (path / ITEMS).is_file()


def is_scans(path: Path) -> bool:
    """Whether a path has page images (or PDF files) and no format but that of pages fits better."""
    if is_dataset(path) or not path.exists():
        return False
    listing = Listing(path)
    fitting = [each for each in candidates(listing, FORMATS.usable())
               if each.detection.fit >= LOWEST]  # fmt: skip
    if fitting:
        return fitting[0].reader.name in _PAGES
    return bool(listing.images or listing.ending("pdf"))


def take_scans(scans: Path, work: Path, origin: Origin) -> TakenScans:
    """Import scans, unless they have not changed since they were imported to this work folder.

    Every state of the scans has a dataset of its own in the work folder, so that a process that
    still reads an earlier one is not disturbed.

    Args:
        scans: a folder or file that `import_dataset` reads, or a dataset, which is taken as it is.
        work: the work folder; new, empty, or one that this function made of the same scans.
        origin: licence, source and options of the import.

    Raises:
        UsageError: there are no scans; the work folder is inside them, has other content, or
            another process imports to it.
        DataError: the scans cannot be imported.
    """
    check_local(scans)
    check_local(work)
    if not scans.exists():
        raise UsageError(f"{scans}: no such file or folder")
    state = _checked(scans, work)
    if is_dataset(scans):
        return TakenScans(scans)
    if made := _made_of(scans, work, origin, state):
        return TakenScans(made)
    work.mkdir(parents=True, exist_ok=True)
    with locked_file(
        work / _LOCK,
        busy=f"{work}: another process imports the scans there. Wait until it has ended, or choose "
        "another --work",
    ):
        # Another process may have imported them between the first look and the lock.
        state = _checked(scans, work)
        if made := _made_of(scans, work, origin, state):
            return TakenScans(made)
        return _import(scans, work, origin, state)


def _made_of(scans: Path, work: Path, origin: Origin, state: _State | None) -> Path | None:
    """The dataset of the scans as they are now; None if they have not been imported."""
    if state is None or (state.files, state.origin) != (_files(scans), origin):
        return None
    made = work / state.dataset
    return made if is_dataset(made) else None


def _import(scans: Path, work: Path, origin: Origin, state: _State | None) -> TakenScans:
    """Import scans into a work folder, which the caller has locked."""
    files = _files(scans)
    new = work / _NEW
    shutil.rmtree(new, ignore_errors=True)
    form, options = _form(scans, origin.options)
    done = import_dataset(
        form, scans, new, name=scans.resolve().stem, version="1", licence=origin.licence,
        source=origin.source, options=options,
    )  # fmt: skip
    made = work / f"dataset-{done.manifest.hash[:12]}"
    shutil.rmtree(made, ignore_errors=True)
    new.rename(made)
    write_json(
        work / _STATE,
        _State(scans=str(scans.resolve()), files=files, origin=origin, dataset=made.name),
    )
    other = state is not None and state.dataset != made.name
    return TakenScans(made, done.notes, _changed(state.files, files) if state and other else ())


def run_folder(work: Path, limit: int | None) -> Path:
    """The run in a work folder, or that of the first items; it follows the scans as they change."""
    return work / ("run" if limit is None else f"run-first-{limit}")


def _checked(scans: Path, work: Path) -> _State | None:
    """What was imported to a work folder; None where it is new."""
    if work.resolve().is_relative_to(scans.resolve()) and scans.is_dir():
        raise UsageError(
            f"{work}: the work folder would be inside the scans, and its images would be taken for "
            f"scans. Choose a place outside {scans} with -o or --work"
        )
    if work.exists() and not work.is_dir():
        raise UsageError(f"{work}: not a folder. Choose another --work")
    path = work / _STATE
    if path.is_file():
        state = read_json(path, _State)
        if state.scans != str(scans.resolve()):
            raise UsageError(
                f"{work}: the work folder of other scans ({state.scans}). Choose another -o or "
                "--work"
            )
        return state
    others = [each.name for each in work.iterdir()] if work.is_dir() else []
    ours = (_NEW, _LOCK, "dataset-", "run")
    if strangers := [name for name in others if not name.startswith(ours)]:
        raise UsageError(f"{work}: contains something else ({strangers[0]}). Choose another --work")
    return None


def _files(scans: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change (ns) of each file of the scans, and of the texts beside a file."""
    folder = scans if scans.is_dir() else scans.parent
    if scans.is_dir():
        paths = [scans / file for file in Listing(scans).files]
    else:
        paths = sorted(each for each in scans.parent.iterdir() if each.stem.startswith(scans.stem))
        inner = scans.with_suffix("")
        paths += sorted(inner.rglob("*")) if inner.is_dir() else []
    stats = {path: path.stat() for path in paths if path.is_file()}
    return {
        path.relative_to(folder).as_posix(): (each.st_size, each.st_mtime_ns)
        for path, each in stats.items()
    }


def _changed(before: _Files, now: _Files) -> tuple[str, ...]:
    """What became of files, in words; e.g. ``2 changed: p1.txt, p2.txt``."""
    kinds = {
        "changed": [name for name in now if name in before and now[name] != before[name]],
        "new": [name for name in now if name not in before],
        "gone": [name for name in before if name not in now],
    }
    return tuple(
        f"{len(names)} {kind}: {', '.join(Path(name).name for name in names[:_NAMED])}"
        f"{' …' if len(names) > _NAMED else ''}"
        for kind, names in kinds.items()
        if names
    )


def _form(scans: Path, given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The format of scans and its options: pages where that is likely, else what is detected.

    Scans with faults are read as pages nevertheless, because that reader names every fault; what
    the user did not ask to skip is not skipped.
    """
    listing = Listing(scans)
    ranked = candidates(listing, FORMATS.usable())
    if ranked and ranked[0].reader.name == "pages":
        found = {k: v for k, v in ranked[0].detection.options.items() if k != "skip-missing"}
        return "pages", {**found, **given}
    if not ranked and (listing.images or listing.ending("pdf")):
        return "pages", dict(given)
    return "auto", dict(given)


def ocr_report_command(scans: Path, models: tuple[str, ...] = ()) -> str:
    """The command that imports, runs, scores and reports scans, quoted for the shell."""
    place = f"./{scans}" if str(scans).startswith("-") else str(scans)
    words = ["keju", "ocr-report", place, "-o", "report.html"]
    words += [word for model in models for word in ("--model", model)]
    return " ".join(map(shell_word, words))
