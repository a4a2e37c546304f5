"""Scores as the JSON that ``keju score --json`` writes (DESIGN §10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
import polars as pl

from keju.definitions import official_number
from keju.definitions.protocols import PROTOCOL_ROWS, ProtocolRow
from keju.items import PromptVariant, Score, variant_of
from keju.scoring.results import MeanResult, MetricResult, Result, TaskResult
from keju.scoring.stored import scores_of
from keju.texts import in_english

Json = dict[str, object]


def json_by_model(frames: Iterable[pl.DataFrame], results: Sequence[Result]) -> dict[str, Json]:
    """Each protocol's items, tasks, domains and overall, as fractions, by the models' names.

    ``{name: {protocol: {"items": [{"id", "task", "metric", "value", "status", …}], "tasks": {task:
    {metric: value}}, "domains": {domain: value}, "overall": value, …}}}``; the name has the
    setting where a model has several. Items are by task and id; one without a value is ``null``
    with the status ``unscored`` and its reason. Means are taken over what is there; ``missing``
    names what is not. While answers are unclear, their items have ``value_if_right``, and
    ``if_right`` has the tasks, domains and overall if they were right. The key of `printed` is
    ``variants``, without means, that of `with-reasoning` is ``with_reasoning``.

    Args:
        frames: the scores as tables.
        results: their values.
    """
    items: dict[tuple[str, PromptVariant, str], list[dict[str, Any]]] = defaultdict(list)
    for score in chain.from_iterable(map(scores_of, frames)):
        items[score.model, variant_of(score), score.protocol].append(_item(score))
    for rows in items.values():
        # The order of the scores is that of the responses, which differs from run to run.
        rows.sort(key=lambda row: (row["task"], row["id"], row.get("round", 1)))
    names = result_names(results)
    named: dict[str, Json] = defaultdict(dict)
    for result in results:
        of_name = named[names[result.model, result.variant]]
        protocol = PROTOCOL_ROWS[result.protocol]
        own: Json = {"form": protocol.form} if protocol.form else {}
        own["items"] = items[result.model, result.variant, result.protocol]
        of_name[protocol.json_key or protocol.name] = own | _summary(result, protocol)
    return named


def result_names(results: Sequence[Result]) -> dict[tuple[str, PromptVariant], str]:
    """The key of each model and prompt variant in the JSON: the variant only where it is needed."""
    variants = {result.variant for result in results}
    labels = {each: each.label(variants) if len(variants) > 1 else "" for each in variants}
    return {
        (each.model, each.variant): f"{each.model} ({label})" if label else each.model
        for each in results
        for label in [labels[each.variant]]
    }


def encode_json(frames: Iterable[pl.DataFrame], results: Sequence[Result]) -> dict[str, bytes]:
    """`json_by_model` as indented text."""
    return {
        name: msgspec.json.format(msgspec.json.encode(value), indent=2)
        for name, value in json_by_model(frames, results).items()
    }


def join_json(parts: Iterable[Mapping[str, bytes]]) -> Iterator[bytes]:
    """`to_json` as text, joined of several models' `encode_json` with few in memory at a time."""
    members = (member for each in parts for member in each.items())
    first, second = next(members, None), next(members, None)
    if first is None or second is None:
        yield first[1] if first else b"{}"
    else:
        mark = b"{\n"
        for name, text in chain([first, second], members):
            yield mark + msgspec.json.encode(name) + b": " + text
            mark = b",\n"
        yield b"\n}"
    yield b"\n"


def _item(score: Score) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": score.item,
        "task": json_task_name(score.task, score.query),
        "metric": score.metric,
        "value": score.value,
        "status": "unscored" if score.value is None else "scored",
        "response": score.status,
        "verdict": score.verdict,
    }
    if score.if_right:
        row["value_if_right"] = score.value_if_right
    if score.read_by:
        row["read_by"] = score.read_by
    if score.reason:
        row["reason"] = score.reason
    if score.round > 1:
        row["round"] = score.round
    if score.extracted or score.extracted_from:
        row |= {"extracted": score.extracted, "extracted_from": score.extracted_from}
    return row


def _summary(result: Result, protocol: ProtocolRow) -> Json:
    if not protocol.means:
        of_metrics = [metric for of_task in result.tasks for metric in of_task.metrics]
        signatures = {metric.metric: metric.signature for metric in of_metrics}
        return {"tasks": _by_metric(result.tasks, _value), "signatures": signatures}
    domains: dict[str, MeanResult] = {}
    overall: dict[str, MeanResult] = {}
    formats: Json = {}
    directions: Json = {}
    for of_benchmark in result.benchmarks:
        name = of_benchmark.benchmark
        domains |= of_benchmark.domains
        overall[name] = of_benchmark.overall
        formats |= {f"{name}: {title}": mean.value for title, mean in of_benchmark.formats.items()}
        for domain, means in of_benchmark.directions.items():
            directions[domain] = {direction: mean.value for direction, mean in means.items()}

    def ends(value_of: Callable[[MetricResult | MeanResult], float | None]) -> Json:
        """Tasks, domains and overall, at one end of the ranges."""
        values = {name: value_of(mean) for name, mean in overall.items()}
        return {
            "tasks": _by_metric(result.tasks, value_of),
            "domains": {name: value_of(mean) for name, mean in domains.items()},
            **({"directions": directions} if directions and value_of is _value else {}),
            "overall": next(iter(values.values())) if len(values) == 1 else values,
        }

    unclear = any(of_task.unclear for of_task in result.tasks)
    by_task = {json_task_name(each.task, each.query): each for each in result.tasks}
    notes = {
        name: {metric.metric: in_english(metric.note) for metric in of_task.metrics if metric.note}
        for name, of_task in by_task.items()
    }
    return {
        **ends(_value),
        **({"if_right": ends(lambda result: result.value_if_right)} if unclear else {}),
        "formats": formats,
        "missing": {
            name: {task: in_english(reason) for task, reason in mean.missing.items()}
            for name, mean in (domains | overall).items()
            if mean.missing
        },
        "without_failures": _by_metric(result.tasks, lambda metric: metric.without_failures),
        "item_means": _by_metric(result.tasks, lambda metric: metric.item_mean),
        "layers": {
            name: metric.layers
            for name, of_task in by_task.items()
            for metric in of_task.metrics
            if metric.layers
        },
        "notes": {name: of_task for name, of_task in notes.items() if of_task},
        "counts": {
            name: {
                "items": of_task.items,
                "responses": of_task.statuses,
                "verdicts": of_task.verdicts,
                **({"read_by": of_task.read_by} if of_task.read_by else {}),
                "unscored": {m.metric: m.unscored for m in of_task.metrics if m.unscored},
            }
            for name, of_task in by_task.items()
        },
        "signatures": _by_metric(result.tasks, lambda metric: metric.signature),
    }


def _value(result: MetricResult | MeanResult) -> float | None:
    return result.value


def json_task_name(task: str, query: str) -> str:
    """The key of a task, or of one query of it, in the JSON."""
    name = official_number(task)
    return f"{name}/{query}" if query else name


def _by_metric(tasks: Iterable[TaskResult], value_of: Callable[[MetricResult], object]) -> Json:
    return {
        json_task_name(each.task, each.query): {
            metric.metric: value_of(metric) for metric in each.metrics
        }
        for each in tasks
    }
