"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.galleries import Copies, order_of
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    DESCRIPTIONS,
    Crop,
    Records,
    Seed,
    Source,
    SourceFolder,
    SourceSettings,
    add_queries,
    by_source,
    draw_order,
    note_unlike_print,
    preset,
    read_descriptions,
    read_records,
    reader_of,
)
from keju.datasets.readers.base import join_names, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.tables import find_table
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError
from keju.items import Item
from keju.texts import _, n_

_TASK = "deciphering"
_RADICAL = "radical"


class DecipheringSettings(SourceSettings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    as_paper: Annotated[
        bool,
        Meta(
            description="yes: draw as many of each subset as the paper has (default no: take all)"
        ),
    ] = False
    seed: Seed = "0"


class Character(NamedTuple):
    """An image of a character to ask about; without a group it is undeciphered."""

    crop: Crop
    group: str
    metadata: Mapping[str, str]
    description: str = ""


def read_deciphering(
    place: SourceFolder, writer: DatasetWriter, settings: DecipheringSettings
) -> Iterator[str]:
    """Read characters: two items an image, What and How.

    The class is the group, else the character, else the image's hash. A character without a
    description has no reference; where the character is unknown too, it is undeciphered, and its
    items are marked so.

    Raises:
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken; a subset has less than the paper draws.
    """
    table = read_descriptions(place)
    records = read_records(place, strict=table is None)
    if table is None:
        characters, notes = _of_release(records, settings)
    else:
        characters, notes = _of_table(records, table, settings)
    for character in characters:
        _add_items(writer, character)
    writer.declare(seed=settings.seed, drawn="yes" if settings.as_paper else "no")
    yield from _counts(place.source, characters)
    yield from notes


def _add_items(writer: DatasetWriter, character: Character) -> None:
    ref = writer.add_image(source_bytes(character.crop.path), str(character.crop.path))
    metadata = dict(character.metadata)
    if not (character.description or character.group):
        metadata[DECIPHERED] = "no"
    pattern = Item(
        id=character.crop.id,
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=character.group or ref.sha256,
        metadata=metadata,
    )
    add_queries(writer, pattern, {"What": character.description, "How": ""})


def _of_table(
    records: Records, table: Mapping[Path, Mapping[str, str]], settings: DecipheringSettings
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release.

    With ``as-paper`` only described characters are drawn, as the paper has descriptions of all.

    Raises:
        DataError: with ``as-paper``, a subset has too few lines.
    """
    place = records.place
    crops = {crop.path: crop for crop in records.crops}
    characters = []
    for path, cells in table.items():
        name, text = place.name_of(path), cells["character"]
        if path in crops:
            character = _released(records, crops[path])
        else:
            crop = Crop(place, name, name, text or name)
            character = Character(crop, crop.owner if text else "", place.source.about)
        frequency = cells["frequency"]
        more = {
            "character": text,
            "subset": cells["subset"].casefold() or tier_of(int(frequency or 0)),
            "frequency": str(int(frequency)) if frequency else "",
        }
        metadata = {**character.metadata, **{key: value for key, value in more.items() if value}}
        characters.append(character._replace(metadata=metadata, description=cells["description"]))
    if settings.as_paper:
        by_id = {character.crop.id: character for character in characters if character.description}
        order = draw_order(by_id, settings.seed, place.source.name)
        sample = _as_printed(place, [by_id[name] for name in order])
        characters = [character for character in characters if character in sample]
    copies = Copies([character.crop for character in characters])
    characters = [character for character in characters if copies.is_usable(character.crop)]
    return characters, list(copies.notes())


def _of_release(
    records: Records, settings: DecipheringSettings
) -> tuple[list[Character], list[str]]:
    """Characters of a release, and notes: those drawn as the paper's, else one image of each.

    Of a source whose characters have variants, that many images of each are drawn.

    Raises:
        DataError: too few characters; a subset that the release does not mark.
    """
    copies, source = Copies(records.crops), records.place.source
    labels = draw_order(records.classes, settings.seed, source.name, "classes")
    crops = chain.from_iterable(
        copies.draw(order_of(records.classes[label], settings.seed), source.variants)
        for label in labels
    )
    characters = [_released(records, crop) for crop in crops]
    if settings.as_paper:
        characters = _as_printed(records.place, characters)
    notes = [*records.notes, *copies.notes()]
    if not any(map(records.character_of, records.classes)):
        notes.append(
            _("the characters of the classes are unknown; put ID_to_chinese.json into the folder")
        )
    characters.sort(key=lambda character: character.crop.label)
    return characters, notes


def _released(records: Records, crop: Crop) -> Character:
    """A character of a release, without a description."""
    count = len(records.classes[crop.label])
    subsets = records.place.source.subsets
    metadata = records.about(crop) | {"frequency": str(count)}
    tier = tier_of(count)
    if _RADICAL in subsets:
        metadata["subset"] = _RADICAL
    elif tier and (tier in subsets or not subsets):
        metadata["subset"] = tier
    return Character(crop, crop.owner, metadata)


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    tiers = preset(_TASK).tiers
    return next((tier for tier, above in tiers.items() if frequency > above), "")


def _as_printed(place: SourceFolder, characters: Sequence[Character]) -> list[Character]:
    """As many characters of each subset as the paper has; of a radical as many as it has variants.

    They are the first ones, so `characters` are in the order of the draw.

    Raises:
        DataError: there are fewer, or the release does not mark the subset.
    """
    variants = place.source.variants
    sample: list[Character] = []
    for subset, count in place.source.subsets.items():
        groups: dict[str, list[Character]] = {}
        for character in characters:
            if character.metadata.get("subset") == subset:
                key = character.crop.owner if variants > 1 else character.crop.id
                groups.setdefault(key, []).append(character)
        complete = [group[:variants] for group in groups.values() if len(group) >= variants]
        images = list(chain.from_iterable(complete))[:count]
        if len(images) < count:
            raise DataError(
                n_(
                    "{n:,} image of subset {}, but the paper has {}",
                    "{n:,} images of subset {}, but the paper has {}",
                    len(images),
                    subset,
                    count,
                    hint=(
                        "Write the subsets into descriptions.csv, with the columns image, "
                        "description and subset, or import without --option as-paper=yes"
                    ),
                ),
                file=place.folder,
            )
        sample += images
    return sample


def _counts(source: Source, characters: Sequence[Character]) -> Iterator[str]:
    """Notes on how many characters are asked without a description, and which are undeciphered."""
    bare = [character for character in characters if not character.description]
    unknown = [character.crop.key for character in bare if not character.group]
    yield from note_unlike_print(source, len(characters) - len(unknown))
    if bare:
        yield _(
            "{} of {} characters have no description (asked, not scored): {}. Write "
            "descriptions.csv with the columns image and description",
            len(bare),
            len(characters),
            join_names(character.crop.key for character in bare),
        )
    if unknown:
        yield _("undeciphered: {} ({})", len(unknown), join_names(unknown))


def _guess(listing: Listing) -> tuple[float, str]:
    box_files = listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv")
    return (0.9 if find_table(listing.src, DESCRIPTIONS) and not box_files else 0.0), ""


READER = reader_of("deciphering", DecipheringSettings, by_source(read_deciphering), _guess)
