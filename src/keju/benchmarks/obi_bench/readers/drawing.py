"""Drawing classes of crops, their references and queries, and distractors, by hash and seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.copies import Copies, Image
from keju.benchmarks.obi_bench.readers.settings import ClassSettings
from keju.benchmarks.obi_bench.readers.sources import Found, draw_order
from keju.benchmarks.obi_bench.readers.tree import Tree
from keju.datasets.readers.base import join_names, source_bytes, source_text
from keju.datasets.readers.tables import read_table
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, number_of, shortened
from keju.items import ImageRef
from keju.texts import _, n_


class Crop(NamedTuple):
    """A crop of a character: its source, its name there, its class, and its stored image."""

    tree: Tree
    name: str
    label: str
    ref: ImageRef


class DrawnClass(NamedTuple):
    """A class that was drawn, with its references and its queries."""

    tree: Tree
    label: str
    references: tuple[Crop, ...]
    queries: tuple[Crop, ...]

    @property
    def found(self) -> Found:
        """The source."""
        return self.tree.found

    @property
    def name(self) -> str:
        """The class, after its source."""
        return f"{self.found.source.name}/{self.label}"


class Pool(NamedTuple):
    """The classes of a source, those that may be drawn, and the copies among their images."""

    tree: Tree
    eligible: frozenset[str]
    copies: Copies

    @property
    def found(self) -> Found:
        """The source."""
        return self.tree.found

    @property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """The names of each class's images."""
        return self.tree.classes

    @property
    def needed(self) -> int:
        """The images that a class must have."""
        return self.found.source.references + self.found.source.queries


def image_of(tree: Tree, label: str, name: str) -> Image:
    """An image of a source's class, as `Copies` compares it."""
    return Image(tree.path(name), tree.id(name), f"{tree.found.source.name}/{label}")


class Draw:
    """One drawing: the same sources and settings give the same classes and images.

    Classes are drawn in an order of which a smaller number is always the beginning, so a sweep
    continues with what it has. `notes` report what was skipped.

    Raises:
        DataError: the file of similar classes is not readable, or names less than two.
    """

    def __init__(self, writer: DatasetWriter, settings: ClassSettings) -> None:
        self._writer = writer
        self._seed = settings.seed
        self.rule = settings.duplicates
        self._list = settings.similar
        self.similar = classes_in(self._list) if self._list else None
        self.notes: list[str] = []

    def facts(self, by_source: Iterable[list[DrawnClass]]) -> dict[str, object]:
        """The record of the draw in dataset.json."""
        taken = [classes for classes in by_source if classes]
        counts = ", ".join(f"{each[0].found.source.name} {len(each)}" for each in taken)
        return {
            "seed": self._seed,
            "classes": counts,
            "similar": "yes" if self.similar else "no",
            "duplicates": self.rule,
        }

    def pools(self, trees: Sequence[Tree], *, together: bool) -> list[Pool]:
        """The classes of sources; eligible are those of enough images, and similar if asked for.

        Args:
            trees: the sources.
            together: whether their classes make one gallery.

        Raises:
            DataError: a source has no class of enough images, or none of those that look alike.
        """
        every = [images_of(trees)] * len(trees) if together else [images_of([t]) for t in trees]
        shared = Copies(every[0], self.rule) if together else None
        return [
            Pool(tree, self._eligible(tree), shared or Copies(images, self.rule))
            for tree, images in zip(trees, every, strict=True)
        ]

    def _eligible(self, tree: Tree) -> frozenset[str]:
        source, classes = tree.found.source, tree.classes
        wanted = set(classes if self.similar is None else classes.keys() & set(self.similar))
        if not wanted:
            expected, lines = sorted(classes), [shortened(one) for one in self.similar or ()]
            raise DataError(
                "none of its lines is a class of {}: expected names as {}; found {}",
                source.name,
                join_names(map(repr, expected), 3),
                join_names(map(repr, lines), 3),
                file=self._list or tree.found.folder,
                hint="Write one class a line, as its folder is called",
            )
        unknown = [one for one in self.similar or () if one not in classes]
        if unknown:
            self.notes.append(f"{source.name} has no class {join_names(unknown)}")
        needed = source.references + source.queries
        small = sorted(label for label in wanted if len(classes[label]) < needed)
        if len(small) == len(wanted):
            raise DataError(
                "none of its {} has {}",
                n_("{n:,} class", "{n:,} classes", len(small)),
                n_("{n:,} image", "{n:,} images", needed),
                file=tree.found.folder,
                hint="A class needs its references and queries, each an image of its own",
            )
        if small:
            self.notes.append(
                f"{source.name}: skipped {number_of(len(small), 'class', 'classes')} of "
                f"fewer than {needed} "
                f"images: {join_names(small)}"
            )
        return frozenset(wanted.difference(small))

    def classes(self, pool: Pool, count: int) -> list[DrawnClass]:
        """`count` classes (0 for all), in the order of their names.

        Raises:
            DataError: fewer classes than that have enough different images.
        """
        source = pool.found.source
        taken: dict[str, DrawnClass] = {}
        for label in draw_order(pool.eligible, self._seed, source.name, "classes"):
            if count and len(taken) == count:
                break
            names = draw_images(pool.tree, label, pool.copies, self._seed, pool.needed)
            if len(names) == pool.needed:
                crops = [self.crop(pool, label, name) for name in names]
                references, queries = crops[: source.references], crops[source.references :]
                taken[label] = DrawnClass(pool.tree, label, tuple(references), tuple(queries))
            else:
                self.notes.append(
                    f"{source.name}: skipped {label}, which has only {len(names)} images "
                    "without copies"
                )
        if not taken:
            raise DataError(
                "none of its {} has {}",
                n_("{n:,} class", "{n:,} classes", len(pool.eligible)),
                n_("{n:,} different image", "{n:,} different images", pool.needed),
                file=pool.found.folder,
                hint="A class needs its references and queries, each an image of its own",
            )
        if len(taken) < count:
            raise DataError(
                "{} {}; wanted are {}",
                n_("{n:,} class has", "{n:,} classes have", len(taken)),
                n_("{n:,} different image", "{n:,} different images", pool.needed),
                count,
                file=pool.found.folder,
                hint=_(
                    "Ask for at most {} of this source with --option classes=N; with mixed=yes, "
                    "N is divided among all sources",
                    len(taken),
                ),
            )
        return [taken[label] for label in sorted(taken)]

    def distractors(self, pool: Pool, taken: list[DrawnClass], count: int) -> list[ImageRef]:
        """Images of classes that were not taken, one of each before a second of any.

        Args:
            pool: the source.
            taken: the classes that were drawn of it.
            count: how many; 0 for as many as the classes taken have images, if there are.

        Raises:
            DataError: there are not enough.
        """
        name = pool.found.source.name
        others = pool.classes.keys() - {one.label for one in taken}
        turns = sorted(
            (turn, rank, label, crop)
            for rank, label in enumerate(draw_order(others, self._seed, name, "distractors"))
            for turn, crop in enumerate(order_of(pool.tree, label, self._seed))
        )
        most = count or len(taken) * pool.needed
        used: set[str] = set()
        chosen: list[ImageRef] = []
        for __, __, label, crop in turns:
            if len(chosen) == most:
                break
            if is_new(pool.tree, label, crop, pool.copies, used):
                chosen.append(self.crop(pool, label, crop).ref)
        if len(chosen) < count:
            raise DataError(
                n_(
                    "{n:,} image of other classes; wanted are {} distractors",
                    "{n:,} images of other classes; wanted are {} distractors",
                    len(chosen),
                    count,
                ),
                file=pool.found.folder,
                hint=_("Ask for less: --option distractors={}, or fewer classes", len(chosen))
                if chosen
                else _("Leave classes over for them: --option classes=N"),
            )
        return chosen

    def crop(self, pool: Pool, label: str, name: str) -> Crop:
        """An image of a class, stored in the dataset.

        Raises:
            DataError: it is not readable, or not an image.
        """
        path = pool.tree.path(name)
        ref = self._writer.add_image(source_bytes(path), str(path))
        return Crop(pool.tree, name, label, ref)


