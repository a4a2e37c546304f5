"""Tables to fill in before an import: descriptions of images, and characters of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from keju.benchmarks.obi_bench.readers.characters import Character, of_tree
from keju.benchmarks.obi_bench.readers.settings import (
    ClassSettings,
    DecipheringSettings,
    RecognitionSettings,
)
from keju.benchmarks.obi_bench.readers.sources import Found, pictures_in, sources_in
from keju.benchmarks.obi_bench.readers.tree import read_released_tree, read_tree
from keju.datasets.readers.base import Table
from keju.errors import UsageError

_DESCRIPTIONS = "descriptions"
_DRAWING = frozenset({"classes", "images", "undeciphered", "era", "annotated", "items", "as-paper"})
"""Options that decided the rows of a table, which then takes their place."""


def described_characters(src: Path, settings: DecipheringSettings) -> Iterator[Table]:
    """``descriptions.csv``: of a release the characters that are drawn; else all images."""
    rows: list[tuple[str, ...]] = []
    every = sources_in(src, "deciphering", settings.source)
    for found in every:
        if tree := read_released_tree(found, settings.names):
            chosen = of_tree(tree, settings).chosen
            rows += [_described(one, found) for one in chosen]
        else:
            rows += [(name, "", "", "", "") for name in _images(found)]
    _single(every)
    columns = ("image", "character", "description", "subset", "frequency")
    yield Table(_DESCRIPTIONS, columns, rows, ("description", "subset"), (_DESCRIPTIONS,), _DRAWING)


def described_images(src: Path, settings: RecognitionSettings) -> Iterator[Table]:
    """``descriptions.csv``: every image, whose description answers What."""
    every = sources_in(src, "recognition", settings.source)
    rows = [(name, "") for found in every for name in _images(found)]
    _single(every)
    yield Table(
        _DESCRIPTIONS, ("image", "description"), rows, ("description",), (_DESCRIPTIONS,), _DRAWING
    )


def class_tables(task: str) -> Callable[[Path, ClassSettings], Iterator[Table]]:
    """``classes.csv``: every class, its character, and whether it looks like others."""

    def tables(src: Path, settings: ClassSettings) -> Iterator[Table]:
        counts: Counter[str] = Counter()
        names: dict[str, str] = {}
        for found in sources_in(src, task, settings.source):
            tree = read_tree(found, settings.names)
            for label, images in tree.classes.items():
                counts[label] += len(images)
                names.setdefault(label, tree.names.of(label))
        rows = [(label, names[label], "", str(counts[label])) for label in sorted(counts)]
        columns = ("class", "character", "similar", "images")
        yield Table(
            "classes", columns, rows, ("character", "similar"), ("names", "similar"), _DRAWING
        )

    return tables


def _described(one: Character, found: Found) -> tuple[str, ...]:
    about = one.metadata
    return (
        one.path.relative_to(found.folder).as_posix(),
        about.get("character", ""),
        "",
        about.get("subset", ""),
        about.get("frequency", ""),
    )


def _images(found: Found) -> list[str]:
    return [path.relative_to(found.folder).as_posix() for path in pictures_in(found)]


def _single(found: Sequence[Found]) -> None:
    """Refuse several sources: a table names its images from the folder of one.

    Raises:
        UsageError: there are several.
    """
    if len(found) > 1:
        names = ", ".join(each.source.name for each in found)
        raise UsageError("{}: give the folder of one source at a time", names)
