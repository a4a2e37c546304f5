"""Differences of a run's questions from the published ones, such as wordings and boxes."""

from __future__ import annotations

from collections.abc import Iterator

from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.definitions.wordings import RELEASED, wording
from keju.runs import RunManifest
from keju.texts import Text, _, listed, recognised


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
            found = wording(name)
            yield _(
                "Wording {}: {}. Source: {}", name, recognised(found.what), recognised(found.source)
            )
            if found.system:
                yield _("Wording {}, system prompt: {}", name, found.system)
            for form, prompt in found.prompts.items():
                if prompt.system:
                    yield _("Wording {}, {}, system prompt: {}", name, form, prompt.system)
                yield _("Wording {}, {}: {}", name, form, prompt.ask)


def prompt_notes(run_set: RunSet, benchmark: str) -> Iterator[str]:
    """The rows of a benchmark's leaderboard with another prompt than the paper's."""
    models = {
        answer.model
        for each in run_set.asked
        if each.item.benchmark == benchmark and query_of(each.item).official
        for answer in each.answers
    }
    own = [
        f"{name} (--system-prompt)" if model_responses.instructed else name
        for name, model_responses in run_set.by_model.items()
        if name in models and model_responses.own_prompt
    ]
    if own:
        yield _("Not the paper's prompt, even under official: {}", listed(own))
