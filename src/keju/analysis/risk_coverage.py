"""Post-editing cost and selective prediction: characters to correct, and error by coverage.

The number of pages that a person corrects per hour, and the cost, depend on the reader: no rate is
assumed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from keju.analysis.asked_items import Answer
from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.definitions import query_of
from keju.items import Response, Score
from keju.metrics.edit import distance
from keju.statistics import Interval, RiskCoverage, Spread, risk_coverage, risk_intervals, spread
from keju.text import answer_part, counted
from keju.texts import Text, _

COVERAGES = (0.5, 0.8, 0.9)
"""The coverages at which the error is reported."""

SIGNALS = {
    "confidence": (
        _("confidence"),
        _("the engine's own confidence, mean over the characters of a page"),
    ),
    "agreement": (
        _("agreement"),
        _("how far the answers of the rounds agree with each other"),
    ),
}
"""The signals by which answers are ordered, with their names and descriptions."""

_FEWEST = 5
"""Minimum number of pages for post-editing cost."""

_FEWEST_SORTED = 10
"""Minimum number of answers for selective prediction."""

_LONGEST = 1000
"""Maximum characters of an answer that are compared with those of another round."""

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
    """The error when only the most confident answers are kept, for one model, task and signal."""

    model: str
    task: str
    metric: str
    signal: str
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
    """For each model except baselines, each task, and each confidence signal of its answers."""
    found = []
    for (model, name), pages in _collect_transcriptions(run_set).items():
        confident = [(page, sure) for page in pages if (sure := page.confidence) is not None]
        if len(confident) >= max(_FEWEST_SORTED, 0.9 * len(pages)):
            errors = [page.stats["numerator"] for page, _ in confident]
            weights = [page.stats["denominator"] for page, _ in confident]
            signal = [sure for _, sure in confident]
            groups = [page.group for page, _ in confident]
            values = (errors, weights, signal)
            found.append(_risk_coverage_row(model, name, "CER", "confidence", values, groups))
    found.extend(_agreeing(run_set))
    return found


def _risk_coverage_row(
    model: str,
    name: str,
    metric: str,
    signal: str,
    values: tuple[Sequence[float], Sequence[float], Sequence[float]],
    groups: Sequence[str],
) -> RiskCoverageRow:
    sure = risk_intervals(*values, groups, coverages=COVERAGES)
    return RiskCoverageRow(
        model, name, metric, signal, len(groups), risk_coverage(*values), sure.at, sure.area,
        sure.gain,
    )  # fmt: skip


def confidence(response: Response) -> float | None:
    """An engine's confidence in a page: the mean over characters; None where lines have none."""
    lines = [line for line in response.lines if line.text and line.confidence is not None]
    characters = sum(len(line.text) for line in lines)
    if not characters or len(lines) < sum(bool(line.text) for line in response.lines):
        return None
    return sum(len(line.text) * (line.confidence or 0.0) for line in lines) / characters


def _agreeing(run_set: RunSet) -> Iterator[RiskCoverageRow]:
    """For items with several rounds: the error against the agreement of their answers."""
    by_place: dict[tuple[str, str, str], list[tuple[float, float, float, str]]] = {}
    for asked in run_set.asked:
        declared = query_of(asked.item)
        letters = declared.form in {"letter", "yes-no", "number", "short"}
        metric = "CER" if declared.form == "transcription" else next(iter(declared.strict), "")
        by_model: dict[str, list[tuple[Answer, Score]]] = {}
        for answer in asked.answers:
            score = next(
                (s for s in answer.scores if (s.protocol, s.metric) == ("strict", metric)), None
            )
            if score is not None and score.value is not None:
                by_model.setdefault(answer.model, []).append((answer, score))
        for model, given in by_model.items():
            if len(given) < 2 or run_set.by_model[model].role == "baseline":
                continue
            if letters:
                said = [score.extracted for _, score in given]
                agreement = fmean(one == other != "" for one, other in combinations(said, 2))
            else:
                texts = [
                    counted(answer_part(answer.response.text)[:_LONGEST]) for answer, _ in given
                ]
                agreement = fmean(1 - _distance(*pair) for pair in combinations(texts, 2))
            name = task_name(asked.item.task, asked.item.query)
            if metric == "CER":
                error = fmean(score.stats["numerator"] for _, score in given)
                weight = given[0][1].stats["denominator"]
            else:
                error, weight = 1 - fmean(score.value or 0.0 for _, score in given), 1.0
            group = given[0][1].unit
            by_place.setdefault((model, name, metric), []).append((error, weight, agreement, group))
    for (model, name, metric), rows in by_place.items():
        if len(rows) >= _FEWEST_SORTED and len({row[2] for row in rows}) > 1:
            errors, weights, signal, groups = zip(*rows, strict=True)
            label = "CER" if metric == "CER" else f"1 - {metric}"
            yield _risk_coverage_row(
                model, name, label, "agreement", (errors, weights, signal), groups
            )


def _distance(one: str, other: str) -> float:
    return distance(one, other) / max(len(one), len(other), 1)


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
