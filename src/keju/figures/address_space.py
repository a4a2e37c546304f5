"""A check of ``ulimit -v`` before V8, which reserves address space and aborts without it."""

from __future__ import annotations

from keju.errors import UsageError

_NEEDED = 128 * 2**30
"""Bytes of address space. V8 in vl-convert-python 1.9 aborts with 64 GB and starts with 100 GB."""


def check_address_space() -> None:
    """Check that no limit would make the converter of figures end the process with SIGTRAP.

    Raises:
        UsageError: the limit of the address space is too low.
    """
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _NEEDED:
        raise UsageError(
            "Figures cannot be drawn: the address space is limited to {:,.0f} GiB. Remove the "
            "limit: ulimit -v unlimited",
            limit / 2**30,
        )
