"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from keju.benchmarks.obi_bench.readers.descriptions import NAME, Description, read_descriptions
from keju.benchmarks.obi_bench.readers.galleries import Copies, order_of
from keju.benchmarks.obi_bench.readers.lists import ItemList, NamedImages
from keju.benchmarks.obi_bench.readers.records import Crop, Records, is_release, read_records
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Paths,
    Seed,
    Source,
    SourceFolder,
    SourceName,
    draw_order,
    images_in,
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
from keju.datasets.readers.tables import find_table
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError, KejuError, UsageError, number_of
from keju.items import Item
from keju.settings import Settings
from keju.texts import _, n_

_TASK = "deciphering"
_RADICAL = "radical"


class DecipheringSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    source: SourceName = ""
    paths: Paths = ""
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


class Character(NamedTuple):
    """An image of a character to ask about; `line` names it in notes."""

    crop: Crop
    line: str
    group: str
    metadata: Mapping[str, str]
    description: str = ""


def read_deciphering(
    src: Path, writer: DatasetWriter, settings: DecipheringSettings
) -> Iterator[str]:
    """Read characters: two items an image, What and How.

    The class is the group, else the character, else the image's hash. A character without a
    description has no reference; where the character is unknown too, it is undeciphered, and its
    items are marked so.

    Raises:
        UsageError: an era is unknown.
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken; a subset has less than the paper draws.
    """
    folders: list[SourceFolder] = []
    for place in sources_in(src, _TASK, settings.source, settings.paths):
        released = place if settings.paths else _released_place(place, list(images_in(place)))
        records = read_records(released) if released else None
        lines = read_descriptions(place)
        if lines is not None:
            characters, notes = _of_table(place, lines, records, settings)
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
        folders.append(released or place)
        for character in characters:
            _add_items(writer, character)
        yield from _counts(folders[-1].source, characters)
        yield from notes
    facts = {"seed": settings.seed, "drawn": "yes" if settings.as_paper else "no"}
    record_sources(writer, folders, facts)


def _add_items(writer: DatasetWriter, character: Character) -> None:
    ref = writer.add_image(source_bytes(character.crop.path), str(character.crop.path))
    unread = not (character.description or character.crop.is_deciphered)
    pattern = Item(
        id=character.crop.id,
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=character.group or ref.sha256,
        metadata=dict(character.metadata) | ({DECIPHERED: "no"} if unread else {}),
    )
    for item in items_of_queries(pattern):
        answer = character.description if item.query == "What" else ""
        writer.add(msgspec.structs.replace(item, answer=answer))


def _released_place(place: SourceFolder, images: Sequence[str]) -> SourceFolder | None:
    """A source as the one whose release has these images; None if it is in another form."""
    for source in sources(_TASK):
        released = place._replace(source=source)
        is_named = place.source.name in {source.name, place.folder.resolve().name}
        if is_named and is_release(released, images):
            return released
    return None


