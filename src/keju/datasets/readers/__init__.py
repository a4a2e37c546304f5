"""Readers: import sources of many formats into datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from keju.datasets.import_log import logging_import
from keju.datasets.readers.base import Options, Reader, join_names
from keju.datasets.readers.encodings import OPTION
from keju.datasets.readers.listing import Listing, find_best
from keju.datasets.readers.words import new_folder, shell_word
from keju.datasets.store import MANIFEST, DatasetManifest, DatasetWriter
from keju.definitions import benchmark, describe_ungrouped, has_task, task
from keju.errors import DataError, ProblemsError, UsageError
from keju.items import UNKNOWN
from keju.local_paths import check_local
from keju.object_stores import is_address, stage_output
from keju.registry import Registry, list_provided, list_returned
from keju.texts import _

__all__ = ["FORMATS", "Imported", "Options", "Reader", "import_dataset"]


FORMATS: Registry[Reader[Any]] = Registry(
    "format",
    "readers",
    {
        "pages": "keju.datasets.readers.pages.folder:READER",
        "page-xml": "keju.datasets.readers.pages.page_items:PAGE_XML",
        "alto": "keju.datasets.readers.pages.page_items:ALTO",
        "hocr": "keju.datasets.readers.pages.page_items:HOCR",
        "hisdoc": "keju.datasets.readers.presets:HISDOC",
        **list_provided("readers"),
        "vlmevalkit-tsv": "keju.datasets.readers.presets:VLMEVALKIT",
        "parquet": "keju.datasets.readers.parquet:READER",
        "mapped": "keju.datasets.readers.mapped:READER",
        "drafted": "keju.datasets.readers.presets:DRAFTED",
    },
)
"""The formats that can be imported, by name."""


AUTO = "auto"
"""The value in place of a format that selects the one found by `find_best`, with its options."""


class Imported(NamedTuple):
    """The result of an import: notes for the user, and the dropped records, with why."""

    manifest: DatasetManifest
    notes: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...] = ()


def import_dataset(
    format: str,  # noqa: A002 - the name of the command's argument
    src: Path,
    out: Path,
    *,
    name: str,
    version: str,
    licence: str = UNKNOWN,
    source: str = UNKNOWN,
    options: Options | None = None,
) -> Imported:
    """Read a source into a new dataset.

    `format` is a name in `FORMATS`, or `AUTO`; `out` a directory that is new, empty or unfinished,
    or an address. All options of the format are checked before `src` is read.

    Raises:
        UsageError: no such format or option, an option has a wrong value, `out` contains something
            else, a path is an address, or `AUTO` finds several formats.
        DataError: the source does not have the format's layout.
    """
    check_local(src)
    if is_address(out):
        with stage_output(out, MANIFEST) as folder:
            return import_dataset(
                format, src, folder, name=name, version=version, licence=licence, source=source,
                options=options,
            )  # fmt: skip
    check_local(out)
    reader, given, found = _chosen(format, src, dict(options or {}))
    settings = reader.parse(given)
    if not src.exists():
        raise UsageError("{}: no such file or folder", src)
    _refuse_inside(out, src)
    writer = DatasetWriter(out, name=name, version=version, licence=licence, source=source)
    try:
        writer.declare(format=reader.name)
        plugin = FORMATS.plugin_of(reader.name)
        if plugin:
            writer.declare_plugins([plugin])
        with logging_import(given.get(OPTION, "")) as log:
            returned = reader.read(src, writer, settings)
            if plugin:
                returned = list_returned(reader.read, returned, str)
            notes = [*found, *returned, *log.notes()]
        if columns := log.fields()[0].get("group"):
            writer.declare(unit="/".join(columns))
        ungrouped = describe_ungrouped(writer.units(), reader.group_option)
        made = writer.close()
        notes += [*_about_counts(made), *filter(None, [ungrouped]), *_about_unknown(made)]
        return Imported(made, tuple(notes), tuple(log.dropped))
    except ProblemsError:
        raise
    except DataError as error:
        hint = error.hint or _("See what it must look like: keju data formats {}", reader.name)
        file = error.file or src
        raise DataError(error.problem, file=file, item=error.item, hint=hint) from None
    finally:
        writer.abandon()


def _refuse_inside(out: Path, src: Path) -> None:
    """Check that a dataset is not inside its source, where the next import would read it."""
    if src.is_dir() and out.resolve().is_relative_to(src.resolve()):
        raise UsageError(
            "--out {} is inside the source folder {}, so that the next import would read it. "
            "Choose a folder outside, such as --out {}",
            out,
            src,
            shell_word(str(new_folder(src))),
        )


def _about_counts(manifest: DatasetManifest) -> Iterator[str]:
    """A note for each paper whose tasks have other numbers of items, such as 24 of 6,500.

    Only of what a mapping gives: readers that draw name the numbers that they draw.
    """
    different: dict[str, list[str]] = {}
    for name, number in manifest.tasks.items() if "mapping" in manifest.made else ():
        kind = task(name) if has_task(name) else None
        from_paper = kind and benchmark(kind.benchmark).from_paper
        if kind and from_paper and kind.count_kind != "images" and number != kind.count:
            counts = _("{} {:,} of {:,}", kind.id, number, kind.count)
            different.setdefault(kind.benchmark, []).append(counts)
    for name, numbers in different.items():
        yield _("{} states other numbers of items: {}", name, join_names(numbers, most=3))


def _about_unknown(manifest: DatasetManifest) -> Iterator[str]:
    """Notes on a licence or source that was not given, and the licence that a definition states."""
    about = {"licence": manifest.licence, "source": manifest.source}
    missing = [f"--{name}" for name, value in about.items() if value.strip().casefold() == UNKNOWN]
    if missing:
        yield _(
            "not given: {}. The dataset stores the value unknown. Models can be evaluated without "
            "it; a release needs it: {}",
            ", ".join(missing),
            f"keju build release DATASET --out DIR {' … '.join(missing)} …",
        )
    benchmarks = {task(kind).benchmark for kind in manifest.tasks if has_task(kind)}
    for name in sorted(benchmarks) if "--licence" in missing else ():
        if licence := benchmark(name).licence:
            yield _(
                "The definition of {0} states the licence {1}. If it is the licence of these "
                "data, give it: --licence {1}",
                name,
                licence,
            )


def _chosen(name: str, src: Path, given: dict[str, str]) -> tuple[Reader[Any], Options, list[str]]:
    """The reader of that name or, for `AUTO`, the best one with its options, and a note of it."""
    if name != AUTO:
        return FORMATS.find(name), given, []
    if "map" in given:
        return FORMATS["mapped"], given, [_("read as mapped by {}", given["map"])]
    if not src.exists():
        raise UsageError("{}: no such file or folder", src)
    best = find_best(Listing(src), FORMATS.list_usable())
    if best is None:
        return FORMATS["drafted"], given, [_("no format fits; read by its drafted mapping")]
    reader, detection = best
    options = {**detection.options, **given}
    stated = "".join(f" --option {key}={value}" for key, value in options.items())
    return reader, options, [_("read as {}: {}", f"{reader.name}{stated}", detection.what)]
