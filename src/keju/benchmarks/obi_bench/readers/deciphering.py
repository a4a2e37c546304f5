"""FORMAT ``obi-deciphering``: images of characters, with or without a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from keju.benchmarks.obi_bench.readers.blank_tables import described_characters
from keju.benchmarks.obi_bench.readers.characters import Character, of_table, of_tree
from keju.benchmarks.obi_bench.readers.class_detection import detect_characters
from keju.benchmarks.obi_bench.readers.descriptions import NAME
from keju.benchmarks.obi_bench.readers.settings import DecipheringSettings
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Found,
    items_of_queries,
    note_unlike_print,
    record_sources,
    sources_in,
)
from keju.benchmarks.obi_bench.readers.tree import read_released_tree
from keju.datasets.readers.base import Reader, Tables, join_names, plain_file, source_bytes
from keju.datasets.readers.tables import find_table
from keju.datasets.store import DatasetWriter
from keju.definitions.references import DECIPHERED
from keju.errors import DataError, UsageError, number_of
from keju.items import Item

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
their characters are asked and not scored. `keju data scaffold obi-deciphering` writes a table to
fill in. Of a release, the frequency is the number of a character's images (our reading). Each image
is asked What, and How, which the paper looks at by eye: it is not scored."""

_TASK = "deciphering"


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
    found = sources_in(src, _TASK, settings.source)
    if settings.descriptions and len(found) > 1:
        names = ", ".join(each.source.name for each in found)
        raise UsageError("option descriptions is for one source; found {}", names)
    read: list[Found] = []
    for each in found:
        tree = read_released_tree(each, settings.names)
        table = _table(each, settings.descriptions)
        if table:
            characters = of_table(each, table, tree, settings)
        elif tree:
            characters = of_tree(tree, settings)
        else:
            raise DataError(
                "expected {}.csv; found none, and no release of a known source",
                NAME,
                file=each.folder,
                hint=(
                    "Write one, or have one written to fill in: keju data scaffold "
                    "obi-deciphering SRC -o FOLDER"
                ),
            )
        read.append(tree.found if tree else each)
        for character in characters.chosen:
            _add(writer, character)
        yield from chain(_counts(read[-1], characters.chosen), characters.notes)
    record_sources(
        writer,
        read,
        seed=settings.seed,
        drawn="yes" if settings.as_paper else "no",
        duplicates=settings.duplicates,
    )


READER = Reader(
    "obi-deciphering",
    "OBI-Bench's deciphering: characters, and a table of their meanings",
    LAYOUT,
    read_deciphering,
    DecipheringSettings,
    detect_characters,
    tables=Tables("descriptions of images", described_characters),
)


def _table(found: Found, given: Path | None) -> Path | None:
    if given:
        return plain_file(given)
    return find_table(found.folder, NAME)


def _add(writer: DatasetWriter, one: Character) -> None:
    ref = writer.add_image(source_bytes(one.path), str(one.path))
    more = {} if one.description or one.is_deciphered else {DECIPHERED: "no"}
    pattern = Item(
        id=one.id,
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=one.group or ref.sha256,
        metadata=dict(one.metadata) | more,
    )
    for item in items_of_queries(pattern):
        writer.add(replace(item, answer=one.description if item.query == "What" else ""))


def _counts(found: Found, chosen: Sequence[Character]) -> Iterator[str]:
    """Notes on how many characters have a description, a subset, or are undeciphered."""
    name = found.source.name
    described = [one for one in chosen if one.description]
    unknown = [one.place for one in chosen if not (one.description or one.is_deciphered)]
    bare = [one.place for one in chosen if not one.description and one.is_deciphered]
    yield from note_unlike_print(found, len(chosen) - len(unknown))
    if unknown:
        yield (
            f"{name}: {number_of(len(unknown), 'character is', 'characters are')} without a "
            "description and undeciphered (asked, "
            f"not scored): {join_names(unknown)}"
        )
    if bare:
        yield (
            f"{name}: {len(bare)} of {len(described) + len(bare)} known characters have no "
            f"description (asked, not scored): {join_names(bare)}. "
            "Write descriptions into the table "
            "of: keju data scaffold obi-deciphering SRC --out FOLDER"
        )
    if loose := [one.place for one in chosen if not one.metadata.get("subset")]:
        yield (
            f"{name}: {number_of(len(loose), 'character is', 'characters are')} of no subset: "
            f"{join_names(loose)}"
        )
