"""Differences of a run's questions from the published ones, such as wordings and boxes."""

from __future__ import annotations

from collections.abc import Iterator

from keju.analysis.run_set import RunSet
from keju.definitions.wordings import RELEASED, is_own_wording, parse_few_shot, wording
from keju.runs import RunManifest
from keju.texts import Text, _, recognised


def asked_otherwise(run_set: RunSet) -> list[tuple[str, Text]]:
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


def otherwise_lines(manifest: RunManifest) -> Iterator[Text]:
    """One line for each difference of a run's questions from the benchmark's own."""
    yield from _wording_lines(manifest)
    for model in manifest.models:
        if system := manifest.system_hash(model):
            yield _(
                "System prompt {} (--system-prompt), sent before every prompt of {}", system, model
            )
    if manifest.pairs:
        yield _("Pair tasks were run in a reduced form: --pairs {}", manifest.pairs)
    if boxes := manifest.settings.get("boxes"):
        yield _("Requested box convention: {}", boxes)
    if items := manifest.settings.get("items"):
        yield _("Only listed items were run: {}", items)


def _wording_lines(manifest: RunManifest) -> Iterator[Text]:
    for name in manifest.wordings:
        if name != RELEASED:
            shots = parse_few_shot(name)
            if shots.examples:
                yield _(
                    "Wording {}: {} examples of the reference split, sampled with seed {}",
                    name,
                    shots.examples,
                    shots.seed,
                )
            if shots.base == RELEASED:
                continue
            found = wording(name)
            yield _(
                "Wording {}: {}. Source: {}", name, recognised(found.what), recognised(found.source)
            )
            if is_own_wording(name):
                continue  # Their texts are shown completely, under "Own prompts".
            for form, prompt in found.prompts.items():
                yield _("Wording {}, {}: {}", name, form, prompt.ask)
