"""Object stores: files at addresses, read on demand, cached and written.

`ObjectFolder` reads and writes the objects below an address with obstore (``pip install
"keju[object-stores]"``): ``s3://BUCKET/PREFIX``, ``gs://BUCKET/PREFIX`` or
``az://CONTAINER/PREFIX``. Credentials and endpoint come from the environment
(``AWS_ACCESS_KEY_ID``, ``GOOGLE_APPLICATION_CREDENTIALS`` …), never from an address or a file of
keju; errors never contain them. `stage_output` writes a folder on the local disk and then uploads
it.

`FileCache` keeps fetched files in a bounded folder that several processes share: ``KEJU_CACHE``,
else ``keju`` in ``XDG_CACHE_HOME``, else ``~/.cache/keju``. ``KEJU_CACHE_GB`` is its maximum size
(default 20); the least recently used files are removed.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from keju.errors import DataError, UsageError
from keju.files import write_atomic
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

# Shares of the cache's maximum size: what remains after files were removed, and what is added
# before the cache is measured again.
_REMAINING, _BETWEEN_CHECKS = 0.8, 0.05
_LOCK_SECONDS = 10
_ABANDONED_SECONDS = 3600
"""Time after the last change until an unfinished file is one that a process left."""


class Store(NamedTuple):
    """How obstore opens a store, and the environment variables that it reads.

    `name` is obstore's class and `prefix` the beginning of the variables. Errors name the `usual`
    variables, and the setting for a cloud machine with a `role`.
    """

    name: str
    prefix: str
    usual: str
    role: str

    def settings(self) -> tuple[tuple[str, str], ...]:
        """The names and values of its variables in the environment, sorted by name."""
        prefixes = self.prefix, self.role.partition("=")[0]
        return tuple(sorted(pair for pair in os.environ.items() if pair[0].startswith(prefixes)))


STORES = {
    "s3": Store(
        "S3Store",
        "AWS_",
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL",
        "AWS_METADATA_ENDPOINT=http://169.254.169.254",
    ),
    "gs": Store(
        "GCSStore",
        "GOOGLE_",
        "GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_BASE_URL",
        "GCE_METADATA_HOST=metadata.google.internal",
    ),
    "az": Store(
        "AzureStore",
        "AZURE_",
        "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_ENDPOINT",
        "AZURE_CREDENTIAL_TYPE=managed_identity",
    ),
}
"""The stores, by scheme. Another store of obstore needs only an entry here."""

# `Path` converts two slashes to one.
_SCHEME = re.compile(rf"({'|'.join(STORES)}):/{{1,2}}(?=[^/]|$)", re.IGNORECASE)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")


class Address(NamedTuple):
    """A folder of an object store.

    `scheme` is one of `STORES`, `bucket` the bucket (of ``az`` the container), and `prefix` the
    beginning of the objects' keys: not empty, without a slash at either end.
    """

    scheme: str
    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.prefix}"

    @property
    def store(self) -> Store:
        """The store of its scheme."""
        return STORES[self.scheme]

    def key(self, name: str) -> str:
        """The key of an object of the folder."""
        return f"{self.prefix}/{name}"


def is_address(path: Path | str) -> bool:
    """Whether a path begins with a scheme of `STORES`; `Path` may have removed a slash."""
    return _SCHEME.match(str(path)) is not None


def parse_address(path: Path | str) -> Address:
    """The scheme, bucket and prefix of an address ``SCHEME://BUCKET/PREFIX``.

    The `UsageError` about another text does not repeat it, because it may contain a password.
    """
    if scheme := _SCHEME.match(str(path)):
        bucket, __, prefix = str(path)[scheme.end() :].partition("/")
        address = Address(scheme[1].lower(), bucket, prefix.strip("/"))
        if _BUCKET.fullmatch(bucket) and not {"", ".", ".."} & {*address.prefix.split("/")}:
            return address
    raise UsageError(
        "this is not an address of an object store: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or "
        "az://CONTAINER/PREFIX. The name of a bucket has 3 to 63 lowercase letters, digits, dots, "
        "hyphens and underscores. Credentials must be set in the environment"
    )


class MissingObjectError(DataError):
    """An object does not exist."""


class StoredObject(NamedTuple):
    """An object of a folder: its name below the folder, and its size in bytes."""

    name: str
    size: int


class ObjectFolder:
    """The objects below an address. Creating an instance sends no request; it is thread-safe.

    All methods raise `DataError` if the store answers with an error, and `MissingObjectError` if
    the object does not exist.

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
        """Copy an object into a file; the file does not exist until it is complete."""

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
        errors = self._obstore.exceptions
        with self._reporting(name):
            try:
                self._obstore.put(
                    self._store, self.address.key(name), content, mode="create", use_multipart=False
                )
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
            raise DataError(
                "the request to the object store failed ({})",
                _reason(error),
                file=place,
                hint=_(
                    "Check the address, the network, and {} in the environment",
                    self.address.store.usual,
                ),
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
    """Why a request failed, without the error's text."""
    words = _NO_BUCKET.search(str(error)) or _SAFE_WORDS.search(str(error))
    return words[0].strip() if words else type(error).__name__.removesuffix("Error")


@contextmanager
def stage_output(out: Path, last: str) -> Iterator[Path]:
    """The folder to write: `out` itself, or a temporary folder if `out` is an address.

    The temporary folder is uploaded when the block ends without an error. `last` is the file
    without which the folder is not complete. An address at which objects exist, or to which another
    process uploads, raises `UsageError`.
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
    """Upload a folder to an address at which nothing exists; raises what `stage_output` raises.

    The object ``.unfinished`` is created on the condition that it does not exist: of two writers,
    one is refused. `last` is created on the same condition, after all other files.
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


def cache_folder() -> Path:
    """The folder of the cache."""
    if chosen := os.environ.get("KEJU_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "keju"


def cache_limit() -> int:
    """The maximum size of the cache in bytes."""
    setting = os.environ.get("KEJU_CACHE_GB", "").strip()
    with suppress(ValueError):
        if (size := float(setting or 20)) > 0:
            return int(size * 1e9)
    raise UsageError(
        "KEJU_CACHE_GB is {!r}. It must be the size of the cache in GB, such as 20", setting
    )


class FileCache:
    """Files by key. A file under its final name is complete. A file may be fetched twice."""

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        self.folder = folder or cache_folder()
        self.limit = cache_limit() if limit is None else limit
        self._added = self.limit  # The first addition measures what earlier processes left.

    def get(self, key: str, fetch: Callable[[Path], None]) -> Path:
        """The file of a key, whose content never changes; fetched if it is not in the cache."""
        path = self.path(key)
        try:
            os.utime(path)  # The time of its last use.
        except OSError:
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch(path)
            with suppress(FileNotFoundError):  # Another process may have removed it.
                self._added += path.stat().st_size
            if self._added >= self.limit * _BETWEEN_CHECKS:
                self._added = 0
                self._remove_oldest(path)
        return path

    def path(self, key: str) -> Path:
        """The path of a key's file."""
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / "objects" / name[:2] / name

    def _remove_oldest(self, newest: Path) -> None:
        """Remove the least recently used files until the size is within the limit.

        Only one process does this at a time; the others wait, because the files that they added may
        have come after it listed the folder. A removed file stays readable for its readers.
        """
        with suppress(Timeout), FileLock(self.folder / ".lock", timeout=_LOCK_SECONDS):
            files: list[tuple[float, int, Path]] = []
            for path in (self.folder / "objects").glob("*/*"):
                with suppress(OSError):
                    about = path.stat()
                    # Another process may be writing an unfinished file, which it then renames.
                    age = time.time() - about.st_mtime
                    if not path.name.startswith(".") or age > _ABANDONED_SECONDS:
                        files.append((about.st_mtime, about.st_size, path))
            total = sum(size for _time, size, _path in files)
            bound = self.limit if total <= self.limit else self.limit * _REMAINING
            for _time, size, path in sorted(files):
                if total > bound and path != newest:
                    path.unlink(missing_ok=True)
                    total -= size
