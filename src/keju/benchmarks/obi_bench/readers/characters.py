"""FORMATS ``obi-classification``, ``obi-retrieval``, ``obi-deciphering``: images of characters.

Classes come first, from the paths of images alone. Of them are drawn, by hash and seed, the
references and queries of galleries, and distractors, or the characters to decipher; only these
images are opened and stored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.sources import (
    DESCRIPTIONS,
    Source,
    SourceSettings,
    add_items,
    by_source,
    images_in,
    note_unlike_print,
    preset,
    read_descriptions,
    reader_of,
    store_image,
)
from keju.datasets.import_log import check_time
from keju.datasets.readers.base import files_under, join_names, kept_inside
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.tables import find_table, json_in
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError
from keju.files import sha256_bytes, sha256_file
from keju.items import MIXED_GALLERY
from keju.text import all_han
from keju.texts import _, listed, n_

CHARACTER_TABLES = ("id_to_chinese.json", "key&value.json")
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""


class DrawSettings(SourceSettings, frozen=True, kw_only=True):
    """The options of all three formats, and of ``obi-deciphering``."""

    seed: Annotated[str, Meta(description="decides what is drawn (default 0)")] = "0"


class ClassSettings(DrawSettings, frozen=True, kw_only=True):
    """The options that ``obi-classification`` and ``obi-retrieval`` share."""

    classes: Annotated[
        int | None,
        Meta(
            description="number of classes (default: the paper's, or all of your own source)", ge=1
        ),
    ] = None


class ClassificationSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-classification``."""

    mixed: Annotated[
        bool,
        Meta(description="yes: one gallery of all sources, as in the paper's sweep (default no)"),
    ] = False


class RetrievalSettings(ClassSettings, frozen=True, kw_only=True):
    """The options of ``obi-retrieval``."""

    distractors: Annotated[
        int | None,
        Meta(
            description="number of images of other classes (default: the paper's, or as many "
            "as there are queries and relevant images)",
            ge=1,
        ),
    ] = None


# ---- images of classes


class Crop(NamedTuple):
    """An image of a class: its source, its path in it, the part of the path for ids, its class."""

    source: Source
    name: str
    key: str
    label: str

    @property
    def path(self) -> Path:
        """Its file."""
        return self.source.folder / self.name

    @property
    def owner(self) -> str:
        """Its class, after its source."""
        return f"{self.source.name}/{self.label}"

    @property
    def about(self) -> dict[str, str]:
        """Metadata: class and file; character, origin and era as far as known."""
        source = self.source
        _reason, groups = source.match(self.name)
        facts = {
            "class": self.label,
            "file": self.name,
            "character": character_of(source, groups.get("id", ""), self.label),
        }
        for group in ("origin", "era"):
            code = groups.get(group, "")
            facts[group] = source.codes.get(group, {}).get(code.upper(), code)
        return source.about | _filled(facts)


Classes = Mapping[str, Sequence[Crop]]
"""The images of a source by class, each class in the order in which its images are drawn."""


def read_classes(
    source: Source, seed: str, *, strict: bool = True
) -> tuple[Source, Classes, list[str]]:
    """The images of a source by class, as the preset's expressions of paths say, and notes.

    The source that is returned has the characters of its folder. Where it is not `strict`, an image
    whose path fits no expression is in no class.

    Raises:
        DataError: no images, or none that is used; a name that is not UTF-8, a link that leads out
            of the folder, a table of characters that is not readable.
    """
    names = sorted(images_in(source))
    source = replace(source, characters=_read_characters(source))
    classes: dict[str, list[Crop]] = {}
    skipped: Counter[str] = Counter()
    unfit: list[str] = []
    for name in names:
        reason, groups = source.match(name)
        if reason:
            skipped[reason] += 1
        elif groups:
            crop = Crop(source, name, groups.get("key", name), groups["class"])
            classes.setdefault(crop.label, []).append(crop)
        else:
            unfit.append(name)
    if strict and (unfit or not classes):
        raise DataError(
            "the path of the image is not one of the layout of {}",
            source.name,
            file=source.folder / (unfit or names)[0],
        )
    notes: list[str] = [
        n_("skipped {n:,} image: {}", "skipped {n:,} images: {}", count, name)
        for name, count in sorted(skipped.items())
    ]
    return source, {label: _order_of(crops, seed) for label, crops in classes.items()}, notes


