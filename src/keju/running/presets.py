"""Presets: the decoding parameters and rounds of published evaluations, by name.

They are in ``presets.toml`` beside a benchmark's definition file, a table for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from keju.definitions import definitions, folder_of, task
from keju.errors import UsageError
from keju.files import read_toml
from keju.models import Decoding
from keju.models.base import ENDPOINTS, UNKNOWN_DTYPE

_FILE = "presets.toml"
_DECODING = ("temperature", "top_p", "top_k", "max_tokens")


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decoding and rounds of a published evaluation; None where the paper does not state them.

    `dtype` is the number format that the paper states. It is never set: a server's dtype is what
    the user declares. `only` is the benchmark that the preset is for; on other data it would change
    nothing but the cost.
    """

    what: str
    benchmark: str = ""
    only: str = ""
    dtype: str = ""
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    rounds: int | None = None

    def decoding(self, given: Decoding) -> Decoding:
        """These parameters, replaced by those that are given."""
        ours = {name: getattr(self, name) for name in _DECODING}
        theirs = {
            name: value
            for name, value in msgspec.structs.asdict(given).items()
            if value is not None
        }
        return Decoding(**{**ours, **theirs})

    def check(self, name: str, tasks: Iterable[str]) -> None:
        """Check that a dataset has an item of the preset's benchmark.

        Args:
            name: the name of the preset.
            tasks: the ids of the dataset's tasks.

        Raises:
            UsageError: it has none, so each item would be run in rounds that no paper states.
        """
        if self.only and all(task(each).benchmark != self.only for each in tasks):
            raise UsageError(
                "--preset {}: the dataset has no item of {}. Remove the option, or ask each item "
                "several times with --rounds {}",
                name,
                self.only,
                self.rounds or 1,
            )

    def differences(
        self, identity: Mapping[str, str], not_sent: Collection[str] = ()
    ) -> Iterator[str]:
        """The differences between a model's settings and those that the paper states.

        Args:
            identity: the model's identity; a model without an endpoint has no differences.
            not_sent: parameters that were requested and not sent.
        """
        if identity.get("kind") not in ENDPOINTS:
            return
        for name in _DECODING:
            printed, asked = getattr(self, name), identity.get(name)
            if printed is None:
                continue
            if asked is None or name in not_sent:
                yield f"{name} was not sent (paper: {printed:g})"
            elif float(asked) != printed:
                yield f"{name} is {asked} (paper: {printed:g})"
        dtype = identity.get("dtype", UNKNOWN_DTYPE)
        if self.dtype and dtype != self.dtype:
            yield f"dtype is {dtype} (paper: {self.dtype})"


def preset_of(benchmark: str) -> Preset | None:
    """The preset with the decoding of a benchmark's paper; None where the paper states none."""
    stating = (each for each in presets().values() if each.benchmark == benchmark)
    return next(stating, None)


def presets() -> dict[str, Preset]:
    """Every preset of the known benchmarks, by name.

    Raises:
        DataError: a file is not presets.
        UsageError: two benchmarks have a preset of one name.
    """
    found: dict[str, Preset] = {}
    for each in definitions():
        folder = folder_of(each.name)
        own = _read(folder / _FILE) if folder and (folder / _FILE).is_file() else {}
        if twice := sorted(found.keys() & own.keys()):
            raise UsageError(
                "{}/{}: there is another preset {!r}. Rename it", folder, _FILE, twice[0]
            )
        found |= own
    return found


@cache
def _read(file: Path) -> dict[str, Preset]:
    return read_toml(file, dict[str, Preset], what="a file of presets")


def preset(name: str) -> Preset:
    """The preset of that name; an empty name gives an empty preset.

    Raises:
        UsageError: there is none.
    """
    if not name:
        return Preset(what="")
    if name not in presets():
        known = "; ".join(f"{each} ({found.what})" for each, found in presets().items())
        raise UsageError("no preset {!r}. Presets: {}", name, known)
    return presets()[name]
