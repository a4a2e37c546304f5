"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from keju.benchmarks.obi_bench.readers.descriptions import NAME, Description, read_descriptions
from keju.benchmarks.obi_bench.readers.galleries import Copies, order_of
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
    note_unlike_print,
    reader_of,
    record_sources,
    sources_in,
    tier_of,
)
from keju.datasets.readers.base import join_names, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.tables import find_table
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError
from keju.items import Item
from keju.settings import Settings
from keju.texts import _, n_

T = TypeVar("T")

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
        DataError: neither a table nor a release; a table that is not as it should be; an image is
            missing or broken; a subset has less than the paper draws.
    """
    places = sources_in(src, _TASK, settings.source, settings.paths)
    for place in places:
        is_released = settings.paths or is_release(place, list(images_in(place)))
        records = read_records(place) if is_released else None
        lines = read_descriptions(place)
        if lines is not None:
            characters, notes = _of_table(place, lines, records, settings)
        elif records:
            characters, notes = _of_records(records, settings)
        else:
            raise _no_table(place)
        for character in characters:
            _add_items(writer, character)
        yield from _counts(place.source, characters)
        yield from notes
    facts = {"seed": settings.seed, "drawn": "yes" if settings.as_paper else "no"}
    record_sources(writer, places, facts)


def _no_table(place: SourceFolder) -> DataError:
    return DataError(
        "expected {}.csv; found none, and no release of a known source",
        NAME,
        file=place.folder,
        hint=(
            "Write it with the columns image and description, or give an expression of the images' "
            "paths: --option paths='(.*/)?(?P<class>[^/]+)/[^/]+'"
        ),
    )


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


def _of_table(
    place: SourceFolder,
    lines: Mapping[Path, Description],
    records: Records | None,
    settings: DecipheringSettings,
) -> tuple[list[Character], list[str]]:
    """The characters that a table lists, and notes; what it leaves empty is added of a release.

    With ``as-paper`` only described characters are drawn, as the paper has descriptions of all.

    Raises:
        DataError: with ``as-paper``, a subset has too few lines.
    """
    crops = {crop.path: crop for crop in records.crops} if records else {}
    characters = []
    for path, line in lines.items():
        released = _released(records, crops[path]) if records and path in crops else None
        characters.append(_described(place, path, line, released))
    if settings.as_paper:
        by_id = {character.crop.id: character for character in characters if character.description}

        def radicals(subset: str) -> Iterable[list[str]]:
            radicals: dict[str, list[str]] = {}
            for name in draw_order(by_id, settings.seed, place.source.name):
                about = by_id[name].metadata
                if about.get("subset") == subset:
                    radical = about.get("character", "") if place.source.variants else name
                    radicals.setdefault(radical, []).append(name)
            return radicals.values()

        sample = set(_as_printed(place, radicals))
        characters = [character for name, character in by_id.items() if name in sample]
    copies = Copies([character.crop for character in characters])
    characters = [character for character in characters if copies.is_usable(character.crop)]
    return characters, list(copies.notes())


def _described(
    place: SourceFolder, path: Path, line: Description, released: Character | None
) -> Character:
    """A character of a table, which may be one of a release."""
    name, character = place.name_of(path), line.cells["character"]
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
    """Characters of a release, and notes: those drawn as the paper's, else one image of each.

    Of a source whose characters have variants, that many images of each are drawn.

    Raises:
        DataError: too few characters; a subset that the release does not mark.
    """
    copies, source = Copies(records.crops), records.place.source
    seed, variants = settings.seed, source.variants or 1

    def drawn(labels: Iterable[str]) -> Iterator[list[Crop]]:
        for label in labels:
            yield copies.draw(order_of(records.classes[label], seed), variants)

    def classes(subset: str) -> Iterator[list[Crop]]:
        labels = draw_order(records.classes, seed, source.name, "classes")
        sizes = {label: len(records.classes[label]) for label in labels}
        return drawn(label for label in labels if _subset_of(source, sizes[label]) == subset)

    if settings.as_paper:
        crops = sorted(_as_printed(records.place, classes), key=lambda crop: crop.label)
    else:
        crops = list(chain.from_iterable(drawn(sorted(records.classes))))
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


def _as_printed(place: SourceFolder, groups: Callable[[str], Iterable[Sequence[T]]]) -> list[T]:
    """As many images of each subset as the paper has; of a radical as many as it has variants.

    Args:
        place: the source.
        groups: the images of a subset, those of a character together, in the order of the draw.

    Raises:
        DataError: there are fewer, or the release does not mark the subset.
    """
    least = place.source.variants or 1
    sample: list[T] = []
    for subset, count in place.source.subsets.items():
        full_groups = (group[:least] for group in groups(subset) if len(group) >= least)
        images = list(islice(chain.from_iterable(full_groups), count))
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


def _describe(listing: Listing, place: SourceFolder) -> str:  # noqa: ARG001
    names = list(images_in(place))
    images = n_("{n:,} image", "{n:,} images", len(names))
    if table := find_table(place.folder, NAME):
        return _("{}: {}, described in {}", place.source.name, images, table.name)
    if is_release(place, names):
        return _("{} as released: {}", place.source.name, images)
    raise _no_table(place)


def _fit_unnamed(listing: Listing) -> float:
    box_files = listing.ending("xml") or listing.named("boxes.csv", "boxes.tsv")
    return 0.9 if find_table(listing.src, NAME) and not box_files else 0.0


READER = reader_of("deciphering", DecipheringSettings, read_deciphering, _describe, _fit_unnamed)
