"""`Characters`: the characters that a table describes, or that are drawn from a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.copies import Copies, Image
from keju.benchmarks.obi_bench.readers.descriptions import Description, read_descriptions
from keju.benchmarks.obi_bench.readers.drawing import draw_images, image_of, images_of
from keju.benchmarks.obi_bench.readers.item_list import listed_images
from keju.benchmarks.obi_bench.readers.settings import DecipheringSettings
from keju.benchmarks.obi_bench.readers.sources import Found, draw_order, image_id, tier_of
from keju.benchmarks.obi_bench.readers.tree import Tree
from keju.datasets.readers.base import join_names
from keju.errors import DataError, UsageError, number_of
from keju.texts import _, n_

_RADICAL = "radical"


class Character(NamedTuple):
    """An image of a character to ask about.

    `place` names it in notes. `is_deciphered` is false where no reading is established.
    """

    path: Path
    id: str
    place: str
    group: str
    description: str
    is_deciphered: bool
    metadata: Mapping[str, str]


class Characters(NamedTuple):
    """The characters of a source, and notes on what was skipped."""

    chosen: list[Character]
    notes: list[str]


def of_table(
    found: Found, table: Path, tree: Tree | None, settings: DecipheringSettings
) -> Characters:
    """The characters that a table lists; of a release, what the table leaves empty is added.

    Raises:
        DataError: the table is not as it should be; with ``as-paper``, a subset has too few lines;
            with the rule ``error``, an image is listed for two characters.
    """
    folder = found.folder if settings.descriptions else None
    lines = list(read_descriptions(table, settings.field, may_be_empty=True, folder=folder))
    if settings.items:
        wanted = listed_images(settings.items, {image_id(found, line.path) for line in lines})
        names = {each.name for each in wanted}
        lines = [line for line in lines if image_id(found, line.path) in names]
    labels = _labels(tree) if tree else {}
    known = [_described(found, line, tree, labels) for line in lines]
    if settings.as_paper:
        known = _as_printed(found, known, settings.seed)
    owners = {one.id: Image(one.path, one.place, one.group or one.id) for one in known}
    copies = Copies(owners.values(), settings.duplicates)
    chosen = [one for one in known if copies.is_usable(owners[one.id])]
    return Characters(chosen, list(copies.notes()))


def of_tree(tree: Tree, settings: DecipheringSettings) -> Characters:
    """Characters drawn from a release: all that the settings leave, one image of each.

    Raises:
        UsageError: the era is unknown.
        DataError: too few characters; a subset that the release does not mark.
    """
    copies = Copies(images_of([tree]), settings.duplicates)
    kept, notes = _filtered(tree, settings)
    chosen: list[Character] = []
    labels = _labels(tree)
    if settings.items:
        images = listed_images(settings.items, labels)
        chosen = [
            _released(tree, labels[each.name], each.name, kept)
            for each in images
            if copies.is_usable(image_of(tree, labels[each.name], each.name))
        ]
        return Characters(chosen, [*notes, *tree_notes(tree), *copies.notes()])
    per_class = settings.images or tree.found.source.variants or 1
    parts = {"no": (kept,), "yes": (kept, tree.undeciphered), "only": (tree.undeciphered,)}
    for classes in parts[settings.undeciphered]:
        drawer = _Drawer(tree, classes, copies, settings.seed)
        if classes is kept and settings.as_paper:
            pairs = drawer.as_printed()
        else:
            pairs = drawer.classes(settings.classes or 0, per_class)
        chosen += [_released(tree, label, name, kept) for label, name in pairs]
    if not chosen:
        raise DataError(
            "no character is left to ask about",
            file=tree.found.folder,
            hint="Give other options: undeciphered, era, annotated",
        )
    return Characters(chosen, [*notes, *tree_notes(tree), *copies.notes()])


def tree_notes(tree: Tree) -> list[str]:
    """Notes on files that the tree's reader skipped and on classes missing in a class table."""
    name = tree.found.source.name
    notes = [f"{name}: {note}" for note in tree.notes]
    if tree.names.file:
        ids = {part for label in tree.classes for part in (label, *label.split("_"))}
        if without := sorted(tree.names.characters.keys() - ids):
            notes.append(
                f"{name}: {number_of(len(without), 'class', 'classes')} of "
                f"{tree.names.file.name} without images: "
                f"{join_names(without)}"
            )
    unknown = [label for label in tree.classes if not tree.names.of(label)]
    if len(unknown) == len(tree.classes) and unknown:
        notes.append(
            f"{name}: the characters of the classes are unknown; give a table: --option names=FILE"
        )
    return notes


