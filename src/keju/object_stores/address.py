"""`Address`: the scheme, bucket and prefix of an address such as ``s3://BUCKET/PREFIX``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from keju.errors import UsageError
from keju.object_stores.stores import STORES, Store

# `Path` converts two slashes to one.
_SCHEME = re.compile(rf"({'|'.join(STORES)}):/{{1,2}}(?=[^/]|$)", re.IGNORECASE)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")


class Address(NamedTuple):
    """A folder of an object store."""

    scheme: str
    """One of `STORES`."""
    bucket: str
    """The name of the bucket; of ``az`` the container."""
    prefix: str
    """The beginning of the objects' keys; not empty, without a slash at either end."""

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
    """The scheme, bucket and prefix of an address.

    Raises:
        UsageError: it is not ``SCHEME://BUCKET/PREFIX`` with a scheme of `STORES`. An error never
            repeats a possible password.
    """
    found = _SCHEME.match(str(path))
    if found is None:
        raise UsageError(
            "this is not an address of an object store. Use s3://BUCKET/PREFIX, "
            "gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
        )
    scheme = found[1].lower()
    bucket, _, prefix = str(path)[found.end() :].partition("/")
    prefix = prefix.strip("/")
    if "@" in bucket:
        raise UsageError(
            "the {0}:// address contains an @, which may be part of a name or a password. Use "
            "{0}://BUCKET/PREFIX, and set the credentials in the environment",
            scheme,
        )
    parts = prefix.split("/")
    address = Address(scheme, bucket, prefix)
    if not _BUCKET.fullmatch(bucket) or any(part in {"", ".", ".."} for part in parts):
        raise UsageError(
            "{}: not a valid address. Use s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or "
            "az://CONTAINER/PREFIX. The name of a bucket has 3 to 63 characters: lowercase "
            "letters, digits, dots, hyphens and underscores",
            address,
        )
    return address
