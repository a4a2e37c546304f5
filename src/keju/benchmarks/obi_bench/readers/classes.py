"""FORMATS ``obi-classification`` and ``obi-retrieval``: crops of characters in a folder a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from keju.benchmarks.obi_bench.readers.blank_tables import class_tables
from keju.benchmarks.obi_bench.readers.class_detection import detect_classes
from keju.benchmarks.obi_bench.readers.drawing import Draw, DrawnClass, Pool, notes_of
from keju.benchmarks.obi_bench.readers.listed import (
    listed_by_source,
    listed_gallery,
    listed_pools,
)
from keju.benchmarks.obi_bench.readers.settings import (
    ClassificationSettings,
    ClassSettings,
    RetrievalSettings,
)
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Found,
    items_of_queries,
    record_sources,
    sources_in,
)
from keju.benchmarks.obi_bench.readers.tree import Tree, read_tree
from keju.datasets.readers.base import Reader, Tables
from keju.datasets.store import DatasetWriter
from keju.errors import number_of
from keju.items import MIXED_GALLERY, ImageRef, Item

_TREE = """\
  60001/1.png             crops of one character, in a folder called after its class; folders may
  60001/2.png             lie in others (train/60001), and those of one name are one class
  60002/1.png"""

CLASSIFICATION_LAYOUT = f"""\
SRC/                      one source, or a folder for each: HWOBC, Oracle-50K, OBI125
{_TREE}
Of each class one reference and four queries are drawn, of each source 100 classes. A query is held
against the references of all classes; the one of its own class is relevant."""

RETRIEVAL_LAYOUT = f"""\
SRC/                      one source, or a folder for each: OBC306, OBI-IJDH
{_TREE}
Of each of 50 classes (OBI-IJDH: 10) one query and four relevant images are drawn, and as many
distractors of other classes. A query is held against all relevant images and distractors."""


def read_classification(
    src: Path, writer: DatasetWriter, settings: ClassificationSettings
) -> Iterator[str]:
    """Draw classes and make items of every query against the references.

    Raises:
        UsageError: the given source is one of another task.
        DataError: no classes, too few of them or of their images; with ``duplicates=error``, one
            image in two classes.
    """
    trees = _trees(src, "classification", settings)
    mixed = settings.mixed
    draw = Draw(writer, settings)
    if settings.items:
        images = listed_by_source(trees, settings.items)
        pools = listed_pools(draw, trees, images, together=mixed)
        by_source = [
            listed_gallery(draw, pool, some, distractors=False).classes
            for pool, some in zip(pools, images, strict=True)
        ]
        shares = [len(classes) for classes in by_source]
    else:
        pools = draw.pools(trees, together=mixed)
        shares = _shares(pools, draw, settings.classes or 0, mixed=mixed)
        by_source = [draw.classes(pool, share) for pool, share in zip(pools, shares, strict=True)]
    record_sources(writer, _sources(trees), **draw.facts(by_source), mixed="yes" if mixed else "no")
    for classes in [list(chain(*by_source))] if mixed else by_source:
        _ask(writer, "classification", classes, (), mixed=mixed)
    yield from draw.notes
    yield from notes_of(pools)
    if mixed and len(set(shares)) > 1:
        counts = (f"{each.found.source.name} {n}" for each, n in zip(trees, shares, strict=True))
        yield f"classes that do not divide evenly: {', '.join(counts)}"


def read_retrieval(src: Path, writer: DatasetWriter, settings: RetrievalSettings) -> Iterator[str]:
    """Draw classes and distractors and make items of every query against them all.

    Raises:
        UsageError: the given source is one of another task.
        DataError: no classes, too few of them or of their images; with ``duplicates=error``, one
            image in two classes.
    """
    trees = _trees(src, "retrieval", settings)
    draw = Draw(writer, settings)
    images = listed_by_source(trees, settings.items) if settings.items else []
    pools = (
        listed_pools(draw, trees, images, together=False)
        if images
        else draw.pools(trees, together=False)
    )
    by_source = []
    for number, pool in enumerate(pools):
        source = pool.found.source
        if images:
            classes, distractors = listed_gallery(draw, pool, images[number], distractors=True)
        else:
            (share,) = _shares([pool], draw, settings.classes or 0, mixed=False)
            classes = draw.classes(pool, share)
            count = settings.distractors or source.distractors
            distractors = draw.distractors(pool, classes, count)
        _ask(writer, "retrieval", classes, distractors)
        by_source.append(classes)
        counts = f"{number_of(len(classes), 'class', 'classes')} and {len(distractors)} distractors"
        yield f"{source.name}: {counts}{'' if distractors else _none_left(classes)}"
    record_sources(writer, _sources(trees), **draw.facts(by_source))
    yield from draw.notes
    yield from notes_of(pools)


def _trees(src: Path, task: str, settings: ClassSettings) -> list[Tree]:
    return [read_tree(found, settings.names) for found in sources_in(src, task, settings.source)]


def _sources(trees: Sequence[Tree]) -> list[Found]:
    return [tree.found for tree in trees]


CLASSIFICATION = Reader(
    "obi-classification",
    "OBI-Bench's classification: one folder of crops per class",
    CLASSIFICATION_LAYOUT,
    read_classification,
    ClassificationSettings,
    partial(detect_classes, task="classification"),
    tables=Tables(
        "characters of classes, and classes that look alike", class_tables("classification")
    ),
)
RETRIEVAL = Reader(
    "obi-retrieval",
    "OBI-Bench's retrieval: one folder of crops per class",
    RETRIEVAL_LAYOUT,
    read_retrieval,
    RetrievalSettings,
    partial(detect_classes, task="retrieval"),
    tables=Tables("characters of classes, and classes that look alike", class_tables("retrieval")),
)


def _ask(
    writer: DatasetWriter,
    task: str,
    classes: Sequence[DrawnClass],
    distractors: Sequence[ImageRef],
    *,
    mixed: bool = False,
) -> None:
    """Add items of every query of the classes; all hold the same gallery, in the same order."""
    owners = [(one, crop) for one in classes for crop in one.references]
    gallery = (*(crop.ref for _, crop in owners), *distractors)
    gallery_of = {"gallery": MIXED_GALLERY} if mixed else {}
    for one in classes:
        relevant = tuple(place for place, (owner, _) in enumerate(owners, 1) if owner is one)
        for query in one.queries:
            pattern = Item(
                id=query.tree.id(query.name),
                benchmark=BENCHMARK,
                task=task,
                images=(query.ref, *gallery),
                relevant=relevant,
                group=one.name,
                metadata=query.tree.about(query.name, one.label) | gallery_of,
            )
            for item in items_of_queries(pattern):
                writer.add(item)


def _none_left(classes: Sequence[DrawnClass]) -> str:
    """The reason why distractors are missing, and the option that gives some."""
    if len(classes) == 1:
        return ": it has no other class"
    return ": every class is asked about; leave some over: --option classes=N"


def _shares(pools: list[Pool], draw: Draw, count: int, *, mixed: bool) -> list[int]:
    """How many classes each source gives, 0 for all: what is asked for, else the paper's number."""
    if mixed and count:
        each, rest = divmod(count, len(pools))
        return [each + (place < rest) for place in range(len(pools))]
    if count or draw.similar:
        return [count] * len(pools)
    return [pool.found.source.classes for pool in pools]
