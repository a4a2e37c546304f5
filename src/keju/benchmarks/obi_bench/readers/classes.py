"""FORMATS ``obi-classification`` and ``obi-retrieval``: crops of characters in a folder a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.galleries import (
    Copies,
    Drawn,
    draw_classes,
    draw_distractors,
    only_listed,
)
from keju.benchmarks.obi_bench.readers.lists import ItemList
from keju.benchmarks.obi_bench.readers.records import (
    CHARACTER_TABLES,
    Crop,
    read_records,
)
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Paths,
    Seed,
    SourceName,
    items_of_queries,
    named_sources,
    preset,
    record_sources,
    sources_in,
)
from keju.datasets.readers.base import Detection, Reader, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.errors import KejuError, error_text
from keju.items import MIXED_GALLERY, ImageRef, Item
from keju.settings import Settings
from keju.texts import _, join_clauses, listed, n_

_SWEEP = ", ".join(map(str, preset("classification").gallery.sweep))
_CLASSES_HELP = (
    f"this many classes (the paper's sweep: {_SWEEP}; by default as many as the paper has, of a "
    "source of your own all)"
)


class ClassSettings(Settings, frozen=True, kw_only=True):
    """The options that ``obi-classification`` and ``obi-retrieval`` share."""

    source: SourceName = ""
    paths: Paths = ""
    classes: Annotated[int | None, Meta(description=_CLASSES_HELP, ge=1)] = None
    seed: Seed = "0"
    items: ItemList = None


class ClassificationSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-classification``."""

    mixed: Annotated[
        bool,
        Meta(
            description="yes: the classes of all sources make one gallery, as in the paper's sweep "
            "(default no: a gallery each)"
        ),
    ] = False


class RetrievalSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-retrieval``."""

    distractors: Annotated[
        int | None,
        Meta(
            description="this many images of other classes (default the paper's, of a source of "
            "your own as many as there are queries and relevant images)",
            ge=1,
        ),
    ] = None


def read_classification(
    src: Path, writer: DatasetWriter, settings: ClassificationSettings
) -> Iterator[str]:
    """Draw classes and make items of every query against the references.

    Raises:
        UsageError: the given source is one of another task.
        DataError: no classes, or too few of them or of their images.
    """
    galleries, notes = _draw(src, writer, "classification", settings, mixed=settings.mixed)
    for together in [galleries] if settings.mixed else [[gallery] for gallery in galleries]:
        _add_items(writer, together, mixed=settings.mixed)
    yield from notes
    counts = {gallery.records.source: len(gallery.classes) for gallery in galleries}
    if settings.mixed and (settings.classes or settings.items) and len(set(counts.values())) > 1:
        numbers = listed(f"{name} {count}" for name, count in counts.items())
        yield _("classes that do not divide evenly: {}", numbers)


def read_retrieval(src: Path, writer: DatasetWriter, settings: RetrievalSettings) -> Iterator[str]:
    """Draw classes and distractors and make items of every query against them all.

    Raises:
        UsageError: the given source is one of another task.
        DataError: no classes, or too few of them or of their images.
    """
    galleries, notes = _draw(src, writer, "retrieval", settings, distractors=settings.distractors)
    for gallery in galleries:
        _add_items(writer, [gallery])
        note = n_(
            "{}: {n:,} class and {} distractors",
            "{}: {n:,} classes and {} distractors",
            len(gallery.classes),
            gallery.records.source,
            len(gallery.distractors),
        )
        if not gallery.distractors:
            reason = _("every class is asked about; leave some over: --option classes=N")
            if len(gallery.classes) == 1:
                reason = _("it has no other class")
            note = _("{}: {}", note, reason)
        yield note
    yield from notes


def _draw(
    src: Path,
    writer: DatasetWriter,
    task: str,
    settings: ClassSettings,
    *,
    mixed: bool | None = None,
    distractors: int | None = 0,
) -> tuple[list[Drawn], list[str]]:
    """The galleries of the sources, and notes.

    With `mixed` their classes make one gallery; None for a task without this option. `distractors`
    is None for as many as the paper has, 0 for a task without any.
    """
    several = [
        read_records(place) for place in sources_in(src, task, settings.source, settings.paths)
    ]
    if settings.items:
        several = only_listed(several, settings.items)
    pools = [records.crops for records in several]
    copies = [Copies(chain(*pools))] * len(pools) if mixed else list(map(Copies, pools))
    galleries = []
    for number, (records, among) in enumerate(zip(several, copies, strict=True)):
        share, printed = settings.classes or 0, records.place.source.gallery
        if mixed and share:
            share = share // len(several) + (number < share % len(several))
        elif not (share or settings.items):
            share = printed.classes
        gallery = draw_classes(records, among, share, settings.seed)
        if distractors != 0:
            count = distractors or (0 if settings.items else printed.distractors)
            images = draw_distractors(gallery, among, count, settings.seed)
            gallery = gallery._replace(distractors=images)
        galleries.append(gallery)
    facts = {
        "seed": settings.seed,
        "classes": ", ".join(
            f"{gallery.records.source} {len(gallery.classes)}" for gallery in galleries
        ),
    }
    if mixed is not None:
        facts["mixed"] = "yes" if mixed else "no"
    record_sources(writer, [records.place for records in several], facts)
    notes = [note for gallery in galleries for note in gallery.notes]
    notes += [_("{}: {}", records.source, note) for records in several for note in records.notes]
    notes += [note for among in dict.fromkeys(copies) for note in among.notes()]
    return galleries, notes


def _add_items(writer: DatasetWriter, galleries: Sequence[Drawn], *, mixed: bool = False) -> None:
    """Add items of every query; all have the same gallery, in the same order."""

    def store(crop: Crop) -> ImageRef:
        return writer.add_image(source_bytes(crop.path), str(crop.path))

    classes = [(gallery.records, group) for gallery in galleries for group in gallery.classes]
    owners = [(group.name, store(crop)) for _records, group in classes for crop in group.references]
    distractors = [store(crop) for gallery in galleries for crop in gallery.distractors]
    images = (*(ref for _owner, ref in owners), *distractors)
    for records, group in classes:
        relevant = tuple(n for n, (owner, _ref) in enumerate(owners, 1) if owner == group.name)
        for query in group.queries:
            pattern = Item(
                id=query.id,
                benchmark=BENCHMARK,
                task=query.place.source.task,
                images=(store(query), *images),
                relevant=relevant,
                group=group.name,
                metadata=records.about(query) | ({"gallery": MIXED_GALLERY} if mixed else {}),
            )
            for item in items_of_queries(pattern):
                writer.add(item)


def detect_classes(listing: Listing, task: str) -> Detection | None:
    """Recognise class folders that classification or retrieval can draw from."""
    folders = named_sources(listing)
    if not listing.src.is_dir() or not listing.images:
        return None
    if all(source.task != task for source in folders) if folders else not _are_classes(listing):
        return None
    try:
        several = [read_records(place) for place in sources_in(listing.src, task)]
    except KejuError as error:
        missing = error_text(error)
        return Detection(0.6, _("OBI-Bench's {}", task), missing=missing) if folders else None
    counts = (
        _("{}: {} in {}", records.source,
          n_("{n:,} image", "{n:,} images", len(records.crops)),
          n_("{n:,} class folder", "{n:,} class folders", len(records.classes)))
        for records in several
    )  # fmt: skip
    text = join_clauses(counts)
    if folders:
        return Detection(1.0, text)
    # Folders of classes suit both tasks; only the folder's name may name one of them.
    fit = 0.6 if task in listing.root.resolve().name.casefold() else 0.5
    sibling = {"classification": "retrieval", "retrieval": "classification"}[task]
    return Detection(fit, _("{} (also possible: obi-{})", text, sibling))


def _are_classes(listing: Listing) -> bool:
    """Whether the images are in class folders, two or more in each, and nothing else with them."""
    files = [path for path in listing.files if path.name.casefold() not in CHARACTER_TABLES]
    if any(path.suffix.casefold() in {".xml", ".txt", ".json", ".csv"} for path in files):
        return False
    if any(len(path.parts) == 1 for path in listing.images):
        return False
    labels = {path.parent.name for path in listing.images}
    return len(labels) > 1 and len(listing.images) >= 2 * len(labels)


CLASSIFICATION = Reader(
    "obi-classification",
    preset("classification").what,
    preset("classification").layout,
    read_classification,
    ClassificationSettings,
    partial(detect_classes, task="classification"),
)
RETRIEVAL = Reader(
    "obi-retrieval",
    preset("retrieval").what,
    preset("retrieval").layout,
    read_retrieval,
    RetrievalSettings,
    partial(detect_classes, task="retrieval"),
)
