"""Terminal output about judges: grades, probes, alignment with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import convert
from rich.table import Table

from keju.analysis.labels import task_name
from keju.cli.output.console import format_interval, name_columns, plain_table, translate
from keju.cli.output.run_summary import describe_dropped
from keju.formatting import NOTHING, format_p
from keju.items import PromptVariant
from keju.judging.aligning import (
    CORRECTED_MEASURES,
    LEAVE_ONE_OUT_MEASURES,
    PERSON,
    Alignment,
    Estimate,
    TaskAlignment,
)
from keju.judging.extracting import TaskExtractions
from keju.judging.grading import Agreement, GradingResult
from keju.judging.probes import ProbeResult
from keju.running import RunSummary
from keju.running.run_summary import Hint
from keju.texts import _, join_parts, n_


def grades_table(graded: GradingResult) -> Table:
    """A row for each judge, model and task: the mean grade, its interval, and missing grades."""
    table = plain_table(
        *name_columns(
            "judge", "model", "task", "graded", "mean", "95 % interval", "graded only", "no grade"
        ),
        right=[3, 4, 5, 6],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for row in graded.tasks:
        missing = (
            _("{:,} unparsable", row.unparsable) if row.unparsable else "",
            _("{:,} failed", row.failed) if row.failed else "",
            _("{:,} not answered", row.no_answer) if row.no_answer else "",
            _("{:,} not asked", row.no_reply) if row.no_reply else "",
        )
        label = convert((row.setting, row.script, row.wording), PromptVariant).label()
        table.add_row(
            row.judge,
            f"{row.model} ({label})" if label else row.model,
            task_name(row.task, row.query),
            _("{:,} of {:,}", row.graded, row.answers),
            _format_number(row.mean),
            format_interval((row.low, row.high), ".2f"),
            _format_number(row.graded_mean),
            join_parts(filter(None, missing)),
        )
    return table


def agreement_table(agreements: Sequence[Agreement], title: str) -> Table:
    """A row for each task: the agreement of gradings of the same answers."""
    table = plain_table(
        *name_columns(
            "judge", "task", "answers", "gradings", "alpha", "highest - lowest", "graded alike"
        ),
        right=[2, 3, 4, 5, 6], title=title,
    )  # fmt: skip
    for row in agreements:
        table.add_row(
            row.judge or _("all"),
            row.task or _("all"),
            f"{row.answers:,}",
            str(row.gradings),
            _format_number(row.alpha),
            _format_number(row.spread),
            f"{100 * row.same:.0f} %",
        )
    return table


def grade_lines(graded: GradingResult) -> Iterator[str]:
    """The meaning of the table's columns, and a reason why grades are missing."""
    yield _(
        "Grades of 0 to 10 by the rubrics {}; an empty answer is 0. An answer that the judge did "
        "not grade is not in the mean. A failed call of the model counts as 0; 'graded only' is "
        "the mean without these",
        graded.rubrics,
    )
    for judge, reason in {row.judge: row.seen[0] for row in graded.tasks if row.seen}.items():
        yield _("{} gave no grade in some replies, such as: {}", judge, translate(reason))


def extractions_table(tasks: Sequence[TaskExtractions]) -> Table:
    """A row for each extractor, model and task: the unclear answers, and what was read of them."""
    table = plain_table(
        *name_columns(
            "extractor", "model", "task", "unclear", "read", "no value", "value not in the answer",
            "no readable reply",
        ),
        right=[3, 4, 5, 6, 7],
    )  # fmt: skip
    for row in tasks:
        states = row.states
        decided = [states["value"], states["none"], states["not-contained"]]
        unclear = sum(states.values())
        numbers = (unclear, *decided, unclear - sum(decided))
        table.add_row(
            row.extractor, row.model, task_name(row.task, ""), *(f"{count:,}" for count in numbers)
        )
    return table


def extraction_lines(run: Path, tasks: Sequence[TaskExtractions]) -> Iterator[str]:
    """The meaning of the table's columns, and the command that uses what was read."""
    yield _(
        "A value counts only if the answer contains it; yes and no cannot be checked in this way. "
        "An answer whose value is not in it, or without a readable reply, stays unclear"
    )
    for extractor in dict.fromkeys(row.extractor for row in tasks):
        if any(row.extractor == row.model == extractor for row in tasks):
            yield _(
                "{} reads its own answers. Use another extractor to compare it with others",
                extractor,
            )
        yield _("Use what was read: keju score {} --extractor {}", run, extractor)


def judging_lines(summary: RunSummary) -> Iterator[str]:
    """Missing responses of judges, why, and what to do about it."""
    for judge in summary.models:
        for kind, count in judge.failures.items():
            yield n_(
                "{}: {n:,} request failed: {}",
                "{}: {n:,} requests failed: {}",
                count,
                judge.model,
                kind,
            )
        if judge.halted:
            yield _("{} was stopped: {}", judge.model, judge.halted)
        notes = [describe_dropped(judge, name) for name in judge.not_sent]
        if judge.hint:
            # Another --out does not apply to judges: their responses are stored in the run.
            then = judge.then if "--retry-failed" in judge.then else ""
            notes.insert(0, Hint(judge.hint, then).whole)
        yield from (_("{}: {}", judge.model, note) for note in notes)
    if summary.cost is not None:
        yield _("The replies to these prompts cost {:,.4f} {}", summary.cost, summary.currency)
    if summary.used_up:
        yield _("Stopped: {}", summary.used_up)
    if summary.advice and not any(judge.hint for judge in summary.models):
        yield summary.advice


