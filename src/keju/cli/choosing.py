"""The command that checks whether options reveal their answers."""

from __future__ import annotations

import typer
from msgspec.structs import asdict

from keju.cli.app import WITH_FAILURES, out, print_json, say
from keju.cli.building import build_app
from keju.cli.options import AsJson, DatasetPath
from keju.errors import DataError
from keju.messages import message


@build_app.command("check-choices")
def check_choices(dataset: DatasetPath, as_json: AsJson = False) -> None:
    """Test whether the options reveal the answer by length, position, frequency or a blind guess.

    The exit status is 1 if they do. Each check is a test against chance, adjusted for the number of
    tests per task; at least 20 questions are needed.
    """
    from math import isnan

    from keju.building.choices import leaks
    from keju.cli.output.console import name_columns, plain_table, translate
    from keju.datasets.store import Dataset

    rows = leaks.check_choices(Dataset.open(dataset).items())
    if not rows:
        raise DataError(message("cli.no-choice-questions"), file=dataset)
    found = [row for row in rows if row.verdict == "leak"]
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        table = plain_table(
            *name_columns(
                "task", "check", "questions", "seen", "interval-short", "chance", "p", "verdict"
            ),
            right=(2, 3, 4, 5, 6),
        )
        tested = [row for row in rows if row.verdict != "too few"]
        for row in tested:
            share = "" if isnan(row.low) else f"{row.low:.2f}–{row.high:.2f}"
            table.add_row(
                row.task,
                translate(row.check),
                f"{row.questions:,}",
                f"{row.seen:.3g}",
                share,
                f"{row.expected:.3g}",
                f"{row.adjusted:.2g}",
                translate(row.verdict),
            )
        if tested:
            out.print(table)
        if len(tested) < len(rows):
            few = len(rows) - len(tested)
            say(message("terminal.checks-with-few-questions", count=few, least=leaks.FEWEST))
        say(*map(translate, leaks.describe_leaks(found)))
        say(message("terminal.leaks-in-checks", count=len(found), checks=len(rows)))
    if found:
        raise typer.Exit(WITH_FAILURES)
