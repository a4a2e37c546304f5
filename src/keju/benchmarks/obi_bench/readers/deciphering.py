"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from keju.benchmarks.obi_bench.readers.classes import NamesTable
from keju.benchmarks.obi_bench.readers.descriptions import (
    NAME,
    Description,
    read_descriptions,
    table_of,
)
from keju.benchmarks.obi_bench.readers.galleries import (
    Copies,
    Crop,
    Duplicates,
    crops_of,
    order_of,
)
from keju.benchmarks.obi_bench.readers.lists import ImageFinder, ItemList, read_list
from keju.benchmarks.obi_bench.readers.records import (
    Records,
    image_names,
    is_release,
    read_records,
)
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Paths,
    Seed,
    Source,
    SourceFolder,
    SourceName,
    draw_order,
    items_of_queries,
    named_sources,
    note_unlike_print,
    preset,
    record_sources,
    sources,
    sources_in,
    tier_of,
)
from keju.datasets.readers.base import Detection, Reader, join_names, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError, KejuError, UsageError, number_of
from keju.items import Item
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC/                       one source, or a folder for each: EVOBC, OBI Component 20, HUST-OBC
  deciphered/0157/…        HUST-OBC as released: a folder a character, ID_to_chinese.json;
  undeciphered/X/276/…     undeciphered characters
  EVOBC/00001/…            EVOBC as released: ID_Source_Era_….jpg, Key&Value.json
  8/422_5154no1_a.png      OBI Component 20 as released: folders 0 to 19
  descriptions.csv         a table of your own: image, description; and where there are: character,
                           subset, frequency (also .tsv, .json, .jsonl)
  images/wang.png          its images, named from the table's folder or from images on
