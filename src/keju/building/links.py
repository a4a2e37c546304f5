"""Links in a build directory: ``dataset`` and ``release`` are names of a step's output.

They are symbolic links, relative to the build. Where these are not permitted (Windows without
developer mode, FAT and exFAT) they are copies, whose files are hard links where the disk has them;
the hidden file ``.NAME.copy`` then contains what the directory NAME is a copy of.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from keju.errors import DataError
from keju.files import replace_file, write_atomic
from keju.texts import _


def link_folder(link: Path, target: Path) -> None:
    """Make `link` another name of the directory `target`; an older link or copy is replaced.

    Raises:
        DataError: neither a link nor a copy can be written.
    """
    fresh = link.with_name(f".{link.name}")
    inner = os.path.relpath(target, link.parent)
    try:
        _remove(fresh)
        try:
            fresh.symlink_to(inner, target_is_directory=True)
        except OSError:
            shutil.copytree(target, fresh, copy_function=_link_or_copy)
        # A directory cannot be replaced, nor a link to one on Windows.
        if os.name == "nt" or not (link.is_symlink() and fresh.is_symlink()):
            _remove(link)
        if fresh.is_symlink():
            _note(link).unlink(missing_ok=True)
        else:
            write_atomic(_note(link), f"{Path(inner).as_posix()}\n")
        replace_file(fresh, link)
    except OSError as error:
        raise DataError(
            "cannot create a link to {} here: {}",
            target.name,
            error.strerror or error,
            file=link,
            hint=_("The dataset is {}. Build on another disk to have the link", target),
        ) from None


def link_target(link: Path) -> Path | None:
    """The directory that `link` is a name of; None if it is not a link or copy of keju's."""
    if link.is_symlink():
        return link.resolve()
    note = _note(link)
    if not link.is_dir() or not note.is_file():
        return None
    return link.parent.resolve() / note.read_text("utf-8").rstrip("\n")


def remove_link(link: Path) -> None:
    """Remove a link or copy of `link_folder`; another directory is kept."""
    if link_target(link) is not None:
        _remove(link)
        _note(link).unlink(missing_ok=True)


def _note(link: Path) -> Path:
    return link.with_name(f".{link.name}.copy")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _link_or_copy(source: str, target: str) -> str:
    """Link a file, which keju does not change in place, or copy it."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)
    return target
