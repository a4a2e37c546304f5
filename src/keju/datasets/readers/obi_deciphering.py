"""FORMAT ``obi-deciphering``: pictures of characters with a table of what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from keju.benchmarks.undeciphered import MARK
from keju.datasets.readers._obi import (
    BENCHMARK,
    SEED_OPTION,
    SOURCE_OPTION,
    Found,
    asked,
    declare,
    drawn,
    inside_name,
    sources_in,
    tier_of,
    unlike_print,
)
from keju.datasets.readers.base import Options, Reader, flag, listed, source_bytes
from keju.datasets.readers.descriptions import NAME, Description, read_descriptions
from keju.datasets.readers.tables import find_table
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.items import Item

LAYOUT = """\
SRC/                      one source, or a folder for each: EVOBC, OBI Component 20, HUST-OBS
  descriptions.csv        image, description; and where there are: character, subset, frequency
                          (also .tsv, .json, .jsonl)
  images/wang.png         the images, named from the table's folder or from images on
The subset is pictograph, ideogram or radical; where a frequency is given instead, its tier: tier-1
above 500, tier-2 above 100, tier-3 above 10. Each picture is asked What, and How, which the paper
looks at by eye: it is not scored. An empty description is an undeciphered character: it is asked,
and its readings are shown and not scored."""

OPTIONS = {
    "source": SOURCE_OPTION,
    "field.NAME": "the column that holds the NAME: image, description, character, subset, "
    "frequency",
    "as-paper": "yes: draw as many of each subset as the paper has (default no: take all)",
    "seed": SEED_OPTION,
}

_TASK = "deciphering"


def read_deciphering(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Read characters with their descriptions: two items a picture, What and How.

    The character is the group, else the picture's hash.

    A character without a description is undeciphered; its items are marked so.

    Raises:
        UsageError: an option is none of those above.
        DataError: no table, or one that is not as it should be; a picture is missing or broken;
            a subset has less than the paper draws.
    """
    found = sources_in(src, _TASK, options)
    seed = options.get("seed", "0")
    declare(writer, found, seed=seed, drawn=options.get("as-paper", "no"))
    for each in found:
        file = find_table(each.folder, NAME)
        if file is None:
            raise DataError(
                f"expected {NAME}.csv; found none", file=each.folder, mend="Write the table"
            )
        given = {name: value for name, value in options.items() if name.startswith("field.")}
        lines = list(read_descriptions(file, given, may_be_empty=True))
        if flag(options, "as-paper"):
            lines = _drawn(each, lines, seed)
        for line in lines:
            _add(each, writer, line)
        unknown = [line.place.item for line in lines if not line.description]
        yield from unlike_print(each, len(lines) - len(unknown))
        if unknown:
            yield (
                f"{each.source.name}: {len(unknown)} characters without a description are "
                f"undeciphered (asked, not scored): {listed(unknown)}"
            )
        if bare := [line.place.item for line in lines if not _subset(line)]:
            yield f"{each.source.name}: {len(bare)} lines are of no subset: {listed(bare)}"


READER = Reader(
    "obi-deciphering",
    "OBI-Bench's deciphering: characters and a table of what they mean",
    LAYOUT,
    read_deciphering,
    OPTIONS,
)


def _add(found: Found, writer: DatasetWriter, line: Description) -> None:
    ref = writer.add_image(source_bytes(line.path), str(line.path))
    more = {"character": line.character, "subset": _subset(line)}
    if not line.description:
        more[MARK] = "no"
    if line.frequency is not None:
        more["frequency"] = str(line.frequency)
    pattern = Item(
        id=inside_name(found, line.path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=f"{found.source.name}/{line.character}" if line.character else ref.sha256,
        metadata=found.source.about | {key: value for key, value in more.items() if value},
    )
    for item in asked(pattern):
        writer.add(replace(item, answer=line.description if item.query == "What" else ""))


def _subset(line: Description) -> str:
    return line.subset.casefold() or tier_of(line.frequency or 0)


def _drawn(found: Found, lines: list[Description], seed: str) -> list[Description]:
    """As many lines of each subset as the paper has, in their order; of radicals by variants.

    The paper has descriptions of all its characters, so those without one are not drawn.
    """
    source = found.source
    by_name = {inside_name(found, line.path): line for line in lines if line.description}
    order = drawn(by_name, seed, source.name)
    chosen: list[str] = []
    for subset, count in source.subsets.items():
        names = [name for name in order if _subset(by_name[name]) == subset]
        if source.variants:
            names = _of_whole_radicals(names, by_name, source.variants)
        if len(names) < count:
            raise DataError(
                f"{len(names)} pictures of subset {subset}, but the paper has {count}",
                file=found.folder,
                mend="Take them as they are: leave --option as-paper=yes out",
            )
        chosen += names[:count]
    return [by_name[name] for name in by_name if not source.subsets or name in set(chosen)]


def _of_whole_radicals(
    names: list[str], by_name: dict[str, Description], variants: int
) -> list[str]:
    """Names radical by radical, so many variants of each that has them."""
    radicals: dict[str, list[str]] = {}
    for name in names:
        radicals.setdefault(by_name[name].character, []).append(name)
    return [name for one in radicals.values() if len(one) >= variants for name in one[:variants]]
