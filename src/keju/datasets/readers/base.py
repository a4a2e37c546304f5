"""`Reader`: the declaration of a reader, its options, and safe, timed access to source files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from keju.datasets.import_log import check_time, count, import_log
from keju.datasets.readers.encodings import OPTION, OPTION_HELP, UTF_8, decode
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, ProblemsError, UsageError, shortened
from keju.images import EXTENSIONS
from keju.settings import (
    FAMILY,
    Settings,
    convert_settings,
    list_options,
    name_option,
    unwrap_type,
)
from keju.texts import _, listed

if TYPE_CHECKING:
    from keju.datasets.readers.listing import Listing

Options = Mapping[str, str]

MOST_BYTES = 512 << 20
"""Maximum size in bytes of a file that is read at once."""

MOST_TEXT = 256 << 20
"""Maximum size in bytes of a text file that is read at once: its lines take several times as much.
"""

S = TypeVar("S", bound=Settings)

Read = Callable[[Path, DatasetWriter, S], Iterable[str]]
"""Reads a source into a writer; returns notes for the user, one line each.

Raises `DataError` with expected and found if the source does not have the layout."""


class Detection(NamedTuple):
    """A source as a reader recognises it.

    `fit` is the share of the source that the layout explains, from 0 to 1: 1 where nothing else is
    possible, .5 where a more specific reader should be preferred. `what` is one line for the user,
    with counts. `options` are those that an import needs. `missing` is one line that names what
    must be added before an import can succeed; empty if nothing is.
    """

    fit: float
    what: str
    options: Options = MappingProxyType({})
    missing: str = ""


Detect = Callable[["Listing"], Detection | None]
"""Examines the files of a source, without reading all of them; None if it has another format."""


@dataclass(frozen=True)
class Reader(Generic[S]):
    """A format that can be imported.

    `layout` describes the source; each field of `settings` is an option. `texts` is true for
    readers of text files, which also have the option ``encoding``. `group_option` is what a user
    can give so that items get a group, printed if items have none. `draft` gives the drafted
    mapping (`Drafted`) of a source, where the reader has one.
    """

    name: str
    what: str
    layout: str
    read: Read[S]
    settings: type[S]
    detect: Detect | None = None
    texts: bool = True
    group_option: str = ""
    draft: Callable[[Path], Any] | None = None

    @property
    def every_option(self) -> Mapping[str, str]:
        """Its own options and those of all readers of texts, each with its help."""
        own = list_options(self.settings)
        return own | ({OPTION: OPTION_HELP} if self.texts else {})

    def parse(self, options: Options) -> S:
        """The settings that options mean; a path or number with an empty text has its default.

        A member of the family ``field.NAME`` is an option with a name in place of NAME.

        Raises:
            UsageError: an option is unknown, missing or has a wrong value.
            ProblemsError: there are several errors.
        """
        kinds = {
            name_option(each): unwrap_type(each.type)
            for each in msgspec.structs.fields(self.settings)
        }
        table: dict[str, Any] = {}
        for option, text in options.items():
            family, __, member = option.partition(".")
            kind = kinds.get(option) or kinds.get(option.replace("_", "-"))
            if option == OPTION and self.texts:
                continue
            if member and family + FAMILY in kinds:
                table.setdefault(family, {})[member] = text
            elif text or kind not in {int, float, Path}:
                table[option] = _YES_OR_NO.get(text.casefold(), text) if kind is bool else text
        try:
            place = f"format {self.name}"
            return convert_settings(table, self.settings, place=place, spelled=True)
        except ProblemsError as error:
            if len(error.lines) > 1:
                raise
            raise UsageError(error.lines[0]) from None


_YES_OR_NO = {"yes": True, "no": False}


def plain_file(path: Path) -> Path:
    """The path itself, if it is a regular file.

    Raises:
        DataError: it is missing, or something else: a directory, or a pipe, which would block.
    """
    if not path.is_file():
        problem = _("not a file") if path.exists() else _("no such file")
        raise DataError(problem, file=path, hint=_("Put the file at this path"))
    return path


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report a file that the system cannot read.

    Raises:
        DataError: it cannot be read.
    """
    try:
        yield
    except OSError as error:
        reason, hint = error.strerror or error, _("Replace it by a readable file")
        raise DataError("not readable: {}", reason, file=path, hint=hint) from None


