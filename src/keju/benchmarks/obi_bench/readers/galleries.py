"""Drawing classes, their references and queries, and distractors from records, by hash and seed."""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.lists import NamedImages
from keju.benchmarks.obi_bench.readers.records import Crop, Records
from keju.benchmarks.obi_bench.readers.sources import draw_order
from keju.datasets.readers.base import join_names
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError
from keju.files import sha256_file
from keju.texts import _, n_


class DrawnClass(NamedTuple):
    """A class that was drawn, with its references and its queries."""

    name: str
    references: list[Crop]
    queries: list[Crop]


class Drawn(NamedTuple):
    """The classes that were drawn of a source, its distractors, and notes on what was skipped."""

    records: Records
    classes: list[DrawnClass]
    distractors: list[Crop]
    notes: list[str]


class Copies:
    """Finds byte-identical images: each is compared with all images of the same size in bytes.

    So what is found does not depend on how many classes are drawn, and of a large source only the
    images of those sizes are read. An image in several classes is used in none.

    Args:
        crops: all images that may be drawn together; iterated once.
    """

    def __init__(self, crops: Iterable[Crop]) -> None:
        self._crops = crops
        self._copies: dict[int, dict[Path, list[Crop]]] = {}
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
        if size not in self._copies:
            by_digest: dict[str, list[Crop]] = defaultdict(list)
            alike = self._sizes.get(size, ())
            for other in alike if len(alike) > 1 and size > 0 else ():
                check_time()
                with suppress(OSError):  # Where it is drawn, reading it reports what is wrong.
                    by_digest[sha256_file(other.path)].append(other)
            self._copies[size] = {
                copy.path: copies for copies in by_digest.values() for copy in copies
            }
        return self._copies[size].get(crop.path, [crop])

    @cached_property
    def _sizes(self) -> dict[int, list[Crop]]:
        sizes: dict[int, list[Crop]] = defaultdict(list)
        for crop in self._crops:
            sizes[_size(crop.path)].append(crop)
        return sizes


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    try:
        status = path.stat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1


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


def _eligible(records: Records) -> tuple[dict[str, list[Crop]], list[str]]:
    """The classes of enough images, and notes.

    Raises:
        DataError: there are none.
    """
    needed = records.place.source.gallery.needed
    large = {label: crops for label, crops in records.classes.items() if len(crops) >= needed}
    if not large:
        images = n_("{n:,} image", "{n:,} images", needed)
        raise _too_few(records, len(records.classes), images)
    small = sorted(records.classes.keys() - large.keys())
    if not small:
        return large, []
    note = n_(
        "{}: skipped {n:,} class of fewer than {} images: {}",
        "{}: skipped {n:,} classes of fewer than {} images: {}",
        len(small),
        records.source,
        needed,
        join_names(small),
    )
    return large, [note]


def _too_few(records: Records, count: int, images: str) -> DataError:
    return DataError(
        "none of its {} has {}",
        n_("{n:,} class", "{n:,} classes", count),
        images,
        file=records.place.folder,
        hint="A class needs its references and queries, each an image of its own",
    )


def draw_classes(records: Records, copies: Copies, count: int, seed: str) -> Drawn:
    """`count` classes (0 for all), in the order of their names, without distractors.

    They are drawn in an order of which a smaller number is always the beginning, so a sweep
    continues with what it has.

    Raises:
        DataError: fewer classes than that have enough different images.
    """
    name, gallery = records.source, records.place.source.gallery
    eligible, notes = _eligible(records)
    different = n_("{n:,} different image", "{n:,} different images", gallery.needed)
    classes: dict[str, DrawnClass] = {}
    for label in draw_order(eligible, seed, name, "classes"):
        if count and len(classes) == count:
            break
        crops = copies.draw(order_of(eligible[label], seed), gallery.needed)
        if len(crops) == gallery.needed:
            references, queries = crops[: gallery.references], crops[gallery.references :]
            classes[label] = DrawnClass(crops[0].owner, references, queries)
        else:
            notes.append(
                _(
                    "{}: skipped {}, which has only {} images without copies",
                    name,
                    label,
                    len(crops),
                )
            )
    if not classes:
        raise _too_few(records, len(eligible), different)
    if len(classes) < count:
        raise DataError(
            "{} {}; wanted are {}",
            n_("{n:,} class has", "{n:,} classes have", len(classes)),
            different,
            count,
            file=records.place.folder,
            hint=_(
                "Ask for at most {} of this source with --option classes=N; with mixed=yes, "
                "N is divided among all sources",
                len(classes),
            ),
        )
    return Drawn(records, [classes[label] for label in sorted(classes)], [], notes)


def draw_distractors(gallery: Drawn, copies: Copies, count: int, seed: str) -> list[Crop]:
    """Images of classes that were not drawn, one of each before a second of any.

    Args:
        gallery: the classes that were drawn.
        copies: the copies among the images of the source.
        count: how many; 0 for as many as the classes drawn have images, if there are.
        seed: the seed.

    Raises:
        DataError: there are not enough.
    """
    records = gallery.records
    labels = records.classes.keys() - {group.queries[0].label for group in gallery.classes}
    turns = sorted(
        (turn, rank, crop)
        for rank, label in enumerate(draw_order(labels, seed, records.source, "distractors"))
        for turn, crop in enumerate(order_of(records.classes[label], seed))
    )
    most = count or len(gallery.classes) * records.place.source.gallery.needed
    distractors = copies.draw((crop for *_turn, crop in turns), most)
    if len(distractors) < count:
        raise DataError(
            n_(
                "{n:,} image of other classes; wanted are {} distractors",
                "{n:,} images of other classes; wanted are {} distractors",
                len(distractors),
                count,
            ),
            file=records.place.folder,
            hint=_("Ask for less: --option distractors={}, or fewer classes", len(distractors))
            if distractors
            else _("Leave classes over for them: --option classes=N"),
        )
    return distractors


def only_listed(several: Sequence[Records], file: Path) -> list[Records]:
    """The sources with the images of a list alone.

    Raises:
        DataError: as `NamedImages.listed`; a source has no image in the list.
    """
    folder = several[0].place.folder
    paths = [crop.path for records in several for crop in records.crops]
    listed = NamedImages(folder if len(several) == 1 else folder.parent, paths).listed(file)
    limited = []
    for records in several:
        classes = {label: [crop for crop in crops if crop.path in listed]
                for label, crops in records.classes.items()}  # fmt: skip
        limited.append(
            records._replace(classes={label: crops for label, crops in classes.items() if crops})
        )
    if empty := [records.source for records in limited if not records.classes]:
        raise DataError(
            "the list has no image of {}",
            join_names(empty),
            file=file,
            hint="List images of every source, or import the sources one by one",
        )
    return limited
