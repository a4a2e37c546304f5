"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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
from keju.items import Item
from keju.texts import _

_TASK = "deciphering"
_RADICAL = "radical"


class DecipheringSettings(SourceSettings, frozen=True, kw_only=True):
    """The options of ``obi-deciphering``."""

    seed: Seed = "0"


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
    place: SourceFolder, writer: DatasetWriter, settings: DecipheringSettings
) -> Iterator[str]:
    """Read characters: two items an image, What and How.

    The class is the group, else the character, else the image's hash. A character without a
    description has no reference; where the character is unknown too, it is undeciphered, and its
    items are marked so.

    Raises:
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken.
    """
    table = read_descriptions(place)
    records = read_records(place, strict=table is None)
    if table is None:
        characters, notes = _of_release(records, settings.seed)
    else:
        characters, notes = _of_table(records, table)
    for crop, group, metadata, _line, description in characters:
        ref = writer.add_image(source_bytes(crop.path), str(crop.path))
        pattern = Item(
            id=crop.id,
            benchmark=BENCHMARK,
            task=_TASK,
            images=(ref,),
            group=group or ref.sha256,
            metadata={**metadata, **({} if description or group else {DECIPHERED: "no"})},
        )
        add_queries(writer, pattern, {"What": description, "How": ""})
    writer.declare(seed=settings.seed)
    yield from _counts(place.source, characters)
    yield from notes


def _of_table(
    records: Records, table: Mapping[Path, Mapping[str, str]]
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release."""
    place = records.place
    crops = {crop.path: crop for crop in records.crops}
    characters = []
    for path, cells in table.items():
        name, text = place.name_of(path), cells["character"]
        if path in crops:
            character = _released(records, crops[path])
        else:
            crop = Crop(place, name, name, text or name)
            character = Character(crop, crop.owner if text else "", place.source.about, name)
        frequency = cells["frequency"]
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
    copies = Copies([character.crop for character in characters])
    characters = [character for character in characters if copies.is_usable(character.crop)]
    return characters, list(copies.notes())


def _of_release(records: Records, seed: str) -> tuple[list[Character], list[str]]:
    """Characters of a release, one image of each, and notes.

    Of a source whose characters have variants, that many images of each are drawn.
    """
    copies, variants = Copies(records.crops), records.place.source.variants
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
    subsets = records.place.source.subsets
    metadata = records.about(crop) | {"frequency": str(count)}
    tier = tier_of(count)
    if _RADICAL in subsets:
        metadata["subset"] = _RADICAL
    elif tier and (tier in subsets or not subsets):
        metadata["subset"] = tier
    return Character(crop, crop.owner, metadata, crop.key)


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    tiers = preset(_TASK).tiers
    return next((tier for tier, above in tiers.items() if frequency > above), "")


def _counts(source: Source, characters: Sequence[Character]) -> Iterator[str]:
    """Notes on how many characters are asked without a description, and which are undeciphered."""
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


def _guess(listing: Listing) -> tuple[float, str]:
    box_files = listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv")
    return (0.9 if find_table(listing.src, DESCRIPTIONS) and not box_files else 0.0), ""


READER = reader_of("deciphering", DecipheringSettings, by_source(read_deciphering), _guess)
