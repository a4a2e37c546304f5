"""`keju history`: scores over labels, and the significant changes between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keju.cli.app import WITH_FAILURES, app, out, print_json, say
from keju.cli.figures import FormatNames, Language, draw_all
from keju.cli.options import AsJson, out_option
from keju.texts import _
from keju.texts import language as terminal_language

if TYPE_CHECKING:
    from keju.analysis.history import History


@app.command()
def history(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Scored run directories or bundles, one for each label."
        ),
    ],
    model: Annotated[str, typer.Option(metavar="MODEL", help="Model, if a run has several.")] = "",
    setting: Annotated[
        str, typer.Option(metavar="SETTING", help="Input setting, if a run has several.")
    ] = "",
    script: Annotated[
        str, typer.Option(metavar="SCRIPT", help="Script of the prompts, if a run has several.")
    ] = "",
    wording: Annotated[
        str, typer.Option(metavar="WORDING", help="Prompt wording, if a run has several.")
    ] = "",
    protocol: Annotated[
        Literal["official", "strict"],
        typer.Option(help="Protocol whose main metrics are shown."),
    ] = "strict",
    order: Annotated[
        Literal["time", "given"],
        typer.Option(
            help="Order of the labels: time (creation of the runs), or given (as in the command)."
        ),
    ] = "time",
    as_json: AsJson = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="New CSV file with all values and changes."),
    ] = None,
    folder: Annotated[
        Path | None,
        out_option(metavar="DIR", help="Directory for figures. Default: no figures."),
    ] = None,
    formats: FormatNames = "svg",
    language: Language = None,
) -> None:
    """Show the scores of a model over labels, and the tasks that changed significantly.

    The runs are made with keju run --label on the same items and prompts. Each label is compared
    with the next one, and the first label with the last: a paired test as in keju compare,
    adjusted over all tasks and changes. Example: keju history run-1000 run-2000 run-3000 -o figures
    """
    from keju.analysis.comparison_sides import SideChoice
    from keju.analysis.history import history_of
    from keju.analysis.score_sources import bundle_lines, open_scored
    from keju.cli.output.console import translate
    from keju.cli.output.history_table import history_lines, history_table

    wanted = SideChoice(model=(model,), setting=(setting,), script=(script,), wording=(wording,))
    with open_scored(runs) as scored:
        found = history_of(scored, protocol, wanted, order=order)
    if as_json:
        print_json(found)
    else:
        out.print(history_table(found))
        say(*map(translate, history_lines(found)))
        say(*bundle_lines(runs))
    if csv is not None:
        _write_csv(found, csv, quiet=as_json)
    if folder is not None:
        from keju.figures.history import history_figures

        shown = language or terminal_language()
        if not draw_all(history_figures(found), folder, formats, shown, quiet=as_json):
            raise typer.Exit(WITH_FAILURES)


def _write_csv(found: History, path: Path, *, quiet: bool) -> None:
    import polars as pl

    from keju.analysis.history import history_records
    from keju.csv_files import write_frame

    write_frame(pl.DataFrame(history_records(found), infer_schema_length=None), path)
    if not quiet:
        say(_("All numbers: {}", path))
