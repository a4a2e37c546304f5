"""Differences of a run's questions from the published ones, such as wordings and boxes."""

from __future__ import annotations

from collections.abc import Iterator

from keju.analysis.run_set import RunSet
from keju.definitions.wordings import RELEASED, is_own_wording, parse_few_shot, wording
from keju.running.box_conventions import OF_MODEL
from keju.runs import RunManifest


def asked_otherwise(run_set: RunSet) -> list[tuple[str, str]]:
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


def otherwise_lines(manifest: RunManifest) -> Iterator[str]:
    """One line for each difference of a run's questions from the benchmark's own."""
    yield from _wording_lines(manifest)
    for model in manifest.models:
        if system := manifest.system_hash(model):
            yield f"System prompt {system} (--system-prompt), sent before every prompt of {model}"
    if manifest.pairs:
        yield f"Tasks of pairs were asked in a reduced form: --pairs {manifest.pairs}"
    if boxes := manifest.settings.get("boxes"):
        yield f"Boxes were asked for as {boxes}"
    for name, value in manifest.settings.items():
        if name.startswith(OF_MODEL):
            yield f"Boxes were asked of {name.removeprefix(OF_MODEL)} as {value}"
    if items := manifest.settings.get("items"):
        yield f"Only listed items were asked: {items}"


def _wording_lines(manifest: RunManifest) -> Iterator[str]:
    for name in manifest.wordings:
        if name != RELEASED:
            shots = parse_few_shot(name)
            if shots.examples:
                yield (
                    f"Wording {name}: {shots.examples} examples of the reference split, drawn with "
                    f"seed {shots.seed}"
                )
            if shots.base == RELEASED:
                continue
            found = wording(name)
            yield f"Wording {name}: {found.what}. Source: {found.source}"
            if is_own_wording(name):
                continue  # Their texts are shown completely, under "Own prompts".
            for form, prompt in found.prompts.items():
                yield f"Wording {name}, {form}: {prompt.ask}"
