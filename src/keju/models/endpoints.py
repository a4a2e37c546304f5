"""Checks of server addresses before they are stored in run.json."""

from __future__ import annotations

from urllib.parse import urlsplit

from keju.errors import UsageError
from keju.messages import message


def checked_url(url: str, *, what: str, example: str, secret_in: str) -> str:
    """The address without a slash at its end.

    Args:
        url: as the user gave it.
        what: its name in an error.
        example: a valid one, for the error.
        secret_in: where a secret must be given instead.

    Raises:
        UsageError: not an http or https address of a host, or one that may contain a secret.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(message("models.not-an-endpoint", what=what, example=example))
    if any(mark in url for mark in "@?#"):
        raise UsageError(message("models.endpoint-with-secret", what=what, secret_in=secret_in))
    return url.rstrip("/")
