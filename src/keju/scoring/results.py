"""The values of a model: `Summary`, with those of its benchmarks, means, tasks and metrics."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field
from msgspec.structs import replace

from keju.items import PromptScript, PromptVariant, Protocol, Record, Setting


class MetricResult(Record, frozen=True, kw_only=True):
    """One metric over the items of one task.

    `value` counts a failure as the worst value of the metric; `without_failures` omits failures.
    Both are ``sum(numerator) / sum(denominator)`` (for CER a corpus rate), except for metrics that
    are not such a ratio (`is_ratio_of_sums`). `item_mean` is the plain mean of the items' values.
    All three are None if no item has a value. `value_if_right` is `value` if every unclear answer
    were right, the other end of the range; equal to `value` where no answer is unclear.
    `unscored` counts the items without a value by reason. `layers`, for CER in `strict`, is the
    corpus CER after each layer of normalisation: the decrease from one to the next is the part of
    the error that the layer removes. `note` has the remarks for readers of the value.
    """

    metric: str
    value: float | None = None
    without_failures: float | None = None
    item_mean: float | None = None
    items: int
    scored: int
    unscored: dict[str, int] = field(default_factory=dict)
    layers: dict[str, float] = field(default_factory=dict)
    signature: str = ""
    note: str = ""
    value_if_right: float | None = None


class TaskResult(Record, frozen=True, kw_only=True):
    """All metrics of one task (or one query of it), the main one first.

    `statuses` counts the responses by their status (answered, failed …), and `verdicts` by the
    result of extraction. `read_by` counts the responses to the main metric by who read the answer
    (``reader``, ``model``, ``person``, ``unclear``, ``none``); empty where no answer is read.
    """

    task: str
    query: str
    metrics: tuple[MetricResult, ...]
    items: int
    statuses: dict[str, int]
    verdicts: dict[str, int]
    read_by: dict[str, int] = field(default_factory=dict)

    @property
    def unclear(self) -> float:
        """The share of unclear answers."""
        return self.read_by.get("unclear", 0) / max(1, sum(self.read_by.values()))

    @property
    def name(self) -> str:
        """The task's id, followed by the query if the task has several."""
        return f"{self.task}/{self.query}" if self.query else self.task

    @property
    def main(self) -> MetricResult | None:
        """The main metric, which represents the task in means."""
        return self.metrics[0] if self.metrics else None


class MeanResult(Record, frozen=True, kw_only=True):
    """A plain mean, and the parts that are missing from it.

    `value` is the mean over the parts that have a value; None if none has. `parts` names all parts
    of the complete mean, and `missing` those without a value, with the reason. Only if `missing` is
    empty is `value` the number that the benchmark defines. `value_if_right` is the mean if every
    unclear answer were right; equal to `value` where no answer is unclear.
    """

    value: float | None
    parts: tuple[str, ...]
    missing: dict[str, str] = field(default_factory=dict)
    value_if_right: float | None = None


class BenchmarkResult(Record, frozen=True, kw_only=True):
    """One benchmark: its domains, and the mean over them.

    `directions` are the means of the directions within a domain, by domain and direction, where the
    definition declares any (`Task.direction`). `formats` are further means that the definition
    declares over some of the tasks (`Definition.means`).
    """

    benchmark: str
    domains: dict[str, MeanResult]
    overall: MeanResult
    formats: dict[str, MeanResult] = field(default_factory=dict)
    directions: dict[str, dict[str, MeanResult]] = field(default_factory=dict)


class Result(Record, frozen=True, kw_only=True):
    """All values of one model under one protocol in one prompt variant."""

    model: str
    setting: Setting
    script: PromptScript = "released"
    wording: str = "released"
    protocol: Protocol
    tasks: tuple[TaskResult, ...]
    benchmarks: tuple[BenchmarkResult, ...]

    @property
    def variant(self) -> PromptVariant:
        """The prompt variant of the responses."""
        return PromptVariant(self.setting, self.script, self.wording)


class UnscoredReason(Record, frozen=True, kw_only=True):
    """A reason why scores have no value: of which metrics, how many responses, and the first."""

    reason: str
    metrics: tuple[str, ...]
    responses: int
    task: str
    item: str


class Summary(Record, frozen=True, kw_only=True):
    """One model's scores, summed up.

    `failed` counts responses that are failures, `strays` by file those whose item the run does not
    have.
    """

    model: str
    results: tuple[Result, ...]
    unscored: tuple[UnscoredReason, ...]
    failed: int
    strays: dict[str, int] = field(default_factory=dict)


def merge_unscored(parts: Iterable[UnscoredReason]) -> list[UnscoredReason]:
    """The reasons of several models together."""
    groups: dict[str, list[UnscoredReason]] = {}
    for part in parts:
        groups.setdefault(part.reason, []).append(part)
    return [
        replace(
            group[0],
            metrics=tuple(dict.fromkeys(name for part in group for name in part.metrics)),
            responses=sum(part.responses for part in group),
        )
        for group in groups.values()
    ]
