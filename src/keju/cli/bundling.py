"""Commands that pack a run into a bundle, verify bundles, and write a site from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import WITH_FAILURES, app, err, note, out, print_json, say
from keju.cli.options import AsJson, dataset_path, out_option
from keju.local_paths import shell_quoted
from keju.texts import _, n_


def _given_dataset(given: Path | None) -> Path | None:
    return None if given is None else dataset_path(given)


@app.command()
def bundle(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Scored run directory.")],
    file: Annotated[
        Path,
        out_option(metavar="NAME.keju.zip", help="Bundle to write. An existing file is replaced."),
    ],
    include_data: Annotated[
        bool,
        typer.Option(
            "--include-data",
            help="Also pack the items with their references, and the images. Refused if the "
            "licence of the dataset or of an item is unknown or does not allow copies.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Pack a scored run into one file, from which others can compute its scores again.

    A bundle contains responses, scores, settings and definitions, and the hashes of items and
    images. It contains no questions, references, images, keys or local paths. Bundles of the same
    run have the same bytes.

    Example: keju bundle RUN -o results.keju.zip
    """
    from keju.bundles import write_bundle
    from keju.definitions import without_official
    from keju.runs import RunFolder

    written = write_bundle(run, file, include_data=include_data)
    manifest = written.manifest
    if as_json:
        print_json(manifest)
        return
    say(
        _(
            "{}: {:.2f} MB, {}, {}",
            file,
            written.size / 1e6,
            n_("{n:,} model", "{n:,} models", len(manifest.models)),
            n_("{n:,} item", "{n:,} items", manifest.items),
        )
    )
    say(_("SHA-256: {}", written.sha256))
    say(
        _("The bundle contains the items with their references, and the images")
        if include_data
        else _(
            "The bundle contains the responses, and no questions, references or images. A "
            "response of an OCR engine is almost a copy of its page: if the licence of the "
            "dataset does not allow copies, do not publish the bundle"
        )
    )
    if include_data:
        note(_("Next: keju verify {}", file))
    else:
        dataset_name = "mini" if manifest.dataset.name == "keju-mini" else "DATASET"
        command = f"keju verify {shell_quoted(str(file))} --dataset {dataset_name}"
        note(
            _(
                "Anyone who has the dataset {} can verify the bundle: {}",
                manifest.dataset.name,
                command,
            )
        )
        if not without_official(RunFolder.open(run).iter_items()):
            note(_('Its official scores need an extra there: pip install "keju[official]"'))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Bundle (see `keju bundle`).")],
    dataset: Annotated[
        Path | None,
        typer.Option(
            metavar="DATASET",
            help="Dataset of the run: directory, address (s3://, gs://, az://) or `mini`. Default: "
            "the data in the bundle, if it contains data.",
            callback=_given_dataset,
        ),
    ] = None,
    semantic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="Weights of an encoder, as in `keju score`. Without them, the values of its "
            "metrics are listed as not verified.",
        ),
    ] = None,
    verified_by: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Name of a person or group to store in the statement. Default: none.",
        ),
    ] = "",
    statement: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE.json", help="New JSON file with the verification statement."
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="List every finding of the audit. Default: equal findings together, and only "
            "their number if the bundle is verified.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compute the scores of a bundle again, and compare them with the stored ones.

    "Verified" means that the scores follow from the stored responses, not that the named model
    produced them. Values of metrics with an encoder may differ by 0.0001; all other values must be
    equal to the last bit. The exit status is 0 if the bundle is verified, and 1 otherwise.

    Example: keju verify results.keju.zip --dataset mini --output statement.json
    """
    from keju.bundles import verify_bundle, write_statement
    from keju.cli.output.verification_tables import (
        detail_lines,
        result_lines,
        verification_tables,
    )
    from keju.encoders import Encoders, default_cache_path, parse_semantic

    encoders = Encoders(parse_semantic(semantic or []), default_cache_path())
    found = verify_bundle(file, dataset, encoders=encoders, verified_by=verified_by)
    if statement is not None:
        write_statement(found, statement)
    if as_json:
        print_json(found)
    else:
        say(*result_lines(found))
        for table in verification_tables(found):
            out.print(table)
        say(*detail_lines(found, verbose=verbose))
    if statement is not None:
        note(_("Wrote {}", statement))
    if found.result != "verified":
        raise typer.Exit(WITH_FAILURES)


@app.command()
def site(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            metavar="BUNDLES", help="Bundles (see `keju bundle`), or folders with *.keju.zip files."
        ),
    ],
    out: Annotated[
        Path,
        out_option(
            metavar="FOLDER", help="Site folder. Created if missing, updated if it is a site."
        ),
    ],
    models: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.toml",
            help="File with vendor, size and date of models, in addition to models.toml in the "
            "folders of bundles. Can be given several times.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the site. Default: keju.")] = "",
) -> None:
    """Write a leaderboard site from bundles: static pages in English and Chinese.

    The pages need no server and make no requests to other sites. If the licence of the data is
    unknown or does not allow copies, the pages have scores and hashes only. A later build reads
    only new bundles. Example: keju site bundles -o site
    """
    from keju.cli.page_progress import stage_bar
    from keju.site import write_site

    with stage_bar(err):
        made = write_site(bundles, out, models=models or (), title=title)
    say(
        _(
            "{}: {} from {} ({} new); {:,.1f} MB",
            made.page,
            n_("{n:,} leaderboard", "{n:,} leaderboards", made.boards),
            n_("{n:,} bundle", "{n:,} bundles", made.bundles),
            made.read,
            made.size / 1e6,
        )
    )