def source_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a source file, which may have at most `most`.

    Raises:
        DataError: it is missing, is not a file, is larger, cannot be read, or Git LFS left a
            pointer in its place.
    """
    check_time()
    count(files=1)
    with reading(path):
        size = plain_file(path).stat().st_size
    if size > most:
        problem = _("{:,} MB, more than {:,} MB", size >> 20, most >> 20)
        raise DataError(problem, file=path, hint="Split the file")
    return source_head(path, size)


def source_head(path: Path, size: int) -> bytes:
    """The first bytes of a source file.

    Raises:
        DataError: as `source_bytes`.
    """
    with reading(path), plain_file(path).open("rb") as stream:
        data = stream.read(size)
    if data.startswith(LFS_POINTER):
        hint = _("Download it: git lfs pull")
        raise DataError("a Git LFS pointer, not the file itself", file=path, hint=hint)
    return data


LFS_POINTER = b"version https://git-lfs"
"""The beginning of a file that Git LFS left in place of the data."""


def source_text(path: Path, most: int = MOST_TEXT) -> str:
    """The text of a file of at most `most` bytes: no byte-order mark, lines end by line feeds.

    An encoding that is not UTF-8 is reported at the end of the import.

    Raises:
        UsageError: the user named an encoding that does not exist.
        DataError: not readable, too large, or in none of the known encodings, or two of them fit
            equally.
    """
    log = import_log()
    text, encoding = decode(source_bytes(path, most), path, log.encoding)
    if encoding != UTF_8:
        log.decoded(path, encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_name(name: str, file: Path, hint: str = "") -> None:
    """Check that a name does not contain bytes that are not UTF-8, since no item can store it.

    Raises:
        DataError: the name contains such bytes.
    """
    if any("\ud800" <= char <= "\udfff" for char in name):
        hint = hint or _("Rename it; a whole tree: convmv -r -f ENCODING -t UTF-8")
        raise DataError("the name {!r} is not UTF-8", shortened(name), file=file, hint=hint)


def inside(root: Path, name: str, *, file: Path, item: str) -> Path:
    """The file of that name under a directory; the name is untrusted and may not lead out of it.

    Raises:
        DataError: it is empty, absolute, too long, contains ``..``, or is a link to outside.
    """
    plain = PurePosixPath(name.replace("\\", "/"))
    climbs = not plain.parts or plain.is_absolute() or ".." in plain.parts
    if not climbs and "\0" not in name and ":" not in plain.parts[0]:
        path = root / plain
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                path.lstat()
        except OSError as error:
            problem = _("image {!r}: {}", shortened(name), error.strerror or error)
            hint = _("Give it another name")
            raise DataError(problem, file=file, item=item, hint=hint) from None
        if not leads_out(path, root):
            return path
    problem = _("file {!r} must be inside {}", shortened(name), root)
    hint = _("Move it there, and write its path relative to that folder")
    raise DataError(problem, file=file, item=item, hint=hint)


def is_litter(name: str) -> bool:
    """Whether a file or directory was created by a desktop or archive program."""
    return name.startswith(".") or name.casefold() in _LITTER


_LITTER = frozenset({"__macosx", "thumbs.db", "desktop.ini", "@eadir"})


def image_files(folder: Path) -> Iterator[Path]:
    """Every image file under a directory, as `files_under` finds them."""
    return files_under(folder, EXTENSIONS)


def walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Every directory from a directory on, with the names in it, sorted, without system files."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_litter(name))
        yield Path(place), folders, sorted(name for name in files if not is_litter(name))


def files_under(folder: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Every file of those kinds under a directory, in order of path, without system files.

    Links to directories are not followed; hidden files and those of `is_litter` are skipped.
    Suffixes are in lower case, without the point.

    Raises:
        DataError: a file is a link that leads out of the directory or to nothing, its name is not
            UTF-8, or there is an empty directory in its place, as container programs make them for
            files that they cannot mount.
    """
    for place, folders, files in walk(folder):
        if not (folders or files) and place.suffix.casefold().lstrip(".") in suffixes:
            hint = _("Put the file at this path, or remove the folder")
            raise DataError("an empty folder with the name of a file", file=place, hint=hint)
        for name in files:
            check_time()
            path = place / name
            if path.suffix.casefold().lstrip(".") in suffixes:
                check_name(name, path)
                yield kept_inside(path, folder)


_SNAPSHOT = re.compile(
    r"(.*/(?:datasets|models|spaces)--[^/]+)/snapshots/[0-9a-f]{40}(?:/.*)?", re.DOTALL
)
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def leads_out(path: Path, root: Path) -> bool:
    """Whether a path under a directory is, or goes through, a link to a place outside of it.

    One kind of link to outside is allowed: `huggingface_hub` stores a download as
    ``datasets--OWNER--NAME/snapshots/REVISION/…``, where each file is a link into the directory
    ``blobs`` of the same repository (its documentation, "Understand caching").
    """
    try:
        resolved, inner, folder = path.resolve(), root.resolve(), path.parent.resolve()
    except (OSError, RuntimeError):  # Links to each other, in Python 3.11 and 3.12.
        return True
    if resolved.is_relative_to(inner):
        return False
    snapshot = _SNAPSHOT.fullmatch(folder.as_posix()) if folder.is_relative_to(inner) else None
    is_blob = snapshot and resolved.parent == Path(snapshot[1], "blobs")
    return not (is_blob and _BLOB.fullmatch(resolved.name))


def kept_inside(path: Path, folder: Path) -> Path:
    """The path itself, unless it is a link that leads out of a directory (`leads_out`).

    Raises:
        DataError: it is one, or it leads to nothing.
    """
    if not path.is_symlink():
        return path
    hint = _("Replace the link by the file itself")
    if leads_out(path, folder):
        raise DataError("the link points outside {}", folder, file=path, hint=hint)
    if not path.exists():
        raise DataError("the link leads to no file", file=path, hint=hint)
    return path


def plain_name(name: str) -> str:
    """A name in lower case without the characters in which spellings of one name differ."""
    return "".join(char for char in name.casefold() if char.isalnum())


def join_names(names: Iterable[str], most: int = 5) -> str:
    """A few names for an error, and how many more there are."""
    iterator = iter(names)
    shown = listed(list(islice(iterator, most)))
    others = sum(1 for _name in iterator)
    return _("{} and {} more", shown, others) if others else shown
