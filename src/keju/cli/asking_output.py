"""Print the plan, the counts and the failures of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from keju.cli.app import out, say

if TYPE_CHECKING:
    from keju.running import Plan, RunSummary


def show_plan(found: Plan, notes: Sequence[str] = (), *, everything: bool = True) -> None:
    """Print a plan for people: the totals, then the tasks of each model, unless they are too many.

    Args:
        found: the plan.
        notes: what else there is to say about it.
        everything: whether to print all tasks.
    """
    from keju.cli.output.brief import print_briefly
    from keju.cli.output.plan_tables import (
        plan_notes,
        plan_table,
        sums_table,
        totals_table,
    )

    # Of models on this machine, no tokens are counted.
    is_remote = any(total.input_tokens != 0 for total in found.totals)
    totals: list[RenderableType] = [totals_table(found)] if is_remote else []
    rest: list[RenderableType] = [*plan_notes(found), *notes]
    print_briefly(
        [*totals, *rest, plan_table(found)], [*totals, sums_table(found), *rest],
        everything=everything,
    )  # fmt: skip


def show_run(summary: RunSummary, folder: Path, preset: str) -> None:
    """Print the counts of each model, and the parameters that were not sent."""
    # Imported on demand: printing is not needed while requests are sent.
    from keju.cli.output.run_summary import empty_on_blank, run_lines, run_table
    from keju.runs import RunFolder

    run = RunFolder.open(folder)
    out.print(run_table(summary, empty_on_blank(run, summary)))
    for line in run_lines(run, summary, preset):
        say(line)


def show_failures(
    summary: RunSummary, folder: Path, instead: Mapping[str, str] | None = None
) -> None:
    """Print the failures, the servers' messages, and hints.

    Args:
        summary: how the run went.
        folder: the run.
        instead: what a command says instead of the options of `keju run` in hints.
    """
    from keju.cli.output.run_summary import failure_lines
    from keju.runs import RunFolder

    for line in failure_lines(RunFolder.open(folder), summary):
        text = line
        for option, words in (instead or {}).items():
            text = text.replace(option, words)
        say(text)
