"""`ScratchFiles`: files of a step's scratch directory, which workers on any machine read and write.

The directory is a local folder or an address of an object store. Each file is written as a whole.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from keju.building.driver_files import DriverFiles, read_bytes, write_bytes
from keju.object_stores import (
    Address,
    MissingObjectError,
    ObjectFolder,
    is_address,
    parse_address,
)


class ScratchFiles(NamedTuple):
    """The files of a scratch directory, by name.

    All methods raise `DataError` if a store answers with an error, and `UsageError` if the
    environment has no credentials for it.

    Attributes:
        place: an absolute path of the node that runs the command, or an address. Credentials for an
            address are those of the worker's environment.
        driver: how workers on other nodes reach a path; None if all of them open it themselves.
    """

    place: str
    driver: DriverFiles | None = None

    def read(self, name: str) -> bytes | None:
        """Read a file; None if it does not exist."""
        if is_address(self.place):
            try:
                return open_folder(self.place).read(name)
            except MissingObjectError:
                return None
        path = f"{self.place}/{name}"
        return self.driver.read(path) if self.driver else read_bytes(path)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, which appears when it is complete."""
        if is_address(self.place):
            open_folder(self.place).write(name, content)
        elif self.driver:
            self.driver.write(f"{self.place}/{name}", content)
        else:
            write_bytes(f"{self.place}/{name}", content)

    def delete_all(self) -> None:
        """Delete all files at an address."""
        folder = open_folder(self.place)
        for found in list(folder.list()):
            folder.delete(found.name)


def open_folder(address: str) -> ObjectFolder:
    """Open the objects at an address, once per process and environment."""
    parsed = parse_address(address)
    return _open(parsed, parsed.store.settings())


@lru_cache(maxsize=8)
def _open(address: Address, settings: tuple[tuple[str, str], ...]) -> ObjectFolder:
    del settings  # `ObjectFolder` reads them from the environment.
    return ObjectFolder(address)
