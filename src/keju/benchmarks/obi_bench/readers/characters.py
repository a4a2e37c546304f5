"""FORMATS ``obi-classification``, ``obi-retrieval``, ``obi-deciphering``: images of characters.

Records come first, from the paths alone: each image with its class. From them are drawn, by hash
and seed, the classes of galleries with their references and queries, and the distractors, or the
characters to decipher; only these images are opened and stored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    DESCRIPTIONS,
    Source,
    SourceSettings,
    add_queries,
    by_source,
    images_in,
    note_unlike_print,
    preset,
    read_descriptions,
    reader_of,
)
from keju.datasets.import_log import check_time
from keju.datasets.readers.base import (
    files_under,
    join_names,
    kept_inside,
    source_bytes,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.tables import find_table, json_in
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError
from keju.files import sha256_bytes, sha256_file
from keju.items import MIXED_GALLERY, ImageRef, Item
from keju.text import all_han
from keju.texts import _, listed, n_

CHARACTER_TABLES = ("id_to_chinese.json", "key&value.json")
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""

_RADICAL = "radical"

Seed = Annotated[str, Meta(description="decides what is drawn (default 0)")]


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


class DecipheringSettings(SourceSettings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    seed: Seed = "0"


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
    def id(self) -> str:
        """Its name in ids and notes."""
        return f"{self.source.name}/{self.key}"

    @property
    def owner(self) -> str:
        """Its class, after its source."""
        return f"{self.source.name}/{self.label}"


class Records(NamedTuple):
    """The images of a source by class, the characters of classes or ids, and notes."""

    source: Source
    classes: Mapping[str, list[Crop]]
    characters: Mapping[str, str]
    notes: Sequence[str]

    def character_of(self, *keys: str) -> str:
        """The character of the first of these ids or classes that has one; empty if unknown.

        The ids of merged classes are joined by ``_``: each has its character. A class that is
        called after its character needs no table.
        """
        for key in keys:
            if character := self.characters.get(key) or self.characters.get(key.lstrip("0")):
                return character
        for key in keys:
            parts = [self.characters.get(part, "") for part in key.split("_")]
            if joined := "".join(dict.fromkeys(parts)):
                return joined
        return next((key for key in keys if 0 < len(key) <= _LONGEST and all_han(key)), "")

    def about(self, crop: Crop) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        source = self.source
        _reason, groups = source.match(crop.name)
        code = groups.get("origin", "")
        facts = {
            "class": crop.label,
            "file": crop.name,
            "character": self.character_of(groups.get("id", ""), crop.label),
            "origin": source.origins.get(code, code),
            "era": source.eras.get(groups.get("era", "").upper(), ""),
        }
        return source.about | {key: value for key, value in facts.items() if value}


def read_records(source: Source, *, strict: bool = True) -> Records:
    """The images of a source by class, as the preset's expressions of paths say.

    Args:
        source: the source.
        strict: refuse an image whose path fits no expression; else it is in no class.

    Raises:
        DataError: no images, or none that is used; a name that is not UTF-8, a link that leads out
            of the folder, a table of characters that is not readable.
    """
    classes: dict[str, list[Crop]] = {}
    skipped: Counter[str] = Counter()
    unfit: list[str] = []
    names = sorted(images_in(source))
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
            hint=_(
                "Move or remove it, or add what is missing. See: keju data formats obi-{}",
                source.task,
            ),
        )
    notes = [
        n_("skipped {n:,} image: {}", "skipped {n:,} images: {}", count, name)
        for name, count in sorted(skipped.items())
    ]
    characters = source.characters
    if file := _characters_file(source):
        content = json_in(file, dict[str, str | int])
        characters = {key: str(value) for key, value in content.items()}
    return Records(source, classes, characters, notes)


def _characters_file(source: Source) -> Path | None:
    """The table of characters in a source: by its name, then the one least deep."""
    files = [
        path
        for path in files_under(source.folder, {"json"})
        if path.name.casefold() in CHARACTER_TABLES and not source.match(source.name_of(path))[0]
    ]
    # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
    tables = (path for path in source.src.iterdir() if path.name.casefold() in CHARACTER_TABLES)
    files = files or [kept_inside(path, source.src) for path in tables]

    def order(path: Path) -> tuple[int, int, Path]:
        return CHARACTER_TABLES.index(path.name.casefold()), len(path.parts), path

    return min(files, key=order, default=None)


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
        for image in alike if len(alike) > 1 and size > 0 else ():
            check_time()
            with suppress(OSError):  # Where it is drawn, reading it reports what is wrong.
                by_digest[sha256_file(image.path)].append(image)
        self._copies |= {copy.path: copies for copies in by_digest.values() for copy in copies}
        return self._copies.get(crop.path, [crop])


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    return path.stat().st_size if path.is_file() else -1


# ---- drawing


def draw_order(names: Iterable[str], *key: str) -> list[str]:
    """Names in an order drawn by hash, so that the first N are a part of the first N + 1.

    The same key gives the same order, whatever else there is to draw from.
    """
    salt = "\0".join(key)
    return sorted(names, key=lambda name: sha256_bytes(f"{salt}\0{name}".encode()))


def order_of(crops: Sequence[Crop], seed: str) -> list[Crop]:
    """The images of a class in the order in which they are drawn.

    It is decided by the class and the file's name, so that the folders above a class (train, test)
    do not matter; where a file's name exists twice in the class, by the path.
    """
    by_name = {f"{crop.label}/{crop.name.rpartition('/')[2]}": crop for crop in crops}
    if len(by_name) < len(crops):
        by_name = {crop.name: crop for crop in crops}
    source, label = crops[0].source.name, crops[0].label
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
    source = records.source
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
            file=records.source.folder,
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
    order = draw_order(labels, seed, records.source.name, "distractors")
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
            file=records.source.folder,
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
    all_records = [read_records(source) for source in sources]
    mixed = isinstance(settings, ClassificationSettings) and settings.mixed
    counts: dict[str, int] = {}
    for group in [all_records] if mixed else [[records] for records in all_records]:
        copies = Copies(_crops_of(*group))
        references: list[Crop] = []
        distractors: list[Crop] = []
        queries: list[tuple[Crop, dict[str, str]]] = []
        for number, records in enumerate(group):
            source = records.source
            count = source.gallery.classes
            if settings.classes:
                count = settings.classes // len(group) + (number < settings.classes % len(group))
            classes, notes = draw_classes(records, copies, count, settings.seed)
            size = source.gallery.references
            for crops in classes.values():
                references += crops[:size]
                queries += [(crop, records.about(crop)) for crop in crops[size:]]
            if isinstance(settings, RetrievalSettings):
                most = settings.distractors or source.gallery.distractors
                distractors += draw_distractors(records, classes, copies, most, settings.seed)
                note = n_(
                    "{n:,} class and {} distractors, of the classes left over",
                    "{n:,} classes and {} distractors, of the classes left over",
                    len(classes),
                    len(distractors),
                )
                notes.append(note)
            counts[source.name] = len(classes)
            yield from (_("{}: {}", source.name, note) for note in notes)
        yield from copies.notes()
        # All queries have the same gallery, in the same order.
        gallery = [_store(writer, crop) for crop in (*references, *distractors)]
        for query, about in queries:
            relevant = (n for n, crop in enumerate(references, 1) if crop.owner == query.owner)
            pattern = Item(
                id=query.id,
                benchmark=BENCHMARK,
                task=query.source.task,
                images=(_store(writer, query), *gallery),
                relevant=tuple(relevant),
                group=query.owner,
                metadata=about | ({"gallery": MIXED_GALLERY} if mixed else {}),
            )
            add_queries(writer, pattern)
    numbers = [f"{name} {count}" for name, count in counts.items()]
    if mixed and settings.classes and len(set(counts.values())) > 1:
        yield _("classes that do not divide evenly: {}", listed(numbers))
    writer.declare(seed=settings.seed, classes=", ".join(numbers), mixed="yes" if mixed else "no")


def _crops_of(*sources: Records) -> Iterator[Crop]:
    """The images of all classes of sources."""
    for records in sources:
        yield from chain.from_iterable(records.classes.values())


def _store(writer: DatasetWriter, crop: Crop) -> ImageRef:
    return writer.add_image(source_bytes(crop.path), str(crop.path))


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


class Character(NamedTuple):
    """An image of a character to ask about; without a group it is undeciphered.

    `line` names it in notes.
    """

    crop: Crop
    group: str
    metadata: Mapping[str, str]
    line: str
    description: str = ""


def read_deciphering(
    source: Source, writer: DatasetWriter, settings: DecipheringSettings
) -> Iterator[str]:
    """Read characters: two items an image, What and How.

    The class is the group, else the character, else the image's hash. A character without a
    description has no reference; where the character is unknown too, it is undeciphered, and its
    items are marked so.

    Raises:
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken.
    """
    table = read_descriptions(source)
    records = read_records(source, strict=table is None)
    if table is None:
        characters, notes = _of_release(records, settings.seed)
    else:
        characters, notes = _of_table(records, table)
    for crop, group, metadata, _line, description in characters:
        ref = _store(writer, crop)
        pattern = Item(
            id=crop.id,
            benchmark=BENCHMARK,
            task=source.task,
            images=(ref,),
            group=group or ref.sha256,
            metadata={**metadata, **({} if description or group else {DECIPHERED: "no"})},
        )
        add_queries(writer, pattern, {"What": description, "How": ""})
    writer.declare(seed=settings.seed)
    bare = [character for character in characters if not character.description]
    unknown = [character.line for character in bare if not character.group]
    yield from note_unlike_print(source, len(characters) - len(unknown))
    if bare:
        yield _(
            "{} of {} characters have no description (asked, not scored): {}. Write "
            "descriptions.csv with the columns image and description",
            len(bare),
            len(characters),
            join_names(character.line for character in bare),
        )
    if unknown:
        yield _("undeciphered: {} ({})", len(unknown), join_names(unknown))
    yield from notes


def _of_table(
    records: Records, table: Mapping[Path, Mapping[str, str]]
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release."""
    source = records.source
    crops = {crop.path: crop for crop in _crops_of(records)}
    characters = []
    for path, cells in table.items():
        name, text, frequency = source.name_of(path), cells["character"], cells["frequency"]
        if path in crops:
            character = _released(records, crops[path])
        else:
            crop = Crop(source, name, name, text or name)
            character = Character(crop, crop.owner if text else "", source.about, name)
        more = {
            "character": text,
            "subset": cells["subset"].casefold() or tier_of(int(frequency or 0)),
            "frequency": str(int(frequency)) if frequency else "",
        }
        metadata = {**character.metadata, **{key: value for key, value in more.items() if value}}
        characters.append(
            character._replace(
                metadata=metadata, line=cells["line"], description=cells["description"]
            )
        )
    copies = Copies(character.crop for character in characters)
    characters = [character for character in characters if copies.is_usable(character.crop)]
    return characters, list(copies.notes())


