"""Source ``verses``: verses of a text file, each an item that waits for a translation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import keju
from keju.plugins import Item, Meta, Site, SourceSettings, source_text, writing


class VersesSettings(SourceSettings, frozen=True, kw_only=True):
    """A file of verses."""

    path: Annotated[Path, Meta(description="The text file.")]


@keju.source("verses", summary="a text file with one verse a line", settings=VersesSettings)
def read_verses(settings: VersesSettings, site: Site) -> Iterable[str]:
    """Read a file of verses as drafts of translation items."""
    verses = [line.strip() for line in source_text(settings.path).splitlines() if line.strip()]
    with writing(site.out, "verses", licence=settings.licence, source=settings.source) as writer:
        for number, verse in enumerate(verses, 1):
            writer.add(
                Item(
                    id=f"{number}",
                    benchmark="MCS-Bench",
                    task="T2",
                    question=verse,
                    group=settings.path.stem,
                    draft=True,
                )
            )
    return [f"{len(verses)} verses"]