The subset is pictograph, ideogram or radical; where a frequency is given instead, its tier: tier-1
above 500, tier-2 above 100, tier-3 above 10. The releases contain no descriptions: without a table
their characters are asked and not scored. Of a release, the frequency is the number of a
character's images (our reading). Each image is asked What, and How, which the paper looks at by
eye: it is not scored."""

_TASK = "deciphering"
_RADICAL = "radical"


class DecipheringSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    source: SourceName = ""
    paths: Paths = ""
    descriptions: Annotated[
        Path | None,
        Meta(
            description="the table, where it is not SRC/descriptions.csv; images are named from "
            "SRC on"
        ),
    ] = None
    field: Annotated[
        dict[str, str],
        Meta(
            description="the column that has the NAME: image, description, character, subset, "
            "frequency"
        ),
    ] = msgspec.field(default_factory=dict)
    as_paper: Annotated[
        bool,
        Meta(
            description="yes: draw as many of each subset as the paper has (default no: take all)"
        ),
    ] = False
    seed: Seed = "0"
    classes: Annotated[
        int | None,
        Meta(description="without a table: this many characters are drawn (default all)", ge=1),
    ] = None
    images: Annotated[
        int | None,
        Meta(
            description="without a table: this many images of each character are drawn (default 1; "
            "of OBI Component 20 five)",
            ge=1,
        ),
    ] = None
    undeciphered: Annotated[
        Literal["no", "yes", "only"],
        Meta(
            description="without a table: whether HUST-OBC's undeciphered characters are asked: no "
            "(default), yes, only"
        ),
    ] = "no"
    era: Annotated[
        str,
        Meta(description="without a table: the era of EVOBC's images (default OBC), or all"),
    ] = ""
    annotated: Annotated[
        bool,
        Meta(
            description="without a table: of OBI Component 20 the images that mark the component "
            "(default yes), or the others (no)"
        ),
    ] = True
    items: ItemList = None
    duplicates: Duplicates = "drop"
    names: NamesTable = None


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


def read_deciphering(
    src: Path, writer: DatasetWriter, settings: DecipheringSettings
) -> Iterator[str]:
    """Read characters: two items an image, What and How.

    The class is the group, else the character, else the image's hash. A character without a
    description has no reference; where the character is unknown too, it is undeciphered, and its
    items are marked so.

    Raises:
        UsageError: a table is given for several sources, an era is unknown, or a name is given for
            a column that the table does not have.
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken; a subset has less than the paper draws.
    """
    places = sources_in(src, _TASK, settings.source, settings.paths)
    if settings.descriptions and len(places) > 1:
        names = ", ".join(place.source.name for place in places)
        raise UsageError("option descriptions is for one source; found {}", names)
    read: list[SourceFolder] = []
    for place in places:
        records = _released_records(place, settings)
        if table := table_of(place, settings.descriptions):
            characters, notes = _of_table(place, table, records, settings)
        elif records:
            characters, notes = _of_records(records, settings)
        else:
            raise DataError(
                "expected {}.csv; found none, and no release of a known source",
                NAME,
                file=place.folder,
                hint=(
                    "Write it with the columns image and description, or give an expression of "
                    "the images' paths: --option paths='(.*/)?(?P<class>[^/]+)/[^/]+'"
                ),
            )
        read.append(records.place if records else place)
        for character in characters:
            _add_items(writer, character)
        yield from chain(_counts(read[-1].source, characters), notes)
    drawn = "yes" if settings.as_paper else "no"
    facts = {"seed": settings.seed, "drawn": drawn, "duplicates": settings.duplicates}
    record_sources(writer, read, facts)


def _add_items(writer: DatasetWriter, character: Character) -> None:
    ref = writer.add_image(source_bytes(character.path), str(character.path))
    unread = not (character.description or character.is_deciphered)
    pattern = Item(
        id=character.id,
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=character.group or ref.sha256,
        metadata=dict(character.metadata) | ({DECIPHERED: "no"} if unread else {}),
    )
    for item in items_of_queries(pattern):
        answer = character.description if item.query == "What" else ""
        writer.add(msgspec.structs.replace(item, answer=answer))


def _released_source(place: SourceFolder, images: Sequence[str]) -> Source | None:
    """The source whose release has these images; None if none is recognised."""
    for source in sources(_TASK):
        if is_release(place._replace(source=source), images):
            return source
    return None


def _released_records(place: SourceFolder, settings: DecipheringSettings) -> Records | None:
    """The records of a source that is read as it was released; None if it is in another form.

    A source of the user's own is one where most classes have a known character.

    Raises:
        DataError: as `read_records`.
    """
    if settings.paths:
        return read_records(place, settings.names)
    images, _tables = image_names(place.folder)
    source = _released_source(place, images)
    if source and place.source.name in {source.name, place.folder.resolve().name}:
        return read_records(place._replace(source=source), settings.names)
    if place.source.images or not images or any("/" not in name for name in images):
        return None
    records = read_records(place, settings.names)
    known = sum(bool(records.characters_of(label)) for label in records.classes)
    return records if 2 * known > len(records.classes) else None


def _of_table(
    place: SourceFolder, table: Path, records: Records | None, settings: DecipheringSettings
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release.

    Raises:
        DataError: the table is not as it should be; with ``as-paper``, a subset has too few lines;
            with the rule ``error``, an image is listed for two characters.
    """
    lines = list(read_descriptions(table, place, settings.descriptions, settings.field))
    if settings.items:
        names = [place.name_of(line.path) for line in lines]
        listed = ImageFinder(names).find_listed(read_list(settings.items))
        wanted = {image.name for image in listed}
        lines = [line for line, name in zip(lines, names, strict=True) if name in wanted]
    labels = {crop.name: crop for crop in crops_of(records)} if records else {}
    described = [_described(place, line, labels) for line in lines]
    if settings.as_paper:
        described = _as_printed(place, described, settings.seed)
    owners = {one.id: _Owned(one.path, one.place, one.group or one.id) for one in described}
    copies = Copies(owners.values(), settings.duplicates)
    chosen = [one for one in described if copies.is_usable(owners[one.id])]
    return chosen, list(copies.notes())


class _Owned(NamedTuple):
    """An image of a table, as `Copies` compares it."""

    path: Path
    id: str
    owner: str


