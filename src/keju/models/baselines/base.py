"""What the baselines share: they answer at once and hold nothing open."""

from __future__ import annotations


class Baseline:
    """A name and an identity; `declines` and `answer` are each baseline's own.

    Args:
        name: what stands after ``baseline:``.
        identity: what decides its answers beside its name, such as a seed.
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
        """The baseline's name, and its seed, its constants or the hash of what it learnt from."""
        return {"kind": "baseline", "baseline": self._name, **self._identity}

    @property
    def concurrency(self) -> int:
        """One: an answer takes no time."""
        return 1

    async def close(self) -> None:
        """Nothing to give back."""
