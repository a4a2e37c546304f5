"""The output of ``keju run``: counts and failures of each model.

It imports nothing that scores or draws, since it is printed while the responses are in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from rich.table import Table

from keju.cli.output.console import plain_table
from keju.datasets.readers.base import listed
from keju.definitions import is_blank
from keju.errors import number_of, shortened
from keju.items import Failure
from keju.messages import message
from keju.models import MISSING
from keju.running import ModelSummary, RunSummary, preset, request_count
from keju.running.failures import hint_of
from keju.runs import HUMAN, RunFolder


def run_table(summary: RunSummary, right: Mapping[str, int] | None = None) -> Table:
    """The counts of each model in a run.

    `right` counts, by model, the empty responses to blank pages, which are right answers.
    """
    table = plain_table(
        message("terminal.column-model"),
        message("terminal.column-responses"),
        message("terminal.column-asked-now"),
        message("terminal.column-without-answer"),
        message("terminal.column-not-asked"),
        right=[1, 2],
    )
    for model in summary.models:
        statuses = Counter(model.statuses)
        statuses["empty"] -= (right or {}).get(model.model, 0)
        missing = model.failures.get(MISSING, 0)
        there = sum(model.statuses.values()) - statuses["failed"]
        statuses["failed"] -= missing
        bad = [f"{n} {status}" for status, n in statuses.items() if n > 0 and status != "answered"]
        bad += [f"{n}× {kind}" for kind, n in model.failures.items() if kind != MISSING]
        bad += [f"{missing} without a result"] if missing else []
        declined = "; ".join(f"{count}: {why}" for why, count in model.not_asked.items())
        table.add_row(
            model.model,
            message("terminal.part-of-all", there=there, planned=model.planned),
            f"{model.asked:,}",
            ", ".join(bad) or message("terminal.none"),
            declined,
        )
    return table


def empty_on_blank(run: RunFolder, summary: RunSummary) -> Counter[str]:
    """How many responses of each model to blank pages are empty; read only where some are empty."""
    models = [each.model for each in summary.models if each.statuses.get("empty")]
    items = run.items() if models else []
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
            yield f"{model.model}: {dropped_words(model, name)}"


def usage_lines(summary: RunSummary) -> Iterator[str]:
    """For each model: the number of answers with implausible token counts."""
    for model in summary.models:
        if found := model.ignored_usage:
            count = "1 answer has" if len(found) == 1 else f"{len(found):,} answers have"
            yield (
                f"{model.model}: {count} token counts that cannot be right, such as {found[0]}. "
                "The estimate of keju plan counts instead"
            )


def dropped_words(model: ModelSummary, name: str) -> str:
    """Why a requested parameter was not sent."""
    why = "the server refuses it" if name in model.refused else "Inspect does not pass it on"
    return f"{name} was not sent: {why}"


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
            yield f"{model}, unlike the paper of --preset {name}: {'; '.join(found)}"


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
            yield f"{model}: {number_of(count, 'result')} missing: {listed(missing[model])}"
        else:
            yield f"{model}: {count}× {kind}, first: {first[model, kind].message}"
        hint = hint_of(first[model, kind], answered=answered.get(model, True))
        if hint.what and hint.what not in given:
            yield f"  Hint: {hint.whole}"


def truncated_lines(path: Path, summary: RunSummary) -> Iterator[str]:
    """The pages or items whose responses are truncated, for each model."""
    if not any(model.statuses.get("truncated") for model in summary.models):
        return
    found: dict[str, list[str]] = {}
    for response in RunFolder.open(path).responses():
        if response.status == "truncated":
            found.setdefault(response.model, []).append(shortened(response.item))
    for model, items in found.items():
        yield (
            f"{model}: {number_of(len(items), 'response is', 'responses are')} truncated: "
            f"{listed(items)}. What is missing counts as wrong"
        )


def halted_lines(summary: RunSummary) -> Iterator[str]:
    """The models that were stopped before all requests were sent, and why."""
    for model in summary.models:
        if model.halted:
            yield f"{model.model} was stopped: {model.halted}"


def trouble_lines(summary: RunSummary) -> Iterator[str]:
    """Why requests were about to be sent again when the run stopped, by model and kind."""
    for model in summary.models:
        for kind, said in model.trouble.items():
            yield f"{model.model}: stopped while asking again, for {kind}: {said}"


def unfinished_lines(path: Path) -> Iterator[str]:
    """For each model of an incomplete run, its progress."""
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    ways = len(manifest.shown) * manifest.rounds
    requests = sum(map(request_count, folder.items())) * ways
    there = Counter(response.model for response in folder.responses())
    for model in manifest.models:
        planned = requests - sum(manifest.not_asked.get(model, {}).values())
        if there[model] < planned:
            how = "serve" if model.startswith(HUMAN) else "run"
            yield f"{model}: {there[model]} of {planned} asked so far; keju {how} goes on with it"
