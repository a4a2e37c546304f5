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
from keju.judging import Agreement, Alignment, Estimate, GradingResult, ProbeResult, ProbingResult
from keju.judging.aligning import BEST_JUDGE_MEASURES, LEAVE_ONE_OUT_MEASURES, TaskAlignment
from keju.messages import message
from keju.running import RunSummary
from keju.running.failures import Hint


def grades_table(graded: GradingResult) -> Table:
    """A row for each judge, model and task: the mean grade, its interval, and missing grades."""
    table = plain_table(
        *name_columns(
            "judge", "model", "task", "graded", "mean", "interval", "graded-only", "no-grade"
        ),
        right=[3, 4, 5, 6],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for each in graded.tasks:
        missing = (
            message("terminal.grades-unparsable", count=each.unparsable) if each.unparsable else "",
            message("terminal.failed-count", count=each.failed) if each.failed else "",
            message("terminal.grades-not-answered", count=each.no_answer) if each.no_answer else "",
            message("terminal.grades-not-asked", count=each.no_reply) if each.no_reply else "",
        )
        label = convert((each.setting, each.script, each.wording), PromptVariant).label()
        table.add_row(
            each.judge,
            f"{each.model} ({label})" if label else each.model,
            task_name(each.task, each.query),
            message("terminal.part-of-all", there=each.graded, planned=each.answers),
            _format_number(each.mean),
            format_interval((each.low, each.high), ".2f"),
            _format_number(each.graded_mean),
            ", ".join(filter(None, missing)),
        )
    return table


def agreement_table(found: tuple[Agreement, ...], title: str) -> Table:
    """A row for each task: the agreement of gradings of the same answers."""
    table = plain_table(
        *name_columns(
            "judge", "task", "answers", "gradings", "alpha", "grade-range", "graded-alike"
        ),
        right=[2, 3, 4, 5, 6], title=title,
    )  # fmt: skip
    for each in found:
        table.add_row(
            each.judge or message("terminal.all"),
            each.task,
            f"{each.answers:,}",
            str(each.gradings),
            _format_number(each.alpha),
            _format_number(each.spread),
            f"{100 * each.same:.0f} %",
        )
    return table


def grade_lines(graded: GradingResult) -> Iterator[str]:
    """The meaning of the table's columns, and skipped answers."""
    yield message("terminal.grades", rubrics=graded.rubrics)
    for why, count in graded.left_out.items():
        yield message("terminal.not-graded", count=count, reason=translate(why))
    for judge in dict.fromkeys(each.judge for each in graded.tasks):
        seen = [what for each in graded.tasks if each.judge == judge for what in each.seen]
        if seen:
            yield message("terminal.reply-without-grade", judge=judge, reply=translate(seen[0]))


def judging_lines(summary: RunSummary) -> Iterator[str]:
    """Missing responses of judges, why, and what to do about it."""
    for judge in summary.models:
        for kind, count in judge.failures.items():
            yield message("terminal.calls-failed", model=judge.model, count=count, kind=kind)
        if judge.halted:
            yield message("terminal.model-stopped", model=judge.model, reason=judge.halted)
        if judge.hint:
            # Another --out does not apply to judges: their responses are stored in the run.
            then = judge.then if "--retry-failed" in judge.then else ""
            hint = Hint(judge.hint, then).whole
            yield message("terminal.of-model", model=judge.model, text=hint)
        for name in judge.not_sent:
            text = describe_dropped(judge, name)
            yield message("terminal.of-model", model=judge.model, text=text)
    if summary.cost is not None:
        yield message("terminal.judging-cost", cost=summary.cost, currency=summary.currency)
    if summary.used_up:
        yield message("terminal.stopped", reason=summary.used_up)
    if summary.advice and not any(judge.hint for judge in summary.models):
        yield summary.advice


def _format_number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def probes_table(probed: ProbingResult) -> Table:
    """A row for each judge and probe: the mean grade, its change with interval and p, a verdict."""
    table = plain_table(
        *name_columns(
            "judge", "probe", "change-made", "answers", "mean", "against", "change", "interval",
            "p", "verdict",
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
            message(
                "terminal.part-of-all",
                there=each.answers - each.no_grade,
                planned=each.answers,
            ),
            _format_number(each.mean),
            each.against,
            change,
            format_interval((each.low, each.high), "+.2f"),
            format_p(each.p) if each.verdict else "",
            _verdict(each) if each.verdict else "",
        )
    return table


def probe_lines(probed: ProbingResult) -> Iterator[str]:
    """The test, the flagged probes, and those that do not apply."""
    if tests := sum(each.p is not None for each in probed.results):
        yield message("terminal.probes-tested", tests=tests)
    for each in probed.flagged:
        yield message(
            "terminal.flagged-probe", judge=each.judge, probe=each.probe,
            change=translate(each.about), finding=translate(each.says),
        )  # fmt: skip
    for name, why in probed.not_applicable.items():
        yield message("terminal.not-probed", probe=name, reason=translate(why))


def _verdict(each: ProbeResult) -> str:
    verdict, finding = translate(each.verdict), translate(each.says)
    return message("terminal.probe-verdict", verdict=verdict, finding=finding)


_LABELS = {
    "pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall", "mse": "MSE", "mae": "MAE",
    "bias": "",
}  # fmt: skip
_AS_PAPERS = ("pearson", "spearman_paper", "kendall_paper", "mse", "mae", "bias")


def alignment_tables(found: Alignment) -> Iterator[Table]:
    """The tables of an alignment.

    Agreement among people; each judge against all of them, by measures that correct ties and by the
    papers' formulas; judges and a person against the other raters; the best judge.
    """
    table = plain_table(
        *name_columns("task", "raters", "answers", "ratings", "alpha-interval", "alpha-ordinal"),
        right=[1, 2, 3, 4, 5], title=message("terminal.people-among-themselves"),
    )  # fmt: skip
    for each in found.raters:
        table.add_row(
            each.task or message("terminal.all"), str(each.raters),
            f"{each.answers:,}", f"{each.ratings:,}",
            _format_number(each.alpha_interval), _format_number(each.alpha_ordinal),
        )  # fmt: skip
    yield table
    if found.tasks:
        corrected = message("terminal.compared-with-people")
        yield _measures_table(found.tasks, corrected, BEST_JUDGE_MEASURES, bounds=True)
        as_papers = message("terminal.by-the-papers-formulas")
        yield _measures_table(found.tasks, as_papers, _AS_PAPERS, bounds=False)
    if found.leave_one_out:
        others = message("terminal.judges-and-a-person")
        yield _measures_table(found.leave_one_out, others, LEAVE_ONE_OUT_MEASURES, bounds=True)
    if found.best:
        yield _best_table(found)


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
                table.add_row(
                    task or message("terminal.all"), row.judge, f"{row.answers:,}", *cells
                )
    return table


def _best_table(found: Alignment) -> Table:
    table = plain_table(
        *name_columns(
            "by", "best", "next-best", "answers", "better-by", "interval", "ahead-of-all"
        ),
        right=[3, 4, 5], title=message("terminal.which-judge"),
    )  # fmt: skip
    for best in found.best:
        table.add_row(
            _label(best.measure),
            best.judge,
            best.runner_up,
            f"{best.answers:,}",
            _format_number(best.difference),
            format_interval((best.low, best.high), ".2f"),
            message("terminal.yes") if best.all_above_0 else message("terminal.not-sure"),
        )
    return table


def alignment_lines(found: Alignment) -> Iterator[str]:
    """The meaning of the measures, and missing grades."""
    yield message("terminal.alignment-measures")
    if found.leave_one_out:
        yield message("terminal.leave-one-out-about")
    if found.best:
        yield message("terminal.best-judge-about")
    if found.blank:
        yield message("terminal.rows-without-score", count=found.blank)
    for judge, count in found.ungraded.items():
        yield message(
            "terminal.rated-without-grade", judge=judge, count=count, answers=found.answers
        )


def _label(measure: str) -> str:
    return _LABELS[measure] or name_columns("bias")[0]


def _format_estimate(estimate: Estimate | None, bounds: bool) -> str:
    if estimate is None or estimate.value is None:
        return NOTHING
    value = f"{estimate.value:.2f}"
    if not bounds or estimate.low is None or estimate.high is None:
        return value
    return f"{value}\n{estimate.low:.2f}…{estimate.high:.2f}"
