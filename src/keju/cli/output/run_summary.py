"""The output of ``keju run``: counts and failures of each model.

It imports nothing that scores or draws, since it is printed while the responses are in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table, translate
from keju.datasets.readers.base import join_names
from keju.definitions import is_blank
from keju.errors import shortened
from keju.items import Failure
from keju.messages import message
from keju.models import MISSING
from keju.models.base import ENDPOINTS
from keju.running import ModelSummary, RunSummary, preset
from keju.running.failures import hint_of
from keju.runs import RunFolder
from keju.runs.served_models import served_lines

if TYPE_CHECKING:
    from keju.analysis.unfinished import Unfinished


def run_table(summary: RunSummary, right: Mapping[str, int] | None = None) -> Table:
    """The counts of each model in a run.

    `right` counts, by model, the empty responses to blank pages, which are right answers.
    """
    table = plain_table(
        *name_columns("model", "responses", "asked-now", "without-answer", "not-asked"),
        right=[1, 2],
    )
    for model in summary.models:
        statuses = Counter(model.statuses)
        statuses["empty"] -= (right or {}).get(model.model, 0)
        missing = model.failures.get(MISSING, 0)
        there = sum(model.statuses.values()) - statuses["failed"]
        statuses["failed"] -= missing
        bad = [
            f"{n} {translate(status)}"
            for status, n in statuses.items()
            if n > 0 and status != "answered"
        ]
        bad += [f"{n}× {kind}" for kind, n in model.failures.items() if kind != MISSING]
        bad += [message("terminal.without-result", count=missing)] if missing else []
        skipped = "; ".join(f"{count}: {translate(why)}" for why, count in model.not_asked.items())
        table.add_row(
            model.model,
            message("terminal.part-of-all", there=there, planned=model.planned),
            f"{model.asked:,}",
            ", ".join(bad) or message("terminal.none"),
            skipped,
        )
    return table


def empty_on_blank(run: RunFolder, summary: RunSummary) -> Counter[str]:
    """How many responses of each model to blank pages are empty; read only where some are empty."""
    models = [each.model for each in summary.models if each.statuses.get("empty")]
    items = run.iter_items() if models else ()
    blank = {(each.task, each.query, each.id) for each in items if is_blank(each)}
    tasks = {task for task, _, _ in blank}
    return Counter(
        model
        for model in models
        for response in (run.responses(model, tasks=tasks) if blank else ())
        if response.status == "empty" and (response.task, response.query, response.item) in blank
    )


def not_sent_lines(summary: RunSummary) -> Iterator[str]:
    """Which requested parameters were not sent, and why."""
    for model in summary.models:
        for name in model.not_sent:
            yield message(
                "terminal.of-model", model=model.model, text=describe_dropped(model, name)
            )


def usage_lines(summary: RunSummary) -> Iterator[str]:
    """For each model: the number of answers with implausible token counts."""
    for model in summary.models:
        if found := model.ignored_usage:
            yield message(
                "terminal.wrong-token-counts",
                model=model.model,
                count=len(found),
                example=found[0],
            )


def describe_dropped(model: ModelSummary, name: str) -> str:
    """Return why a requested parameter was not sent."""
    if name in model.refused:
        return message("terminal.parameter-refused", name=name)
    return message("terminal.parameter-not-passed-on", name=name)


def unlike_paper(
    name: str,
    identities: Mapping[str, Mapping[str, str]],
    not_sent: Mapping[str, Collection[str]] | None = None,
) -> Iterator[str]:
    """The differences between models' settings and those that the paper of a preset states.

    Args:
        name: the preset.
        identities: of the models, by name.
        not_sent: by model, parameters that were requested and not sent.
    """
    for model, identity in identities.items():
        found = list(preset(name).differences(identity, (not_sent or {}).get(model, ())))
        if found:
            yield message(
                "terminal.unlike-paper", model=model, preset=name, differences="; ".join(found)
            )


def failure_lines(path: Path, summary: RunSummary) -> Iterator[str]:
    """For each model and kind of failure of a run: the count, the first message, and a hint.

    The hint is omitted where the summary's advice contains it.
    """
    given = " ".join(model.hint for model in summary.models)
    answered = {model.model: model.answered for model in summary.models}
    first: dict[tuple[str, str], Failure] = {}
    counts: Counter[tuple[str, str]] = Counter()
    missing: dict[str, list[str]] = {}
    for response in RunFolder.open(path).responses():
        if response.error is not None:
            where = (response.model, response.error.kind)
            counts[where] += 1
            first.setdefault(where, response.error)
            if response.error.kind == MISSING:
                missing.setdefault(response.model, []).append(shortened(response.item))
    for (model, kind), count in counts.items():
        if kind == MISSING:
            yield message(
                "terminal.results-missing",
                model=model,
                count=count,
                items=join_names(missing[model]),
            )
        else:
            yield message(
                "terminal.failures-of-kind",
                model=model,
                count=count,
                kind=kind,
                first=first[model, kind].message,
            )
        hint = hint_of(first[model, kind], answered=answered.get(model, True))
        if hint.what and hint.what not in given:
            yield message("terminal.indented-hint", hint=hint.whole)


def truncated_lines(path: Path, summary: RunSummary) -> Iterator[str]:
    """The pages or items whose responses are truncated, for each model."""
    if not any(model.statuses.get("truncated") for model in summary.models):
        return
    found: dict[str, list[str]] = {}
    for response in RunFolder.open(path).responses():
        if response.status == "truncated":
            found.setdefault(response.model, []).append(shortened(response.item))
    for model, items in found.items():
        yield message("terminal.truncated", model=model, count=len(items), items=join_names(items))


def served_changes(path: Path, summary: RunSummary) -> Iterator[str]:
    """The models whose server reported several models, those of earlier sessions included."""
    folder = RunFolder.open(path)
    identities = folder.manifest().models
    for each in summary.models:
        if identities.get(each.model, {}).get("kind") in ENDPOINTS:
            yield from served_lines(folder.responses(each.model))


def halted_lines(summary: RunSummary) -> Iterator[str]:
    """The models that were stopped before all requests were sent, and why."""
    for model in summary.models:
        if model.halted:
            yield message("terminal.model-stopped", model=model.model, reason=model.halted)


def trouble_lines(summary: RunSummary) -> Iterator[str]:
    """Why requests were about to be sent again when the run stopped, by model and kind."""
    for model in summary.models:
        for kind, said in model.trouble.items():
            yield message(
                "terminal.stopped-while-retrying", model=model.model, kind=kind, text=said
            )


def unfinished_lines(run: RunFolder) -> Iterator[str]:
    """For each model of an incomplete run, its progress."""
    from keju.analysis.unfinished import unfinished_models

    for each in unfinished_models(run):
        yield message(
            "terminal.unfinished",
            model=each.model,
            there=each.there,
            planned=each.planned,
            command=each.command,
        )


def missing_lines(unfinished: Iterable[Unfinished], program: str) -> Iterator[str]:
    """For each model of an incomplete run, what its report lacks, and the command that resumes.

    `program` is how commands begin, such as ``keju``.
    """
    for each in unfinished:
        yield message(
            "terminal.report-incomplete",
            model=each.model,
            missing=each.planned - each.there,
            planned=each.planned,
            command=f"{program} {each.whole_command}",
        )
