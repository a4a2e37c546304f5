"""How the papers asked their models, by name."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from keju.errors import UsageError
from keju.models import Decoding


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decoding and rounds of a published evaluation; None where the paper does not say."""

    what: str
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    rounds: int | None = None

    def decoding(self, given: Decoding) -> Decoding:
        """These parameters, but for those that are given."""
        ours = {
            name: getattr(self, name) for name in ("temperature", "top_p", "top_k", "max_tokens")
        }
        theirs = {
            name: value
            for name, value in msgspec.structs.asdict(given).items()
            if value is not None
        }
        return Decoding(**{**ours, **theirs})


@cache
def presets() -> dict[str, Preset]:
    """Every preset, by name."""
    text = files("keju.running").joinpath("presets.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Preset])


def preset(name: str) -> Preset:
    """The preset of that name; an empty name gives one that says nothing.

    Raises:
        UsageError: there is none.
    """
    if not name:
        return Preset(what="")
    if name not in presets():
        known = "; ".join(f"{each} ({found.what})" for each, found in presets().items())
        raise UsageError(f"no preset {name!r}. Presets: {known}")
    return presets()[name]
