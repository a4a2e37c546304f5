"""`Address`: the bucket and prefix of an ``s3://BUCKET/PREFIX`` address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from keju.errors import UsageError
from keju.messages import message

# `Path` converts two slashes to one.
_S3 = re.compile(r"s3:/{1,2}(?=[^/]|$)", re.IGNORECASE)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class Address(NamedTuple):
    """A folder of an object store."""

    bucket: str
    prefix: str
    """The beginning of the objects' keys; not empty, without a slash at either end."""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"

    def key(self, name: str) -> str:
        """The key of an object of the folder."""
        return f"{self.prefix}/{name}"


def is_address(path: Path | str) -> bool:
    """Whether a path is an ``s3://`` address; `Path` may have removed one of its slashes."""
    return _S3.match(str(path)) is not None


def parse_address(path: Path | str) -> Address:
    """The bucket and prefix of an address.

    Raises:
        UsageError: it is not ``s3://BUCKET/PREFIX``. An error never repeats a possible password.
    """
    bucket, _, prefix = _S3.sub("", str(path), count=1).partition("/")
    prefix = prefix.strip("/")
    if "@" in bucket:
        raise UsageError(message("object-stores.credentials-in-address"))
    parts = prefix.split("/")
    if not _BUCKET.fullmatch(bucket) or any(part in {"", ".", ".."} for part in parts):
        raise UsageError(message("object-stores.not-an-address", bucket=bucket, prefix=prefix))
    return Address(bucket, prefix)