def _described(place: SourceFolder, line: Description, crops: Mapping[str, Crop]) -> Character:
    """A character of a table."""
    source, name = place.source, place.name_of(line.path)
    character, frequency = line.cells["character"], line.cells["frequency"]
    released = None
    if crop := crops.get(name):
        released = _released(crop, crop.records.classes)
        character = character or released.metadata.get("character", "")
    frequency = str(int(frequency)) if frequency else ""
    subset = line.cells["subset"].casefold() or tier_of(int(frequency or 0))
    more = {"character": character, "subset": subset, "frequency": frequency}
    metadata = dict(released.metadata) if released else dict(source.about)
    own_group = f"{source.name}/{character}" if character else ""
    return Character(
        path=line.path,
        id=released.id if released else place.id_of(line.path),
        place=line.place.item,
        group=released.group if released else own_group,
        description=line.cells["description"],
        is_deciphered=released.is_deciphered if released else bool(character),
        metadata=metadata | {key: text for key, text in more.items() if text},
    )


def _released(crop: Crop, classes: Mapping[str, Sequence[str]]) -> Character:
    """A character of a release, without a description."""
    records = crop.records
    is_known = crop.label in records.classes
    metadata = records.about(crop.name, crop.label)
    if is_known:
        count = len(classes.get(crop.label) or records.classes[crop.label])
        metadata["frequency"] = str(count)
        if subset := _subset_of(records.place.source, count):
            metadata["subset"] = subset
    key = records.record(crop.name).key
    return Character(crop.path, crop.id, key, crop.owner, "", is_known, metadata)


def _subset_of(source: Source, count: int) -> str:
    """The subset of a class with `count` images: its tier, or radical; empty if unknown."""
    if _RADICAL in source.subsets:
        return _RADICAL
    tier = tier_of(count)
    return tier if not source.subsets or tier in source.subsets else ""


def _of_records(
    records: Records, settings: DecipheringSettings
) -> tuple[list[Character], list[str]]:
    """Characters drawn from a release, and notes: all that the settings leave, one image of each.

    Raises:
        UsageError: the era is unknown.
        DataError: too few characters; a subset that the release does not mark.
    """
    source, seed = records.place.source, settings.seed
    copies = Copies(crops_of(records), settings.duplicates)
    classes, notes = _filtered(records, settings)
    crops: list[Crop] = []
    if settings.items:
        by_name = {crop.name: crop for crop in crops_of(records)}
        listed = ImageFinder(by_name).find_listed(read_list(settings.items))
        crops = [by_name[image.name] for image in listed if copies.is_usable(by_name[image.name])]
    else:
        parts = {"no": (classes,), "yes": (classes, records.undeciphered)}
        for part in parts.get(settings.undeciphered, (records.undeciphered,)):
            if part is classes and settings.as_paper:
                crops += _draw_subsets(records, part, copies, seed)
            else:
                per_class = settings.images or source.variants or 1
                crops += _draw_classes(
                    records, part, copies, seed, (settings.classes or 0, per_class)
                )
        if not crops:
            raise DataError(
                "no character is left to ask about",
                file=records.place.folder,
                hint="Give other options: undeciphered, era, annotated",
            )
    notes += [*_record_notes(records), *copies.notes()]
    return [_released(crop, classes) for crop in crops], notes


def _record_notes(records: Records) -> Iterator[str]:
    """Notes on files that were skipped and on classes missing in a table of characters."""
    name, file = records.source, records.characters_file
    yield from (f"{name}: {note}" for note in records.notes)
    if file:
        ids = {part for label in records.classes for part in (label, *label.split("_"))}
        if missing := sorted(records.characters.keys() - ids):
            yield (
                f"{name}: {number_of(len(missing), 'class', 'classes')} of "
                f"{file.name} without images: {join_names(missing)}"
            )
    if records.classes and not any(map(records.characters_of, records.classes)):
        yield (
            f"{name}: the characters of the classes are unknown; give a table: --option names=FILE"
        )


