"""`ObjectFolder`: the objects below an address, read and written like the files of a folder."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from keju.errors import DataError, UsageError
from keju.files import write_atomic
from keju.object_stores.address import Address
from keju.texts import _

MAX_RETRIES = 5
"""The maximum number of retries of a request, within a minute."""

_CHUNK = 4 << 20
_READ = 1 << 16
_STATUS = re.compile(r"status(?: code)?:? ([1-5][0-9]{2})")
_NO_BUCKET = re.compile("NoSuchBucket|ContainerNotFound")
# Words of obstore's errors that never contain a value.
_WORDS = re.compile(
    "(?<=HTTP error: )[a-z ]+|Account must be specified|Invalid Access Key"
    "|Unable to (?:open|decode) service account file|Azure Cli not installed"
)


class StoredObject(NamedTuple):
    """An object of a folder: its name below the folder, its size in bytes, and its ETag."""

    name: str
    size: int
    etag: str


class ObjectFolder:
    """The objects below an address. Creating an instance sends no request; it is thread-safe.

    Raises:
        UsageError: obstore is not installed, or the environment's settings are not valid.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._obstore = _load()
        _check_environment(address)
        insecure = any(
            os.environ.get(name, "").startswith("http://") for name in address.store.endpoints
        )
        try:
            from obstore import store  # noqa: PLC0415 - of an extra

            self._store = getattr(store, address.store.name)(
                address.bucket,
                client_options={"allow_http": insecure, "timeout": "120s"},
                retry_config={
                    "max_retries": MAX_RETRIES,
                    "retry_timeout": timedelta(seconds=60),
                },
            )
        except Exception as error:  # noqa: BLE001 - obstore's own classes
            raise _not_configured(address, _reason(error)) from None

    def __str__(self) -> str:
        return str(self.address)

    def read(self, name: str) -> bytes:
        """The content of an object.

        Raises:
            DataError: it does not exist, or the store answers with an error.
        """
        with self._reporting(name):
            return bytes(self._obstore.get(self._store, self.address.key(name)).bytes())

    def find(self, name: str) -> StoredObject | None:
        """An object's size and ETag; None if it does not exist.

        Raises:
            DataError: the store answers with an error.
        """
        try:
            with self._reporting(name):
                about = self._obstore.head(self._store, self.address.key(name))
        except MissingObjectError:
            return None
        return StoredObject(name, int(about["size"]), str(about["e_tag"] or ""))

    def list(self, within: str = "") -> Iterator[StoredObject]:
        """The objects whose name begins with ``within/``, or all, sorted by name.

        Raises:
            DataError: the store answers with an error.
        """
        prefix = self.address.key(within) if within else self.address.prefix
        with self._reporting(within):
            for several in self._obstore.list(self._store, prefix=f"{prefix}/"):
                for about in several:
                    name = str(about["path"]).removeprefix(f"{self.address.prefix}/")
                    yield StoredObject(name, int(about["size"]), str(about["e_tag"] or ""))

    def download(self, name: str, target: Path) -> None:
        """Copy an object into a file; the file does not exist until it is complete.

        Raises:
            DataError: it does not exist, the store answers with an error, or the disk is full.
        """

        def pieces() -> Iterator[bytes]:
            with self._reporting(name):
                got = self._obstore.get(self._store, self.address.key(name))
                yield from map(bytes, got.stream(min_chunk_size=_CHUNK))

        write_atomic(target, pieces())

    def open(self, name: str) -> io.BufferedReader:
        """An object as a file for random reading; only the ranges that are read are fetched.

        Raises:
            DataError: it does not exist, or the store answers with an error.
        """
        found = self.find(name)
        if found is None:
            raise MissingObjectError("the object does not exist", file=f"{self}/{name}")
        return io.BufferedReader(_ObjectFile(self, name, found.size), buffer_size=_READ)

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """Some bytes of an object.

        Raises:
            DataError: it does not exist, or the store answers with an error.
        """
        with self._reporting(name):
            key = self.address.key(name)
            return bytes(self._obstore.get_range(self._store, key, start=start, length=length))

    def write(self, name: str, content: Path | bytes) -> None:
        """Write an object, and replace an object of the same name.

        Raises:
            DataError: the store answers with an error.
        """
        with self._reporting(name):
            self._obstore.put(self._store, self.address.key(name), content, max_concurrency=2)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless one of that name exists. Only one of several writers succeeds.

        Returns:
            Whether it was written.

        Raises:
            DataError: the store answers with an error.
        """
        from obstore.exceptions import (  # noqa: PLC0415 - of an extra
            AlreadyExistsError,
            PreconditionError,
        )

        with self._reporting(name):
            try:
                self._obstore.put(
                    self._store, self.address.key(name), content, mode="create", use_multipart=False
                )
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    def delete(self, name: str) -> None:
        """Delete an object, if it exists.

        Raises:
            DataError: the store answers with an error.
        """
        with suppress(MissingObjectError), self._reporting(name):
            self._obstore.delete(self._store, self.address.key(name))

    @contextmanager
    def _reporting(self, name: str) -> Iterator[None]:
        """Report an error of the store without its text, which may repeat keys and signatures."""
        from obstore.exceptions import BaseError  # noqa: PLC0415 - of an extra

        place = f"{self.address}/{name}".rstrip("/")
        try:
            yield
        except (BaseError, OSError) as error:
            raise self._data_error(error, place) from None

    def _data_error(self, error: Exception, place: str) -> DataError:
        from obstore.exceptions import NotFoundError  # noqa: PLC0415 - of an extra

        if _NO_BUCKET.search(str(error)):
            return DataError(
                "the bucket or container {} does not exist",
                self.address.bucket,
                file=place,
                hint="Check the address, or create the bucket first",
            )
        if isinstance(error, NotFoundError | FileNotFoundError):
            return MissingObjectError("the object does not exist", file=place)
        store = self.address.store
        if _STATUS.search(str(error)):
            text = _(
                "the object store refused the request ({})",
                _reason(error),
                hint=_("Check the bucket, and {} in the environment", store.usual),
            )
        else:
            text = _(
                "the object store did not answer ({})",
                _reason(error),
                hint=_(
                    "Check the network. If the store has an address of its own, check {} in the "
                    "environment",
                    ", ".join(store.endpoints)
                )
            )  # fmt: skip
        return DataError(text, file=place)


class _ObjectFile(io.RawIOBase):
    """An object as a raw file."""

    def __init__(self, folder: ObjectFolder, name: str, size: int) -> None:
        self._folder = folder
        self._name = name
        self._size = size
        self._at = 0

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
        buffer[:length] = self._folder.read_range(self._name, self._at, length)
        self._at += length
        return length


class MissingObjectError(DataError):
    """An object does not exist."""


def _load() -> Any:  # noqa: ANN401 - a module
    try:
        import obstore  # noqa: PLC0415 - of an extra
    except ImportError:
        raise UsageError(
            "addresses of object stores need the package obstore. Install it with: pip install "
            '"keju[object-stores]"'
        ) from None
    return obstore


def _check_environment(address: Address) -> None:
    """Refuse an environment without credentials, and settings with line breaks.

    Without credentials, obstore would wait for the metadata server of a cloud.
    """
    store = address.store
    if not any(os.environ.get(name) for name in store.credentials):
        raise UsageError(
            "{}:// addresses need credentials in the environment. Set {}. For a public bucket, "
            "set {} instead; on a cloud machine with a role, {}",
            address.scheme,
            store.usual,
            store.public,
            store.role
        )  # fmt: skip
    for name, value in store.settings():
        # A key file as JSON has line breaks.
        if not value.isprintable() and not value.startswith("{"):
            raise _not_configured(address, name)


def _not_configured(address: Address, reason: str) -> UsageError:
    variables = address.store.usual
    return UsageError(
        "the settings of the object store in the environment are not valid ({}). Check {}",
        reason,
        variables,
    )


def _reason(error: Exception) -> str:
    """Why a request failed, without the error's text, which may contain keys and signatures."""
    text = str(error)
    if found := _STATUS.search(text):
        return f"HTTP {found[1]}"
    found = _WORDS.search(text)
    return found[0].strip() if found else type(error).__name__.removesuffix("Error")
