"""Commands at the end of a build: check for leaks, and write a release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import asdict

from keju.cli.app import WITH_FAILURES, note, out, print_json, say
from keju.cli.building import build_app
from keju.cli.options import LICENSE_TOO, AsJson, DatasetPath, PartitionItems, out_option
from keju.texts import _, n_

_SHOWN = 30


@build_app.command(context_settings=LICENSE_TOO)
def release(
    dataset: DatasetPath,
    folder: Annotated[
        Path,
        out_option(
            metavar="DIR|ADDRESS",
            help="Release directory, new or empty, or address (s3://, gs://, az://).",
        ),
    ],
    licence: Annotated[
        str, typer.Option(metavar="NAME", help="Licence, if the dataset's is unknown.")
    ] = "",
    source: Annotated[
        str, typer.Option(metavar="TEXT", help="Source of the data, if the dataset's is unknown.")
    ] = "",
    drafts: Annotated[
        bool, typer.Option("--drafts", help="Also release drafts, which no person has accepted.")
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="File with your answers to the datasheet's open questions."
        ),
    ] = None,
    url: Annotated[
        str, typer.Option(metavar="URL", help="Address at which the dataset will be published.")
    ] = "",
    date: Annotated[
        str, typer.Option(metavar="DATE", help="Date of publication, e.g. 2026-11-21.")
    ] = "",
    citation: Annotated[str, typer.Option(metavar="TEXT", help="Citation of the dataset.")] = "",
    partition_items: PartitionItems = 0,
) -> None:
    """Validate a dataset and write its release: parquet, Croissant, hashes, datasheet, README.

    A dataset is refused if it has errors, no licence or source, or drafts. The release is itself a
    dataset; `datasets` and `mlcroissant` can load it.
    """
    from keju.building.releasing.release import ReleaseSettings, write_release
    from keju.datasets.store import Dataset, partitioning

    settings = ReleaseSettings(
        licence=licence,
        source=source,
        drafts=drafts,
        answers=answers,
        url=url,
        date=date,
        citation=citation,
    )
    with partitioning(partition_items):
        done = write_release(Dataset.open(dataset), folder, settings)
    for line in done.notes:
        note(_("note: {}", line))
    passed = sum(check.passed for check in done.checks)
    say(f"{folder}: {', '.join(done.files)}")
    say(
        n_(
            "{:,} of {n:,} check passed; DATASHEET.md lists them",
            "{:,} of {n:,} checks passed; DATASHEET.md lists them",
            len(done.checks),
            passed,
        )
    )


@build_app.command()
def leaks(
    dataset: DatasetPath,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="OTHER", help="Another dataset; may be given several times."),
    ] = None,
    pictures: Annotated[
        bool,
        typer.Option(
            help="Also search for nearly identical images; without it only for identical ones."
        ),
    ] = True,
    sheet: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV file for every leak.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find images and texts that also occur in other datasets, or in both splits of this one.

    The exit status is 1 if there are any. Images match if they differ only in encoding, size, a
    small rotation or crop; texts are compared by sequences of 13 characters, without punctuation
    and in one script.
    """
    import polars as pl

    from keju.building.releasing.leaks import Leak, compare_datasets
    from keju.cli.output.console import name_columns, plain_table, translate
    from keju.csv_files import write_frame

    found = compare_datasets(dataset, against or [], pictures=pictures)
    if sheet:
        columns = list(Leak.__struct_fields__)
        rows = [asdict(leak) for leak in found.leaks]
        write_frame(pl.DataFrame(rows) if rows else pl.DataFrame(schema=columns), sheet)
    if as_json:
        print_json(found._asdict())
    else:
        table = plain_table(
            *name_columns("what", "item", "task", "found in", "there as", "share"),
            right=(5,),
        )
        for leak in found.leaks[:_SHOWN]:
            share = f"{leak.share:.0%}"
            table.add_row(
                translate(leak.part), leak.item, leak.task, leak.against, leak.other, share
            )
        if found.leaks:
            out.print(table)
        if len(found.leaks) > _SHOWN:
            say(_("{:,} more; --csv writes all", len(found.leaks) - _SHOWN))
        by_kind = Counter((leak.kind, leak.against) for leak in found.leaks)
        for (kind, name), count in sorted(by_kind.items()):
            say(_("{}: {:,} in {}", translate(kind), count, name))
        line = _(
            "{}; compared {} and {} ({:,} more are too short, or wording of a task)",
            n_("{n:,} leak", "{n:,} leaks", len(found.leaks)),
            n_("{n:,} image", "{n:,} images", found.images),
            n_("{n:,} text", "{n:,} texts", found.texts),
            found.short,
        )
        say(line)
    if found.leaks:
        raise typer.Exit(WITH_FAILURES)
