"""`STORES`: the object stores that an address can name, by its scheme."""

from __future__ import annotations

import os
from typing import NamedTuple


class Store(NamedTuple):
    """How obstore opens a store, and the environment variables that it reads."""

    name: str
    """obstore's class."""
    prefix: str
    """The beginning of the names of its variables."""
    endpoints: tuple[str, ...]
    """Variables that set the address of the server."""
    credentials: tuple[str, ...]
    """One of these variables must be set. Otherwise obstore would ask a server of the cloud."""
    usual: str
    """The variables that users set most often, for errors."""
    public: str
    """The setting for public buckets, for errors; its variable is one of `credentials`."""
    role: str
    """The setting for a cloud machine with a role, for errors; as `public`."""

    def settings(self) -> tuple[tuple[str, str], ...]:
        """The names and values of its variables in the environment, sorted by name."""
        return tuple(sorted(each for each in os.environ.items() if each[0].startswith(self.prefix)))


STORES = {
    "s3": Store(
        "S3Store",
        "AWS_",
        ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
        (
            "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_METADATA_ENDPOINT", "AWS_SKIP_SIGNATURE",
        ),
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL",
        "AWS_SKIP_SIGNATURE=true",
        "AWS_METADATA_ENDPOINT=http://169.254.169.254",
    ),
    "gs": Store(
        "GCSStore",
        "GOOGLE_",
        ("GOOGLE_BASE_URL",),
        (
            "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_BEARER_TOKEN",
            "GOOGLE_SKIP_SIGNATURE", "GCE_METADATA_HOST",
        ),
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_SKIP_SIGNATURE=true",
        "GCE_METADATA_HOST=metadata.google.internal",
    ),
    "az": Store(
        "AzureStore",
        "AZURE_",
        ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
        (
            "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY",
            "AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_TOKEN",
            "AZURE_STORAGE_CLIENT_ID", "AZURE_CLIENT_ID", "AZURE_USE_AZURE_CLI",
            "AZURE_CREDENTIAL_TYPE", "AZURE_STORAGE_USE_EMULATOR", "AZURE_SKIP_SIGNATURE",
        ),
        "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_SKIP_SIGNATURE=true",
        "AZURE_CREDENTIAL_TYPE=managed_identity",
    ),
}  # fmt: skip
"""The stores, by scheme. Another store of obstore needs only a line here."""
