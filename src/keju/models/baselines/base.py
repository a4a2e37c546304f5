"""The base class of baselines: they answer at once and have nothing to close."""

from __future__ import annotations


class Baseline:
    """A name and an identity; each baseline has its own `unsupported_reason` and `answer`.

    Args:
        name: the part after ``baseline:``.
        identity: what determines its answers besides its name, such as a seed.
    """

    def __init__(self, name: str, **identity: str) -> None:
        self._name = name
        self._identity = identity

    @property
    def name(self) -> str:
        """``baseline:NAME``."""
        return f"baseline:{self._name}"

    @property
    def identity(self) -> dict[str, str]:
        """The baseline's name, and its seed, its constants or the hash of its training data."""
        return {"kind": "baseline", "baseline": self._name, **self._identity}

    @property
    def concurrency(self) -> int:
        """One: an answer takes no time."""
        return 1

    async def close(self) -> None:
        """Nothing to release."""