def _filtered(
    records: Records, settings: DecipheringSettings
) -> tuple[dict[str, list[str]], list[str]]:
    """The classes without images of other eras, and without or with annotated components."""
    source = records.place.source
    groups = {group for rule in records.rules for group in rule.pattern.groupindex}
    classes: dict[str, list[str]] = dict(records.classes)
    notes: list[str] = []
    if source.eras and (era := settings.era or source.era) != "all":
        wanted = source.era_of(era)
        if not wanted:
            raise UsageError("option era={}: choose all or {}", era, ", ".join(source.eras))
        for label, names in classes.items():
            classes[label] = [
                name
                for name in names
                if source.era_of(records.record(name).fields.get("era", "")) in ("", wanted)
            ]
        count = sum(map(len, records.classes.values())) - sum(map(len, classes.values()))
        notes.append(
            f"{source.name}: skipped {number_of(count, 'image')} of other eras than {wanted} "
            "(option era)"
        )
    if "annotated" in groups:
        for label, names in classes.items():
            classes[label] = [
                name
                for name in names
                if ("annotated" in records.record(name).fields) == settings.annotated
            ]
    return {label: names for label, names in classes.items() if names}, notes


def _draw_classes(
    records: Records,
    classes: Mapping[str, Sequence[str]],
    copies: Copies[Crop],
    seed: str,
    counts: tuple[int, int],
) -> list[Crop]:
    """Classes (0 for all), with at most a number of images of each.

    Raises:
        DataError: there are fewer classes.
    """
    count, per_class = counts
    drawn: dict[str, list[Crop]] = {}
    for label in draw_order(classes, seed, records.source, "classes"):
        if count and len(drawn) == count:
            break
        if crops := copies.draw(order_of(records, label, seed, classes[label]), per_class):
            drawn[label] = crops
    if len(drawn) < count:
        raise DataError(
            n_(
                "{n:,} character; wanted are {}",
                "{n:,} characters; wanted are {}",
                len(drawn),
                count,
                hint=_("Ask for at most {}: --option classes=N", len(drawn)),
            ),
            file=records.place.folder,
        )
    return [crop for label in sorted(drawn) for crop in drawn[label]]


def _draw_subsets(
    records: Records, classes: Mapping[str, Sequence[str]], copies: Copies[Crop], seed: str
) -> list[Crop]:
    """As many of each subset as the paper has: by tier, or radicals with their variants.

    Raises:
        DataError: the release does not mark the subsets, or one has too few characters.
    """
    source = records.place.source
    order = draw_order(classes, seed, source.name, "classes")
    variants = source.variants or 1
    chosen: dict[str, list[Crop]] = {}
    for subset, count in source.subsets.items():
        drawn: dict[str, list[Crop]] = {}
        for label in order:
            if len(drawn) * variants == count:
                break
            if _subset_of(source, len(classes[label])) == subset:
                crops = copies.draw(order_of(records, label, seed, classes[label]), variants)
                if len(crops) == variants:
                    drawn[label] = crops
        if len(drawn) * variants < count:
            raise DataError(
                n_(
                    "{n:,} image of subset {}, but the paper has {}; the release does not "
                    "say which characters belong to it",
                    "{n:,} images of subset {}, but the paper has {}; the release does not "
                    "say which characters belong to it",
                    len(drawn) * variants,
                    subset,
                    count,
                    hint=(
                        "Write the subsets into descriptions.csv, with the columns image, "
                        "description and subset, or import without --option as-paper=yes"
                    ),
                ),
                file=records.place.folder,
            )
        chosen |= drawn
    return [crop for label in sorted(chosen) for crop in chosen[label]]


def _as_printed(place: SourceFolder, every: list[Character], seed: str) -> list[Character]:
    """As many characters of each subset as the paper has; of radicals whole variants.

    The paper has descriptions of all its characters, so those without one are not drawn.
    """
    source = place.source
    by_name = {one.id: one for one in every if one.description}
    order = draw_order(by_name, seed, source.name)
    chosen: set[str] = set()
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
                file=place.folder,
                hint="Use them as they are: remove --option as-paper=yes",
            )
        chosen.update(names[:count])
    return [one for name, one in by_name.items() if not source.subsets or name in chosen]


