"""Commands that make and check datasets."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import WITH_FAILURES, data_app, err, note, out, print_json, program, say
from keju.cli.options import (
    LICENSE_TOO,
    AsJson,
    DatasetPath,
    NewDatasetOrAddress,
    PartitionItems,
    out_option,
)
from keju.errors import UsageError
from keju.items import UNKNOWN
from keju.texts import _, in_terminal, language, n_, p_, translator

Source = Annotated[Path, typer.Argument(metavar="SRC", help="File or folder to read.")]
MapFile = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="FILE",
        help="Mapping file (TOML) for a source that no other format reads. See: keju data detect "
        "SRC --write-map FILE",
    ),
]


@data_app.command()
def detect(
    src: Source,
    map_: MapFile = None,
    write_map: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="New mapping file, drafted from SRC for you to complete."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Examine a file or folder: its format or a draft of its mapping, and its first items.

    SRC is not changed and no dataset is written.
    """
    from keju.cli.output.detected_formats import as_data, describe_findings, describe_written
    from keju.datasets.examine import examine, write_mapping

    if write_map:
        say(*describe_written(src, write_map, write_mapping(src, write_map)))
        return
    found = examine(src, mapping=map_)
    if as_json:
        print_json(as_data(found))
    else:
        say(*describe_findings(found))
    if not found.candidates:
        raise typer.Exit(WITH_FAILURES)


@data_app.command("import", context_settings=LICENSE_TOO)
def import_(
    form: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="Format name (see `keju data formats`), or auto."),
    ],
    src: Source,
    dataset: NewDatasetOrAddress,
    licence: Annotated[
        str,
        typer.Option(metavar="NAME", help="Licence of the data, e.g. CC-BY-4.0."),
    ] = UNKNOWN,
    source: Annotated[str, typer.Option(metavar="TEXT", help="Source of the data.")] = UNKNOWN,
    name: Annotated[
        str,
        typer.Option(metavar="NAME", help="Name of the dataset. Default: the name of its folder."),
    ] = "",
    version: Annotated[str, typer.Option(metavar="TEXT", help="Version of the dataset.")] = "1",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Option of the format; `keju data formats FORMAT` lists them. Can be given several"
            " times.",
        ),
    ] = None,
    map_: MapFile = None,
    partition_items: PartitionItems = 0,
) -> None:
    """Import a source as a dataset: your pages, PAGE-XML, ALTO, or a released benchmark.

    With FORMAT auto, the format is the one that keju data detect finds. Example: keju data import
    pages my-scans --out my-pages
    """
    from keju.building.sources import SOURCES
    from keju.cli.import_progress import import_display
    from keju.cli.output.console import translate
    from keju.datasets.readers import FORMATS, import_dataset
    from keju.datasets.readers.words import shell_word
    from keju.datasets.store import partitioning

    if form in SOURCES and form not in FORMATS:
        raise UsageError(
            "{0!r} is a source of a recipe and not a format. Use it in a recipe: keju build "
            "RECIPE.toml. Its keys: keju build sources {0}",
            form,
        )
    options = dict(option_pair(each) for each in option or ())
    if map_:
        options["map"] = str(map_)
    with import_display(src, err), partitioning(partition_items):
        done = import_dataset(
            form,
            src,
            dataset,
            name=name or dataset.resolve().name,
            version=version,
            licence=licence,
            source=source,
            options=options,
        )
    for each in done.notes:
        note(_("note: {}", translate(each)))
    made = done.manifest
    say(
        _(
            "{}, {} in {} (hash {})",
            n_("{n:,} item", "{n:,} items", made.items),
            n_("{n:,} image", "{n:,} images", made.images),
            dataset,
            made.hash[:12],
        )
    )
    _print_suspicions(dataset)
    folder = shell_word(str(dataset))
    say(_("Next: {0} data validate {1} && {0} run {1} --model MODEL --out RUN", program(), folder))


def _print_suspicions(dataset: Path) -> None:
    """Print the first suspicious references; `keju data validate` prints all."""
    from keju.datasets.checks import suspicious_texts
    from keju.datasets.store import Dataset

    found = suspicious_texts(Dataset.open(dataset))
    for each in islice(found, _SUSPICIONS):
        note(_("warning: {}: {}. {}", each.item, each.problem, each.hint))
    if more := sum(1 for each in found):
        note(
            n_(
                "warning: {n:,} more text is suspicious. See them with: keju data validate {}",
                "warning: {n:,} more texts are suspicious. See them with: keju data validate {}",
                more,
                dataset,
            )
        )


_SUSPICIONS = 5
"""The number of suspicious texts that an import prints."""


