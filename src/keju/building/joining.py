"""Join sources into one dataset, with unique ids and each item's source and licence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.building.running import DatasetInfo
from keju.datasets.store import Dataset, DatasetManifest, DatasetWriter
from keju.datasets.table import iter_rows
from keju.errors import DataError
from keju.items import Provenance
from keju.texts import _, n_


class SourcePart(NamedTuple):
    """A source's dataset, its form, and the name that distinguishes its items."""

    form: str
    name: str
    dataset: Dataset
    plugins: tuple[str, ...] = ()


def join_sources(
    parts: Sequence[SourcePart], head: DatasetInfo, out: Path
) -> tuple[DatasetManifest, list[str]]:
    """Write the items of all parts, in their order, into one dataset.

    An id that an earlier part already has gets its own part's name as a prefix, so that another
    source at the end of a recipe changes no earlier id. Groups with the same name are one group.

    The notes are for the user.

    Raises:
        DataError: two items still have the same id.
    """
    licences = _list_distinct(part.dataset.manifest.licence for part in parts)
    sources = _list_distinct(part.dataset.manifest.source for part in parts)
    languages = _list_distinct(part.dataset.manifest.language for part in parts)
    scripts = _list_distinct(part.dataset.manifest.script for part in parts)
    units = list(dict.fromkeys(part.dataset.manifest.unit for part in parts))
    notes: list[str] = []
    seen: set[str] = set()
    with DatasetWriter(
        out,
        name=head.name,
        version=head.version,
        licence=head.licence or " AND ".join(licences),
        source=head.source or "; ".join(sources),
        synthetic=all(part.dataset.manifest.synthetic for part in parts),
        language=head.language or (languages[0] if len(languages) == 1 else ""),
        script=head.script or (scripts[0] if len(scripts) == 1 else ""),
    ) as writer:
        writer.declare(format=" + ".join(part.form for part in parts))
        if len(units) == 1 and units[0]:
            writer.declare(unit=units[0])
        writer.declare_plugins(each for part in parts for each in part.plugins)
        for part in parts:
            renamed = _add(part, writer, seen)
            if renamed:
                notes.append(_describe_renamed(renamed, part.name))
        manifest = writer.close()
    return manifest, [
        *notes,
        *_describe_shared_groups(parts),
        *_describe_licences(licences, head.licence),
    ]


def _add(part: SourcePart, writer: DatasetWriter, seen: set[str]) -> int:
    """Add a part's items; return how many were renamed."""
    manifest, given = part.dataset.manifest, part.dataset
    whence = Provenance(step=part.form, source=manifest.source, licence=manifest.licence)
    renamed = 0
    mine: set[str] = set()
    for item in given:
        for ref in item.images:
            if not writer.has_image(ref):
                writer.link_image(given.image_path(ref), ref)
        known = any(each.licence for each in item.provenance)
        name = item.id
        if name in seen:
            name, renamed = f"{part.name}/{item.id}", renamed + 1
            if name in seen or name in mine:
                raise DataError(
                    "two items have this id", item=name, hint="Give the [[source]] another name"
                )
        mine.add(name)
        provenance = item.provenance if known else (*item.provenance, whence)
        writer.add(replace(item, id=name, provenance=provenance))
    seen |= mine
    return renamed


def _describe_renamed(count: int, part: str) -> str:
    if count == 1:
        return _("1 id of {0} was taken; it begins {0}/", part)
    return _("{0:,} ids of {1} were taken; they begin {1}/", count, part)


def _list_distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))


def _describe_shared_groups(parts: Sequence[SourcePart]) -> list[str]:
    whose: dict[str, set[str]] = {}
    for part in parts:
        for row in iter_rows(part.dataset.items_path, ["group"]):
            if group := row["group"]:
                whose.setdefault(group, set()).add(part.name)
    both = sorted(group for group, names in whose.items() if len(names) > 1)
    if not both:
        return []
    more = " …" if len(both) > 1 else ""
    return [
        n_(
            "{n:,} group is in several sources and count as one each: {}{}",
            "{n:,} groups are in several sources and count as one each: {}{}",
            len(both),
            both[0],
            more,
        )
    ]


def _describe_licences(sources: Sequence[str], given: str) -> Iterator[str]:
    """Describe sources with another licence than the recipe's."""
    for licence in sources if given else ():
        if licence != given:
            yield _("the licence of the recipe is {}, that of a source {}", given, licence)
