"""Cells of the report's rows: tasks, rounds, grades, settings, wordings, post-editing, coverage."""

from __future__ import annotations

from collections.abc import Sequence

from keju.analysis.difficulty import HardItem
from keju.analysis.grades import GradeRow, GradeValue
from keju.analysis.input_settings import StepRow
from keju.analysis.risk_coverage import COVERAGES, PostEditCost, RiskCoverageRow
from keju.analysis.round_spread import RoundSpread
from keju.analysis.task_tables import TaskRow
from keju.analysis.wording_spread import WordingRow, WordingValue
from keju.formatting import (
    format_p,
    number_range,
    percent,
    percent_range,
    unclear_percent,
)
from keju.reporting.cells import Cell, bounds_text, interval_text, signed_range
from keju.reporting.comparison_text import describe_undecided, format_difference
from keju.reporting.leaderboard_cells import (
    chance_lines,
    domain_cell,
    extent_text,
    money_text,
    overall_cell,
    rank_cell,
    time_text,
    tokens_text,
    unanswered_text,
)
from keju.scoring import MetricResult, TaskComparison
from keju.statistics import FEWEST_GROUPS, Interval, Spread
from keju.texts import Text, _, join_clauses, join_lines, n_, recognised


def task_cells(row: TaskRow) -> list[Cell]:
    """A cell for each model of the report."""
    return [
        Cell()
        if each.main is None
        else _main(each.main, each.interval, each.rounds).marked(each.mark)
        for each in row.values
    ]


def _main(main: MetricResult, interval: Interval | None, rounds: int) -> Cell:
    if main.value is None:
        reason = join_clauses(map(recognised, main.unscored))
        return Cell(_("unscored"), note=reason, title=reason)
    if main.without_failures is None:
        none = _("none of {} complete", main.scored)
        value = percent_range(main.value, main.value_if_right)
        return Cell(value, note=none, title=main.signature)
    notes = [interval_text(interval)] if interval else []
    notes.append(counted_items(main.scored, rounds))
    if main.without_failures != main.value:
        value = percent(main.without_failures)
        if main.value_if_right == main.value:
            notes.append(_("{} without failures", value))
        else:
            notes.append(_("at least {} without failures", value))
    if main.note:
        notes.append(recognised(main.note))
    title = main.signature
    if interval:
        title = _("{} groups; {}", interval.groups, main.signature)
    value = percent_range(main.value, main.value_if_right)
    return Cell(value, note=join_lines(notes), title=title)


