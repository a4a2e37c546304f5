"""`ImageFiles`: images of a dataset on the machine of a worker, fetched if they are not there.

Rows name an image by its SHA-256, its size and its path in the dataset, so that the same row has
the same bytes on every machine.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from keju.building.driver_files import DriverFiles
from keju.building.scratch_files import open_folder
from keju.errors import DataError, KejuError
from keju.files import sha256_bytes, sha256_file, write_atomic
from keju.items import ImageRef
from keju.object_stores import FileCache
from keju.texts import _

_NAME = re.compile(r"([0-9a-f]{64}):([0-9]+):(.+)", re.DOTALL)


class UnavailableError(Exception):
    """A file that a worker cannot get. It ends the work, unlike an image that is not valid.

    It is not a `KejuError`, which a row stores as its own error.
    """


class ImageFiles(NamedTuple):
    """Where the images of a dataset are.

    Attributes:
        roots: folders that may contain them, as absolute paths; on other machines too.
        address: of the dataset, if it is in an object store; images are fetched with the
            credentials of the worker's environment.
        driver: how workers on other nodes get the files of the node that runs the command.
    """

    roots: tuple[str, ...] = ()
    address: str = ""
    driver: DriverFiles | None = None

    @staticmethod
    def name(ref: ImageRef, path: str = "") -> str:
        """The name of an image in rows.

        `path` is its path below a root, if that differs from its path in the dataset.
        """
        return f"{ref.sha256}:{ref.size}:{path or ref.path}"

    def path(self, name: str) -> Path:
        """The local path of an image.

        A file of a root is used if it has the right size and SHA-256. Otherwise the image is
        fetched into the cache of this machine.

        Args:
            name: of `name`, or an absolute path on the node that runs the command.

        Raises:
            UnavailableError: it is nowhere, or the store answers with an error.
        """
        found = _NAME.fullmatch(name)
        if found is None:
            return self._fetch_path(name)
        sha256, size, path = found[1], int(found[2]), found[3]
        places = [Path(root, path) for root in self.roots]
        if not self.address and (self.driver is None or self.driver.is_here()):
            return next((place for place in places if place.is_file()), Path(*self.roots[:1], path))
        for place in places:
            if _is_image(place, sha256, size):
                return place

        def fetch(target: Path) -> None:
            data = self._read(path)
            if len(data) != size or sha256_bytes(data) != sha256:
                raise UnavailableError(
                    _("the image {} is not the one that the item was made with", path)
                )
            write_atomic(target, data)

        return FileCache().get(f"sha256:{sha256}", fetch)

    def read(self, name: str) -> bytes:
        """Read an image.

        Raises:
            DataError: its file on this machine is missing or not readable.
            UnavailableError: as `path`.
        """
        try:
            return self.path(name).read_bytes()
        except OSError as error:
            # Without the folder: the error of an image is part of tables.
            found = _NAME.fullmatch(name)
            raise DataError(
                "not readable: {}", error.strerror or error, file=Path(found[3] if found else name)
            ) from None

    def _read(self, path: str) -> bytes:
        for root in self.roots:
            if self.driver and (data := self.driver.read(f"{root}/{path}")) is not None:
                return data
        try:
            if self.address:
                return open_folder(self.address).read(path)
        except KejuError as error:
            raise UnavailableError(str(error)) from None
        raise UnavailableError(
            _(
                "the image {} does not exist on the worker, and there is no place to fetch it from",
                path,
            )
        )

    def _fetch_path(self, path: str) -> Path:
        """A file of the node that runs the command, by its path there."""
        driver = self.driver
        if driver is None or driver.is_here():
            return Path(path)

        def fetch(target: Path) -> None:
            data = driver.read(path)
            if data is None:
                raise UnavailableError(
                    _(
                        "the image {} does not exist on the worker, and there is no place to fetch "
                        "it from",
                        path,
                    )
                )
            write_atomic(target, data)

        return FileCache().get(f"{driver.actor}:{path}", fetch)


LOCAL_FILES = ImageFiles()
"""Images that rows name by their paths on this machine."""


def label_image(name: str) -> str:
    """The file name of an image, for errors."""
    found = _NAME.fullmatch(name)
    return Path(found[3] if found else name).name


def _is_image(path: Path, sha256: str, size: int) -> bool:
    try:
        return path.stat().st_size == size and sha256_file(path) == sha256
    except OSError:
        return False
