"""Mutations of sources: what may be wrong with a file, by its kind, drawn at random by a seed.

A mutation changes one file of a copy of a sound source. `tests/support/mutation.py` imports the
mutated copies and reports what a reader must never do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.support.mutations import (
    cells,
    images,
    json_values,
    names,
    parquet,
    pdf,
    raw,
    tokens,
    workbook,
    xml,
)

Mutation = Callable[[Path, Random], bool]
"""Changes one file; False where it does not fit."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "json": (".json", ".jsonl", ".ndjson"),
    "cells": (".csv", ".tsv"),
    "parquet": (".parquet",),
    "workbook": (".xlsx",),
    "xml": (".xml", ".page"),
    "tokens": (".txt", ".toml", ".yaml", ".yml", ".names"),
    "pdf": (".pdf",),
    "images": (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".jp2", ".gif", ".bmp", ".webp"),
}
"""Kinds of files, with the ends of their names."""

STRUCTURED: Mapping[str, Mapping[str, Mutation]] = {
    "json": json_values.MUTATIONS,
    "cells": cells.MUTATIONS,
    "parquet": parquet.MUTATIONS,
    "workbook": workbook.MUTATIONS,
    "xml": xml.MUTATIONS,
    "tokens": tokens.MUTATIONS,
    "pdf": pdf.MUTATIONS,
    "images": images.MUTATIONS,
}
"""Mutations that know the structure of a kind of file."""

NAMES: Mapping[str, Mutation] = names.MUTATIONS
"""Mutations of a file's name and of what the name leads to."""

RAW: Mapping[str, Mutation] = raw.MUTATIONS
"""Mutations of the bytes of any file."""


def kind_of(path: Path) -> str:
    """The kind of a file by its name; empty for any other."""
    name = path.name.casefold()
    return next((kind for kind, ends in KINDS.items() if name.endswith(ends)), "")
