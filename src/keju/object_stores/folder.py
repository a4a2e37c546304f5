"""`ObjectFolder`: the objects below an address, read and written like the files of a folder.

`stage_output` writes a folder on the local disk and then uploads it to an address.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from keju.errors import DataError, UsageError
from keju.files import write_atomic
from keju.object_stores.address import Address, is_address, parse_address
from keju.object_stores.cache import cache_folder
from keju.texts import _

MAX_RETRIES = 5
"""The maximum number of retries of a request, within a minute."""

UNFINISHED = ".unfinished"
"""The name of an object that exists while an upload is in progress or after an interrupted one."""

_THREADS = 4
_CHUNK = 4 << 20
_READ = 1 << 16
_CREDENTIALS = re.compile("KEY|TOKEN|CREDENTIAL|SERVICE_ACCOUNT|SIGNATURE|METADATA|EMULATOR|CLI")
_NO_BUCKET = re.compile("NoSuchBucket|ContainerNotFound")
_SAFE_WORDS = re.compile(
    "status(?: code)?:? [1-5][0-9]{2}|(?<=HTTP error: )[a-z ]+"
    "|Account must be specified|Invalid Access Key|Azure Cli not installed"
    "|Unable to (?:open|decode) service account file"
)
"""Words of obstore's errors that never contain a value."""


class MissingObjectError(DataError):
    """An object does not exist."""


class StoredObject(NamedTuple):
    """An object of a folder: its name below the folder, and its size in bytes."""

    name: str
    size: int


class ObjectFolder:
    """The objects below an address. Creating an instance sends no request; it is thread-safe.

    All methods raise `DataError` if the store answers with an error, and `MissingObjectError` if
    the object does not exist. Errors never contain credentials.

    Raises:
        UsageError: obstore is not installed, or the environment's settings are not valid.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        try:
            import obstore.exceptions  # noqa: PLC0415 - of an extra
            import obstore.store  # noqa: PLC0415
        except ImportError:
            raise UsageError(
                "addresses of object stores need the package obstore. Install it with: pip install "
                '"keju[object-stores]"'
            ) from None
        self._obstore: Any = obstore
        store, settings = address.store, address.store.settings()
        if not any(_CREDENTIALS.search(name) for name, __ in settings):
            # obstore would wait for the metadata server of a cloud.
            raise UsageError(
                "{}:// addresses need credentials in the environment. Set {}. For a public bucket, "
                "set {}SKIP_SIGNATURE=true instead; on a cloud machine with a role, {}",
                address.scheme,
                store.usual,
                store.prefix,
                store.role,
            )
        # obstore panics at a line break; a key file as JSON has some.
        broken = [name for name, value in settings if not (value.isprintable() or value[0] == "{")]
        problem = broken[0] if broken else ""
        options = {
            "allow_http": any(value.startswith("http://") for __, value in settings),
            "timeout": "120s",
        }
        retries = {"max_retries": MAX_RETRIES, "retry_timeout": timedelta(seconds=60)}
        if not problem:
            try:
                self._store = getattr(obstore.store, store.name)(
                    address.bucket, client_options=options, retry_config=retries
                )
            except Exception as error:  # noqa: BLE001 - obstore's own classes
                problem = _reason(error)
        if problem:
            raise UsageError(
                "the settings of the object store in the environment are not valid ({}). Check {}",
                problem,
                store.usual,
            )

    def __str__(self) -> str:
        return str(self.address)

    def read(self, name: str) -> bytes:
        """The content of an object."""
        with self._reporting(name):
            return bytes(self._obstore.get(self._store, self.address.key(name)).bytes())

    def find(self, name: str) -> StoredObject | None:
        """An object and its size; None if it does not exist."""
        with suppress(MissingObjectError), self._reporting(name):
            return self._stored(self._obstore.head(self._store, self.address.key(name)))
        return None

    def list(self, within: str = "") -> Iterator[StoredObject]:
        """The objects whose name begins with ``within/``, or all, sorted by name."""
        prefix = self.address.key(within).rstrip("/")
        with self._reporting(within):
            for page in self._obstore.list(self._store, prefix=f"{prefix}/"):
                yield from map(self._stored, page)

    def _stored(self, about: dict[str, Any]) -> StoredObject:
        name = str(about["path"]).removeprefix(f"{self.address.prefix}/")
        return StoredObject(name, int(about["size"]))

    def download(self, name: str, target: Path) -> None:
        """Copy an object into a file; the file does not exist until it is complete.

        Raises:
            DataError: also if the disk is full.
        """

        def pieces() -> Iterator[bytes]:
            with self._reporting(name):
                got = self._obstore.get(self._store, self.address.key(name))
                yield from map(bytes, got.stream(min_chunk_size=_CHUNK))

        write_atomic(target, pieces())

    def open(self, name: str) -> io.BufferedReader:
        """An object as a file for random reading; only the ranges that are read are fetched."""
        key = self.address.key(name)
        with self._reporting(name):
            size = int(self._obstore.head(self._store, key)["size"])

        def read_range(start: int, length: int) -> bytes:
            with self._reporting(name):
                return bytes(self._obstore.get_range(self._store, key, start=start, length=length))

        return io.BufferedReader(_ObjectFile(read_range, size), buffer_size=_READ)

    def write(self, name: str, content: Path | bytes) -> None:
        """Write an object, and replace an object of the same name."""
        with self._reporting(name):
            self._obstore.put(self._store, self.address.key(name), content, max_concurrency=2)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless one of that name exists; return whether it was written.

        Only one of several writers succeeds.
        """
        key, errors = self.address.key(name), self._obstore.exceptions
        with self._reporting(name):
            try:
                self._obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except (errors.AlreadyExistsError, errors.PreconditionError):
                return False
        return True

    def delete(self, name: str) -> None:
        """Delete an object, if it exists."""
        with suppress(MissingObjectError), self._reporting(name):
            self._obstore.delete(self._store, self.address.key(name))

    @contextmanager
    def _reporting(self, name: str) -> Iterator[None]:
        """Report an error of the store without its text, which may repeat keys and signatures."""
        errors, place = self._obstore.exceptions, f"{self}/{name}".rstrip("/")
        try:
            yield
        except (errors.BaseError, OSError) as error:
            missing = isinstance(error, errors.NotFoundError | FileNotFoundError)
            if missing and not _NO_BUCKET.search(str(error)):
                raise MissingObjectError("the object does not exist", file=place) from None
            usual = self.address.store.usual
            raise DataError(
                "the request to the object store failed ({})",
                _reason(error),
                file=place,
                hint=_("Check the address, the network, and {} in the environment", usual),
            ) from None


