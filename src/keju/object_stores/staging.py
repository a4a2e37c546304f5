"""`stage_output`: write a folder on the local disk, then upload it to an address."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from keju.errors import UsageError
from keju.object_stores.address import is_address, parse_address
from keju.object_stores.cache import cache_folder
from keju.object_stores.folder import ObjectFolder

UNFINISHED = ".unfinished"
"""The name of an object that exists while an upload is in progress or after an interrupted one."""

_THREADS = 4


@contextmanager
def stage_output(out: Path, last: str) -> Iterator[Path]:
    """The folder to write: `out` itself, or a temporary folder if `out` is an address.

    The temporary folder is uploaded when the block ends without an error.

    Args:
        out: the path of a folder, or an address.
        last: the file without which the folder is not complete; it is uploaded last.

    Raises:
        UsageError: the address is not valid, objects exist there, or another process uploads to it.
        DataError: the store answers with an error.
    """
    if not is_address(out):
        yield out
        return
    address = parse_address(out)
    folder = ObjectFolder(address)
    _check_empty(folder)
    temporary = cache_folder() / "staging"
    temporary.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=temporary) as name:
        local = Path(name) / address.prefix.rpartition("/")[2]
        yield local
        upload_folder(local, folder, last)


def upload_folder(local: Path, folder: ObjectFolder, last: str) -> None:
    """Upload a folder to an address at which nothing exists.

    The object ``.unfinished`` is created on the condition that it does not exist: of two writers,
    one is refused. `last` is created on the same condition, after all other files.

    Raises:
        UsageError: objects exist there, or another process uploads to the address.
        DataError: the store answers with an error.
    """
    _check_empty(folder)
    if not folder.create(UNFINISHED, b""):
        raise _occupied(folder)
    paths = [path for path in sorted(local.rglob("*")) if path.is_file() and path != local / last]
    with ThreadPoolExecutor(_THREADS) as pool:
        names = (path.relative_to(local).as_posix() for path in paths)
        list(pool.map(folder.write, names, paths))  # An error of an upload is raised here.
    if not folder.create(last, (local / last).read_bytes()):
        raise _occupied(folder)
    folder.delete(UNFINISHED)


def _check_empty(folder: ObjectFolder) -> None:
    if next(folder.list(), None):
        raise _occupied(folder)


def _occupied(folder: ObjectFolder) -> UsageError:
    return UsageError(
        "{}: objects already exist there, or another process is writing there. Use another "
        "address; after an interrupted upload, delete its objects",
        folder,
    )