def draw_images(
    tree: Tree,
    label: str,
    copies: Copies,
    seed: str,
    count: int,
    names: Sequence[str] | None = None,
) -> list[str]:
    """The names of as many different images of a class, of all or of these, as there are."""
    used: set[str] = set()
    drawn: list[str] = []
    for name in order_of(tree, label, seed, names):
        if len(drawn) == count:
            break
        if is_new(tree, label, name, copies, used):
            drawn.append(name)
    return drawn


def order_of(tree: Tree, label: str, seed: str, names: Sequence[str] | None = None) -> list[str]:
    """The images of a class, all or these, in the order in which they are drawn."""
    keys = tree.draw_keys(label, tree.classes[label] if names is None else names)
    return [keys[key] for key in draw_order(keys, seed, tree.found.source.name, label)]


def is_new(tree: Tree, label: str, name: str, copies: Copies, used: set[str]) -> bool:
    """Whether an image may be used and has no copy among those used, to which it is added."""
    image = image_of(tree, label, name)
    if not copies.is_usable(image):
        return False
    digest = copies.digest(image)
    if digest in used:
        return False
    used |= {digest} - {""}
    return True


def notes_of(pools: Iterable[Pool]) -> Iterator[str]:
    """Notes on the sources and their copies."""
    several = {id(pool.copies): pool for pool in pools}
    for pool in pools:
        yield from (f"{pool.found.source.name}: {note}" for note in pool.tree.notes)
    for pool in several.values():
        yield from pool.copies.notes()


def images_of(trees: Iterable[Tree]) -> Iterable[Image]:
    """Every image of sources, with its class."""
    return (
        image_of(tree, label, name)
        for tree in trees
        for classes in (tree.classes, tree.undeciphered)
        for label, names in classes.items()
        for name in names
    )


def classes_in(file: Path) -> tuple[str, ...]:
    """The classes in a list of classes that look alike.

    In a CSV with the columns class and similar, as `keju data scaffold` writes it, they are those
    whose cell of the column similar is not empty.

    Raises:
        DataError: the file is not readable, or names less than two.
    """
    if file.suffix.casefold() == ".csv" and "similar" in source_text(file).partition("\n")[0]:
        rows = [cells for _, cells in read_table(file)]
        lines = iter([str(row.get("class", "")) for row in rows if str(row["similar"]).strip()])
    else:
        lines = (line.strip() for line in source_text(file).split("\n"))
    classes = tuple(dict.fromkeys(line for line in lines if line))
    if len(classes) < 2:
        raise DataError(
            "expected classes that look alike, two or more, one a line; found {}",
            len(classes),
            file=file,
            hint="Write each as its folder is called",
        )
    return classes
