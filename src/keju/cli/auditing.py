"""The command that recomputes printed numbers and reports wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, out, print_json, say
from keju.cli.benchmark_files import load_checked
from keju.cli.options import AsJson
from keju.texts import _, n_


@app.command()
def audit(
    what: Annotated[
        str,
        typer.Argument(
            metavar="published|RUN|TABLE.csv",
            help="The papers' tables, a scored run, or a leaderboard as CSV.",
        ),
    ],
    benchmark: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.toml",
            help="Audit only the paper of this benchmark: its name, or the definition file of "
            "your own, with the folder `published` beside it.",
        ),
    ] = "",
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Print all findings, claims, confirmed numbers and the method, not only "
            "the summary.",
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="New CSV file with one row for each cell of a finding."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute every number that other numbers imply, and report those that do not agree.

    Of a paper a summary is printed first: numbers not to use, numbers to interpret differently,
    and numbers that are confirmed. Findings have the largest effect first: ranks that move, then
    the difference, then the number of cells. The exit status is always 0.
    """
    from keju.cli.output.audit_findings import audit_report
    from keju.published import audit_leaderboard, audit_published, audit_run, benchmarks_of
    from keju.reporting.audit_cells import write_cells

    if benchmark.endswith(".toml"):
        benchmark = load_checked(Path(benchmark)).name
    if what == "published":
        found = audit_published(benchmark)
    else:
        found = audit_run(Path(what)) if Path(what).is_dir() else audit_leaderboard(Path(what))
    if csv is not None:
        write_cells(found, csv)
        note(_("Wrote {}", csv))
    if as_json:
        print_json(found)
        return
    for name in benchmarks_of(found):
        out.print(*audit_report(found, name, everything=everything), "", sep="\n")
    topics = {(each.benchmark, each.topic) for each in found.findings}
    places = len(found.findings)
    if everything or Path(what).is_file():
        say(
            _(
                "{} in {}; --csv FILE or --json every cell",
                n_("{n:,} finding", "{n:,} findings", len(topics)),
                n_("{n:,} place", "{n:,} places", places),
            )
        )
    else:
        say(
            _(
                "{} in {}; --all prints the rest, --csv FILE or --json every cell",
                n_("{n:,} finding", "{n:,} findings", len(topics)),
                n_("{n:,} place", "{n:,} places", places),
            )
        )
