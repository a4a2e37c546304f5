"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

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
from keju.errors import DataError, KejuError, error_text
from keju.items import Item
from keju.settings import Settings
from keju.texts import _, join_clauses, n_

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
    items: ItemList = None


class Character(NamedTuple):
    """An image of a character to ask about.

    `line` names it in notes. It is undeciphered if its table gives no character for it.
    """

    crop: Crop
    line: str
    group: str
    metadata: Mapping[str, str]
    description: str = ""
    is_deciphered: bool = True


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
    unread = not (character.description or character.is_deciphered)
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
            _released(records, crops[line.path]) if records and line.path in crops else None,
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
        crop = Crop(place, name, name, character or name)
        group = crop.owner if character else ""
        about = place.source.about
        released = Character(crop, "", group, about, is_deciphered=bool(character))
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


def _released(records: Records, crop: Crop) -> Character:
    """A character of a release, without a description."""
    count = len(records.classes[crop.label])
    metadata = records.about(crop) | {"frequency": str(count)}
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
    """Characters of a release, and notes: those listed or drawn, else one image of each.

    Of a source whose characters have variants, that many images of each are drawn.

    Raises:
        DataError: too few characters; a subset that the release does not mark.
    """
    copies, source = Copies(records.crops), records.place.source
    seed, variants = settings.seed, source.variants or 1
    crops: list[Crop] = []
    if settings.items:
        by_path = {crop.path: crop for crop in records.crops}
        listed = NamedImages(records.place.folder, by_path).listed(settings.items)
        crops = [by_path[path] for path in listed if copies.is_usable(by_path[path])]
    elif settings.as_paper:
        for subset, count in source.subsets.items():
            crops += _draw_subset(records, copies, seed, subset, count)
        crops.sort(key=lambda crop: crop.label)
    else:
        for label in sorted(records.classes):
            crops += copies.draw(order_of(records.classes[label], seed), variants)
    notes = [_("{}: {}", source.name, note) for note in records.notes]
    if not any(map(records.character_of, records.classes)):
        notes.append(
            _(
                "{}: the characters of the classes are unknown; put ID_to_chinese.json into the "
                "folder",
                source.name,
            )
        )
    return [_released(records, crop) for crop in crops], [*notes, *copies.notes()]


def _draw_subset(
    records: Records, copies: Copies, seed: str, subset: str, count: int
) -> list[Crop]:
    """`count` images of a subset, of each class as many as the source has variants.

    Raises:
        DataError: there are fewer, or the release does not mark the subset.
    """
    source = records.place.source
    variants = source.variants or 1
    found: list[Crop] = []
    for label in draw_order(records.classes, seed, source.name, "classes"):
        if len(found) < count and _subset_of(source, len(records.classes[label])) == subset:
            crops = copies.draw(order_of(records.classes[label], seed), variants)
            found += crops if len(crops) == variants else []
    if len(found) < count:
        raise _too_few(len(found), subset, count, records.place.folder)
    return found


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
    """Notes on how many characters are asked without a description, and which are undeciphered."""
    bare = [character for character in characters if not character.description]
    unknown = [character.line for character in bare if not character.is_deciphered]
    deciphered_lines = [character.line for character in bare if character.is_deciphered]
    yield from note_unlike_print(source, len(characters) - len(unknown))
    if unknown:
        yield n_(
            "{}: {n:,} character is without a description and undeciphered (asked, not scored): {}",
            "{}: {n:,} characters are without a description and undeciphered (asked, not scored): "
            "{}",
            len(unknown),
            source.name,
            join_names(unknown),
        )
    if deciphered_lines:
        yield _(
            "{}: {} of {} known characters have no description (asked, not scored): {}. Write "
            "descriptions.csv with the columns image and description",
            source.name,
            len(deciphered_lines),
            len(characters) - len(unknown),
            join_names(deciphered_lines),
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
        what = _("OBI-Bench's {}", _TASK)
        return Detection(0.6, what, missing=error_text(error)) if is_named else None
    texts, missing, fit = [], "", 1.0
    for place in places:
        folder = place.folder.relative_to(place.src)
        images = [
            str(path.relative_to(folder)) for path in listing.images if path.is_relative_to(folder)
        ]
        counted = n_("{n:,} image", "{n:,} images", len(images))
        name = place.source.name
        if table := find_table(place.folder, NAME):
            texts.append(_("{}: {}, described in {}", name, counted, table.name))
            fit = 1.0 if is_named else 0.9
        elif released := _released_place(place, images):
            texts.append(_("{} as released: {}", released.source.name, counted))
        elif is_named:
            texts.append(_("{}: {}", name, counted))
            missing, fit = _("{}.csv with the columns image and description", NAME), 0.6
        else:
            return None
    return Detection(fit, join_clauses(texts), missing=missing)


READER = Reader(
    "obi-deciphering",
    preset(_TASK).what,
    preset(_TASK).layout,
    read_deciphering,
    DecipheringSettings,
    detect_characters,
)
