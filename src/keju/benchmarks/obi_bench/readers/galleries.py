"""Drawing classes, their references and queries, and distractors from records, by hash and seed."""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Generic, Literal, NamedTuple, Protocol, TypeVar

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.lists import ImageFinder, ListedImage, read_list
from keju.benchmarks.obi_bench.readers.records import Records
from keju.benchmarks.obi_bench.readers.sources import Gallery, draw_order
from keju.datasets.readers.base import join_names, source_text
from keju.datasets.readers.tables import all_rows
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError, number_of, shortened
from keju.files import sha256_bytes, sha256_file
from keju.texts import _, n_

Rule = Literal["drop", "keep-first", "error"]
Duplicates = Annotated[
    Rule,
    Meta(
        description="what becomes of an image that exists byte by byte in several classes: drop "
        "(default; used nowhere), keep-first (used in the class whose file sorts first), error"
    ),
]

_SMALL = 1 << 16
"""Bytes of a file that is read at once to be hashed."""

_ROLES = (
    frozenset({"reference", "label", "gallery", "relevant", "support"}),
    frozenset({"query", "test"}),
    frozenset({"distractor", "negative"}),
)


class Crop(NamedTuple):
    """An image of a class: the records of its source, its name there, and its class."""

    records: Records
    name: str
    label: str

    @property
    def path(self) -> Path:
        """Its file."""
        return self.records.path(self.name)

    @property
    def id(self) -> str:
        """Its name in ids and notes."""
        return self.records.id(self.name)

    @property
    def owner(self) -> str:
        """Its class, after its source."""
        return f"{self.records.source}/{self.label}"


class DrawnClass(NamedTuple):
    """A class that was drawn, with its references and its queries."""

    name: str
    references: tuple[Crop, ...]
    queries: tuple[Crop, ...]


class Drawn(NamedTuple):
    """The classes that were drawn of a source, and its distractors."""

    records: Records
    classes: list[DrawnClass]
    distractors: list[Crop]


class Owned(Protocol):
    """An image of a class: its file, its name in notes, and its class after its source."""

    @property
    def path(self) -> Path:
        """Its file."""

    @property
    def id(self) -> str:
        """Its name in notes."""

    @property
    def owner(self) -> str:
        """Its class, after its source."""


T = TypeVar("T", bound=Owned)


class Copies(Generic[T]):
    """Finds byte-identical images: each is compared with all images of the same size in bytes.

    So what is found does not depend on how many classes are drawn, and of a large source only the
    images of those sizes are read.

    Args:
        crops: all images that may be drawn together; iterated once.
        rule: what becomes of an image in several classes.
    """

    def __init__(self, crops: Iterable[T], rule: Rule) -> None:
        self._crops = crops
        self._rule = rule
        self._sizes: dict[int, list[T]] | None = None
        self._groups: dict[int, dict[str, list[T]]] = {}
        self._digests: dict[Path, str] = {}
        self._of_classes: dict[str, list[T]] = {}

    def digest(self, crop: T) -> str:
        """The SHA-256 of an image that has a copy; empty if it has none."""
        size = _size(crop.path)
        if size not in self._groups:
            self._groups[size] = self._group(size)
        return self._digests.get(crop.path, "")

    def is_usable(self, crop: T) -> bool:
        """Whether an image may be used in its class; if not, `notes` reports it.

        Raises:
            DataError: it is in another class too, and the rule is ``error``.
        """
        digest = self.digest(crop)
        copies = self._groups[_size(crop.path)].get(digest, [crop])
        if len({copy.owner for copy in copies}) == 1:
            return True
        first = min(copies, key=lambda copy: copy.id)
        if self._rule == "error":
            other = next(copy for copy in copies if copy.owner != crop.owner)
            raise DataError(
                "the same image as {}, which is of another class",
                other.path,
                file=crop.path,
                hint="Remove one of the two, or give --option duplicates=drop",
            )
        self._of_classes[digest] = copies
        return self._rule == "keep-first" and first.owner == crop.owner

    def draw(self, crops: Iterable[T], count: int, used: set[str] | None = None) -> list[T]:
        """The first `count` usable images of which none is a copy of another or of those used."""
        used = set() if used is None else used
        drawn: list[T] = []
        for crop in crops:
            if len(drawn) == count:
                break
            if self.is_usable(crop) and (digest := self.digest(crop)) not in used:
                used |= {digest} - {""}
                drawn.append(crop)
        return drawn

    def notes(self) -> Iterator[str]:
        """One line on the images in several classes that the draw came across."""
        if self._of_classes:
            groups = sorted(self._of_classes.values(), key=lambda copies: copies[0].id)
            pairs = (" = ".join(sorted(copy.id for copy in copies)[:3]) for copies in groups)
            use = "used in no class" if self._rule == "drop" else "used in the first class only"
            yield (
                f"{number_of(len(groups), 'image exists', 'images exist')} byte by byte in "
                f"several classes, {use} (duplicates={self._rule}): {join_names(pairs, 3)}"
            )

    def _group(self, size: int) -> dict[str, list[T]]:
        """The images of one size by digest, as far as there are copies."""
        if self._sizes is None:
            self._sizes = defaultdict(list)
            for crop in self._crops:
                self._sizes[_size(crop.path)].append(crop)
        alike = self._sizes.get(size, [])
        if len(alike) < 2 or size <= 0:
            return {}
        by_digest: dict[str, list[T]] = defaultdict(list)
        for crop in alike:
            try:
                by_digest[_digest(crop.path, size)].append(crop)
            except OSError:
                continue  # Where it is drawn, reading it reports what is wrong.
        groups = {digest: copies for digest, copies in by_digest.items() if len(copies) > 1}
        self._digests |= {crop.path: digest for digest, some in groups.items() for crop in some}
        return groups


