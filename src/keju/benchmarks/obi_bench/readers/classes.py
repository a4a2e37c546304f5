"""FORMATS ``obi-classification`` and ``obi-retrieval``: crops of characters in a folder a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.galleries import (
    Copies,
    Crop,
    Draw,
    Drawn,
    DrawnClass,
    Duplicates,
    Plan,
    copies_of,
    copy_notes,
    crops_of,
    listed_by_source,
    listed_gallery,
    similar_classes,
)
from keju.benchmarks.obi_bench.readers.lists import ItemList
from keju.benchmarks.obi_bench.readers.records import CHARACTER_TABLES, Records, read_records
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Paths,
    Seed,
    SourceFolder,
    SourceName,
    items_of_queries,
    named_sources,
    record_sources,
    sources_in,
    sweep,
)
from keju.datasets.readers.base import Detection, Reader, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.errors import KejuError, number_of
from keju.items import MIXED_GALLERY, ImageRef, Item
from keju.settings import Settings

_TREE = """\
  60001/1.png             crops of one character, in a folder called after its class; folders may
  60001/2.png             be in others (train/60001), and those of one name are one class
  60002/1.png             any other paths: --option paths='(?P<class>[^_]+)_.*'"""

CLASSIFICATION_LAYOUT = f"""\
SRC/                      one source, or a folder for each: HWOBC, Oracle-50K, OBI125
{_TREE}
Of each class one reference and four queries are drawn, of each source 100 classes. A query is
compared with the references of all classes; the one of its own class is relevant."""

RETRIEVAL_LAYOUT = f"""\
SRC/                      one source, or a folder for each: OBC306, OBI-IJDH
{_TREE}
Of each of 50 classes (OBI-IJDH: 10) one query and four relevant images are drawn, and as many
distractors of other classes. A query is compared with all relevant images and distractors."""

_CLASSES_HELP = (
    f"this many classes (the paper's sweep: {', '.join(map(str, sweep()))}; by default as many as "
    "the paper has, of a source of your own all)"
)
NamesTable = Annotated[
    Path | None,
    Meta(
        description="a table of the classes' characters: JSON such as ID_to_chinese.json, or CSV "
        "with the columns class and character (default: the one in the source)"
    ),
]


class ClassSettings(Settings, frozen=True, kw_only=True):
    """The options that ``obi-classification`` and ``obi-retrieval`` share."""

    source: SourceName = ""
    paths: Paths = ""
    classes: Annotated[int | None, Meta(description=_CLASSES_HELP, ge=1)] = None
    similar: Annotated[
        Path | None,
        Meta(
            description="a UTF-8 file of classes that look alike, one a line: no others are drawn"
        ),
    ] = None
    seed: Seed = "0"
    items: ItemList = None
    duplicates: Duplicates = "drop"
    names: NamesTable = None

    def plan(self) -> Plan:
        """The plan of the draw.

        Raises:
            DataError: the file of similar classes is not readable, or names less than two.
        """
        similar = similar_classes(self.similar) if self.similar else None
        return Plan(self.seed, self.duplicates, similar, self.similar)


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
        DataError: no classes, too few of them or of their images; with ``duplicates=error``, one
            image in two classes.
    """
    several = _records(src, "classification", settings)
    shares = _shares(several, settings, mixed=settings.mixed)
    drawn, copies, notes = _draw(several, settings, shares, together=settings.mixed)
    mixed = "yes" if settings.mixed else "no"
    places = [records.place for records in several]
    record_sources(writer, places, settings.plan().facts(drawn) | {"mixed": mixed})
    if settings.mixed:
        _add_items(writer, [one for each in drawn for one in each.classes], (), mixed=True)
    else:
        for gallery in drawn:
            _add_items(writer, gallery.classes, ())
    yield from notes
    yield from _source_notes(several, copies)
    counts = [len(gallery.classes) for gallery in drawn] if settings.items else shares
    if settings.mixed and len(set(counts)) > 1:
        pairs = zip(several, counts, strict=True)
        text = ", ".join(f"{records.source} {count}" for records, count in pairs)
        yield f"classes that do not divide evenly: {text}"


