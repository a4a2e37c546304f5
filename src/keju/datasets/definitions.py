"""The definitions of benchmarks in a DATASET, in one file or in a directory of files.

::

    DATASET/  benchmark.toml               the definition of its only benchmark, or
              benchmarks/NAME.toml         those of several

Bundled benchmarks are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from keju.definitions import definition_texts, register_definition
from keju.definitions.registry import FILE
from keju.errors import DataError
from keju.files import toml_text, write_atomic

FOLDER = "benchmarks"
"""The directory of the definitions in a dataset with items of several benchmarks."""

_MOST = 100


def know_stored(folder: Path) -> None:
    """Load and register the definitions in a directory.

    Raises:
        DataError: a file is not a definition, or there are more than 100.
        UsageError: a name or task is registered with another content.
        PluginError: a plug-in that a definition names is missing.
    """
    for path in _files(folder):
        register_definition(toml_text(path, "not a benchmark definition"), str(path))


def write_definitions(folder: Path, benchmarks: Iterable[str]) -> None:
    """Store the definitions of the benchmarks of these names, except bundled ones."""
    for path in _files(folder):
        path.unlink()
    texts = definition_texts(benchmarks)
    for name, text in texts.items():
        write_atomic(folder / (FILE if len(texts) == 1 else f"{FOLDER}/{name}.toml"), text)


def _files(folder: Path) -> Iterator[Path]:
    if (folder / FILE).exists():
        yield folder / FILE
    found = sorted(islice((folder / FOLDER).glob("*.toml"), _MOST + 1))
    if len(found) > _MOST:
        raise DataError("more than {} definitions", _MOST, file=folder / FOLDER)
    yield from found