def _digest(path: Path, size: int) -> str:
    """The SHA-256 of a file of `size` bytes; small files are read at once, as there may be many.

    Raises:
        OSError: it is not readable.
    """
    if size > _SMALL:
        return sha256_file(path)
    check_time()
    with path.open("rb", buffering=0) as stream:
        return sha256_bytes(stream.read(size) or b"")


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    try:
        status = path.stat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1


def crops_of(records: Records) -> Iterator[Crop]:
    """Every image of a source, with its class."""
    for classes in (records.classes, records.undeciphered):
        for label, names in classes.items():
            yield from (Crop(records, name, label) for name in names)


def order_of(
    records: Records, label: str, seed: str, names: Sequence[str] | None = None
) -> list[Crop]:
    """The images of a class, all or these, in the order in which they are drawn."""
    keys = records.draw_keys(label, records.classes[label] if names is None else names)
    return [
        Crop(records, keys[key], label) for key in draw_order(keys, seed, records.source, label)
    ]


class Plan(NamedTuple):
    """The settings of a draw: the same records and plan give the same classes and images.

    `similar` are the classes that may be drawn, from the file `similar_file`; None for all.
    """

    seed: str
    duplicates: Rule
    similar: tuple[str, ...] | None
    similar_file: Path | None

    def facts(self, by_source: Iterable[Drawn]) -> dict[str, object]:
        """The record of the draw in dataset.json."""
        counts = [f"{drawn.records.source} {len(drawn.classes)}" for drawn in by_source]
        return {
            "seed": self.seed,
            "classes": ", ".join(counts),
            "similar": "yes" if self.similar else "no",
            "duplicates": self.duplicates,
        }


