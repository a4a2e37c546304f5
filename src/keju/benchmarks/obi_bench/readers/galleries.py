"""FORMATS ``obi-classification`` and ``obi-retrieval``: crops of characters in a folder a class.

Records come first, from the paths alone. From them are drawn, by hash and seed, the classes with
their references and queries, and the distractors; only these images are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    CHARACTER_TABLES,
    Crop,
    Records,
    Seed,
    SourceFolder,
    SourceSettings,
    add_queries,
    draw_order,
    read_records,
    reader_of,
)
from keju.datasets.readers.base import check_time, join_names, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.files import sha256_file
from keju.items import MIXED_GALLERY, ImageRef, Item
from keju.texts import _, listed, n_


class ClassSettings(SourceSettings, frozen=True, kw_only=True):
    """The options that ``obi-classification`` and ``obi-retrieval`` share."""

    classes: Annotated[
        int | None,
        Meta(
            description="this many classes (the paper's sweep: 10, 20, 30, 50, 100; by default as "
            "many as the paper has, of a source of your own all)",
            ge=1,
        ),
    ] = None
    seed: Seed = "0"


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


def read_galleries(
    places: Sequence[SourceFolder], writer: DatasetWriter, settings: ClassSettings
) -> Iterator[str]:
    """Draw classes, for retrieval also distractors, and make items of every query against them.

    Raises:
        DataError: no classes, or too few of them or of their images.
    """
    sources = [read_records(place) for place in places]
    mixed = isinstance(settings, ClassificationSettings) and settings.mixed
    counts: dict[str, int] = {}
    for group in [sources] if mixed else [[records] for records in sources]:
        copies = Copies(chain.from_iterable(records.crops for records in group))
        references: list[Crop] = []
        distractors: list[Crop] = []
        queries: list[tuple[Crop, dict[str, str]]] = []
        for number, records in enumerate(group):
            source = records.place.source
            count = source.gallery.classes
            if settings.classes:
                count = settings.classes // len(group) + (number < settings.classes % len(group))
            classes, notes = draw_classes(records, copies, count, settings.seed)
            for crops in classes.values():
                references += crops[: source.gallery.references]
                queries += [
                    (crop, records.about(crop)) for crop in crops[source.gallery.references :]
                ]
            if isinstance(settings, RetrievalSettings):
                most = settings.distractors or source.gallery.distractors
                distractors += draw_distractors(records, classes, copies, most, settings.seed)
                notes.append(
                    n_(
                        "{n:,} class and {} distractors, of the classes left over",
                        "{n:,} classes and {} distractors, of the classes left over",
                        len(classes),
                        len(distractors),
                    )
                )
            counts[source.name] = len(classes)
            yield from (_("{}: {}", source.name, note) for note in notes)
        yield from copies.notes()
        _add_items(writer, references, distractors, queries, mixed=mixed)
    numbers = [f"{name} {count}" for name, count in counts.items()]
    if mixed and settings.classes and len(set(counts.values())) > 1:
        yield _("classes that do not divide evenly: {}", listed(numbers))
    writer.declare(seed=settings.seed, classes=", ".join(numbers), mixed="yes" if mixed else "no")


def _add_items(
    writer: DatasetWriter,
    references: Sequence[Crop],
    distractors: Sequence[Crop],
    queries: Iterable[tuple[Crop, dict[str, str]]],
    *,
    mixed: bool,
) -> None:
    """Add items of every query; all have the same gallery, in the same order."""

    def store(crop: Crop) -> ImageRef:
        return writer.add_image(source_bytes(crop.path), str(crop.path))

    images = [store(crop) for crop in (*references, *distractors)]
    for query, about in queries:
        relevant = (n for n, crop in enumerate(references, 1) if crop.owner == query.owner)
        pattern = Item(
            id=query.id,
            benchmark=BENCHMARK,
            task=query.place.source.task,
            images=(store(query), *images),
            relevant=tuple(relevant),
            group=query.owner,
            metadata=about | ({"gallery": MIXED_GALLERY} if mixed else {}),
        )
        add_queries(writer, pattern)


class Copies:
    """Finds byte-identical images: each is compared with all images of the same size in bytes.

    So what is found does not depend on how many classes are drawn, and of a large source only the
    images of those sizes are read. An image in several classes is used in none.

    Args:
        crops: all images that may be drawn together; iterated once.
    """

    def __init__(self, crops: Iterable[Crop]) -> None:
        self._alike: dict[int, list[Crop]] = defaultdict(list)
        for crop in crops:
            self._alike[_size(crop.path)].append(crop)
        self._copies: dict[Path, list[Crop]] = {}
        self._of_classes: dict[str, list[Crop]] = {}

    def draw(self, crops: Iterable[Crop], count: int) -> list[Crop]:
        """The first `count` usable images of which none is a copy of another."""
        sample: dict[Path, Crop] = {}
        for crop in crops:
            if len(sample) == count:
                break
            if self.is_usable(crop):
                sample.setdefault(self._copies_of(crop)[0].path, crop)
        return list(sample.values())

    def is_usable(self, crop: Crop) -> bool:
        """Whether an image is of one class alone; if not, `notes` reports it."""
        copies = self._copies_of(crop)
        if len({copy.owner for copy in copies}) == 1:
            return True
        self._of_classes[copies[0].id] = copies
        return False

    def notes(self) -> Iterator[str]:
        """One line on the images in several classes that the draw came across."""
        if self._of_classes:
            groups = [copies for _id, copies in sorted(self._of_classes.items())]
            pairs = (" = ".join(sorted(copy.id for copy in copies)[:3]) for copies in groups)
            yield n_(
                "{n:,} image exists byte by byte in several classes, used in no class: {}",
                "{n:,} images exist byte by byte in several classes, used in no class: {}",
                len(groups),
                join_names(pairs, 3),
            )

    def _copies_of(self, crop: Crop) -> list[Crop]:
        """The images of the same bytes, itself among them."""
        size = _size(crop.path)
        alike = self._alike.pop(size, [])  # Images of one size are read once.
        by_digest: dict[str, list[Crop]] = defaultdict(list)
        for other in alike if len(alike) > 1 and size > 0 else ():
            check_time()
            with suppress(OSError):  # Where it is drawn, reading it reports what is wrong.
                by_digest[sha256_file(other.path)].append(other)
        self._copies |= {copy.path: copies for copies in by_digest.values() for copy in copies}
        return self._copies.get(crop.path, [crop])


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    return path.stat().st_size if path.is_file() else -1


def order_of(crops: Sequence[Crop], seed: str) -> list[Crop]:
    """The images of a class in the order in which they are drawn.

    It is decided by the class and the file's name, so that the folders above a class (train, test)
    do not matter; where a file's name exists twice in the class, by the path.
    """
    by_name = {f"{crop.label}/{crop.name.rpartition('/')[2]}": crop for crop in crops}
    if len(by_name) < len(crops):
        by_name = {crop.name: crop for crop in crops}
    source, label = crops[0].place.source.name, crops[0].label
    return [by_name[name] for name in draw_order(by_name, seed, source, label)]


def draw_classes(
    records: Records, copies: Copies, count: int, seed: str
) -> tuple[dict[str, list[Crop]], list[str]]:
    """`count` classes (0 for all), in the order of their names, each with the images it needs.

    They are drawn in an order of which a smaller number is always the beginning, so a sweep
    continues with what it has. Also returns notes on what is skipped.

    Raises:
        DataError: fewer classes than that have enough different images.
    """
    source = records.place.source
    needed = source.gallery.references + source.gallery.queries
    small = {label for label, crops in records.classes.items() if len(crops) < needed}
    classes: dict[str, list[Crop]] = {}
    for label in draw_order(records.classes.keys() - small, seed, source.name, "classes"):
        if count and len(classes) == count:
            break
        crops = copies.draw(order_of(records.classes[label], seed), needed)
        if len(crops) == needed:
            classes[label] = crops
        else:
            small.add(label)
    notes = list(records.notes)
    if small:
        note = n_(
            "skipped {n:,} class of fewer than {} different images: {}",
            "skipped {n:,} classes of fewer than {} different images: {}",
            len(small),
            needed,
            join_names(sorted(small)),
        )
        notes.append(note)
    if len(classes) < max(count, 1):
        raise DataError(
            "{} of its {} classes have {} different images; wanted are {}",
            len(classes),
            len(records.classes),
            needed,
            max(count, 1),
            file=records.place.folder,
            hint="A class needs its references and queries, each an image of its own. Ask for "
            "fewer classes with --option classes=N; with mixed=yes, N is divided among all sources",
        )
    return {label: classes[label] for label in sorted(classes)}, notes


def draw_distractors(
    records: Records, classes: Mapping[str, Sequence[Crop]], copies: Copies, count: int, seed: str
) -> list[Crop]:
    """`count` images of classes that were not drawn, one of each before a second of any.

    With 0 as many as the classes drawn have images, if there are.

    Raises:
        DataError: there are not enough.
    """
    labels = records.classes.keys() - classes.keys()
    order = draw_order(labels, seed, records.place.source.name, "distractors")
    turns = sorted(
        (turn, rank, crop)
        for rank, label in enumerate(order)
        for turn, crop in enumerate(order_of(records.classes[label], seed))
    )
    most = count or sum(map(len, classes.values()))
    distractors = copies.draw((crop for *_turn, crop in turns), most)
    if len(distractors) < count:
        raise DataError(
            "{} images of other classes; wanted are {} distractors",
            len(distractors),
            count,
            file=records.place.folder,
            hint="Ask for less with --option distractors=N, or leave classes over for them: "
            "--option classes=N",
        )
    return distractors


def _guess(listing: Listing) -> tuple[float, str]:
    """Folders of classes, with two images or more in each and nothing else, suit both tasks."""
    files = [path for path in listing.files if path.name.casefold() not in CHARACTER_TABLES]
    labels = {path.parent.name for path in listing.images}
    fits = (
        2 <= len(labels) <= len(listing.images) / 2
        and all(len(path.parts) > 1 for path in listing.images)
        and not any(path.suffix.casefold() in {".xml", ".txt", ".json", ".csv"} for path in files)
    )
    return (0.5 if fits else 0.0), ""


CLASSIFICATION = reader_of("classification", ClassificationSettings, read_galleries, _guess)
RETRIEVAL = reader_of("retrieval", RetrievalSettings, read_galleries, _guess)
