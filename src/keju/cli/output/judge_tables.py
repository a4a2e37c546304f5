"""Terminal output about judges: grades, probes, alignment with people."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import convert
from rich.table import Table

from keju.cli.output.console import plain_table
from keju.cli.output.run_summary import dropped_words
from keju.formatting import NOTHING
from keju.items import PromptVariant
from keju.judging import Agreement, Alignment, Estimate, Graded, Probed
from keju.running import RunSummary
from keju.running.failures import Hint


def grades_table(graded: Graded) -> Table:
    """A row for each judge, model and task: the mean grade, its interval, and missing grades."""
    table = plain_table(
        "judge", "model", "task", "graded", "mean", "95 % interval", "graded only", "no grade",
        right=[3, 4, 5, 6],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for each in graded.tasks:
        counts = (
            (each.unparsable, "unparsable"), (each.failed, "failed"),
            (each.no_answer, "not answered"), (each.no_reply, "not asked"),
        )  # fmt: skip
        task = f"{each.task}/{each.query}" if each.query else each.task
        label = convert((each.setting, each.script, each.wording), PromptVariant).label()
        table.add_row(
            each.judge,
            f"{each.model} ({label})" if label else each.model,
            task,
            f"{each.graded:,} of {each.answers:,}",
            _number(each.mean),
            _interval(each.low, each.high),
            _number(each.graded_mean),
            ", ".join(f"{count} {what}" for count, what in counts if count),
        )
    return table


def agreement_table(found: tuple[Agreement, ...], title: str) -> Table:
    """A row for each task: the agreement of gradings of the same answers."""
    table = plain_table(
        "judge", "task", "answers", "gradings", "alpha", "highest - lowest", "graded alike",
        right=[2, 3, 4, 5, 6], title=title,
    )  # fmt: skip
    for each in found:
        table.add_row(
            each.judge or "all",
            each.task,
            f"{each.answers:,}",
            str(each.gradings),
            _number(each.alpha),
            _number(each.spread),
            f"{100 * each.same:.0f} %",
        )
    return table


def grade_lines(graded: Graded) -> Iterator[str]:
    """The meaning of the table's columns, and skipped answers."""
    yield (
        f"Grades of 0 to 10 by the rubrics {graded.rubrics}; an empty answer is 0. The "
        "mean counts each missing grade as 0; 'graded only' is the mean without them"
    )
    for why, count in graded.left_out.items():
        yield f"Left out: {count} {why}"
    for judge in dict.fromkeys(each.judge for each in graded.tasks):
        seen = [what for each in graded.tasks if each.judge == judge for what in each.seen]
        if seen:
            yield f"{judge} gave no grade, as here: {seen[0]}"


def judging_lines(summary: RunSummary) -> Iterator[str]:
    """Missing responses of judges, why, and what to do about it."""
    for judge in summary.models:
        for kind, count in judge.failures.items():
            yield f"{judge.model}: {count} calls failed: {kind}"
        if judge.halted:
            yield f"{judge.model} was stopped: {judge.halted}"
        if judge.hint:
            # Another --out does not apply to judges: their responses are stored in the run.
            then = judge.then if "--retry-failed" in judge.then else ""
            yield f"{judge.model}: {Hint(judge.hint, then).whole}"
        for name in judge.not_sent:
            yield f"{judge.model}: {dropped_words(judge, name)}"
    if summary.cost is not None:
        yield f"The replies under these rubrics cost {summary.cost:,.4f} {summary.currency}"
    if summary.used_up:
        yield f"Stopped: {summary.used_up}"
    if summary.advice and not any(judge.hint for judge in summary.models):
        yield summary.advice


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"{low:.2f} to {high:.2f}"


