"""Correlation of transcription with answering: over models, and over the items of each model.

Over models: the mean strict score of a benchmark's transcription tasks against that of each of its
other tasks. Over items: the quality of a model's transcription of an item's images (its own, or the
one that it was sent) against its score on the item. Neither shows a cause: text that is hard to
read is often hard to understand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet, main_metric, readings_of
from keju.definitions import query_of, task
from keju.items import Item, get_group
from keju.metrics.edit import distance
from keju.running.readings import name_of_images
from keju.statistics import Correlation, associate
from keju.text import counted
from keju.texts import Text, _

_FEWEST_MODELS = 5
_FEWEST_ITEMS = 10


class Downstream(NamedTuple):
    """One correlation of transcription with answering. `model` is empty where it is over models.

    `readers` states whose transcription it is: the model's own, or the one that it was sent.
    `worse` and `better` are the mean scores on items transcribed worse and better than the median.
    """

    benchmark: str
    task: str
    model: str
    readers: str
    pairs: int
    groups: int
    spearman: Correlation
    kendall: Correlation
    worse: float | None
    better: float | None


class _Pairs(NamedTuple):
    read: list[float]
    answered: list[float]
    groups: list[str]

    def add(self, read: float, answered: float, group: str) -> None:
        self.read.append(read)
        self.answered.append(answered)
        self.groups.append(group)


def downstream(run_set: RunSet) -> list[Downstream]:
    """Every correlation that has enough pairs: over models first, then over items."""
    return [*_over_models(run_set), *_over_items(run_set)]


def _over_models(run_set: RunSet) -> Iterator[Downstream]:
    values: dict[str, dict[str, dict[str, float]]] = {}
    for (model, protocol), result in run_set.results.items():
        if protocol != "strict" or run_set.by_model[model].role == "baseline":
            continue
        for each in result.tasks:
            if each.main is not None and each.main.value is not None:
                by_task = values.setdefault(task(each.task).benchmark, {})
                by_task.setdefault(each.name, {})[model] = each.main.value
    for benchmark, by_task in values.items():
        reading = {name for name in by_task if _is_transcription(name)}
        models = {model for name in reading for model in by_task[name]}
        means = {
            model: fmean(by_task[name][model] for name in reading)
            for model in models
            if all(model in by_task[name] for name in reading)
        }
        for name, of_task in by_task.items():
            both = [model for model in means if model in of_task]
            if name not in reading and len(both) >= _FEWEST_MODELS:
                pairs = _Pairs(
                    [means[model] for model in both], [of_task[model] for model in both], both
                )
                readers = _("their tasks of transcription")
                yield _correlate(benchmark, name, "", readers, pairs)


def _is_transcription(name: str) -> bool:
    task_id, __, query = name.partition("/")
    return any(each.form == "transcription" for each in task(task_id).queries if each.name == query)


def _over_items(run_set: RunSet) -> Iterator[Downstream]:
    read = _accuracies(run_set)
    given = _rate_readings(run_set)
    found: dict[tuple[str, str, str, Text], _Pairs] = {}
    for asked in run_set.asked:
        item = asked.item
        main = main_metric(item, "strict")
        if query_of(item).form == "transcription" or item.relevant or not item.images:
            continue
        pictures = name_of_images(item.images)
        for answer in asked.answers:
            if run_set.by_model[answer.model].role == "baseline":
                continue
            accuracy = given.get((answer.model, item.id))
            readers = _("the reading it was given")
            if accuracy is None:
                accuracy = read.get((answer.model, pictures))
                readers = _("its own transcription")
            value = next(
                (s.value for s in answer.scores if (s.protocol, s.metric) == ("strict", main)), None
            )
            if accuracy is not None and value is not None:
                key = (item.benchmark, task_name(item.task, item.query), answer.model, readers)
                pairs = found.setdefault(key, _Pairs([], [], []))
                pairs.add(accuracy, value, get_group(item))
    for key, pairs in found.items():
        if len(pairs.read) >= _FEWEST_ITEMS:
            yield _correlate(*key, pairs)


def _accuracies(run_set: RunSet) -> dict[tuple[str, str], float]:
    """The accuracy of each model's transcriptions, by the images."""
    found: dict[tuple[str, str], list[float]] = {}
    for asked in run_set.asked:
        if query_of(asked.item).form != "transcription" or not asked.item.images:
            continue
        main = main_metric(asked.item, "strict")
        for answer in asked.answers:
            for score in answer.scores:
                if (score.protocol, score.metric) == ("strict", main) and score.value is not None:
                    key = (answer.model, name_of_images(asked.item.images))
                    found.setdefault(key, []).append(score.value)
    return {key: fmean(values) for key, values in found.items()}


def _rate_readings(run_set: RunSet) -> dict[tuple[str, str], float]:
    """The accuracy of the transcription that a voice was sent with an item."""
    readings = readings_of(run_set)
    found = {}
    for asked in run_set.asked:
        if asked.item.images and (truth := _true_text(asked.item)):
            pictures = name_of_images(asked.item.images)
            for model in {answer.model for answer in asked.answers}:
                reading = readings.get((model, pictures))
                if reading is not None:
                    rate = distance(truth, reading) / len(truth)
                    found[model, asked.item.id] = 1 - min(1.0, rate)
    return found


def _true_text(item: Item) -> str:
    return counted(item.transcription or "".join(line.text for line in item.lines))


def _correlate(benchmark: str, name: str, model: str, readers: str, pairs: _Pairs) -> Downstream:
    association = associate(pairs.read, pairs.answered, pairs.groups)
    middle = sorted(pairs.read)[len(pairs.read) // 2]
    return Downstream(
        benchmark=benchmark,
        task=name,
        model=model,
        readers=readers,
        pairs=len(pairs.read),
        groups=association.groups,
        spearman=association.correlation("spearman"),
        kendall=association.correlation("kendall"),
        worse=_mean([v for r, v in zip(pairs.read, pairs.answered, strict=True) if r < middle]),
        better=_mean([v for r, v in zip(pairs.read, pairs.answered, strict=True) if r >= middle]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
