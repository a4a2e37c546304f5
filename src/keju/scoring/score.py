"""From items and responses to scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from keju.errors import DataError, PrerequisiteError
from keju.items import Item, Protocol, Response, Score
from keju.metrics import UndefinedMetricError
from keju.runs import RunFolder, file_name
from keju.scoring.case import Case
from keju.scoring.measured import Measured
from keju.scoring.protocols import Binding, binding_of, signature, unavailable
from keju.scoring.responses import read_responses
from keju.scoring.table import write_scores

PROTOCOLS: tuple[Protocol, ...] = ("official", "strict")

_WITHOUT_ANSWER = frozenset({"failed", "filtered"})
_LISTED = frozenset({"letter", "short", "entities"})


def score_pair(
    item: Item, response: Response, protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """All metrics that the catalogue names for an item, of one response.

    A metric without a value is there too, unscored, with the reason. A response that failed or was
    filtered has each metric's worst value.

    Raises:
        DataError: the item's task or query is not in the catalogue.
    """
    return score_case(Case(item, response), protocols)


def score_case(case: Case, protocols: Sequence[Protocol]) -> list[Score]:
    """All metrics of one case."""
    return [
        _score(case, protocol, metric)
        for protocol in protocols
        for metric in getattr(case.query, protocol)
    ]


def score_responses(path: Path, protocols: Sequence[Protocol] = PROTOCOLS) -> list[Score]:
    """Score a file in the authors' form.

    Raises:
        DataError: it is not in that form; the message names the item.
    """
    return [score for case in read_responses(path) for score in score_case(case, protocols)]


def score_run(run: RunFolder, protocols: Sequence[Protocol] = PROTOCOLS) -> list[Score]:
    """Score every response of a run, and write ``scores/<model>.parquet`` for each model.

    Raises:
        DataError: a response answers an item that the run does not have.
    """
    items = {(item.task, item.query, item.id): item for item in run.items()}
    by_model: dict[str, list[Score]] = {}
    for response in run.responses():
        item = items.get((response.task, response.query, response.item))
        if item is None:
            raise DataError(
                f"answers item {response.item!r} of task {response.task!r}, "
                "which is not among the run's items",
                file=run.responses_path(response.model, response.task),
                mend="Run it again into an empty folder",
            )
        scores = by_model.setdefault(response.model, [])
        scores += score_pair(item, response, protocols)
    for model, scores in by_model.items():
        write_scores(run.scores_dir / f"{file_name(model)}.parquet", scores)
    return [score for scores in by_model.values() for score in scores]


def _score(case: Case, protocol: Protocol, metric: str) -> Score:
    binding = binding_of(protocol, case.item.benchmark, case.form, metric)
    if binding is None:
        return _record(case, protocol, metric, None, reason=unavailable(metric))
    flaw = case.flaw.response or case.flaw.answer
    if flaw:
        return _record(case, protocol, metric, binding, reason=flaw)
    try:
        measured = binding.measure(case)
    except (UndefinedMetricError, PrerequisiteError) as error:
        return _record(case, protocol, metric, binding, reason=str(error))
    if case.response.status in _WITHOUT_ANSWER:
        measured = _failed(measured, binding)
    return _record(case, protocol, metric, binding, measured=measured)


def _failed(measured: Measured, binding: Binding) -> Measured:
    """The worst value, which for an empty answer is not always what the script computes."""
    if measured.value == binding.worst:
        return measured
    stats = measured.stats | {"numerator": binding.worst * measured.stats["denominator"]}
    return Measured(binding.worst, stats)


def _record(
    case: Case,
    protocol: Protocol,
    metric: str,
    binding: Binding | None,
    *,
    measured: Measured | None = None,
    reason: str = "",
) -> Score:
    response, item = case.response, case.item
    read_out = protocol == "strict" and case.form in _LISTED and not reason
    return Score(
        key=response.key,
        item=item.id,
        model=response.model,
        benchmark=item.benchmark,
        task=item.task,
        protocol=protocol,
        metric=metric,
        value=None if measured is None else measured.value,
        query=item.query,
        setting=response.setting,
        round=response.round,
        group=item.group,
        status=response.status,
        verdict=case.verdict,
        reason=reason,
        extracted=(case.taken.answer or "") if read_out else "",
        extracted_from=case.taken.origin if protocol == "strict" else "",
        stats={} if measured is None else measured.stats,
        signature=signature(protocol, metric, binding.text) if binding else "",
    )


def models_of(scores: Iterable[Score]) -> list[str]:
    """The models in a list of scores, in order of first appearance."""
    return list(dict.fromkeys(score.model for score in scores))