class _ObjectFile(io.RawIOBase):
    """An object as a raw file.

    obstore's own reader fetches a large range in pieces of its buffer, one request after another.
    """

    def __init__(self, read_range: Callable[[int, int], bytes], size: int) -> None:
        self._read_range, self._size, self._at = read_range, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer of bytes
        length = min(len(buffer), self._size - self._at)
        if length <= 0:
            return 0
        buffer[:length] = self._read_range(self._at, length)
        self._at += length
        return length


def _reason(error: Exception) -> str:
    """Why a request failed, without the error's text, which may contain keys and signatures."""
    words = _NO_BUCKET.search(str(error)) or _SAFE_WORDS.search(str(error))
    return words[0].strip() if words else type(error).__name__.removesuffix("Error")


@contextmanager
def stage_output(out: Path, last: str) -> Iterator[Path]:
    """The folder to write: `out` itself, or a temporary folder if `out` is an address.

    The temporary folder is uploaded when the block ends without an error. `last` is the file
    without which the folder is not complete.

    Raises:
        UsageError: the address is not valid, objects exist there, or another process uploads to it.
        DataError: the store answers with an error.
    """
    if not is_address(out):
        yield out
        return
    folder = ObjectFolder(parse_address(out))
    _check_free(folder, next(folder.list(), None) is None)
    temporary = cache_folder() / "staging"
    temporary.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=temporary) as name:
        local = Path(name) / folder.address.prefix.rpartition("/")[2]
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
    _check_free(folder, next(folder.list(), None) is None and folder.create(UNFINISHED, b""))
    paths = [path for path in sorted(local.rglob("*")) if path.is_file() and path != local / last]
    with ThreadPoolExecutor(_THREADS) as pool:
        names = (path.relative_to(local).as_posix() for path in paths)
        list(pool.map(folder.write, names, paths))  # An error of an upload is raised here.
    _check_free(folder, folder.create(last, (local / last).read_bytes()))
    folder.delete(UNFINISHED)


def _check_free(folder: ObjectFolder, is_free: bool) -> None:
    if not is_free:
        raise UsageError(
            "{}: objects already exist there, or another process is writing there. Use another "
            "address; after an interrupted upload, delete its objects",
            folder,
        )
