"""Source ``synth``: a synthetic set that is drawn from its own recipe."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from keju.building.sources.base import Site, SourceForm
from keju.building.step import Settings
from keju_synthetic.synth import build_synth


class SynthSettings(Settings, frozen=True, kw_only=True):
    """A recipe of ``keju build synth``, which contains its own licence."""

    path: Annotated[Path, Meta(description="The recipe, a TOML file.")]
    name: Annotated[
        str, Meta(description="Prefix of its item ids, if an earlier source has the same ids.")
    ] = ""


def _draw(settings: SynthSettings, site: Site) -> Iterable[str]:
    build_synth(settings.path, site.out)
    return ()


SYNTH = SourceForm("synth", "a synthetic set, drawn by its own recipe", SynthSettings, _draw)