def read_retrieval(src: Path, writer: DatasetWriter, settings: RetrievalSettings) -> Iterator[str]:
    """Draw classes and distractors and make items of every query against them all.

    Raises:
        UsageError: the given source is one of another task.
        DataError: no classes, too few of them or of their images; with ``duplicates=error``, one
            image in two classes.
    """
    several = _records(src, "retrieval", settings)
    shares = _shares(several, settings, mixed=False)
    drawn, copies, notes = _draw(
        several, settings, shares, together=False, distractors=settings.distractors
    )
    for gallery in drawn:
        _add_items(writer, gallery.classes, gallery.distractors)
        counts = number_of(len(gallery.classes), "class", "classes")
        reason = "" if gallery.distractors else _no_distractors(gallery.classes)
        yield (
            f"{gallery.records.source}: {counts} and {len(gallery.distractors)} distractors{reason}"
        )
    places = [records.place for records in several]
    record_sources(writer, places, settings.plan().facts(drawn))
    yield from notes
    yield from _source_notes(several, copies)


def _records(src: Path, task: str, settings: ClassSettings) -> list[Records]:
    places = sources_in(src, task, settings.source, settings.paths)
    return [read_records(place, settings.names) for place in places]


def _shares(several: Sequence[Records], settings: ClassSettings, *, mixed: bool) -> list[int]:
    """How many classes each source gives, 0 for all: those of the option, else the paper's."""
    count = settings.classes or 0
    if mixed and count:
        share, rest = divmod(count, len(several))
        return [share + (number < rest) for number in range(len(several))]
    if count or settings.similar:
        return [count] * len(several)
    return [records.place.source.gallery.classes for records in several]


def _draw(
    several: Sequence[Records],
    settings: ClassSettings,
    shares: Sequence[int],
    *,
    together: bool,
    distractors: int | None = 0,
) -> tuple[list[Drawn], list[Copies[Crop]], list[str]]:
    """The galleries of the sources, drawn or listed, the copies among their images, and notes.

    Args:
        several: the sources.
        settings: the options.
        shares: how many classes each source gives.
        together: whether their classes make one gallery.
        distractors: how many; None for as many as the paper has, 0 for a task without any.
    """
    plan, notes, drawn = settings.plan(), [], []
    if settings.items:
        by_source = listed_by_source(several, settings.items)
        crops = [[entry.crop for entry in listed] for listed in by_source]
        copies = copies_of(crops, plan.duplicates, together=together)
        for records, listed, among in zip(several, by_source, copies, strict=True):
            gallery, skipped = listed_gallery(records, listed, among, distractors=distractors != 0)
            drawn.append(gallery)
            notes += skipped
        return drawn, copies, notes
    copies = copies_of(list(map(crops_of, several)), plan.duplicates, together=together)
    draws = [Draw(records, plan, each) for records, each in zip(several, copies, strict=True)]
    for draw, share in zip(draws, shares, strict=True):
        classes = draw.classes(share)
        count = distractors or draw.gallery.distractors
        others = [] if distractors == 0 else draw.distractors(classes, count)
        drawn.append(Drawn(draw.records, classes, others))
        notes += draw.notes
    return drawn, copies, notes


def _source_notes(several: Sequence[Records], copies: Sequence[Copies[Crop]]) -> Iterator[str]:
    for records in several:
        yield from (f"{records.source}: {note}" for note in records.notes)
    yield from copy_notes(copies)


def _no_distractors(classes: Sequence[DrawnClass]) -> str:
    """The reason why distractors are missing, and the option that gives some."""
    if len(classes) == 1:
        return ": it has no other class"
    return ": every class is asked about; leave some over: --option classes=N"


def _add_items(
    writer: DatasetWriter,
    classes: Sequence[DrawnClass],
    distractors: Sequence[Crop],
    *,
    mixed: bool = False,
) -> None:
    """Add items of every query of the classes; all have the same gallery, in the same order."""

    def store(crop: Crop) -> ImageRef:
        return writer.add_image(source_bytes(crop.path), str(crop.path))

    owners = [(drawn, store(crop)) for drawn in classes for crop in drawn.references]
    gallery = (*(ref for _owner, ref in owners), *map(store, distractors))
    for drawn in classes:
        relevant = tuple(n for n, (owner, _ref) in enumerate(owners, 1) if owner is drawn)
        for query in drawn.queries:
            about = query.records.about(query.name, query.label)
            pattern = Item(
                id=query.id,
                benchmark=BENCHMARK,
                task=query.records.place.source.task,
                images=(store(query), *gallery),
                relevant=relevant,
                group=drawn.name,
                metadata=about | ({"gallery": MIXED_GALLERY} if mixed else {}),
            )
            for item in items_of_queries(pattern):
                writer.add(item)


