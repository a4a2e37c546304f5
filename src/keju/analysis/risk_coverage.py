"""Post-editing cost and selective prediction: characters to correct, and error by coverage.

The number of pages that a person corrects per hour, and the cost, depend on the reader: no rate is
assumed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.items import Response, Score
from keju.statistics import Interval, RiskCoverage, Spread, risk_coverage, risk_intervals, spread
from keju.texts import Text, _

COVERAGES = (0.5, 0.8, 0.9)
"""The coverages at which the error is reported."""

_FEWEST = 5
"""Minimum number of pages for post-editing cost."""

_FEWEST_SORTED = 10
"""Minimum number of answers for selective prediction."""

_LAYERS = {"exact": _("as written"), "script": _("variants accepted")}
"""The layers at which characters are compared, with their names."""


class PostEditCost(NamedTuple):
    """Characters that a person has to change on a page, for one model and task.

    `layer` defines which characters are equal: only identical ones, or also variants and the other
    script's forms. A page without an answer is typed completely.
    """

    model: str
    task: str
    layer: Text
    pages: int
    groups: int
    mean: Spread
    median: Spread
    most: Spread
    untouched: float


class RiskCoverageRow(NamedTuple):
    """The error when only the most confident answers are kept, for one model and task."""

    model: str
    task: str
    metric: str
    answers: int
    curve: RiskCoverage
    at: dict[float, Interval | None]
    area: Interval | None
    gain: Interval | None


class _Page(NamedTuple):
    """One answer to a page: its group, the statistics of its strict CER, and its confidence."""

    group: str
    stats: Mapping[str, float]
    confidence: float | None


def post_edit_costs(run_set: RunSet) -> list[PostEditCost]:
    """For each model except baselines and each transcription task, at both layers."""
    found = []
    for (model, name), pages in _collect_transcriptions(run_set).items():
        if len(pages) < _FEWEST:
            continue
        groups = [page.group for page in pages]
        for layer, label in _LAYERS.items():
            edits = [page.stats[f"edits_{layer}"] for page in pages]
            mean, median, most = spread(edits, groups, (0.5, 0.9))
            untouched = sum(count == 0 for count in edits) / len(edits)
            found.append(
                PostEditCost(
                    model,
                    name,
                    label,
                    len(pages),
                    len(set(groups)),
                    mean,
                    median,
                    most,
                    untouched,
                )
            )
    return found


def risk_coverage_rows(run_set: RunSet) -> list[RiskCoverageRow]:
    """For each model except baselines and each transcription task with an engine's confidence."""
    found = []
    for (model, name), pages in _collect_transcriptions(run_set).items():
        confident = [(page, sure) for page in pages if (sure := page.confidence) is not None]
        if len(confident) >= max(_FEWEST_SORTED, 0.9 * len(pages)):
            errors = [page.stats["numerator"] for page, _ in confident]
            weights = [page.stats["denominator"] for page, _ in confident]
            signal = [sure for _, sure in confident]
            groups = [page.group for page, _ in confident]
            ends = risk_intervals(errors, weights, signal, groups, coverages=COVERAGES)
            curve = risk_coverage(errors, weights, signal)
            found.append(
                RiskCoverageRow(
                    model, name, "CER", len(groups), curve, ends.at, ends.area, ends.gain
                )
            )
    return found


def confidence(response: Response) -> float | None:
    """An engine's confidence in a page: the mean over characters; None where lines have none."""
    lines = [line for line in response.lines if line.text and line.confidence is not None]
    characters = sum(len(line.text) for line in lines)
    if not characters or len(lines) < sum(bool(line.text) for line in response.lines):
        return None
    return sum(len(line.text) * (line.confidence or 0.0) for line in lines) / characters


def _collect_transcriptions(run_set: RunSet) -> dict[tuple[str, str], list[_Page]]:
    """The answers to pages with their strict CER, by model and task; without baselines."""
    found: dict[tuple[str, str], list[_Page]] = {}
    for asked in run_set.asked:
        if query_of(asked.item).form != "transcription":
            continue
        for answer in asked.answers:
            if run_set.by_model[answer.model].role == "baseline":
                continue
            for score in answer.scores:
                if (score.protocol, score.metric) == ("strict", "CER") and score.value is not None:
                    name = task_name(asked.item.task, asked.item.query)
                    page = _Page(score.unit, _used(score), confidence(answer.response))
                    found.setdefault((answer.model, name), []).append(page)
    return found


def _used(score: Score) -> dict[str, float]:
    """The statistics that the tables use, so that the others need no memory."""
    names = ("numerator", "denominator", *(f"edits_{layer}" for layer in _LAYERS))
    return {name: score.stats[name] for name in names if name in score.stats}