def _format_number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def probes_table(results: Sequence[ProbeResult]) -> Table:
    """A row for each judge and probe: the mean grade, its change with interval and p, a verdict."""
    table = plain_table(
        *name_columns(
            "judge", "probe", "what is done", "answers", "mean", "against", "change",
            "95 % interval", "p", "verdict",
        ),
        right=[3, 4, 6, 7, 8],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for row in results:
        change = NOTHING if row.change is None or not row.against else f"{row.change:+.2f}"
        table.add_row(
            row.judge,
            row.probe,
            translate(row.about),
            _("{:,} of {:,}", row.answers - row.no_grade, row.answers),
            _format_number(row.mean),
            row.against,
            change,
            format_interval((row.low, row.high), "+.2f"),
            format_p(row.p) if row.verdict else "",
            translate(row.verdict),
        )
    return table


def probe_lines(results: Sequence[ProbeResult]) -> Iterator[str]:
    """The test, and the probes that a judge obeys."""
    if tests := sum(row.p is not None for row in results):
        yield n_(
            "p is of the test that swaps the two grades within groups, adjusted (Holm) for the "
            "{n:,} test of this table. A change of half a point or more is sure if p is at most "
            ".05",
            "p is of the test that swaps the two grades within groups, adjusted (Holm) for the "
            "{n:,} tests of this table. A change of half a point or more is sure if p is at most "
            ".05",
            tests,
        )
    for row in results:
        if row.verdict == "obeys":
            yield _(
                "{} obeys {:,} of {:,} orders of the probe {}",
                row.judge,
                row.obeyed or 0,
                row.compared,
                row.probe,
            )


_LABELS = {
    "pearson": "Pearson", "spearman": "Spearman", "spearman_paper": "Spearman",
    "kendall": "Kendall", "kendall_paper": "Kendall", "mse": "MSE", "mae": "MAE",
}  # fmt: skip
_AS_PAPERS = ("pearson", "spearman_paper", "kendall_paper", "mse", "mae", "bias")


def alignment_tables(found: Alignment) -> Iterator[Table]:
    """The tables of an alignment.

    Agreement among people; each judge against all of them, by measures that correct ties and by the
    papers' formulas; judges and a person against the other raters.
    """
    if found.raters:
        yield agreement_table(found.raters, _("Agreement among people"))
    if found.tasks:
        corrected = _("Compared with the mean of all raters, ties corrected")
        yield _measures_table(found.tasks, corrected, CORRECTED_MEASURES, bounds=True)
        as_papers = _("Compared with the mean of all raters, by the papers' formulas")
        yield _measures_table(found.tasks, as_papers, _AS_PAPERS, bounds=False)
    if found.leave_one_out:
        others = _("Judges and a person, compared with the other raters")
        yield _measures_table(found.leave_one_out, others, LEAVE_ONE_OUT_MEASURES, bounds=True)


def _measures_table(
    rows: Sequence[TaskAlignment], title: str, measures: Sequence[str], *, bounds: bool
) -> Table:
    """A row for each task and judge; under each value its interval, if `bounds`."""
    table = plain_table(
        *name_columns("task", "judge", "answers"),
        *(_LABELS.get(measure) or name_columns("bias")[0] for measure in measures),
        right=range(2, 9),
        title=title,
    )
    tasks = list(dict.fromkeys(row.task for row in rows))
    for row in sorted(rows, key=lambda row: tasks.index(row.task)):
        cells = (_format_estimate(row.measures.get(name), bounds) for name in measures)
        judge = _("a person") if row.judge == PERSON else row.judge
        table.add_row(row.task or _("all"), judge, f"{row.answers:,}", *cells)
    return table


def alignment_lines(found: Alignment) -> Iterator[str]:
    """The meaning of the measures, and missing grades."""
    yield _(
        "bias: human - judge, so above 0 the judge is the stricter. Under each value is its 95 % "
        "interval, by group. The papers' formulas do not correct ties"
    )
    if found.leave_one_out:
        yield _(
            "'a person' is each rater against the mean of the other raters of the same answer. "
            "Judges in this table are compared with the same means, over answers with two raters "
            "or more: a judge with the values of 'a person' does about as well as one more person"
        )
    for judge, count in found.ungraded.items():
        yield _("{} has no grade for {:,} of {:,} rated answers", judge, count, found.answers)


def _format_estimate(estimate: Estimate | None, bounds: bool) -> str:
    if estimate is None or not bounds or estimate.low is None or estimate.high is None:
        return _format_number(estimate.value if estimate else None)
    return f"{_format_number(estimate.value)}\n{estimate.low:.2f}…{estimate.high:.2f}"
