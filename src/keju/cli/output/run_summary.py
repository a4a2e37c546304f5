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
from keju.definitions import is_blank
from keju.errors import shortened
from keju.items import Failure
from keju.models import MISSING
from keju.models.base import ENDPOINTS
from keju.running import ModelSummary, RunSummary, preset
from keju.running.run_summary import failure_hint
from keju.runs import RunFolder
from keju.runs.served_models import served_lines
from keju.texts import _, join_parts, n_

if TYPE_CHECKING:
    from keju.analysis.unfinished import Unfinished


def run_table(summary: RunSummary, right: Mapping[str, int] | None = None) -> Table:
    """The counts of each model in a run.

    `right` counts, by model, the empty responses to blank pages, which are right answers.
    """
    table = plain_table(
        *name_columns("model", "responses", "sent now", "without an answer", "not asked"),
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
        bad += [_("{:,} without a result", missing)] if missing else []
        skipped = "; ".join(f"{count}: {translate(why)}" for why, count in model.not_asked.items())
        table.add_row(
            model.model,
            _("{:,} of {:,}", there, model.planned),
            f"{model.asked:,}",
            join_parts(bad) if bad else _("none"),
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
            yield _("{}: {}", model.model, describe_dropped(model, name))


def usage_lines(summary: RunSummary) -> Iterator[str]:
    """For each model: the number of answers with implausible token counts."""
    for model in summary.models:
        if found := model.ignored_usage:
            yield n_(
                "{}: {n:,} answer has token counts that cannot be right, such as {}. The "
                "estimate of keju run --plan counts instead",
                "{}: {n:,} answers have token counts that cannot be right, such as {}. The "
                "estimate of keju run --plan counts instead",
                len(found),
                model.model,
                found[0],
            )


def describe_dropped(model: ModelSummary, name: str) -> str:
    """Return why a requested parameter was not sent."""
    if name in model.refused:
        return _("{} was not sent: the server refuses it", name)
    return _("{} was not sent: Inspect does not pass it on", name)


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
            yield _("{}, unlike the paper of --preset {}: {}", model, name, "; ".join(found))


def failure_lines(path: Path, summary: RunSummary) -> Iterator[str]:
    """For each model and kind of failure of a run: the count, the first message, and a hint.

    The hint is omitted where the summary's advice contains it.
    """
    from keju.datasets.readers.base import join_names  # All readers take 50 MB.

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
            yield n_(
                "{}: {n:,} result is missing: {}",
                "{}: {n:,} results are missing: {}",
                count,
                model,
                join_names(missing[model]),
            )
        else:
            yield _("{}: {}× {}, first: {}", model, count, kind, first[model, kind].message)
        hint = failure_hint(first[model, kind], answered=answered.get(model, True))
        if hint.what and hint.what not in given:
            yield _("  Hint: {}", hint.whole)


def truncated_lines(path: Path, summary: RunSummary) -> Iterator[str]:
    """The pages or items whose responses are truncated, for each model."""
    if not any(model.statuses.get("truncated") for model in summary.models):
        return
    from keju.datasets.readers.base import join_names

    found: dict[str, list[str]] = {}
    for response in RunFolder.open(path).responses():
        if response.status == "truncated":
            found.setdefault(response.model, []).append(shortened(response.item))
    for model, items in found.items():
        yield n_(
            "{}: {n:,} response is truncated: {}. The missing part counts as wrong",
            "{}: {n:,} responses are truncated: {}. The missing part counts as wrong",
            len(items),
            model,
            join_names(items),
        )


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
            yield _("{} was stopped: {}", model.model, model.halted)


def trouble_lines(summary: RunSummary) -> Iterator[str]:
    """Why requests were about to be sent again when the run stopped, by model and kind."""
    for model in summary.models:
        for kind, said in model.trouble.items():
            yield _(
                "{}: stopped while sending requests again after {}: {}", model.model, kind, said
            )


def unfinished_lines(run: RunFolder) -> Iterator[str]:
    """For each model of an incomplete run, its progress."""
    from keju.analysis.unfinished import unfinished_models

    for each in unfinished_models(run):
        yield _(
            "{}: {:,} of {:,} requests have a response. Complete the run with: keju {}, with the "
            "same options",
            each.model,
            each.there,
            each.planned,
            each.command,
        )


def missing_lines(unfinished: Iterable[Unfinished], program: str) -> Iterator[str]:
    """For each model of an incomplete run, what its report lacks, and the command that resumes.

    `program` is how commands begin, such as ``keju``.
    """
    for each in unfinished:
        yield _(
            "{}: {:,} of {:,} requests have no response yet, so the report is incomplete. Resume "
            "the run with its options: {}",
            each.model,
            each.planned - each.there,
            each.planned,
            f"{program} {each.whole_command}",
        )
