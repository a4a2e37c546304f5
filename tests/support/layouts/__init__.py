"""Layouts in which a source may be published: how each is written, and what shows it.

Each module of this package declares `LAYOUTS`. `canonical` names the layout of the same module
whose items every complete layout must give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

Evidence = Literal["seen in a release", "seen in code that reads the release", "assumed"]

MODULES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))
"""The modules of this package."""


MAP = "mapping.toml"
"""The mapping file that a source of the format ``mapped`` has beside its tables."""


class Layout(NamedTuple):
    """One layout of one source.

    Attributes:
        name: unique, for the test's id, e.g. ``mcs-bench: CSV with options in columns``.
        source: whose release it is, e.g. ``MCS-Bench``; the table has a section for each.
        files: the files in one line, for the table, e.g. ``T7.csv; images/<ID>.jpg``.
        evidence: whether the layout was seen.
        where: the page or repository that shows it; empty where it is assumed.
        reader: the FORMAT that reads it, and that `keju data detect` must name.
        write: writes the layout into an empty folder and returns what is imported: the folder,
            or a file in it.
        options: for `keju data import`, in addition to those that detection gives; ``map`` is
            relative to the folder.
        canonical: the name of the layout with the same items; its own name for the first one.
        ignoring: fields of an item that this layout cannot hold as the canonical one does.
        missing: for an incomplete layout, words that its one-line refusal must contain.
        detected: whether `keju data import auto` needs no option to import it.
    """

    name: str
    source: str
    files: str
    evidence: Evidence
    where: str
    reader: str
    write: Callable[[Path], Path]
    options: Mapping[str, str] = MappingProxyType({})
    canonical: str = ""
    ignoring: tuple[str, ...] = ()
    missing: str = ""
    detected: bool = True


def options_for(options: Mapping[str, str], src: Path) -> dict[str, str]:
    """The options with the path of the mapping file in a source."""
    folder = src if src.is_dir() else src.parent
    return {**options, "map": str(folder / options["map"])} if "map" in options else {**options}


def layouts() -> list[Layout]:
    """Every layout of every module, in order."""
    modules = (import_module(f"{__name__}.{name}") for name in MODULES)
    return [layout for module in modules for layout in module.LAYOUTS]