def _of_release(records: Records, seed: str) -> tuple[list[Character], list[str]]:
    """Characters of a release, one image of each, and notes.

    Of a source whose characters have variants, that many images of each are drawn.
    """
    copies, variants = Copies(_crops_of(records)), records.source.variants
    characters = [
        _released(records, crop)
        for _label, crops in sorted(records.classes.items())
        for crop in copies.draw(order_of(crops, seed), variants)
    ]
    notes = [*records.notes, *copies.notes()]
    if not any(map(records.character_of, records.classes)):
        notes.append(
            _("the characters of the classes are unknown; put ID_to_chinese.json into the folder")
        )
    return characters, notes


def _released(records: Records, crop: Crop) -> Character:
    """A character of a release, without a description."""
    count = len(records.classes[crop.label])
    subsets = records.source.subsets
    metadata = records.about(crop) | {"frequency": str(count)}
    tier = tier_of(count)
    if _RADICAL in subsets:
        metadata["subset"] = _RADICAL
    elif tier and (tier in subsets or not subsets):
        metadata["subset"] = tier
    return Character(crop, crop.owner, metadata, crop.key)


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    tiers = preset("deciphering").tiers
    return next((tier for tier, above in tiers.items() if frequency > above), "")


def _guess_deciphering(listing: Listing) -> tuple[float, str]:
    names = {path.name.casefold() for path in listing.files}
    box_files = listing.ending("xml") or not names.isdisjoint(("boxes.csv", "boxes.tsv"))
    return (0.9 if find_table(listing.src, DESCRIPTIONS) and not box_files else 0.0), ""


DECIPHERING = reader_of(
    "deciphering", DecipheringSettings, by_source(read_deciphering), _guess_deciphering
)