def _filtered(
    tree: Tree, settings: DecipheringSettings
) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """The classes without images of other eras, and without or with annotated components."""
    release, name = tree.release, tree.found.source.name
    classes: Mapping[str, Sequence[str]] = tree.classes
    notes: list[str] = []
    if release.eras and (era := settings.era or release.era) != "all":
        wanted = release.era_of(era)
        if not wanted:
            raise UsageError("option era={}: choose all or {}", era, ", ".join(release.eras))
        classes = {
            label: [each for each in some if _era(tree, each) in ("", wanted)]
            for label, some in tree.classes.items()
        }
        left = sum(map(len, tree.classes.values())) - sum(map(len, classes.values()))
        notes.append(
            f"{name}: skipped {number_of(left, 'image')} of other eras than {wanted} (option era)"
        )
    if release.annotated:
        classes = {
            label: [
                each
                for each in some
                if each.rpartition(".")[0].endswith(release.annotated) == settings.annotated
            ]
            for label, some in classes.items()
        }
    return {label: some for label, some in classes.items() if some}, notes


def _era(tree: Tree, name: str) -> str:
    return tree.release.era_of(tree.fields(name).get("era", ""))


class _Drawer:
    """Draws classes and their images, by hash and seed."""

    def __init__(
        self, tree: Tree, classes: Mapping[str, Sequence[str]], copies: Copies, seed: str
    ) -> None:
        self._tree = tree
        self._classes = classes
        self._copies = copies
        self._seed = seed
        self._order = draw_order(classes, seed, tree.found.source.name, "classes")

    def classes(self, count: int, per_class: int) -> list[tuple[str, str]]:
        """`count` classes (0 for all), with at most `per_class` images of each.

        Raises:
            DataError: there are fewer classes.
        """
        found: dict[str, list[str]] = {}
        for label in self._order:
            if count and len(found) == count:
                break
            if names := self._images(label, per_class):
                found[label] = names
        if len(found) < count:
            raise DataError(
                n_(
                    "{n:,} character; wanted are {}",
                    "{n:,} characters; wanted are {}",
                    len(found),
                    count,
                    hint=_("Ask for at most {}: --option classes=N", len(found)),
                ),
                file=self._tree.found.folder,
            )
        return [(label, name) for label in sorted(found) for name in found[label]]

    def as_printed(self) -> list[tuple[str, str]]:
        """As many of each subset as the paper has: by tier, or radicals with their variants.

        Raises:
            DataError: the release does not mark the subsets, or one has too few characters.
        """
        source = self._tree.found.source
        chosen: dict[str, list[str]] = {}
        for subset, count in source.subsets.items():
            of_subset = [
                label
                for label in self._order
                if subset_of(self._tree, len(self._classes[label])) == subset
            ]
            each = source.variants or 1
            found: dict[str, list[str]] = {}
            for label in of_subset:
                if len(found) * each == count:
                    break
                names = self._images(label, each)
                if len(names) == each:
                    found[label] = names
            if len(found) * each < count:
                raise DataError(
                    n_(
                        "{n:,} image of subset {}, but the paper has {}; the release does not "
                        "say which characters belong to it",
                        "{n:,} images of subset {}, but the paper has {}; the release does not "
                        "say which characters belong to it",
                        len(found) * each,
                        subset,
                        count,
                        hint=(
                            "Write the subsets into a table (keju data scaffold "
                            "obi-deciphering), or import without --option as-paper=yes"
                        ),
                    ),
                    file=self._tree.found.folder,
                )
            chosen |= found
        return [(label, name) for label in sorted(chosen) for name in chosen[label]]

    def _images(self, label: str, count: int) -> list[str]:
        names = self._classes[label]
        return draw_images(self._tree, label, self._copies, self._seed, count, names)