def _of_whole_radicals(
    names: Iterable[str], by_name: Mapping[str, Character], variants: int
) -> list[str]:
    """Names radical by radical, with `variants` variants of each that has them."""
    radicals: dict[str, list[str]] = {}
    for name in names:
        radicals.setdefault(by_name[name].metadata.get("character", ""), []).append(name)
    return [name for one in radicals.values() if len(one) >= variants for name in one[:variants]]


def _counts(source: Source, chosen: Sequence[Character]) -> Iterator[str]:
    """Notes on how many characters have a description, a subset, or are undeciphered."""
    name = source.name
    bare = [one for one in chosen if not one.description]
    unknown = [one.place for one in bare if not one.is_deciphered]
    known = [one.place for one in bare if one.is_deciphered]
    yield from note_unlike_print(source, len(chosen) - len(unknown))
    if unknown:
        yield (
            f"{name}: {number_of(len(unknown), 'character is', 'characters are')} without a "
            f"description and undeciphered (asked, not scored): {join_names(unknown)}"
        )
    if known:
        yield (
            f"{name}: {len(known)} of {len(chosen) - len(unknown)} known characters have no "
            f"description (asked, not scored): {join_names(known)}. "
            "Write descriptions.csv with the columns image and description"
        )
    if loose := [one.place for one in chosen if not one.metadata.get("subset")]:
        yield (
            f"{name}: {number_of(len(loose), 'character is', 'characters are')} of no subset: "
            f"{join_names(loose)}"
        )


def detect_characters(listing: Listing) -> Detection | None:
    """Recognise characters to decipher: a release, or a table of descriptions."""
    if not listing.src.is_dir() or not listing.images:
        return None
    if any(source.task == _TASK for source in named_sources(listing)):
        return _named_sources(listing)
    if listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv", "boxes.json"):
        return None
    if table := _table_in(listing, PurePosixPath()):
        columns = {key.casefold() for record in listing.records(table, 1) for key in record}
        names = preset(_TASK).columns
        fits = columns & set(names["image"]) and columns & set(names["description"])
        text = f"images of characters and {table.name}, which describes them"
        return Detection(0.9, text) if fits else None
    place = SourceFolder(sources(_TASK)[0], listing.root, listing.root)
    source = _released_source(place, [path.as_posix() for path in listing.images])
    counted = _counted(listing, listing.images)
    return Detection(1.0, f"{source.name} as released: {counted}") if source else None


def _named_sources(listing: Listing) -> Detection:
    """The detection of the sources that folders are named after."""
    try:
        places = sources_in(listing.src, _TASK)
    except KejuError as error:
        return Detection(0.6, "OBI-Bench's deciphering", missing=str(error))
    parts = [_one_source(listing, place) for place in places]
    missing = next((part.missing for part in parts if part.missing), "")
    return Detection(1.0, "; ".join(part.what for part in parts), missing=missing)


def _one_source(listing: Listing, place: SourceFolder) -> Detection:
    """The detection of one source, with what is missing."""
    inner = PurePosixPath(place.folder.relative_to(place.src).as_posix())
    images = [path for path in listing.images if path.is_relative_to(inner)]
    name, counted = place.source.name, _counted(listing, images)
    if table := _table_in(listing, inner):
        return Detection(1.0, f"{name}: {counted}, described in {table.name}")
    if is_release(place, [path.relative_to(inner).as_posix() for path in images]):
        return Detection(1.0, f"{name} as released: {counted}")
    return Detection(0.6, f"{name}: {counted}", missing=f"{NAME}.csv: image, description")


def _counted(listing: Listing, images: Sequence[PurePosixPath]) -> str:
    folders = number_of(len({path.parent for path in images}), "folder")
    least = "" if listing.complete else "at least "
    return f"{least}{number_of(len(images), 'image')} in {folders}"


def _table_in(listing: Listing, folder: PurePosixPath) -> PurePosixPath | None:
    names = (f"{NAME}.{suffix}" for suffix in ("csv", "tsv", "json", "jsonl"))
    return next((path for path in listing.named(*names) if path.parent == folder), None)


READER = Reader(
    "obi-deciphering",
    "OBI-Bench's deciphering: characters, and a table of their meanings",
    LAYOUT,
    read_deciphering,
    DecipheringSettings,
    detect_characters,
)