@data_app.command()
def export(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Format name (see `keju data formats`).")
    ],
    dataset: DatasetPath,
    folder: Annotated[
        Path,
        out_option(
            metavar="DIR|ADDRESS",
            help="Output directory, new or empty. Format parquet: also an address (s3://, gs://, az://).",
        ),
    ],
    partition_items: PartitionItems = 0,
) -> None:
    """Write a dataset in the format of another program. A note counts what is lost."""
    from keju.cli.output.console import translate
    from keju.datasets.store import partitioning
    from keju.datasets.writers import export_dataset

    with partitioning(partition_items):
        notes = export_dataset(form, dataset, folder)
    for each in notes:
        note(_("note: {}", translate(each)))
    say(p_("format", "{} in {}", form, folder))


@data_app.command()
def formats(
    form: Annotated[
        str,
        typer.Argument(metavar="[FORMAT]", help="Format to show with its files and options."),
    ] = "",
) -> None:
    """List the formats that can be imported and exported, or show one: its files and options."""
    from keju.datasets.readers import FORMATS
    from keju.datasets.writers import FORMATS as WRITTEN

    if form and form not in FORMATS and form not in WRITTEN:
        raise UsageError(
            "{!r} is not a format. Formats: {}",
            form,
            ", ".join(dict.fromkeys([*FORMATS, *WRITTEN])),
        )
    translate = translator(language())
    if not form:
        width = max(map(len, (*FORMATS, *WRITTEN)))
        read = [
            (each.name, each.describe(lambda reader: translate(reader.what)))
            for each in FORMATS.iter_entries()
        ]
        written = [
            (each.name, each.describe(
                lambda writer: translate(writer.what)
            ))
            for each in WRITTEN.iter_entries()
        ]  # fmt: skip
        heads = (_("import"), _("export"))
        for title, known in zip(heads, (read, written), strict=True):
            out.print(f"[b]{in_terminal(title)}[/b]")
            for name, what in known:
                say(f"  {name:{width}}  {what}")
        say(_("Next: keju data formats FORMAT shows the files and options of one format;"))
        say(_("      keju data detect SRC reports the format of a file or folder"))
    if reader := FORMATS.get(form):
        plugin = FORMATS.plugin_of(form)
        what, head = translate(reader.what), in_terminal(_("import"))
        out.print(f"[b]{head} {reader.name}[/b]  {what}{f' [{plugin}]' if plugin else ''}")
        for line in translate(reader.layout.strip()).splitlines():
            say(f"    {line}")
        for name, text in reader.every_option.items():
            say(f"    --option {name}=…  {translate(text)}")
    if writer := WRITTEN.get(form):
        what, head = translate(writer.what), in_terminal(_("export"))
        out.print(f"[b]{head} {writer.name}[/b]  {what}")
        for line in translate(writer.layout.strip()).splitlines():
            say(f"    {line}")


@data_app.command("validate")
def validate_(dataset: DatasetPath) -> None:
    """Check every item and image. Each problem is one line with the item and a hint."""
    from keju.datasets.store import Dataset
    from keju.datasets.validate import validate
    from keju.definitions import UnitCounter, describe_units

    counts: Counter[str] = Counter()
    for finding in validate(dataset):
        counts[finding.severity] += 1
        say(finding.line)
    errors, warnings, notices = (counts[each] for each in ("error", "warning", "notice"))
    if notices:
        line = _(
            "{}, {}, {} in {}",
            n_("{n:,} error", "{n:,} errors", errors),
            n_("{n:,} warning", "{n:,} warnings", warnings),
            n_("{n:,} notice", "{n:,} notices", notices),
            dataset,
        )
    else:
        line = _(
            "{}, {} in {}",
            n_("{n:,} error", "{n:,} errors", errors),
            n_("{n:,} warning", "{n:,} warnings", warnings),
            dataset,
        )
    say(line)
    if counts["error"]:
        raise typer.Exit(WITH_FAILURES)
    opened = Dataset.open(dataset)
    say(describe_units(UnitCounter(opened).units(opened.manifest.unit)))


@data_app.command("stats")
def stats_(dataset: DatasetPath, as_json: AsJson = False) -> None:
    """Count and measure a dataset, in the columns of the papers' tables of their data."""
    from keju.cli.output.listings import stats_tables
    from keju.datasets.stats import stats

    found = stats(dataset)
    if as_json:
        print_json({name: frame.to_dicts() for name, frame in found._asdict().items()})
    else:
        out.print(*stats_tables(found))


def option_pair(option: str) -> tuple[str, str]:
    """Name and value of an option of a format.

    Raises:
        UsageError: it has no value.
    """
    name, equals, value = option.partition("=")
    if not equals:
        raise UsageError("option {!r} needs a value: --option {}=VALUE", option, name)
    return name, value
