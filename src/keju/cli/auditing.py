"""The command that recomputes printed numbers and lists those that don't hold."""

from __future__ import annotations

from typing import Annotated

import typer

from keju.cli.app import app, out, say
from keju.cli.options import AsJson


@app.command()
def audit(
    what: Annotated[str, typer.Argument(metavar="published", help="The three papers' tables.")],
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

    For the papers' tables: means, ranks, counts that no number of answers can give, bounds that
    the formulas set, marks, claims, and places that disagree. Findings are what this is for, so
    the exit status is 0.
    """
    from keju.errors import UsageError
    from keju.published import audit_published, rebuild
    from keju.reporting.published import audit_tables, held_table, rebuilt_table
    from keju.reporting.terminal import print_json

    if what != "published":
        raise UsageError(f"nothing called {what!r} to audit. Use: keju audit published")
    if rebuilt:
        cells = rebuild()
        if as_json:
            print_json(cells)
        else:
            out.print(rebuilt_table(cells))
        return
    found = audit_published(benchmark)
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
        "hold. Every cell of every finding: --json, or docs/audit.md"
    )
