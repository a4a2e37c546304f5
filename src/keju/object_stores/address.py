"""`Address`: an address such as ``s3://BUCKET/PREFIX``; `STORES`, the stores that it can name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from keju.errors import UsageError


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
    """The scheme, bucket and prefix of an address.

    Raises:
        UsageError: it is not ``SCHEME://BUCKET/PREFIX`` with a scheme of `STORES`. The error does
            not repeat the address, which may contain a password.
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
