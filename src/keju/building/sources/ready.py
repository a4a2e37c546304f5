"""Sources that need no conversion: formats of ``data import``, and datasets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field

from keju.building.dropped import Dropped, write_dropped
from keju.building.sources.base import NameKey, Site, SourceForm, SourceSettings, writing
from keju.building.step import Settings
from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.mapping import read_mapping
from keju.datasets.store import Dataset
from keju.errors import UsageError


class FormatSettings(SourceSettings, frozen=True, kw_only=True):
    """A file or folder in a format of ``keju data formats``, with the format's options."""

    path: Annotated[Path, Meta(description="The file or folder.")]
    map: Annotated[Path | None, Meta(description="The mapping file of the format mapped.")] = None
    options: Annotated[
        dict[str, str | int | bool],
        Meta(description="Options of the format; see keju data formats."),
    ] = field(default_factory=dict)


class DatasetSettings(Settings, frozen=True, kw_only=True):
    """A keju dataset, whose licence and source are kept unless others are given."""

    path: Annotated[Path, Meta(description="Dataset directory.")]
    licence: Annotated[str, Meta(description="Licence, if not the dataset's own.")] = ""
    source: Annotated[str, Meta(description="Source, if not the dataset's own.")] = ""
    name: NameKey = ""


def format_source(name: str) -> SourceForm[FormatSettings]:
    """Return the source that reads a format of ``data import``."""

    def make(settings: FormatSettings, site: Site) -> Iterable[str]:
        made = import_dataset(
            name,
            settings.path,
            site.out,
            name=name,
            version="1",
            licence=settings.licence,
            source=settings.source,
            options=_options(settings),
        )
        if made.dropped:
            write_dropped(site.out, [Dropped(*each) for each in made.dropped])
        return made.notes

    def check(settings: FormatSettings) -> None:
        FORMATS[name].parse(_options(settings))
        if settings.map:
            read_mapping(settings.map)

    return SourceForm(name, FORMATS[name].what, FormatSettings, make, check=check)


def _options(settings: FormatSettings) -> dict[str, str]:
    """Options as a command has them: all are texts."""
    found = {
        name: ("yes" if value else "no") if isinstance(value, bool) else str(value)
        for name, value in settings.options.items()
    }
    return found | ({"map": str(settings.map)} if settings.map else {})


def _link_dataset(settings: DatasetSettings, site: Site) -> Iterable[str]:
    given = Dataset.open(settings.path)
    if site.out.resolve().is_relative_to(given.path.resolve()):
        raise UsageError("{}: the build would be inside its own source", site.out)
    licence = settings.licence or given.manifest.licence
    source = settings.source or given.manifest.source
    with writing(site.out, "dataset", licence=licence, source=source) as writer:
        for item in given:
            for ref in item.images:
                if writer.has_image(ref):
                    continue
                if ref.path in given.packed:
                    writer.add_image(given.image_bytes(ref), ref.path)
                else:
                    writer.link_image(given.image_path(ref), ref)
            writer.add(item)
    return ()


DATASET = SourceForm("dataset", "a keju dataset", DatasetSettings, _link_dataset)
