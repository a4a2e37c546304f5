"""The ledger of a run: per model and task, what each protocol says, and where they part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace
from rich.table import Table

from keju.benchmarks import QuestionForms, query_of, question_forms_of
from keju.errors import UsageError, shortened
from keju.items import Score, variant_of
from keju.reporting.labels import metric_label, percent
from keju.reporting.plain import plain_table
from keju.runs import RunFolder, file_name
from keju.scoring import PROTOCOLS, TaskDifference, differences, read_scores


def ledger_of(
    run: RunFolder,
    *,
    models: Collection[str] = (),
    tasks: Collection[str] = (),
    most: int = 3,
) -> list[TaskDifference]:
    """Where the protocols part in the stored scores of a run, one model in memory at a time.

    Args:
        run: the run; it must have been scored under both protocols.
        models: only these models; all where none is named.
        tasks: only these tasks or question forms (``recognition/Where``); all if none is named.
        most: how many items of each task are named.

    Raises:
        UsageError: a model or task is not in the run, or the scores are missing or stale.
    """
    known = list(run.manifest().models)
    if strangers := sorted(set(models) - set(known)):
        raise UsageError(f"{run.path}: no model {strangers[0]!r}; it has {', '.join(known)}")
    forms = QuestionForms(tasks or None).forms
    items = run.items() if forms else []
    for form in forms or ():
        if not any(form.takes(item.task, item.query) for item in items):
            there = ", ".join(question_forms_of(items))
            raise UsageError(f"{run.path}: no task {form.name!r}; it has {there}")
    found: list[TaskDifference] = []
    for model in known:
        if not models or model in models:
            scores = _scores_of(run, model)
            chosen = [
                score
                for score in scores
                if forms is None or any(form.takes(score.task, score.query) for form in forms)
            ]
            found += _by_variant(chosen, most)
    return found


def _scores_of(run: RunFolder, model: str) -> list[Score]:
    """One model's stored scores; nothing where it has not answered."""
    again = f"Score it again: keju score {run.path}"
    file = run.scores_dir / f"{file_name(model)}.parquet"
    scores = read_scores(file) if file.is_file() else []
    missing = set(PROTOCOLS) - {score.protocol for score in scores}
    asked = {
        (item.task, item.query, item.id)
        for item in run.items()
        if any(getattr(query_of(item), protocol) for protocol in PROTOCOLS)
    }
    scored = {score.key for score in scores}
    for response in run.responses(model):
        if (response.task, response.query, response.item) not in asked or response.candidate:
            continue
        if not scores or response.key not in scored:
            raise UsageError(
                f"{run.path}: the response of {model} to {shortened(response.item)} is not "
                f"scored. {again}"
            )
    if scores and missing:
        raise UsageError(f"{file}: holds no scores under {', '.join(sorted(missing))}. {again}")
    return scores


def _by_variant(scores: Sequence[Score], most: int) -> Iterator[TaskDifference]:
    variants = list(dict.fromkeys(variant_of(score) for score in scores))
    for variant in variants:
        own = differences((each for each in scores if variant_of(each) == variant), most=most)
        label = variant.label(variants)
        for each in own:
            yield replace(each, model=f"{each.model} ({label})" if label else each.model)


def ledger_tables(found: Iterable[TaskDifference]) -> Iterator[Table]:
    """A table a model, a row a task: both values in percent, their difference, items apart."""
    by_model: dict[str, list[TaskDifference]] = {}
    for each in found:
        by_model.setdefault(each.model, []).append(each)
    for model, rows in by_model.items():
        table = plain_table(
            "task", "official", "", "strict", "", "difference", "items apart",
            right=[2, 4, 5, 6], title=model,
        )  # fmt: skip
        for each in rows:
            table.add_row(
                each.name,
                metric_label(each.task, each.query, "official", each.official_metric),
                percent(each.official),
                metric_label(each.task, each.query, "strict", each.strict_metric),
                percent(each.strict),
                f"{100 * each.difference:+.1f}",
                f"{each.apart:,} of {each.items:,}",
            )
        yield table


def ledger_lines(found: Iterable[TaskDifference]) -> Iterator[str]:
    """The items that are widest apart, one line each, with what the scores tell of the reason."""
    for task in found:
        for item in task.largest:
            number = f" (round {item.round})" if item.round > 1 else ""
            yield (
                f"{task.model}, {task.name}, {shortened(item.id)}{number}: official "
                f"{percent(item.official)}, strict {percent(item.strict)}: {item.why}"
            )
