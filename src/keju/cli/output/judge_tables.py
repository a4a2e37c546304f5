"""Terminal output about judges: grades, probes, alignment with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import convert
from rich.table import Table

from keju.analysis.labels import task_name
from keju.cli.output.console import format_interval, name_columns, plain_table, translate
from keju.cli.output.run_summary import describe_dropped
from keju.formatting import NOTHING, format_p
from keju.items import PromptVariant
from keju.judging import Alignment
from keju.judging.aligning import (
    CORRECTED_MEASURES,
    LEAVE_ONE_OUT_MEASURES,
    Estimate,
    TaskAlignment,
)
from keju.judging.extracting import ExtractionResult
from keju.judging.grading import Agreement, GradingResult
from keju.judging.probes import ProbeResult, ProbingResult
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
    for each in graded.tasks:
        missing = (
            _("{:,} unparsable", each.unparsable) if each.unparsable else "",
            _("{:,} failed", each.failed) if each.failed else "",
            _("{:,} not answered", each.no_answer) if each.no_answer else "",
            _("{:,} not asked", each.no_reply) if each.no_reply else "",
        )
        label = convert((each.setting, each.script, each.wording), PromptVariant).label()
        table.add_row(
            each.judge,
            f"{each.model} ({label})" if label else each.model,
            task_name(each.task, each.query),
            _("{:,} of {:,}", each.graded, each.answers),
            _format_number(each.mean),
            format_interval((each.low, each.high), ".2f"),
            _format_number(each.graded_mean),
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
    """The meaning of the table's columns, and skipped answers."""
    yield _(
        "Grades of 0 to 10 by the rubrics {}; an empty answer is 0. An answer that the judge did "
        "not grade is not in the mean. A failed call of the model counts as 0; 'graded only' is "
        "the mean without these",
        graded.rubrics,
    )
    for why, count in graded.left_out.items():
        yield _("Not graded: {:,} {}", count, translate(why))
    for judge in dict.fromkeys(each.judge for each in graded.tasks):
        seen = [what for each in graded.tasks if each.judge == judge for what in each.seen]
        if seen:
            yield _("{} gave no grade in some replies, such as: {}", judge, translate(seen[0]))


def extractions_table(counted: ExtractionResult) -> Table:
    """A row for each extractor, model and task: the unclear answers, and what was read of them."""
    table = plain_table(
        *name_columns(
            "extractor", "model", "task", "unclear", "read", "no value", "value not in the answer",
            "no readable reply",
        ),
        right=[3, 4, 5, 6, 7],
    )  # fmt: skip
    for row in counted.tasks:
        states = row.states
        lacking = states["missing"] + states["failed"] + states["unreadable"]
        numbers = (
            row.unclear, states["value"], states["none"], states["not-contained"], lacking,
        )  # fmt: skip
        table.add_row(
            row.extractor, row.model, task_name(row.task, ""), *(f"{count:,}" for count in numbers)
        )
    return table


def extraction_lines(counted: ExtractionResult) -> Iterator[str]:
    """The meaning of the table's columns, and the command that uses what was read."""
    yield _(
        "A value counts only if the answer contains it; yes and no cannot be checked in this way. "
        "An answer whose value is not in it, or without a readable reply, stays unclear"
    )
    for row in {(row.extractor, row.model): row for row in counted.tasks if row.own}.values():
        yield _("{} reads its own answers. Use another extractor to compare it with others",
                row.extractor)  # fmt: skip
    for extractor in dict.fromkeys(row.extractor for row in counted.tasks):
        yield _("Use what was read: keju score {} --extractor {}", counted.run, extractor)


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
        if judge.hint:
            # Another --out does not apply to judges: their responses are stored in the run.
            then = judge.then if "--retry-failed" in judge.then else ""
            hint = Hint(judge.hint, then).whole
            yield _("{}: {}", judge.model, hint)
        for name in judge.not_sent:
            text = describe_dropped(judge, name)
            yield _("{}: {}", judge.model, text)
    if summary.cost is not None:
        yield _("The replies to these prompts cost {:,.4f} {}", summary.cost, summary.currency)
    if summary.used_up:
        yield _("Stopped: {}", summary.used_up)
    if summary.advice and not any(judge.hint for judge in summary.models):
        yield summary.advice


def _format_number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def probes_table(probed: ProbingResult) -> Table:
    """A row for each judge and probe: the mean grade, its change with interval and p, a verdict."""
    table = plain_table(
        *name_columns(
            "judge", "probe", "what is done", "answers", "mean", "against", "change",
            "95 % interval", "p", "verdict",
        ),
        right=[3, 4, 6, 7, 8],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for each in probed.results:
        change = NOTHING if each.change is None or not each.against else f"{each.change:+.2f}"
        table.add_row(
            each.judge,
            each.probe,
            translate(each.about),
            _("{:,} of {:,}", each.answers - each.no_grade, each.answers),
            _format_number(each.mean),
            each.against,
            change,
            format_interval((each.low, each.high), "+.2f"),
            format_p(each.p) if each.verdict else "",
            _verdict(each) if each.verdict else "",
        )
    return table


def probe_lines(probed: ProbingResult) -> Iterator[str]:
    """The test, and the flagged probes."""
    if tests := sum(each.p is not None for each in probed.results):
        yield n_(
            "p is of the test that swaps the two grades within groups, adjusted (Holm) for the "
            "{n:,} test of this table. A change of half a point or more is sure if p is at most "
            ".05",
            "p is of the test that swaps the two grades within groups, adjusted (Holm) for the "
            "{n:,} tests of this table. A change of half a point or more is sure if p is at most "
            ".05",
            tests,
        )
    for each in probed.results:
        if each.verdict == "flagged":
            about, finding = translate(each.about), translate(each.says)
            yield _("{}: {} ({}): {}", each.judge, each.probe, about, finding)


def _verdict(each: ProbeResult) -> str:
    verdict, finding = translate(each.verdict), translate(each.says)
    return _("{}: {}", verdict, finding)


_LABELS = {
    "pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall", "mse": "MSE", "mae": "MAE",
    "bias": "",
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
        *(_label(measure.removesuffix("_paper")) for measure in measures),
        right=range(2, 9),
        title=title,
    )
    for task in dict.fromkeys(row.task for row in rows):
        for row in rows:
            if row.task == task:
                cells = (_format_estimate(row.measures.get(each), bounds) for each in measures)
                table.add_row(task or _("all"), row.judge, f"{row.answers:,}", *cells)
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
    if found.blank:
        yield n_(
            "{n:,} row has no score and are skipped",
            "{n:,} rows have no score and are skipped",
            found.blank,
        )
    for judge, count in found.ungraded.items():
        yield _("{} has no grade for {:,} of {:,} rated answers", judge, count, found.answers)


def _label(measure: str) -> str:
    return _LABELS[measure] or name_columns("bias")[0]


def _format_estimate(estimate: Estimate | None, bounds: bool) -> str:
    if estimate is None or estimate.value is None:
        return NOTHING
    value = f"{estimate.value:.2f}"
    if not bounds or estimate.low is None or estimate.high is None:
        return value
    return f"{value}\n{estimate.low:.2f}…{estimate.high:.2f}"
