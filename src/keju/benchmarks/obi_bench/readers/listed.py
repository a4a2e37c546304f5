"""Classes, queries and distractors that a list of images gives, instead of a draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.copies import Copies
from keju.benchmarks.obi_bench.readers.drawing import Draw, DrawnClass, Pool, image_of, is_new
from keju.benchmarks.obi_bench.readers.item_list import ListedImage, listed_images
from keju.benchmarks.obi_bench.readers.tree import Tree
from keju.datasets.readers.base import join_names
from keju.errors import DataError, number_of
from keju.items import ImageRef
from keju.texts import _

_REFERENCE = frozenset({"reference", "label", "gallery", "relevant", "support"})
_QUERY = frozenset({"query", "test"})
_DISTRACTOR = frozenset({"distractor", "negative"})


class ListedClassImage(NamedTuple):
    """A listed image of a source, and its class."""

    label: str
    image: ListedImage


class Gallery(NamedTuple):
    """The classes of a gallery, and its images of other classes."""

    classes: list[DrawnClass]
    distractors: list[ImageRef]


def listed_by_source(trees: Sequence[Tree], file: Path) -> list[list[ListedClassImage]]:
    """The images of a list, for each source in their order.

    Raises:
        DataError: as `listed_images`; a source has no image in the list.
    """
    labels: dict[str, tuple[int, str, str]] = {}
    for number, tree in enumerate(trees):
        before = f"{tree.found.folder.name}/" if len(trees) > 1 else ""
        for classes in (tree.classes, tree.undeciphered):
            for label, names in classes.items():
                labels |= {before + name: (number, label, name) for name in names}
    found: list[list[ListedClassImage]] = [[] for _ in trees]
    for each in listed_images(file, labels):
        number, label, name = labels[each.name]
        found[number].append(ListedClassImage(label, each._replace(name=name)))
    if empty := [
        tree.found.source.name for tree, some in zip(trees, found, strict=True) if not some
    ]:
        raise DataError(
            "the list has no image of {}",
            join_names(empty),
            file=file,
            hint="List images of every source, or import the sources one by one",
        )
    return found


def listed_pools(
    draw: Draw,
    trees: Sequence[Tree],
    images: Sequence[Iterable[ListedClassImage]],
    *,
    together: bool,
) -> list[Pool]:
    """Pools whose copies are looked for among the listed images alone."""
    several = [
        [image_of(tree, each.label, each.image.name) for each in some]
        for tree, some in zip(trees, images, strict=True)
    ]
    shared = Copies([image for some in several for image in some], draw.rule) if together else None
    return [
        Pool(tree, frozenset(tree.classes), shared or Copies(some, draw.rule))
        for tree, some in zip(trees, several, strict=True)
    ]


def listed_gallery(
    draw: Draw, pool: Pool, images: Iterable[ListedClassImage], *, distractors: bool
) -> Gallery:
    """Classes as listed: by the column role, else the first images of a class are its references.

    Args:
        draw: stores the images, and takes notes.
        pool: the source.
        images: what is listed of it.
        distractors: whether a class without queries gives distractors.

    Raises:
        DataError: no class has a reference and a query; a role is unknown.
    """
    by_class: dict[str, list[ListedImage]] = {}
    used: set[str] = set()
    for label, image in images:
        by_class.setdefault(label, [])
        if is_new(pool.tree, label, image.name, pool.copies, used):
            by_class[label].append(image)
    classes: list[DrawnClass] = []
    others: list[ImageRef] = []
    incomplete: list[str] = []
    for label, some in by_class.items():
        references, queries, rest = _by_role(some, pool.found.source.references)
        if distractors and not queries:
            references, rest = [], [*references, *rest]
        others += [draw.crop(pool, label, each.name).ref for each in rest if distractors]
        if references and queries:
            crops = [draw.crop(pool, label, each.name) for each in (*references, *queries)]
            cut = len(references)
            classes.append(DrawnClass(pool.tree, label, tuple(crops[:cut]), tuple(crops[cut:])))
        elif not (distractors and rest):
            incomplete.append(label)
    if incomplete:
        draw.notes.append(
            f"{pool.found.source.name}: skipped "
            f"{number_of(len(incomplete), 'listed class', 'listed classes')} without a "
            f"reference and a query: {join_names(incomplete)}"
        )
    if not classes:
        raise DataError(
            "no listed class of {} has a reference and a query",
            pool.found.source.name,
            file=pool.found.folder,
            hint="List more images of a class, or add the column role: reference, query",
        )
    return Gallery(sorted(classes, key=lambda one: one.label), others)


def _by_role(
    images: list[ListedImage], count: int
) -> tuple[list[ListedImage], list[ListedImage], list[ListedImage]]:
    """References, queries and distractors of a class."""
    if not any(each.role for each in images):
        return images[:count], images[count:], []
    parts: tuple[list[ListedImage], ...] = ([], [], [])
    for each in images:
        for names, part in zip((_REFERENCE, _QUERY, _DISTRACTOR), parts, strict=True):
            if each.role in names:
                part.append(each)
                break
        else:
            raise each.place.error(
                _(
                    "the role {!r} is unknown",
                    each.role[:20],
                    hint="Write reference, query or distractor",
                )
            )
    references, queries, rest = parts
    return references, queries, rest
