"""Protocol differences of a run: the value under each protocol by model and task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import polars as pl
from msgspec.structs import replace
from rich.table import Table

from keju.analysis.labels import metric_label
from keju.cli.output.console import name_columns, plain_table, translate
from keju.definitions import check_question_form, question_forms_of, takes_question, task
from keju.errors import UsageError, shortened
from keju.formatting import number_range, percent, percent_range
from keju.items import PromptVariant, Protocol
from keju.reporting.cells import signed_range
from keju.runs import RunFolder
from keju.scoring import PROTOCOLS, TaskDifference, list_task_differences, stored_frames
from keju.texts import _


def list_protocol_differences(
    run: RunFolder,
    *,
    models: Collection[str] = (),
    tasks: Collection[str] = (),
    most: int = 3,
) -> list[TaskDifference]:
    """The protocol differences in the stored scores of a run, one model in memory at a time.

    Args:
        run: the run; it must have been scored under both protocols.
        models: only these models; all where none is named.
        tasks: only these tasks or question forms (``recognition/Where``); all if none is named.
        most: the maximum number of items named per task.

    Raises:
        UsageError: a model or task is not in the run, or the scores are missing or stale.
    """
    known = list(run.manifest().models)
    if strangers := sorted(set(models) - set(known)):
        raise UsageError(
            "{}: no model {!r}. Choose from: {}", run.path, strangers[0], ", ".join(known)
        )
    items = run.items() if tasks else []
    for form in tasks:
        check_question_form(form)
        if not any(takes_question([form], item.task, item.query) for item in items):
            there = ", ".join(question_forms_of(items))
            raise UsageError("{}: no task {!r}. Choose from: {}", run.path, form, there)
    found: list[TaskDifference] = []
    for model, frames in stored_frames(run, [name for name in known if name in (models or known)]):
        scores = pl.concat(frames).filter(pl.col("protocol").is_in(PROTOCOLS))
        _check_protocols(run, model, scores)
        queries = scores.select("task", "query").unique(maintain_order=True)
        largest = queries.filter(
            [takes_question(tasks or None, *query) for query in queries.iter_rows()]
        )
        found += _by_variant(scores.join(largest, on=["task", "query"], how="semi"), most)
    return found


def _check_protocols(run: RunFolder, model: str, scores: pl.DataFrame) -> None:
    # Where no task has official metrics, scoring again adds nothing.
    official = any(task(name).has_official for name in scores["task"].unique())
    wanted: set[Protocol] = set(PROTOCOLS) if official else {"strict"}
    missing = wanted - set(scores["protocol"].unique())
    if missing and not scores.is_empty():
        raise UsageError(
            "{0}: {1} has no scores under {2}. Score it again: keju score {0}",
            run.path,
            model,
            ", ".join(sorted(missing)),
        )


def _by_variant(scores: pl.DataFrame, most: int) -> Iterator[TaskDifference]:
    by_variant = scores.partition_by("setting", "script", "wording", as_dict=True)
    variants = {PromptVariant(*variant): own for variant, own in by_variant.items()}
    for variant, own in sorted(variants.items(), key=lambda each: each[0].rank):
        label = variant.label(variants)
        for difference in list_task_differences(own, most=most):
            name = f"{difference.model} ({label})" if label else difference.model
            yield replace(difference, model=name)


def protocol_tables(found: Iterable[TaskDifference]) -> Iterator[Table]:
    """One table per model, one row per task: both values in percent, their difference, items.

    While answers are unclear, the value under `strict`, the difference and the items are ranges.
    """
    by_model: dict[str, list[TaskDifference]] = {}
    for each in found:
        by_model.setdefault(each.model, []).append(each)
    for model, rows in by_model.items():
        table = plain_table(
            *name_columns("task", "official"), "", *name_columns("strict"), "",
            *name_columns("difference", "items apart"), right=[2, 4, 5, 6], title=model,
        )  # fmt: skip
        for each in rows:
            table.add_row(
                each.name,
                metric_label(each.task, each.query, "official", each.official_metric),
                percent(each.official),
                metric_label(each.task, each.query, "strict", each.strict_metric),
                percent_range(each.strict, each.strict_if_right),
                translate(signed_range(each.difference_least, each.difference_most)),
                _("{} of {:,}", number_range(each.apart, each.apart_most, ","), each.items),
            )
        yield table


def protocol_lines(found: Iterable[TaskDifference]) -> Iterator[str]:
    """The items with the largest differences, one line each, with reasons from the scores."""
    for each in found:
        for item in each.largest:
            number = _(" (round {})", item.round) if item.round > 1 else ""
            yield _(
                "{}, {}, {}: official {}, strict {}: {}",
                each.model,
                each.name,
                shortened(item.id) + number,
                percent(item.official),
                percent_range(item.strict, item.strict_if_right),
                translate(item.why),
            )
