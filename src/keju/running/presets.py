"""Presets: the decoding parameters and rounds of published evaluations, by name.

They are in ``presets.toml`` beside a benchmark's definition file, a table for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from keju.definitions import definitions, folder_of
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

    def decoding(self, options: Decoding) -> Decoding:
        """These parameters, replaced by those of the options."""
        unset = [name for name in _DECODING if getattr(options, name) is None]
        return replace(options, **{name: getattr(self, name) for name in unset})

    def differences(
        self, identity: Mapping[str, str], not_sent: Collection[str] = ()
    ) -> Iterator[str]:
        """The differences between a model's identity and the settings that the paper states.

        `not_sent` are parameters that were requested and not sent. A model without an endpoint has
        no differences.
        """
        if identity.get("kind") not in ENDPOINTS:
            return
        for name in _DECODING:
            printed, requested = getattr(self, name), identity.get(name)
            if printed is None:
                continue
            if requested is None or name in not_sent:
                yield f"{name} was not sent (paper: {printed:g})"
            elif float(requested) != printed:
                yield f"{name} is {requested} (paper: {printed:g})"
        dtype = identity.get("dtype", UNKNOWN_DTYPE)
        if self.dtype and dtype != self.dtype:
            yield f"dtype is {dtype} (paper: {self.dtype})"


def preset_of(benchmark: str) -> Preset | None:
    """The preset with the decoding of a benchmark's paper; None where the paper states none."""
    return next((paper for paper in _presets().values() if paper.benchmark == benchmark), None)


def preset(name: str) -> Preset:
    """The preset of that name; an empty name gives an empty preset.

    Raises:
        UsageError: there is none, or two benchmarks have a preset of one name.
    """
    papers = {"": Preset(what=""), **(_presets() if name else {})}
    if name not in papers:
        names = "; ".join(f"{label} ({paper.what})" for label, paper in papers.items() if label)
        raise UsageError("no preset {!r}. Presets: {}", name, names)
    return papers[name]


def _presets() -> dict[str, Preset]:
    """Every preset of the known benchmarks, by name."""
    papers: dict[str, Preset] = {}
    for benchmark in definitions():
        folder = folder_of(benchmark.name)
        own = _read(folder / _FILE) if folder and (folder / _FILE).is_file() else {}
        if repeated := sorted(papers.keys() & own.keys()):
            raise UsageError(
                "{}/{}: there is another preset {!r}. Rename it", folder, _FILE, repeated[0]
            )
        papers |= own
    return papers


@cache
def _read(file: Path) -> dict[str, Preset]:
    return read_toml(file, dict[str, Preset], what="a file of presets")