class Draw:
    """Draws from one source. `notes` report what was skipped.

    Classes are drawn in an order of which a smaller number is always the beginning, so a sweep
    continues with what it has.

    Args:
        records: the source.
        plan: what is drawn.
        copies: the copies among the images that are drawn together.

    Raises:
        DataError: the source has no class of enough images, or none of those that look alike.
    """

    def __init__(self, records: Records, plan: Plan, copies: Copies[Crop]) -> None:
        self.records = records
        self.gallery: Gallery = records.place.source.gallery
        self.notes: list[str] = []
        self._plan = plan
        self._copies = copies
        self._eligible = self._eligible_classes()

    def _eligible_classes(self) -> frozenset[str]:
        """Classes of enough images, and of those that look alike if asked for."""
        records, classes = self.records, self.records.classes
        similar, needed = self._plan.similar, self.gallery.needed
        wanted = set(classes) if similar is None else classes.keys() & set(similar)
        if not wanted:
            raise DataError(
                "none of its lines is a class of {}: expected names as {}; found {}",
                records.source,
                join_names(map(repr, sorted(classes)), 3),
                join_names(map(repr, map(shortened, similar or ())), 3),
                file=self._plan.similar_file or records.place.folder,
                hint="Write one class a line, as its folder is called",
            )
        if unknown := [label for label in similar or () if label not in classes]:
            self.notes.append(f"{records.source} has no class {join_names(unknown)}")
        small = sorted(label for label in wanted if len(classes[label]) < needed)
        if len(small) == len(wanted):
            raise self._too_few(len(small), n_("{n:,} image", "{n:,} images", needed))
        if small:
            self.notes.append(
                f"{records.source}: skipped {number_of(len(small), 'class', 'classes')} of "
                f"fewer than {needed} images: {join_names(small)}"
            )
        return frozenset(wanted.difference(small))

    def _too_few(self, count: int, images: str) -> DataError:
        return DataError(
            "none of its {} has {}",
            n_("{n:,} class", "{n:,} classes", count),
            images,
            file=self.records.place.folder,
            hint="A class needs its references and queries, each an image of its own",
        )

    def classes(self, count: int) -> list[DrawnClass]:
        """`count` classes (0 for all), in the order of their names.

        Raises:
            DataError: fewer classes than that have enough different images.
        """
        name, needed = self.records.source, self.gallery.needed
        different = n_("{n:,} different image", "{n:,} different images", needed)
        drawn: dict[str, DrawnClass] = {}
        for label in draw_order(self._eligible, self._plan.seed, name, "classes"):
            if count and len(drawn) == count:
                break
            crops = self._copies.draw(order_of(self.records, label, self._plan.seed), needed)
            if len(crops) == needed:
                drawn[label] = _drawn_class(crops, self.gallery.references)
            else:
                self.notes.append(
                    f"{name}: skipped {label}, which has only {len(crops)} images without copies"
                )
        if not drawn:
            raise self._too_few(len(self._eligible), different)
        if len(drawn) < count:
            raise DataError(
                "{} {}; wanted are {}",
                n_("{n:,} class has", "{n:,} classes have", len(drawn)),
                different,
                count,
                file=self.records.place.folder,
                hint=_(
                    "Ask for at most {} of this source with --option classes=N; with mixed=yes, "
                    "N is divided among all sources",
                    len(drawn),
                ),
            )
        return [drawn[label] for label in sorted(drawn)]

    def distractors(self, taken: Sequence[DrawnClass], count: int) -> list[Crop]:
        """Images of classes that were not taken, one of each before a second of any.

        Args:
            taken: the classes that were drawn.
            count: how many; 0 for as many as the classes taken have images, if there are.

        Raises:
            DataError: there are not enough.
        """
        records, seed = self.records, self._plan.seed
        others = records.classes.keys() - {drawn.queries[0].label for drawn in taken}
        turns = sorted(
            (turn, rank, crop)
            for rank, label in enumerate(draw_order(others, seed, records.source, "distractors"))
            for turn, crop in enumerate(order_of(records, label, seed))
        )
        most = count or len(taken) * self.gallery.needed
        chosen = self._copies.draw((crop for *_turn, crop in turns), most)
        if len(chosen) < count:
            raise DataError(
                n_(
                    "{n:,} image of other classes; wanted are {} distractors",
                    "{n:,} images of other classes; wanted are {} distractors",
                    len(chosen),
                    count,
                ),
                file=records.place.folder,
                hint=_("Ask for less: --option distractors={}, or fewer classes", len(chosen))
                if chosen
                else _("Leave classes over for them: --option classes=N"),
            )
        return chosen


def _drawn_class(crops: Sequence[Crop], references: int) -> DrawnClass:
    return DrawnClass(crops[0].owner, tuple(crops[:references]), tuple(crops[references:]))


def copies_of(
    several: Sequence[Iterable[Crop]], rule: Rule, *, together: bool
) -> list[Copies[Crop]]:
    """The copies among the images of each source, or of all of them if they make one gallery."""
    if not together:
        return [Copies(crops, rule) for crops in several]
    shared = Copies((crop for crops in several for crop in crops), rule)
    return [shared] * len(several)


def copy_notes(several: Iterable[Copies[Crop]]) -> Iterator[str]:
    """Notes on the copies, each once."""
    for copies in dict.fromkeys(several):
        yield from copies.notes()


