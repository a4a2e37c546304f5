"""The command that recomputes printed numbers and lists those that don't hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, out, say
from keju.cli.options import AsJson


@app.command()
def audit(
    what: Annotated[
        str,
        typer.Argument(
            metavar="published|RUN|TABLE.csv",
            help="The three papers' tables, a scored run of yours, or any leaderboard.",
        ),
    ],
    benchmark: Annotated[
        str, typer.Option(metavar="NAME", help="Only one paper: MCS-Bench, AncientDoc, OBI-Bench.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="List the checks that hold too.")
    ] = False,
    rebuilt: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Rebuild MCS-Bench's printed means with the code that runs use."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute every number that others imply, and list each that does not hold.

    Means, ranks, counts that no number of answers can give, bounds that the formulas set, marks,
    claims, copies, and places that disagree. Findings are what this is for: the exit status is 0.
    """
    from keju.published import audit_leaderboard, audit_published, audit_run, rebuild
    from keju.reporting.plain import print_json
    from keju.reporting.published import audit_tables, held_table, rebuilt_table

    if rebuilt:
        cells = rebuild()
        if as_json:
            print_json(cells)
        else:
            out.print(rebuilt_table(cells))
        return
    if what == "published":
        found = audit_published(benchmark)
    else:
        found = audit_run(Path(what)) if Path(what).is_dir() else audit_leaderboard(Path(what))
    if as_json:
        print_json(found)
        return
    out.print(*audit_tables(found))
    if everything:
        out.print(held_table(found))
    wrong = sum(len(each.mismatches) for each in found.findings)
    held = sum(each.compared for each in found.held)
    say(
        f"{len(found.findings)} findings in {wrong} cells; {held:,} cells checked in other places "
        "hold. Every cell of every finding: --json"
    )