def _read_characters(source: Source) -> dict[str, str]:
    """The characters of the preset, or of a table: by its name, then the one least deep."""
    tables = files_under(source.folder, {"json"})
    own_tables = [path for path in tables if not source.match(source.name_of(path))[0]]
    # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
    for paths in (own_tables, list(source.src.iterdir())):
        for name in CHARACTER_TABLES:
            if files := [path for path in paths if path.name.casefold() == name]:
                file = min(files, key=lambda path: (len(path.parts), path))
                content = json_in(kept_inside(file, source.src), dict[str, str | int])
                return {key: str(value) for key, value in content.items()}
    return source.characters


def character_of(source: Source, *keys: str) -> str:
    """The character of the first of these ids or classes that has one; empty if unknown.

    The ids of merged classes are joined by ``_``: each has its character. A class that is called
    after its character needs no table.
    """
    characters = source.characters
    for key in keys:
        if character := characters.get(key) or characters.get(key.lstrip("0")):
            return character
    for key in keys:
        parts = [characters.get(part, "") for part in key.split("_")]
        if joined := "".join(dict.fromkeys(parts)):
            return joined
    return next((key for key in keys if 0 < len(key) <= _LONGEST and all_han(key)), "")


# ---- drawing


def draw_order(names: Iterable[str], *key: str) -> list[str]:
    """Names in an order drawn by hash, so that the first N are a part of the first N + 1.

    The same key gives the same order, whatever else there is to draw from.
    """
    salt = "\0".join(key)
    return sorted(names, key=lambda name: sha256_bytes(f"{salt}\0{name}".encode()))


def _order_of(crops: Sequence[Crop], seed: str) -> list[Crop]:
    """The images of a class in the order in which they are drawn.

    It is decided by the class and the file's name, so that the folders above a class (train, test)
    do not matter; where a file's name exists twice in the class, by the path.
    """
    by_name = {f"{crop.label}/{crop.name.rpartition('/')[2]}": crop for crop in crops}
    if len(by_name) < len(crops):
        by_name = {crop.name: crop for crop in crops}
    source, label = crops[0].source.name, crops[0].label
    return [by_name[name] for name in draw_order(by_name, seed, source, label)]


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
        self._of_classes: set[str] = set()

    def of(self, crop: Crop) -> list[Crop]:
        """The images of the same bytes, itself among them; none where they are in several classes.

        `notes` reports those.
        """
        size = _size(crop.path)
        alike = self._alike.pop(size, [])  # Images of one size are read once.
        by_digest: dict[str, list[Crop]] = defaultdict(list)
        for image in alike if len(alike) > 1 and size > 0 else ():
            check_time()
            with suppress(OSError):  # Where it is drawn, reading it reports what is wrong.
                by_digest[sha256_file(image.path)].append(image)
        self._copies |= {copy.path: copies for copies in by_digest.values() for copy in copies}
        copies = self._copies.get(crop.path, [crop])
        if len({copy.owner for copy in copies}) == 1:
            return copies
        ids = sorted(f"{copy.source.name}/{copy.key}" for copy in copies)
        self._of_classes.add(" = ".join(ids[:3]))
        return []

    def draw(self, crops: Iterable[Crop], count: int) -> list[Crop]:
        """The first `count` usable images of which none is a copy of another."""
        sample: dict[Path, Crop] = {}
        for crop in crops:
            if len(sample) == count:
                break
            if copies := self.of(crop):
                sample.setdefault(copies[0].path, crop)
        return list(sample.values())

    def notes(self) -> Iterator[str]:
        """One line on the images in several classes that were met."""
        if self._of_classes:
            yield n_(
                "{n:,} image exists byte by byte in several classes, used in no class: {}",
                "{n:,} images exist byte by byte in several classes, used in no class: {}",
                len(self._of_classes),
                join_names(sorted(self._of_classes), 3),
            )


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    return path.stat().st_size if path.is_file() else -1


def draw_classes(
    source: Source, classes: Classes, copies: Copies, count: int | None, seed: str
) -> tuple[dict[str, list[Crop]], list[str]]:
    """`count` classes (None for all), in the order of their names, each with the images it needs.

    A smaller number is always the beginning, so a sweep continues with what it has. Also returns
    the names of the classes that are too small.

    Raises:
        DataError: fewer classes than that have enough different images.
    """
    needed = source.references + source.queries
    small = {label for label, crops in classes.items() if len(crops) < needed}
    sample: dict[str, list[Crop]] = {}
    for label in draw_order(classes.keys() - small, seed, source.name, "classes"):
        if len(sample) == count:
            break
        crops = copies.draw(classes[label], needed)
        if len(crops) == needed:
            sample[label] = crops
        else:
            small.add(label)
    if len(sample) < (count or 1):
        raise DataError(
            "{} of its {} classes have {} different images; wanted are {}",
            len(sample),
            len(classes),
            needed,
            count or 1,
            file=source.folder,
            hint="A class needs its references and queries, each an image of its own. Ask for "
            "fewer classes with --option classes=N; with mixed=yes, N is divided among all sources",
        )
    return dict(sorted(sample.items())), sorted(small)


