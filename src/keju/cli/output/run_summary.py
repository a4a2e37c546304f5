"""The output of ``keju run``: counts and failures of each model.

It imports nothing that scores or draws, since it is printed while the responses are in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table, translate
from keju.definitions import is_blank
from keju.errors import shortened
from keju.items import Failure, Response
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


def run_lines(run: RunFolder, summary: RunSummary, preset_name: str = "") -> Iterator[str]:
    """Lines about each model of a run, and the cost of the run.

    Args:
        run: the run.
        summary: how it went.
        preset_name: the preset with whose paper the settings are compared, if any.
    """
    for model in summary.models:
        if model.attempts > model.asked:
            yield _(
                "{}: {} sent for {}. The waiting between attempts took {:,.1f} s in total",
                model.model,
                n_("{n:,} request was", "{n:,} requests were", model.attempts),
                n_("{n:,} response", "{n:,} responses", model.asked),
                model.waited,
            )
        for name in model.not_sent:
            yield _("{}: {}", model.model, describe_dropped(model, name))
    from keju.datasets.readers.base import join_names  # All readers take 50 MB.

    if any(model.statuses.get("truncated") for model in summary.models):
        for name, items in _items_where(run, lambda response: response.status == "truncated"):
            yield n_(
                "{}: {n:,} response is truncated: {}. The missing part counts as wrong",
                "{}: {n:,} responses are truncated: {}. The missing part counts as wrong",
                len(items),
                name,
                join_names(items),
            )
    identities = run.manifest().models
    for model in summary.models:
        if identities.get(model.model, {}).get("kind") in ENDPOINTS:
            yield from served_lines(run.responses(model.model))
    if preset_name:
        dropped = {model.model: model.not_sent for model in summary.models}
        yield from unlike_paper(preset_name, {n: identities[n] for n in dropped}, dropped)
    if summary.cost is not None:
        yield _("The answers in this run cost {:,.4f} {}", summary.cost, summary.currency)


def _items_where(
    run: RunFolder, applies: Callable[[Response], bool]
) -> Iterable[tuple[str, list[str]]]:
    """The items of each model's responses for which a function returns true."""
    items: dict[str, list[str]] = {}
    for response in run.responses():
        if applies(response):
            items.setdefault(response.model, []).append(shortened(response.item))
    return items.items()


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


def failure_lines(run: RunFolder, summary: RunSummary) -> Iterator[str]:
    """The failures of a run by model and kind, with hints; what was stopped, and what to do.

    A hint is omitted where the summary's advice contains it.
    """
    from keju.datasets.readers.base import join_names

    given = " ".join(model.hint for model in summary.models)
    answered = {model.model: model.answered for model in summary.models}
    failures: dict[tuple[str, str], tuple[Failure, list[str]]] = {}
    for response in run.responses():
        if error := response.error:
            place = response.model, error.kind
            failures.setdefault(place, (error, []))[1].append(shortened(response.item))
    for (model, kind), (first, items) in failures.items():
        if kind == MISSING:
            yield n_(
                "{}: {n:,} result is missing: {}",
                "{}: {n:,} results are missing: {}",
                len(items),
                model,
                join_names(items),
            )
        else:
            yield _("{}: {}× {}, first: {}", model, len(items), kind, first.message)
        hint = failure_hint(first, answered=answered.get(model, True))
        if hint.what and hint.what not in given:
            yield _("  Hint: {}", hint.whole)
    for each in summary.models:
        for kind, message in each.trouble.items():
            yield _(
                "{}: stopped while sending requests again after {}: {}", each.model, kind, message
            )
    for each in summary.models:
        if each.halted:
            yield _("{} was stopped: {}", each.model, each.halted)
    counts = [_("{:,} failed", summary.failures)] * bool(summary.failures)
    counts += [_("{:,} without a response yet", summary.left)] * bool(summary.left)
    if summary.advice:
        yield _("{}. {}", join_parts(counts), summary.advice)


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