def _of_table(
    place: SourceFolder,
    lines: Sequence[Description],
    records: Records | None,
    settings: DecipheringSettings,
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release.

    Raises:
        DataError: with ``as-paper``, a subset has too few lines.
    """
    if settings.items:
        images = NamedImages(place.folder, [line.path for line in lines])
        paths = images.listed(settings.items)
        lines = [line for line in lines if line.path in paths]
    crops = {crop.path: crop for crop in records.crops} if records else {}
    characters = [
        _described(
            place,
            line,
            _released(records, crops[line.path], records.classes)
            if records and line.path in crops
            else None,
        )
        for line in lines
    ]
    if settings.as_paper:
        characters = _as_printed(place, characters, settings.seed)
    copies = Copies([character.crop for character in characters])
    characters = [character for character in characters if copies.is_usable(character.crop)]
    return characters, list(copies.notes())


def _described(place: SourceFolder, line: Description, released: Character | None) -> Character:
    """A character of a table, which may be one of a release."""
    name, character = place.name_of(line.path), line.cells["character"]
    if released is None:
        crop = Crop(place, name, name, character or name, bool(character))
        group = crop.owner if character else ""
        released = Character(crop, "", group, place.source.about)
    frequency = int(line.cells["frequency"] or 0)
    more = {
        "character": character or released.metadata.get("character", ""),
        "subset": line.cells["subset"].casefold() or tier_of(frequency),
        "frequency": str(frequency) if line.cells["frequency"] else "",
    }
    metadata = dict(released.metadata) | {key: text for key, text in more.items() if text}
    return released._replace(
        line=line.place.item, metadata=metadata, description=line.cells["description"]
    )


def _released(records: Records, crop: Crop, classes: Mapping[str, Sequence[Crop]]) -> Character:
    """A character of a release, without a description."""
    metadata = records.about(crop)
    if crop.is_deciphered:
        count = len(classes.get(crop.label) or records.classes[crop.label])
        metadata["frequency"] = str(count)
        if subset := _subset_of(records.place.source, count):
            metadata["subset"] = subset
    return Character(crop, crop.key, crop.owner, metadata)


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
    copies, source = Copies(records.crops), records.place.source
    classes, notes = _filtered(records, settings)
    crops: list[Crop] = []
    if settings.items:
        by_path = {crop.path: crop for crop in records.crops}
        listed = NamedImages(records.place.folder, by_path).listed(settings.items)
        crops = [by_path[path] for path in listed if copies.is_usable(by_path[path])]
    else:
        draw = partial(_draw, records, classes, copies, settings.seed)
        variants = source.variants or 1
        if settings.as_paper:
            for subset, count in source.subsets.items():
                crops += draw(count // variants, variants, subset)
            crops.sort(key=lambda crop: crop.label)
        else:
            crops = draw(settings.classes or 0, settings.images or variants)
        if not crops:
            raise DataError(
                "no character is left to ask about",
                file=records.place.folder,
                hint="Give other options: undeciphered, era, annotated",
            )
    notes += [_("{}: {}", source.name, note) for note in records.notes]
    if file := records.characters_file:
        ids = {part for label in records.classes for part in (label, *label.split("_"))}
        if missing := sorted(records.characters.keys() - ids):
            notes.append(
                n_(
                    "{}: {n:,} class of {} without images: {}",
                    "{}: {n:,} classes of {} without images: {}",
                    len(missing),
                    source.name,
                    file.name,
                    join_names(missing),
                )
            )
    if records.classes and not any(map(records.character_of, records.classes)):
        notes.append(
            _(
                "{}: the characters of the classes are unknown; put ID_to_chinese.json into the "
                "folder",
                source.name,
            )
        )
    return [_released(records, crop, classes) for crop in crops], [*notes, *copies.notes()]


def _filtered(
    records: Records, settings: DecipheringSettings
) -> tuple[dict[str, list[Crop]], list[str]]:
    """The classes without images that the options era, annotated and undeciphered leave out."""
    source, era_name = records.place.source, ""
    if source.eras and (era := settings.era or source.era) != "all":
        era_name = source.era_of(era)
        if not era_name:
            raise UsageError("option era={}: choose all or {}", era, ", ".join(source.eras))
    marks = any("annotated" in rule.pattern.groupindex for rule in records.rules)
    statuses = {"no": {True}, "only": {False}}.get(settings.undeciphered, {True, False})

    def is_of_era(crop: Crop) -> bool:
        return not era_name or source.era_of(records.fields(crop).get("era", "")) in {"", era_name}

    def is_asked(crop: Crop) -> bool:
        marked = not marks or ("annotated" in records.fields(crop)) == settings.annotated
        return marked and crop.is_deciphered in statuses and is_of_era(crop)

    classes = {label: list(filter(is_asked, crops)) for label, crops in records.classes.items()}
    notes: list[str] = []
    if era_name:
        count = sum(not is_of_era(crop) for crop in records.crops)
        notes.append(
            n_(
                "{}: skipped {n:,} image of other eras than {} (option era)",
                "{}: skipped {n:,} images of other eras than {} (option era)",
                count,
                source.name,
                era_name,
            )
        )
    return {label: crops for label, crops in classes.items() if crops}, notes


def _draw(
    records: Records,
    classes: Mapping[str, Sequence[Crop]],
    copies: Copies,
    seed: str,
    count: int,
    per_class: int,
    subset: str = "",
) -> list[Crop]:
    """`count` classes (0 for all), with at most `per_class` images of each; of a subset exactly.

    Raises:
        DataError: there are fewer classes, or the release does not mark the subset.
    """
    source, folder = records.place.source, records.place.folder
    sample: dict[str, list[Crop]] = {}
    for label in draw_order(classes, seed, source.name, "classes"):
        if count and len(sample) == count:
            break
        is_known = classes[label][0].is_deciphered
        if not subset or (is_known and _subset_of(source, len(classes[label])) == subset):
            crops = copies.draw(order_of(classes[label], seed), per_class)
            if len(crops) >= (per_class if subset else 1):
                sample[label] = crops
    if len(sample) < count and subset:
        raise _too_few(len(sample) * per_class, subset, count * per_class, folder)
    if len(sample) < count:
        raise DataError(
            n_(
                "{n:,} character; wanted are {}",
                "{n:,} characters; wanted are {}",
                len(sample),
                count,
                hint=_("Ask for at most {}: --option classes=N", len(sample)),
            ),
            file=folder,
        )
    return [crop for label in sorted(sample) for crop in sample[label]]


def _too_few(images: int, subset: str, count: int, folder: Path) -> DataError:
    return DataError(
        n_(
            "{n:,} image of subset {}, but the paper has {}",
            "{n:,} images of subset {}, but the paper has {}",
            images,
            subset,
            count,
            hint=(
                "Write the subsets into descriptions.csv, with the columns image, description and "
                "subset, or import without --option as-paper=yes"
            ),
        ),
        file=folder,
    )


def _as_printed(place: SourceFolder, characters: list[Character], seed: str) -> list[Character]:
    """As many characters of each subset as the paper has; of radicals whole variants.

    The paper has descriptions of all its characters, so those without one are not drawn.
    """
    source, variants = place.source, place.source.variants
    by_name = {character.crop.id: character for character in characters if character.description}
    sample: set[str] = set()
    for subset, count in source.subsets.items():
        radicals: dict[str, list[str]] = {}
        for name in draw_order(by_name, seed, source.name):
            if by_name[name].metadata.get("subset") == subset:
                radical = by_name[name].metadata.get("character", "") if variants else name
                radicals.setdefault(radical, []).append(name)
        least = variants or 1
        names = [
            name for group in radicals.values() if len(group) >= least for name in group[:least]
        ]
        if len(names) < count:
            raise _too_few(len(names), subset, count, place.folder)
        sample.update(names[:count])
    return [
        character for name, character in by_name.items() if not source.subsets or name in sample
    ]


def _counts(source: Source, characters: Sequence[Character]) -> Iterator[str]:
    """Notes on how many characters have a description, a subset, or are undeciphered."""
    name = source.name
    unknown = [
        character.line
        for character in characters
        if not (character.description or character.crop.is_deciphered)
    ]
    known = [
        character.line
        for character in characters
        if not character.description and character.crop.is_deciphered
    ]
    yield from note_unlike_print(source, len(characters) - len(unknown))
    if unknown:
        yield n_(
            "{}: {n:,} character is without a description and undeciphered (asked, not scored): {}",
            "{}: {n:,} characters are without a description and undeciphered (asked, not scored): "
            "{}",
            len(unknown),
            name,
            join_names(unknown),
        )
    if known:
        yield _(
            "{}: {} of {} known characters have no description (asked, not scored): {}. Write "
            "descriptions.csv with the columns image and description",
            name,
            len(known),
            len(characters) - len(unknown),
            join_names(known),
        )
    if loose := [
        character.line for character in characters if not character.metadata.get("subset")
    ]:
        yield n_(
            "{}: {n:,} character is of no subset: {}",
            "{}: {n:,} characters are of no subset: {}",
            len(loose),
            name,
            join_names(loose),
        )


def detect_characters(listing: Listing) -> Detection | None:
    """Recognise characters to decipher: a release, or a table of descriptions."""
    if not listing.src.is_dir() or not listing.images:
        return None
    is_named = any(source.task == _TASK for source in named_sources(listing))
    if not is_named and (listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv")):
        return None
    try:
        places = sources_in(listing.src, _TASK, "" if is_named else listing.src.resolve().name)
    except KejuError as error:
        return Detection(0.6, "OBI-Bench's deciphering", missing=str(error)) if is_named else None
    texts, missing, fit = [], "", 1.0
    for place in places:
        folder = place.folder.relative_to(place.src)
        images = [
            str(path.relative_to(folder)) for path in listing.images if path.is_relative_to(folder)
        ]
        counted = number_of(len(images), "image")
        if table := find_table(place.folder, NAME):
            texts.append(f"{place.source.name}: {counted}, described in {table.name}")
            fit = 1.0 if is_named else 0.9
        elif released := _released_place(place, images):
            texts.append(f"{released.source.name} as released: {counted}")
        elif is_named:
            texts.append(f"{place.source.name}: {counted}")
            missing, fit = f"{NAME}.csv: image, description", 0.6
        else:
            return None
    return Detection(fit, "; ".join(texts), missing=missing)


READER = Reader(
    "obi-deciphering",
    preset(_TASK).what,
    preset(_TASK).layout,
    read_deciphering,
    DecipheringSettings,
    detect_characters,
)