def draw_distractors(
    source: Source, classes: Classes, sample: Classes, copies: Copies, count: int, seed: str
) -> list[Crop]:
    """`count` images of classes that were not drawn, one of each before a second of any.

    With 0 as many as the classes drawn have images, if there are.

    Raises:
        DataError: there are not enough.
    """
    order = draw_order(classes.keys() - sample.keys(), seed, source.name, "distractors")
    turns = chain.from_iterable(zip_longest(*(classes[label] for label in order)))
    most = count or sum(map(len, sample.values()))
    distractors = copies.draw(filter(None, turns), most)
    if len(distractors) < count:
        raise DataError(
            "{} images of other classes; wanted are {} distractors",
            len(distractors),
            count,
            file=source.folder,
            hint="Ask for less with --option distractors=N, or leave classes over for them: "
            "--option classes=N",
        )
    return distractors


# ---- classification and retrieval


def read_galleries(
    sources: Sequence[Source], writer: DatasetWriter, settings: ClassSettings
) -> Iterator[str]:
    """Draw classes, for retrieval also distractors, and make items of every query against them.

    Raises:
        DataError: no classes, or too few of them or of their images.
    """
    mixed = isinstance(settings, ClassificationSettings) and settings.mixed
    counts: dict[str, int] = {}
    for group in [sources] if mixed else [[source] for source in sources]:
        references: list[Crop] = []
        distractors: list[Crop] = []
        queries: list[Crop] = []
        class_sets = [read_classes(source, settings.seed) for source in group]
        copies = Copies(crop for _s, classes, _n in class_sets for crop in _crops_of(classes))
        for number, (source, classes, notes) in enumerate(class_sets):
            count = source.classes or None
            if settings.classes:
                count = settings.classes // len(group) + (number < settings.classes % len(group))
            sample, small = draw_classes(source, classes, copies, count, settings.seed)
            for crops in sample.values():
                references += crops[: source.references]
                queries += crops[source.references :]
            if small:
                note = n_(
                    "skipped {n:,} class of fewer than {} different images: {}",
                    "skipped {n:,} classes of fewer than {} different images: {}",
                    len(small),
                    source.references + source.queries,
                    join_names(small),
                )
                notes.append(note)
            if isinstance(settings, RetrievalSettings):
                most = settings.distractors or source.distractors
                distractors += draw_distractors(
                    source, classes, sample, copies, most, settings.seed
                )
                note = n_(
                    "{n:,} class and {} distractors, of the classes left over",
                    "{n:,} classes and {} distractors, of the classes left over",
                    len(sample),
                    len(distractors),
                )
                notes.append(note)
            counts[source.name] = len(sample)
            yield from (_("{}: {}", source.name, note) for note in notes)
        yield from copies.notes()
        # All queries have the same gallery, in the same order.
        gallery = [store_image(writer, crop.path) for crop in (*references, *distractors)]
        for query in queries:
            relevant = (n for n, crop in enumerate(references, 1) if crop.owner == query.owner)
            image = store_image(writer, query.path)
            add_items(
                writer,
                query.source,
                query.key,
                image,
                images=(image, *gallery),
                relevant=tuple(relevant),
                group=query.owner,
                metadata=query.about | ({"gallery": MIXED_GALLERY} if mixed else {}),
            )
    numbers = [f"{name} {count}" for name, count in counts.items()]
    if mixed and settings.classes and len(set(counts.values())) > 1:
        yield _("classes that do not divide evenly: {}", listed(numbers))
    writer.declare(seed=settings.seed, classes=", ".join(numbers), mixed="yes" if mixed else "no")


def _crops_of(classes: Classes) -> Iterator[Crop]:
    return chain.from_iterable(classes.values())


