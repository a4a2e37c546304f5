"""Print the plan, the counts and the failures of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from keju.cli.app import out, say
from keju.texts import _, join_parts, n_

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
    from keju.cli.output.run_summary import (
        empty_on_blank,
        not_sent_lines,
        run_table,
        served_changes,
        truncated_lines,
        unlike_paper,
        usage_lines,
    )
    from keju.runs import RunFolder

    out.print(run_table(summary, empty_on_blank(RunFolder(folder), summary)))
    for each in summary.models:
        if each.attempts > each.asked:
            say(
                _(
                    "{}: {} sent for {}. The waiting between attempts took {:,.1f} s in total",
                    each.model,
                    n_("{n:,} request was", "{n:,} requests were", each.attempts),
                    n_("{n:,} response", "{n:,} responses", each.asked),
                    each.waited,
                )
            )
    for line in (
        *truncated_lines(folder, summary), *not_sent_lines(summary), *usage_lines(summary),
        *served_changes(folder, summary),
    ):  # fmt: skip
        say(line)
    if preset:
        identities = RunFolder(folder).manifest().models
        dropped = {each.model: each.not_sent for each in summary.models}
        say(*unlike_paper(preset, {name: identities[name] for name in dropped}, dropped))
    if summary.cost is not None:
        say(_("The answers in this run cost {:,.4f} {}", summary.cost, summary.currency))


def show_failures(
    summary: RunSummary, folder: Path, instead: Mapping[str, str] | None = None
) -> None:
    """Print the failures, the servers' messages, and hints.

    Args:
        summary: how the run went.
        folder: the run.
        instead: what a command says instead of the options of `keju run` in hints.
    """
    for line in _failure_lines(summary, folder):
        said = line
        for option, words in (instead or {}).items():
            said = said.replace(option, words)
        say(said)


def _failure_lines(summary: RunSummary, folder: Path) -> Iterator[str]:
    from keju.cli.output.run_summary import failure_lines, halted_lines, trouble_lines

    yield from failure_lines(folder, summary)
    yield from trouble_lines(summary)
    yield from halted_lines(summary)
    counts = [_("{:,} failed", summary.failures)] * bool(summary.failures)
    counts += [_("{:,} without a response yet", summary.left)] * bool(summary.left)
    if summary.advice:
        yield _("{}. {}", join_parts(counts), summary.advice)
