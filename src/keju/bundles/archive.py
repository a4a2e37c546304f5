"""`Archive`: an untrusted zip file, whose members are checked before and while they are read."""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keju.errors import DataError, shortened
from keju.local_paths import check_local
from keju.texts import _

MOST_MEMBERS = 200_000
MOST_MEMBER = 8 << 30
"""The maximum size of a member in bytes."""
MOST_TOTAL = 32 << 30
"""The maximum size of all members in bytes."""
MOST_RATIO = 200
"""How many times larger than its compressed form a member above `SMALL` may be."""
SMALL = 4 << 20
SMALL_TOTAL = 64 << 20
"""The size of all members in bytes up to which `MOST_RATIO` does not apply to their sum."""

_CHUNK = 1 << 18
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_LONGEST_NAME = 300
_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED = 0x1


class Extracted(NamedTuple):
    """A member as it was extracted.

    `damaged` if its compressed data ended early or is invalid, or a table has a wrong check sum.
    """

    size: int
    sha256: str
    damaged: bool = False


class Archive:
    """The members of a zip file by name.

    Nothing is read from a file that contains names outside of it, names twice, links, encrypted
    members, or more than the limits of this module.

    Raises:
        DataError: the file is missing or is not such a zip file.
        UsageError: the path is an address.
    """

    def __init__(self, path: Path) -> None:
        check_local(path)
        self.path = path
        self._members = {info.filename: info for info in self._entries()}

    @property
    def names(self) -> list[str]:
        """The names of the members, in their order in the file."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def size(self, name: str) -> int:
        """The uncompressed size that the file states for a member, in bytes."""
        return self._members[name].file_size

    def read(self, name: str, most: int) -> bytes:
        """A whole member.

        Raises:
            DataError: it is missing, damaged, or larger than `most` bytes.
        """
        if name not in self._members:
            raise self._error(
                _("the bundle does not contain this member", hint="Ask for the file again"), name
            )
        if self.size(name) > most:
            raise self._error(
                _(
                    "the member is larger than keju reads, or far larger than its compressed form",
                    hint="Do not use the file if you do not know who made it",
                ),
                name,
            )
        return b"".join(self.stream(name))

    def extract(self, name: str, target: Path) -> Extracted:
        """Write a member to a file; of a damaged one as much as could be read."""
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, size, checksum, damaged = hashlib.sha256(), 0, 0, False
        with target.open("wb") as file:
            try:
                for chunk in self.stream(name):
                    file.write(chunk)
                    digest.update(chunk)
                    checksum = zlib.crc32(chunk, checksum)
                    size += len(chunk)
            except DataError:
                damaged = True
        if target.suffix == ".parquet" and checksum != self._members[name].CRC:
            damaged = True
        return Extracted(size, digest.hexdigest(), damaged)

    def stream(self, name: str) -> Iterator[bytes]:
        """The bytes of a member in pieces, never more than the file states.

        Raises:
            DataError: the member is damaged.
        """
        info = self._members[name]
        found = 0
        try:
            for chunk in self._inflated(info):
                found += len(chunk)
                if found > info.file_size:
                    raise self._error(
                        _("the member is damaged", hint="Ask for the file again"), name
                    )
                yield chunk
        except (OSError, zlib.error, struct.error, EOFError):
            raise self._error(
                _("the member is damaged", hint="Ask for the file again"), name
            ) from None
        if found != info.file_size:
            raise self._error(_("the member is damaged", hint="Ask for the file again"), name)

    def _inflated(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        # `zipfile` raises before it gives the last piece of a member whose check sum is wrong. The
        # SHA-256 in bundle.json replaces the check sum, and the piece names the altered item.
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            head = _LOCAL.unpack(file.read(_LOCAL.size))
            name = file.read(head[9])
            if head[0] != b"PK\x03\x04" or name != info.filename.encode():
                raise EOFError
            file.seek(head[10], 1)
            left = info.compress_size
            if info.compress_type == zipfile.ZIP_STORED:
                while left and (data := file.read(min(_CHUNK, left))):
                    left -= len(data)
                    yield data
                return
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            while left and (data := file.read(min(_CHUNK, left))):
                left -= len(data)
                while data:
                    yield inflate.decompress(data, _CHUNK)
                    data = inflate.unconsumed_tail
            yield inflate.flush()

    def _entries(self) -> list[zipfile.ZipInfo]:
        if not self.path.exists():
            raise DataError("no such file", file=self.path)
        # Reading a device or a pipe may never end.
        if not self.path.is_file():
            raise DataError(
                "the file is not a readable zip file",
                file=self.path,
                hint="Create a bundle with: keju bundle RUN -o NAME.keju.zip",
            )
        try:
            with zipfile.ZipFile(self.path) as file:
                entries = file.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
            raise DataError(
                "the file is not a readable zip file",
                file=self.path,
                hint="Create a bundle with: keju bundle RUN -o NAME.keju.zip",
            ) from None
        if len(entries) > MOST_MEMBERS:
            raise DataError(
                "the file has more than {:,} members",
                MOST_MEMBERS,
                file=self.path,
                hint="Do not use the file if you do not know who made it",
            )
        self._check_names(entries)
        for info in entries:
            self._check_entry(info)
        total = sum(info.file_size for info in entries)
        if total > MOST_TOTAL:
            raise DataError(
                "the members have more than {} GiB together",
                MOST_TOTAL >> 30,
                file=self.path,
                hint="Do not use the file if you do not know who made it",
            )
        # Many small members, or members that share compressed data, are a bomb too.
        if total > SMALL_TOTAL and total > MOST_RATIO * self.path.stat().st_size:
            raise DataError(
                "all members together are far larger than the file",
                file=self.path,
                hint="Do not use the file if you do not know who made it",
            )
        return entries

    def _check_names(self, entries: list[zipfile.ZipInfo]) -> None:
        seen: set[str] = set()
        for info in entries:
            name = info.filename
            if name != info.orig_filename or len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
                raise self._error(
                    _(
                        "the name of the member is not one that keju writes",
                        hint="Do not use the file if you do not know who made it",
                    ),
                    info.orig_filename,
                )
            if name.casefold() in seen:
                raise self._error(
                    _(
                        "the name occurs twice",
                        hint="Do not use the file if you do not know who made it",
                    ),
                    name,
                )
            seen.add(name.casefold())

    def _check_entry(self, info: zipfile.ZipInfo) -> None:
        mode = info.external_attr >> 16
        if info.flag_bits & _ENCRYPTED:
            raise self._error(
                _("the member is encrypted", hint="Ask for a bundle that keju bundle wrote"),
                info.filename,
            )
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
            raise self._error(
                _(
                    "the member is a link or a folder, not a file",
                    hint="Do not use the file if you do not know who made it",
                ),
                info.filename,
            )
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise self._error(
                _(
                    "the member is compressed by another method than deflate",
                    hint="Ask for a bundle that keju bundle wrote",
                ),
                info.filename,
            )
        large = info.file_size > SMALL and info.file_size > MOST_RATIO * info.compress_size
        if info.file_size > MOST_MEMBER or large:
            raise self._error(
                _(
                    "the member is larger than keju reads, or far larger than its compressed form",
                    hint="Do not use the file if you do not know who made it",
                ),
                info.filename,
            )

    def _error(self, problem: str, member: str) -> DataError:
        return DataError(problem, file=self.path, item=shortened(member))