def _guess_galleries(listing: Listing) -> tuple[float, str]:
    """Folders of classes, with two images or more in each and nothing else, suit both tasks."""
    files = [path for path in listing.files if path.name.casefold() not in CHARACTER_TABLES]
    labels = {path.parent.name for path in listing.images}
    fits = (
        2 <= len(labels) <= len(listing.images) / 2
        and all(len(path.parts) > 1 for path in listing.images)
        and not any(path.suffix.casefold() in {".xml", ".txt", ".json", ".csv"} for path in files)
    )
    return (0.5 if fits else 0.0), ""


CLASSIFICATION = reader_of(
    "classification", ClassificationSettings, read_galleries, _guess_galleries
)
RETRIEVAL = reader_of("retrieval", RetrievalSettings, read_galleries, _guess_galleries)


# ---- deciphering


def read_deciphering(
    source: Source, writer: DatasetWriter, settings: DrawSettings
) -> Iterator[str]:
    """Read the characters that a table lists, else one image of each character of a release.

    There are two items an image, What and How. The class is the group, else the character, else the
    image's hash. A character without a description has no reference; where the character is unknown
    too, it is undeciphered, and its items are marked so.

    Raises:
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken.
    """
    table = read_descriptions(source)
    source, classes, notes = read_classes(source, settings.seed, strict=table is None)
    lines: list[tuple[Crop, Mapping[str, str]]] = []
    if table is None:
        copies = Copies(_crops_of(classes))
        for _label, crops in sorted(classes.items()):
            lines += [(crop, {"line": crop.key}) for crop in copies.draw(crops, source.variants)]
        notes += copies.notes()
        if not any(character_of(source, label) for label in classes):
            note = _(
                "the characters of the classes are unknown; put ID_to_chinese.json into the folder"
            )
            notes.append(note)
    else:
        released = {crop.path: crop for crop in _crops_of(classes)}
        for path, line in table.items():
            name = source.name_of(path)
            own = Crop(source, name, name, line["character"] or name)
            lines.append((released.get(path, own), line))
        copies = Copies(crop for crop, _cells in lines)
        lines = [(crop, cells) for crop, cells in lines if copies.of(crop)]
        notes = list(copies.notes())
    bare: list[str] = []
    unknown: list[str] = []
    for crop, cells in lines:
        count = len(classes[crop.label]) if crop in classes.get(crop.label, ()) else 0
        metadata = _metadata(crop, count, cells)
        description = cells.get("description", "")
        image = store_image(writer, crop.path)
        group = crop.owner if count or cells["character"] else image.sha256
        if not description:
            bare.append(cells["line"])
            if group != crop.owner:
                unknown.append(cells["line"])
                metadata[DECIPHERED] = "no"
        answers = {"What": description, "How": ""}
        add_items(writer, source, crop.key, image, answers, group=group, metadata=metadata)
    writer.declare(seed=settings.seed)
    yield from note_unlike_print(source, len(lines) - len(unknown))
    if bare:
        yield _(
            "{} of {} characters have no description (asked, not scored): {}. Write "
            "descriptions.csv with the columns image and description",
            len(bare),
            len(lines),
            join_names(bare),
        )
    if unknown:
        yield _("undeciphered: {} ({})", len(unknown), join_names(unknown))
    yield from notes


def _metadata(crop: Crop, count: int, cells: Mapping[str, str]) -> dict[str, str]:
    """Metadata of a character with `count` images in a release (0: in none), and of its line."""
    metadata = crop.source.about
    if count:
        subset, subsets = tier_of(count), crop.source.subsets
        if subsets and subset not in subsets:
            # All characters of a source with one subset are of it: radicals.
            subset = next(iter(subsets)) if len(subsets) == 1 else ""
        metadata = crop.about | _filled({"frequency": str(count), "subset": subset})
    frequency = int(cells.get("frequency") or 0)
    return metadata | _filled(
        {
            "character": cells.get("character", ""),
            "subset": cells.get("subset", "").casefold() or tier_of(frequency),
            "frequency": str(frequency) if cells.get("frequency") else "",
        }
    )


def _filled(facts: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in facts.items() if value}


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    tiers = preset("deciphering").tiers
    return next((tier for tier, above in tiers.items() if frequency > above), "")


def _guess_deciphering(listing: Listing) -> tuple[float, str]:
    names = {path.name.casefold() for path in listing.files}
    box_files = listing.ending("xml") or not names.isdisjoint(("boxes.csv", "boxes.tsv"))
    return (0.9 if find_table(listing.src, DESCRIPTIONS) and not box_files else 0.0), ""


DECIPHERING = reader_of(
    "deciphering", DrawSettings, by_source(read_deciphering), _guess_deciphering
)