def counted_items(count: int, rounds: int) -> Text:
    """The number of items of a value, and the number of rounds of each."""
    if rounds > 1 and count % rounds == 0:
        return _("{} × {} rounds", count // rounds, rounds)
    if rounds > 1:
        return _("{} answers in {} rounds", count, rounds)
    return n_("{n:,} item", "{n:,} items", count)


def grade_cells(row: GradeRow) -> list[Cell]:
    """A cell for each model of the report."""
    return [Cell() if each is None else _grade(each).marked(each.mark) for each in row.values]


def _grade(value: GradeValue) -> Cell:
    grade = value.grade
    if grade.mean is None:
        return Cell(title=grade.signature)
    notes = []
    if grade.low is not None and grade.high is not None:
        notes.append(bounds_text(f"{grade.low:.2f}", f"{grade.high:.2f}"))
    notes.append(_("{} of {} graded", grade.graded, grade.answers))
    if grade.missing:
        notes.append(_("{:,} without a grade", grade.missing))
    if grade.no_answer and grade.graded_mean is not None:
        notes.append(_("graded only {}", f"{grade.graded_mean:.2f}"))
    if (strict := value.strict) is not None:
        notes.append(_("strict {}", percent_range(strict.value, strict.value_if_right)))
    return Cell(f"{grade.mean:.2f}", note=join_lines(notes), title=grade.signature)


def step_cells(row: StepRow) -> list[Cell]:
    """The value in each setting, then the differences between them."""
    if_right = row.values_if_right or row.values
    values = [Cell(percent_range(*ends)) for ends in zip(row.values, if_right, strict=True)]
    return [*values, *(Cell() if each is None else _step(each) for each in row.steps)]


def _step(found: TaskComparison) -> Cell:
    value = format_difference(found)
    if found.undecided:
        return Cell(value, note=describe_undecided(found))
    if found.groups < FEWEST_GROUPS:
        few = _("{} of {} groups", found.groups, FEWEST_GROUPS)
        return Cell(value, note=_("too few groups"), title=few)
    if found.p is None:
        return Cell(value, note=_("not testable"))
    sure = _("significant") if found.better else _("not significant")
    notes = [sure]
    if found.low is not None and found.high is not None:
        notes.insert(0, bounds_text(f"{100 * found.low:+.1f}", f"{100 * found.high:+.1f}"))
    return Cell(
        value,
        note=join_lines(notes),
        title=_(
            "p {} (adjusted), paired randomisation over {} groups",
            format_p(found.p_holm),
            found.groups,
        ),
    )


def wording_cells(row: WordingRow, wordings: Sequence[str]) -> list[Cell]:
    """The value in each wording with its difference from the base, the range, and p."""
    values = [
        Cell() if (found := row.values.get(word)) is None else _wording(found) for word in wordings
    ]
    p = Cell()
    if row.undecided:
        p = Cell(note=_("undecided: {} % unclear", unclear_percent(row.unclear)))
    elif row.p is not None and row.adjusted is not None:
        unadjusted = _(
            "p {} (adjusted), paired randomisation over {} groups", format_p(row.p), row.groups
        )
        p = Cell(format_p(row.adjusted), title=unadjusted)
    return [*values, Cell(percent_range(*row.spread)), p]


def _wording(found: WordingValue) -> Cell:
    value = percent_range(found.value, found.value_if_right)
    unclear = [_("{} % unclear", unclear_percent(found.unclear))] if found.unclear else []
    if found.least is None or found.most is None:
        return Cell(value, note=join_lines(unclear))
    notes: list[str] = [signed_range(found.least, found.most)]
    if found.interval:
        low, high = (f"{100 * end:+.1f}" for end in found.interval[:2])
        notes.append(bounds_text(low, high))
    return Cell(value, note=join_lines([*notes, *unclear]))


def round_cells(row: RoundSpread) -> list[Cell]:
    """The number of rounds, the standard deviation between them, and the standard error."""
    shown = ", ".join(map(percent_range, row.values, row.values_if_right))
    deviations = 100 * row.deviation, 100 * row.deviation_if_right
    error = Cell()
    if row.standard_error is not None and row.standard_error_if_right is not None:
        errors = 100 * row.standard_error, 100 * row.standard_error_if_right
        error = Cell(number_range(*errors, ".2f"))
    return [
        Cell(str(len(row.values)), title=shown),
        Cell(number_range(*deviations, ".2f")),
        error,
    ]


def hard_item_cells(row: HardItem) -> list[Cell]:
    """The median of the models' values, the difference from their means, and how many score 0."""
    nothing = number_range(row.nothing, row.nothing_if_right)
    return [
        Cell(percent_range(row.value, row.value_if_right)),
        Cell(signed_range(row.below, row.below_if_right)),
        Cell(f"{nothing} / {row.models}"),
    ]


def post_edit_cells(row: PostEditCost) -> list[Cell]:
    """Mean, median and 90 % quantile with their intervals."""
    return [_spread_cell(each) for each in (row.mean, row.median, row.most)]


def risk_cells(row: RiskCoverageRow) -> list[Cell]:
    """The error at each coverage, of everything, and the share of the possible gain."""
    kept = [_percent_cell(row.curve.at(share), row.at[share]) for share in COVERAGES]
    return [
        *kept,
        Cell(percent(row.curve.whole)),
        _percent_cell(row.curve.area, row.area),
        Cell() if row.curve.gain is None else _percent_cell(row.curve.gain, row.gain),
    ]


def _spread_cell(found: Spread) -> Cell:
    bounds = found.interval
    note = bounds_text(f"{bounds.low:.1f}", f"{bounds.high:.1f}") if bounds else ""
    return Cell(f"{found.value:.1f}", note=note)


def _percent_cell(value: float, bounds: Interval | None) -> Cell:
    return Cell(percent(value), note=interval_text(bounds))


CELLS = {
    "chances": chance_lines, "extent": extent_text,
    "money": money_text, "of_domain": domain_cell, "of_effort": post_edit_cells,
    "of_grade": grade_cells, "of_hard_item": hard_item_cells,
    "of_overall": overall_cell, "of_rank": rank_cell, "of_risk": risk_cells, "of_step": step_cells,
    "of_task": task_cells, "of_wording": wording_cells, "of_rounds": round_cells,
    "time": time_text, "tokens": tokens_text,
    "unanswered": unanswered_text,
}  # fmt: skip
"""The functions with which the template shows rows of numbers."""
