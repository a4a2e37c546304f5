"""`official` accuracies after the review of answers with several letters, and their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from keju.definitions import Task, benchmark, task
from keju.runs import RunFolder
from keju.scoring import Result, ReviewedResult, reviewed_results, stored_reviewed_scores

if TYPE_CHECKING:
    from keju.analysis.run_set import RunSet

OVERALL = "OverAll"


class ReviewedRow(NamedTuple):
    """An accuracy, or a mean that some are part of, as fractions.

    `place` is a task, or the benchmark of a mean whose name is `mean`. `lowest` counts undecided
    answers as wrong, `highest` as the authors' script counts them; `script` is its own value.
    """

    place: str
    mean: str
    lowest: float | None
    highest: float | None
    script: float | None


class ReviewedTable(NamedTuple):
    """One name of a report, with its rows and the number of answers of each kind."""

    model: str
    rows: list[ReviewedRow]
    counts: Mapping[str, int]


def reviewed_rows(reviewed: ReviewedResult, script: Result) -> list[ReviewedRow]:
    """The tasks that ask for a letter, then the means that they are part of; all with a value.

    Args:
        reviewed: the values after the review.
        script: `official` of the same responses.
    """
    before, lowest, highest = map(_values, (script, reviewed.lowest, reviewed.highest))
    return [
        ReviewedRow(*place, value, highest[place], before.get(place))
        for place, value in lowest.items()
        if value is not None
    ]


def _values(result: Result) -> dict[tuple[str, str], float | None]:
    values = {
        (each.task, ""): each.main.value
        for each in result.tasks
        if each.main and _asks_for_letter(task(each.task))
    }
    for each in result.benchmarks:
        declared = benchmark(each.benchmark)
        lettered = [known for known in declared.tasks if _asks_for_letter(known)]
        if not lettered:
            continue
        domains = {known.domain for known in lettered}
        of_domains = {name: mean for name, mean in each.domains.items() if name in domains}
        of_formats = {
            name: mean
            for name, mean in each.formats.items()
            if declared.means[name].tasks_of(lettered)
        }
        means = of_domains | of_formats | {OVERALL: each.overall}
        values |= {(each.benchmark, name): mean.value for name, mean in means.items()}
    return values


def _asks_for_letter(declared: Task) -> bool:
    return any(query.form == "letter" for query in declared.queries)


def reviewed_tables(run_set: RunSet) -> Iterator[ReviewedTable]:
    """A table for each name of a report whose answers were reviewed when the run was scored.

    Raises:
        UsageError: the stored scores are of another scoring than those of the report.
        DataError: the stored scores are damaged.
    """
    paths = {run.name: run.path for run in run_set.runs}
    for name, model_responses in run_set.by_model.items():
        script = run_set.results.get((name, "official"))
        if script is None:
            continue
        folder = RunFolder(paths[model_responses.run])
        scores = stored_reviewed_scores(folder, model_responses.model)
        for found in reviewed_results([script], scores):
            yield ReviewedTable(name, reviewed_rows(found, script), found.counts[""])
