"""Differences of a run's questions from the published ones, such as wordings and boxes."""

from __future__ import annotations

from collections.abc import Iterator

from keju.analysis.run_set import RunSet
from keju.definitions.wordings import RELEASED, is_own_wording, parse_few_shot, wording
from keju.messages import Message, message
from keju.running.box_conventions import OF_MODEL
from keju.runs import RunManifest
from keju.texts import recognised


def asked_otherwise(run_set: RunSet) -> list[tuple[str, Message]]:
    """The differences of each run's questions from the benchmark's own.

    Returns:
        Pairs of the run's name, empty if the report has one run, and a line about one difference.
    """
    several = len(run_set.runs) > 1
    return [
        (run.name if several else "", line)
        for run in run_set.runs
        for line in otherwise_lines(run.manifest)
    ]


def otherwise_lines(manifest: RunManifest) -> Iterator[Message]:
    """One line for each difference of a run's questions from the benchmark's own."""
    yield from _wording_lines(manifest)
    for model in manifest.models:
        if system := manifest.system_hash(model):
            yield message("analysis.system-prompt-system-prompt", system=system, model=model)
    if manifest.pairs:
        yield message("analysis.tasks-pairs-asked-reduced", pairs=manifest.pairs)
    if boxes := manifest.settings.get("boxes"):
        yield message("analysis.boxes-asked", boxes=boxes)
    for name, value in manifest.settings.items():
        if name.startswith(OF_MODEL):
            model = name.removeprefix(OF_MODEL)
            yield message("analysis.boxes-asked-of-model", model=model, boxes=value)
    if items := manifest.settings.get("items"):
        yield message("analysis.only-listed-items-asked", items=items)


def _wording_lines(manifest: RunManifest) -> Iterator[Message]:
    for name in manifest.wordings:
        if name != RELEASED:
            shots = parse_few_shot(name)
            if shots.examples:
                yield message(
                    "analysis.wording-examples",
                    name=name,
                    examples=shots.examples,
                    seed=shots.seed,
                )
            if shots.base == RELEASED:
                continue
            found = wording(name)
            yield message(
                "analysis.wording-and-source",
                name=name,
                what=recognised(found.what),
                source=recognised(found.source),
            )
            if is_own_wording(name):
                continue  # Their texts are shown completely, under "Own prompts".
            for form, prompt in found.prompts.items():
                yield message("analysis.wording-of-form", name=name, form=form, ask=prompt.ask)
