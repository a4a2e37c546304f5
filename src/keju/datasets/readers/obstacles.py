"""`find_obstacle`: why a source has no readable data yet: archives, pointers, caches."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.base import LFS_POINTER
from keju.datasets.readers.listing import Listing, is_litter
from keju.datasets.readers.words import shell_word
from keju.errors import shortened
from keju.texts import _, n_

_ANNEX = b"/annex/objects/"
_POINTER_BYTES = 1024
_REVISION = 100
_SAMPLE = 200
_TABLES = ("csv", "tsv", "json", "jsonl", "ndjson", "parquet", "xlsx")
_REPOSITORY = re.compile(r"(?:datasets|models|spaces)--.+")
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst")
_PARTS = re.compile(r"(?i)\.(?:zip|7z|rar|tar\.gz|tgz|tar)\.(?:part)?0*\d+$|\.z\d\d$")


class Obstacle(NamedTuple):
    """Why a source cannot be read as it is, and what to do, each in one line."""

    problem: str
    hint: str


def find_obstacle(listing: Listing) -> Obstacle | None:
    """Why nothing in a source is readable yet, or None."""
    src = listing.src
    if src.is_file():
        if command := unpacking_command(src):
            run = _("Run: {}", command)
            return Obstacle(_("This is an archive, which keju does not unpack"), run)
    elif cache := _cache(src):
        return cache
    elif not listing.files:
        return Obstacle(_("The folder has no files"), _("Check the path"))
    return _pointers(listing) or _archives_alone(listing)


def unpacking_command(archive: Path) -> str:
    """The command that unpacks an archive into a directory with its name; empty for other files."""
    name = archive.name
    if part := _PARTS.search(name):
        base = archive.with_name(name[: part.start()])
        command = f"7z x {_word(archive)} -o{_word(base)}"
        return _("{}   (with all parts beside it)", command)
    low = name.casefold()
    if ending := max((each for each in _TAR if low.endswith(each)), key=len, default=""):
        folder = _word(archive.with_name(name[: -len(ending)] or "data"))
        return f"mkdir {folder} && tar -xf {_word(archive)} -C {folder}"
    folder = _word(archive.with_suffix(""))
    word = _word(archive)
    return {
        ".zip": _("{}   (names in Chinese: unzip -O GB18030)", f"unzip {word} -d {folder}"),
        ".7z": f"7z x {word} -o{folder}",
        ".rar": f"unrar x {word} {folder}/",
    }.get(archive.suffix.casefold(), "")


def find_archives(listing: Listing) -> list[PurePosixPath]:
    """The archives in a source."""
    return [path for path in listing.files if unpacking_command(Path(path))]


def _archives_alone(listing: Listing) -> Obstacle | None:
    found = find_archives(listing)
    beside = {".md", ".txt", ".pdf", "", *(path.suffix.casefold() for path in found)}
    if not found or any(path.suffix.casefold() not in beside for path in listing.files):
        return None
    return Obstacle(
        n_(
            "The folder has {n:,} archive, which keju does not unpack",
            "The folder has {n:,} archives, which keju does not unpack",
            len(found),
        ),
        _("Run: {}", unpacking_command(listing.root / found[0])),
    )


def _pointers(listing: Listing) -> Obstacle | None:
    """Placeholders of Git LFS and git-annex in place of the data."""
    step = max(1, len(listing.files) // _SAMPLE)
    sample = listing.files[::step][:_SAMPLE]
    tables = listing.ending(*_TABLES)[:_SAMPLE]
    tables = tables if all(_is_lfs(listing, path) for path in tables) else ()
    lfs = list(tables) or [path for path in sample if _is_lfs(listing, path)]
    annex = [path for path in sample if _annexed(listing, path)]
    found = lfs + annex
    if not tables and (not found or 2 * len(found) < sum(not _is_text(path) for path in sample)):
        return None
    count, total, name = len(found), len(sample), shortened(str(found[0]))
    if lfs:
        command = f"git -C {_word(listing.root)} lfs pull"
        problem = _(
            "Git LFS pointer files in place of the data: {} of {} files looked at, e.g. {}",
            count,
            total,
            name,
        )
    else:
        command = f"cd {_word(listing.root)} && git annex get ."
        problem = _(
            "git-annex placeholders in place of the data: {} of {} files looked at, e.g. {}",
            count,
            total,
            name,
        )
    return Obstacle(problem, _("Download the data: {}", command))


def _is_text(path: PurePosixPath) -> bool:
    return path.suffix.casefold() in {".md", ".txt", ""}


def _size(listing: Listing, path: PurePosixPath) -> int:
    full = listing.path(path)
    try:
        return full.stat().st_size if full else 0
    except OSError:
        return 0


def _is_lfs(listing: Listing, path: PurePosixPath) -> bool:
    return _size(listing, path) < _POINTER_BYTES and LFS_POINTER in listing.head(path, 100)


def _annexed(listing: Listing, path: PurePosixPath) -> bool:
    full = listing.root / path
    try:
        if full.is_symlink():
            target = full.readlink().as_posix()
            return ".git/annex/objects/" in target and not full.exists()
    except OSError:
        return False
    return _size(listing, path) < _POINTER_BYTES and listing.head(path, 100).startswith(_ANNEX)


def _cache(src: Path) -> Obstacle | None:
    """A directory of Hugging Face's cache above the snapshot with the files."""
    for repository in (src, src.parent) if src.name == "snapshots" else (src,):
        if _REPOSITORY.fullmatch(repository.resolve().name):
            snapshots = [path for path in _folders(repository / "snapshots") if path.is_dir()]
            if snapshots:
                return Obstacle(
                    _("This is a folder of Hugging Face's download cache"),
                    _("Give a snapshot inside it: keju data detect {}", _word(_main(repository))),
                )
    inner = [path for path in _folders(src) if _REPOSITORY.fullmatch(path.name)]
    if inner and len(inner) == len(_folders(src)):
        return Obstacle(
            _("This is Hugging Face's download cache"),
            _("Give one repository inside it: keju data detect {}", _word(_main(inner[0]))),
        )
    return None


def _main(repository: Path) -> Path:
    """The snapshot of a cached repository's branch main, else the last one."""
    snapshots = _folders(repository / "snapshots")
    named = repository / "refs/main"
    with suppress(OSError):
        if named.is_file():
            with named.open("rb") as file:
                revision = file.read(_REVISION).decode("ascii", "replace").strip()
            snapshots = [path for path in snapshots if path.name == revision] or snapshots
    return snapshots[-1] if snapshots else repository


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(each for each in path.iterdir() if each.is_dir() and not is_litter(each.name))
    except OSError:
        return []


def _word(path: Path) -> str:
    return shell_word(str(path))
