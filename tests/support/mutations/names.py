"""Mutations of a file's name and of what it leads to: links, folders, pipes, very large files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

_LARGE = (400 << 20, 5 << 30)
"""Bytes of a file that is mostly hole: it takes no room on the disk."""

_NAMES = (
    b"CON", b"aux.txt", b"x" * 250, "字".encode() * 80, b"a\nb", b"a\tb", b"a b", b"-rf", b" a",
    b"a.", b"\xff\xfe", "\u202egnp".encode(), "é".encode(), "e\u0301".encode(), b"a;b", b"a'b\"c",
    b"%00", b"..a", b"a\\b", b"$(x)", b"=1+1", b".hidden", "\U0001f600".encode(), b"Thumbs.db",
)  # fmt: skip


def _rename(path: Path, draw: Random) -> bool:
    new = draw.choice(_NAMES)
    suffix = os.fsencode(path.suffix)
    name = new[: 250 - len(suffix)] + (suffix if draw.random() < 0.7 else b"")
    path.rename(path.with_name(os.fsdecode(name)))
    return True


def _suffix(path: Path, draw: Random) -> bool:
    suffix = draw.choice((".PNG", ".jpg", ".json", ".csv", ".xml", ".txt", ".tsv", ".jsonl", "",
                          ".parquet", ".xlsx", ".gz", ".png.png", ".tif", ".pdf"))  # fmt: skip
    path.rename(path.with_suffix(suffix) if suffix != ".png.png" else Path(f"{path}.png"))
    return True


def _outside(path: Path) -> Path:
    """A place beside the source, not in it."""
    src = next(folder for folder in path.parents if folder.name == "src")
    return src.parent / "outside" / path.name


def _link(path: Path, draw: Random) -> bool:
    outside = _outside(path)
    outside.parent.mkdir(exist_ok=True)
    match draw.randrange(5):
        case 0:
            path.replace(outside)
            path.symlink_to(outside)
        case 1:
            path.unlink()
            path.symlink_to(path.name)
        case 2:
            path.unlink()
            path.symlink_to("nowhere")
        case 3:
            (path.parent / f"loop{path.suffix}").symlink_to(path.parent)
        case _:
            path.unlink()
            path.symlink_to("/dev/zero")
    return True


def _instead(path: Path, draw: Random) -> bool:
    """A folder, a pipe or nothing in the place of a file."""
    path.unlink()
    match draw.randrange(3):
        case 0:
            path.mkdir()
        case 1:
            os.mkfifo(path)
    return True


def _large(path: Path, draw: Random) -> bool:
    """The file with a hole behind it, or as a hole."""
    with path.open("r+b") as file:
        if draw.random() < 0.5:
            file.truncate(0)
        file.truncate(draw.choice(_LARGE))
    return True


def _copy(path: Path, draw: Random) -> bool:
    """The same file under another name, elsewhere, or very deep."""
    match draw.randrange(4):
        case 0:
            to = path.with_name(f"copy of {path.name}")
        case 1:
            to = path.parent / path.parent.name / path.name
        case 2:
            to = path.parent.joinpath(*(["d"] * 150), path.name)
        case _:
            to = path.parent / "__MACOSX" / f"._{path.name}"
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, to)
    return True


def _move(path: Path, draw: Random) -> bool:
    to = draw.choice((path.parent.parent, path.parent / "data", path.parent / "images"))
    if "src" not in {folder.name for folder in (to, *to.parents)}:
        return False
    to.mkdir(exist_ok=True)
    path.rename(to / path.name)
    return True


MUTATIONS: dict[str, Callable[[Path, Random], bool]] = {
    "file renamed": _rename,
    "another suffix": _suffix,
    "link in a file's place": _link,
    "folder or pipe in a file's place": _instead,
    "very large file": _large,
    "file copied": _copy,
    "file moved": _move,
}