def probes_table(probed: Probed) -> Table:
    """A row for each judge and probe: the mean grade, its change with interval, a verdict."""
    table = plain_table(
        "judge", "probe", "what is done", "answers", "mean", "against", "change", "95 % interval",
        "verdict", right=[3, 4, 6, 7],
    )  # fmt: skip
    table.columns[0].no_wrap = False
    for each in probed.results:
        change = NOTHING if each.change is None or not each.against else f"{each.change:+.2f}"
        bounds = NOTHING
        if each.low is not None and each.high is not None:
            bounds = f"{each.low:+.2f} to {each.high:+.2f}"
        table.add_row(
            each.judge,
            each.probe,
            each.about,
            f"{each.answers - each.no_grade} of {each.answers}",
            _number(each.mean),
            each.against,
            change,
            bounds,
            f"{each.verdict}: {each.says}" if each.verdict else "",
        )
    return table


def probe_lines(probed: Probed) -> Iterator[str]:
    """The flagged probes, and those that do not apply."""
    for each in probed.flagged:
        yield f"{each.judge}: {each.probe} ({each.about}): {each.says}"
    for name, why in probed.not_applicable.items():
        yield f"Not probed: {name}: {why}"


_LABELS = {
    "pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall", "mse": "MSE", "mae": "MAE",
    "bias": "bias",
}  # fmt: skip
_AS_PAPERS = ("pearson", "spearman_paper", "kendall_paper", "mse", "mae", "bias")


def alignment_tables(found: Alignment) -> Iterator[Table]:
    """Tables: agreement among people; each judge against them; the papers' formulas.

    The best judge.
    """
    table = plain_table(
        "task", "raters", "answers", "ratings", "alpha (interval)", "alpha (ordinal)",
        right=[1, 2, 3, 4, 5], title="People among themselves (Krippendorff)",
    )  # fmt: skip
    for each in found.raters:
        table.add_row(
            each.task or "all", str(each.raters), f"{each.answers:,}", f"{each.ratings:,}",
            _number(each.alpha_interval), _number(each.alpha_ordinal),
        )  # fmt: skip
    yield table
    if found.tasks:
        yield _beside_table(found, "Beside people, ties corrected", tuple(_LABELS), bounds=True)
        yield _beside_table(found, "By the papers' formulas", _AS_PAPERS, bounds=False)
    if found.best:
        yield _best_table(found)


def _beside_table(
    found: Alignment, title: str, measures: tuple[str, ...], *, bounds: bool
) -> Table:
    """A row for each task and judge; under each value its interval, if `bounds`."""
    table = plain_table(
        "task", "judge", "answers", *_LABELS.values(), right=range(2, 9), title=title
    )
    for name in dict.fromkeys(each.task for each in found.tasks):
        for row in found.tasks:
            if row.task == name:
                cells = (_estimated(row.measures.get(each), bounds) for each in measures)
                table.add_row(name or "all", row.judge, f"{row.answers:,}", *cells)
    return table


def _best_table(found: Alignment) -> Table:
    table = plain_table(
        "by", "best", "next", "answers", "better by", "95 % interval", "surely the best",
        right=[3, 4, 5], title="Which judge",
    )  # fmt: skip
    for best in found.best:
        table.add_row(
            _LABELS[best.measure],
            best.judge,
            best.runner_up,
            f"{best.answers:,}",
            _number(best.difference),
            _interval(best.low, best.high),
            "yes" if best.sure else "not sure",
        )
    return table


def alignment_lines(found: Alignment) -> Iterator[str]:
    """The meaning of the measures, and missing grades."""
    yield (
        "bias: human - judge, so above 0 the judge is the stricter. Under each value its 95 % "
        "interval, by group. The papers' formulas know no ties. 'a person' is each rater against "
        "the mean of the others: a judge that reaches it does about as well as one more person"
    )
    if found.blank:
        yield f"{found.blank} rows without a score are left out"
    for judge, count in found.ungraded.items():
        yield f"{judge} has no grade for {count} of {found.answers} rated answers"


def _estimated(estimate: Estimate | None, bounds: bool) -> str:
    if estimate is None or estimate.value is None:
        return NOTHING
    value = f"{estimate.value:.2f}"
    if not bounds or estimate.low is None or estimate.high is None:
        return value
    return f"{value}\n{estimate.low:.2f}…{estimate.high:.2f}"