def similar_classes(file: Path) -> tuple[str, ...]:
    """The classes in a list of classes that look alike, one a line.

    In a CSV with the columns class and similar they are those whose cell of the column similar is
    not empty.

    Raises:
        DataError: the file is not readable, or names less than two.
    """
    if file.suffix.casefold() == ".csv" and "similar" in source_text(file).partition("\n")[0]:
        rows = [cells for _place, cells in all_rows(file)]
        lines = [str(row.get("class", "")) for row in rows if str(row["similar"]).strip()]
    else:
        lines = [line.strip() for line in source_text(file).split("\n")]
    classes = tuple(dict.fromkeys(line for line in lines if line))
    if len(classes) < 2:
        raise DataError(
            "expected classes that look alike, two or more, one a line; found {}",
            len(classes),
            file=file,
            hint="Write each as its folder is called",
        )
    return classes


class ListedCrop(NamedTuple):
    """An image that a list gives, with its role and position."""

    crop: Crop
    listed: ListedImage


def listed_by_source(several: Sequence[Records], file: Path) -> list[list[ListedCrop]]:
    """The images of a list, for each source in their order.

    Raises:
        DataError: as `ImageFinder.find_listed`; a source has no image in the list.
    """
    crops: dict[str, tuple[int, Crop]] = {}
    for number, records in enumerate(several):
        before = f"{records.place.folder.name}/" if len(several) > 1 else ""
        crops |= {before + crop.name: (number, crop) for crop in crops_of(records)}
    by_source: list[list[ListedCrop]] = [[] for _records in several]
    for listed in ImageFinder(crops).find_listed(read_list(file)):
        number, crop = crops[listed.name]
        by_source[number].append(ListedCrop(crop, listed))
    pairs = zip(several, by_source, strict=True)
    if empty := [records.source for records, listed in pairs if not listed]:
        raise DataError(
            "the list has no image of {}",
            join_names(empty),
            file=file,
            hint="List images of every source, or import the sources one by one",
        )
    return by_source


def listed_gallery(
    records: Records, listed: Iterable[ListedCrop], copies: Copies[Crop], *, distractors: bool
) -> tuple[Drawn, list[str]]:
    """Classes as listed, and notes: by role, else the first images of a class are its references.

    Args:
        records: the source.
        listed: its images in the list.
        copies: the copies among the listed images.
        distractors: whether a class without queries gives distractors.

    Raises:
        DataError: no class has a reference and a query; a role is unknown.
    """
    by_class: dict[str, list[ListedCrop]] = {}
    for entry in listed:
        by_class.setdefault(entry.crop.label, []).append(entry)
    used: set[str] = set()
    classes: list[DrawnClass] = []
    others: list[Crop] = []
    incomplete: list[str] = []
    for label, entries in by_class.items():
        usable = [entry for entry in entries if copies.draw([entry.crop], 1, used)]
        references, queries, rest = _by_role(usable, records.place.source.gallery.references)
        if distractors and not queries:
            references, rest = [], [*references, *rest]
        others += rest if distractors else []
        if references and queries:
            classes.append(_drawn_class([*references, *queries], len(references)))
        elif not (distractors and rest):
            incomplete.append(label)
    notes = []
    if incomplete:
        notes.append(
            f"{records.source}: skipped "
            f"{number_of(len(incomplete), 'listed class', 'listed classes')} without a "
            f"reference and a query: {join_names(incomplete)}"
        )
    if not classes:
        raise DataError(
            "no listed class of {} has a reference and a query",
            records.source,
            file=records.place.folder,
            hint="List more images of a class, or add the column role: reference, query",
        )
    return Drawn(records, sorted(classes, key=lambda drawn: drawn.name), others), notes


def _by_role(
    entries: Sequence[ListedCrop], count: int
) -> tuple[list[Crop], list[Crop], list[Crop]]:
    """References, queries and distractors of a class."""
    crops = [entry.crop for entry in entries]
    if not any(entry.listed.role for entry in entries):
        return crops[:count], crops[count:], []
    parts: tuple[list[Crop], list[Crop], list[Crop]] = ([], [], [])
    for crop, listed in entries:
        for roles, part in zip(_ROLES, parts, strict=True):
            if listed.role in roles:
                part.append(crop)
                break
        else:
            raise listed.place.error(
                _(
                    "the role {!r} is unknown",
                    listed.role[:20],
                    hint="Write reference, query or distractor",
                )
            )
    return parts
