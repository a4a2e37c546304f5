"""Decoding parameters of models behind servers: those requested, and those actually sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from keju.analysis.run_set import RunSet
from keju.models.base import ENDPOINTS, UNKNOWN_DTYPE
from keju.models.decoding import EXTRA, not_sent, requested_in
from keju.running.presets import preset_of


class Sent(NamedTuple):
    """The parameters of a number of answered requests; None where they are not known."""

    parameters: str | None
    answers: int


class ParametersRow(NamedTuple):
    """The parameters of one model.

    `asked_for` and `sent` are written as ``name=value``; `not_sent` counts, by parameter, the
    answers to requests without it; `differences` are those from what the papers of its benchmarks
    state, None where none states anything.
    """

    model: str
    asked_for: str
    sent: list[Sent]
    not_sent: list[tuple[str, int]]
    dtype: str
    system_prompt: str
    differences: list[str] | None


def parameters(run_set: RunSet) -> list[ParametersRow]:
    """A row for each model of a report that is behind a server, in the report's order."""
    runs = {run.name: run for run in run_set.runs}
    identities = {
        label: runs[model_responses.run].manifest.models.get(model_responses.model, {})
        for label, model_responses in run_set.by_model.items()
        if model_responses.run in runs
    }
    asked = {label: each for label, each in identities.items() if each.get("kind") in ENDPOINTS}
    sent = _sent(run_set, asked)
    return [
        _row(label, identity, sent[label], _benchmarks(run_set, label))
        for label, identity in asked.items()
    ]


def _sent(
    run_set: RunSet, asked: Mapping[str, Mapping[str, str]]
) -> dict[str, Counter[tuple[tuple[str, str], ...] | None]]:
    """By model, the number of answers by parameters; failures have none."""
    found: dict[str, Counter[tuple[tuple[str, str], ...] | None]] = {
        label: Counter() for label in asked
    }
    for each in run_set.asked:
        for answer in each.answers:
            if answer.model in found and answer.response.error is None:
                sent = answer.response.decoding
                key = None if sent is None else tuple(sorted(sent.items()))
                found[answer.model][key] += 1
    return found


def _row(
    label: str,
    identity: Mapping[str, str],
    sent: Counter[tuple[tuple[str, str], ...] | None],
    benchmarks: list[str],
) -> ParametersRow:
    dropped: Counter[str] = Counter()
    for each, count in sent.items():
        for name in not_sent(identity, None if each is None else dict(each)):
            dropped[name.removeprefix(EXTRA)] += count
    names = requested_in(identity)
    return ParametersRow(
        model=label,
        asked_for=_format_pairs((name.removeprefix(EXTRA), identity[name]) for name in names),
        sent=[
            Sent(None if key is None else _format_pairs(key), n) for key, n in sent.most_common()
        ],
        not_sent=sorted(dropped.items()),
        dtype=identity.get("dtype", UNKNOWN_DTYPE),
        system_prompt=identity.get("system_prompt", ""),
        differences=_differences(identity, dropped, benchmarks),
    )


def _differences(
    identity: Mapping[str, str], dropped: Mapping[str, int], benchmarks: list[str]
) -> list[str] | None:
    stated = [(each, preset) for each in benchmarks if (preset := preset_of(each))]
    found = [
        f"{benchmark}: {each}"
        for benchmark, preset in stated
        for each in preset.differences(identity, dropped)
    ]
    return found if stated else None


def _benchmarks(run_set: RunSet, label: str) -> list[str]:
    return list(
        dict.fromkeys(
            each.item.benchmark
            for each in run_set.asked
            if any(answer.model == label for answer in each.answers)
        )
    )


def _format_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name}={value}" for name, value in pairs)