def subset_of(tree: Tree, count: int) -> str:
    """The subset of a class with `count` images: its tier, or radical; empty if unknown."""
    subsets = tree.found.source.subsets
    if _RADICAL in subsets:
        return _RADICAL
    tier = tier_of(count)
    return tier if not subsets or tier in subsets else ""


def _labels(tree: Tree) -> dict[str, str]:
    """The class of every image of a release."""
    return {
        name: label
        for classes in (tree.classes, tree.undeciphered)
        for label, names in classes.items()
        for name in names
    }


def _released(tree: Tree, label: str, name: str, classes: Mapping[str, Sequence[str]]) -> Character:
    """A character of a release, without a description."""
    source = tree.found.source
    known = label in tree.classes
    metadata = tree.about(name, label)
    if known:
        count = len(classes.get(label) or tree.classes[label])
        metadata["frequency"] = str(count)
        if subset := subset_of(tree, count):
            metadata["subset"] = subset
    return Character(
        path=tree.path(name),
        id=tree.id(name),
        place=tree.key(name),
        group=f"{source.name}/{label}",
        description="",
        is_deciphered=known,
        metadata=metadata,
    )


def _described(
    found: Found, line: Description, tree: Tree | None, labels: Mapping[str, str]
) -> Character:
    """A character of a table."""
    source = found.source
    name = line.path.relative_to(found.folder).as_posix()
    character = line.character
    base: Character | None = None
    if tree and name in labels:
        base = _released(tree, labels[name], name, tree.classes)
        character = character or base.metadata.get("character", "")
    frequency = "" if line.frequency is None else str(line.frequency)
    subset = line.subset.casefold() or tier_of(line.frequency or 0)
    more = {"character": character, "subset": subset, "frequency": frequency}
    metadata = dict(base.metadata) if base else dict(source.about)
    metadata |= {key: value for key, value in more.items() if value}
    return Character(
        path=line.path,
        id=base.id if base else image_id(found, line.path),
        place=line.place.item,
        group=base.group if base else f"{source.name}/{character}" if character else "",
        description=line.description,
        is_deciphered=base.is_deciphered if base else bool(character),
        metadata=metadata,
    )


def _as_printed(found: Found, every: list[Character], seed: str) -> list[Character]:
    """As many characters of each subset as the paper has; of radicals whole variants.

    The paper has descriptions of all its characters, so those without one are not drawn.
    """
    source = found.source
    by_name = {one.id: one for one in every if one.description}
    order = draw_order(by_name, seed, source.name)
    chosen: list[str] = []
    for subset, count in source.subsets.items():
        names = [name for name in order if by_name[name].metadata.get("subset") == subset]
        if source.variants:
            names = _of_whole_radicals(names, by_name, source.variants)
        if len(names) < count:
            raise DataError(
                "{} images of subset {}, but the paper has {}",
                len(names),
                subset,
                count,
                file=found.folder,
                hint="Use them as they are: remove --option as-paper=yes",
            )
        chosen += names[:count]
    taken = set(chosen)
    return [one for name, one in by_name.items() if not source.subsets or name in taken]


def _of_whole_radicals(
    names: Iterable[str], by_name: Mapping[str, Character], variants: int
) -> list[str]:
    """Names radical by radical, with `variants` variants of each that has them."""
    radicals: dict[str, list[str]] = {}
    for name in names:
        radicals.setdefault(by_name[name].metadata.get("character", ""), []).append(name)
    return [name for one in radicals.values() if len(one) >= variants for name in one[:variants]]