class _Counted(NamedTuple):
    """A source in a listing, and how many images each class has."""

    place: SourceFolder
    images: Counter[str]

    @property
    def large(self) -> int:
        """The classes with enough images."""
        needed = self.place.source.gallery.needed
        return sum(count >= needed for count in self.images.values())


def detect_classes(listing: Listing, task: str) -> Detection | None:
    """Recognise class folders that classification or retrieval can draw from."""
    named = named_sources(listing)
    if not listing.src.is_dir() or not listing.images:
        return None
    if all(source.task != task for source in named) if named else not _are_classes(listing):
        return None
    try:
        several = [_count_images(listing, place) for place in sources_in(listing.src, task)]
    except KejuError as error:
        return Detection(0.6, f"OBI-Bench's {task}", missing=str(error)) if named else None
    small = [counted.place.source for counted in several if not counted.large]
    missing = ""
    if small and listing.complete:
        missing = f"{small[0].name} has no class of {small[0].gallery.needed} images"
    least = "" if listing.complete else "at least "
    text = "; ".join(
        f"{place.source.name}: {least}{number_of(images.total(), 'image')} in "
        f"{number_of(len(images), 'class folder')}"
        for place, images in several
    )
    if named:
        return Detection(1.0, text, _smaller(listing, several, task), missing)
    # Folders of classes suit both tasks; only the folder's name may name one of them.
    fit = 0.6 if task in listing.root.resolve().name.casefold() else 0.5
    other = {"classification": "retrieval", "retrieval": "classification"}[task]
    return Detection(fit, f"{text} (also possible: obi-{other})", missing=missing)


def _count_images(listing: Listing, place: SourceFolder) -> _Counted:
    inner = place.folder.relative_to(place.src).as_posix()
    counts: Counter[str] = Counter()
    for path in listing.images:
        if path.is_relative_to(inner) and len(path.relative_to(inner).parts) > 1:
            name = path.relative_to(inner).as_posix()
            if not place.source.skips(name):
                counts[path.parent.name] += 1
    return _Counted(place, counts)


def _are_classes(listing: Listing) -> bool:
    """Whether the images are in class folders, two or more in each, and nothing else with them."""
    others = [path for path in listing.files if path.name.casefold() not in CHARACTER_TABLES]
    if any(path.suffix.casefold() in {".xml", ".txt", ".json", ".csv"} for path in others):
        return False
    if any(len(path.parts) == 1 for path in listing.images):
        return False
    labels = {path.parent.name for path in listing.images}
    return len(labels) > 1 and len(listing.images) >= 2 * len(labels)


def _smaller(listing: Listing, several: Sequence[_Counted], task: str) -> dict[str, str]:
    """Options for a source with less than the paper draws of it."""
    galleries = [counted.place.source.gallery for counted in several]
    pairs = list(zip(several, galleries, strict=True))
    if not listing.complete or all(counted.large >= each.classes for counted, each in pairs):
        return {}
    most = min(counted.large for counted in several)
    if task == "classification" or not most:
        return {"classes": str(most)} if most else {}
    wanted = min(most, max(1, most // 2), max(gallery.classes for gallery in galleries))
    spare = min(
        images.total() - sum(count for _label, count in images.most_common(wanted))
        for _place, images in several
    )
    options = {"classes": str(wanted)}
    if spare and galleries[0].distractors:
        options["distractors"] = str(min(spare, galleries[0].distractors))
    return options


CLASSIFICATION = Reader(
    "obi-classification",
    "OBI-Bench's classification: one folder of crops per class",
    CLASSIFICATION_LAYOUT,
    read_classification,
    ClassificationSettings,
    partial(detect_classes, task="classification"),
)
RETRIEVAL = Reader(
    "obi-retrieval",
    "OBI-Bench's retrieval: one folder of crops per class",
    RETRIEVAL_LAYOUT,
    read_retrieval,
    RetrievalSettings,
    partial(detect_classes, task="retrieval"),
)
