"""Breakdowns of scores by category, dynasty, script, resolution, length and book.

Values are `strict`. Over all tasks together a row shows the differences of its items from their own
tasks' means, so that it is not reported as hard because most of its items belong to a hard task.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

import numpy as np

from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.datasets.values import value_label
from keju.definitions import query_of
from keju.items import Item, Score, better_end
from keju.scoring.aggregate import task_value
from keju.scoring.value_parts import number_units, task_parts
from keju.statistics import (
    FEWEST_GROUPS,
    Interval,
    are_shares,
    group_shares,
    interval_of_values,
    resample,
    value_of,
    widest,
)
from keju.texts import Text, _

Json = dict[str, Any]
T = TypeVar("T")

_ABOVE = "above-the-mean"
"""The metric of a difference of an item from its task's mean."""

_GROUP = "group"
_RESOLUTION, _LENGTH = "resolution", "length of the answer"
OWN_KINDS = {
    _RESOLUTION: _("resolution"),
    _LENGTH: _("length of the answer"),
}
"""The breakdowns that keju computes itself, with their names; their rows are texts.

Other kinds and their values are those of the dataset's metadata.
"""
_MOST = 24
_TELLING = 3
"""Minimum number of items for a row in a long list."""
_MEGAPIXELS = (0.0, 0.25, 1.0, 4.0, float("inf"))
_CHARACTERS = (1, 11, 51, 201, 501)


class Stratum(NamedTuple):
    """A row of a breakdown: the items that share a property.

    `mean` is over all models but baselines, with its own 95 % interval (None where there is none),
    for which groups are drawn for all models together. `values` are those of each model of the
    report (None where it has none). While answers are unclear, these numbers count them as wrong
    and those `if_right` as right; over all tasks together they are the least and the greatest
    difference from the tasks' means.
    """

    name: str
    items: int
    mean: float | None
    low: float | None
    high: float | None
    values: list[float | None]
    mean_if_right: float | None
    values_if_right: list[float | None]


def breakdowns(run_set: RunSet, left_out: Collection[str] = ()) -> list[Json]:
    """One table per task and kind of breakdown, and one per kind over all tasks (its task is "").

    The rows are each a `Stratum`. A kind of which each stratum is one item, such as the file, has
    no table. The models of `left_out` are in no mean of a transcription.
    """

    def counts(score: Score) -> bool:
        if run_set.by_model[score.model].role == "baseline":
            return False
        item = run_set.items[score.task, score.query, score.item]
        return score.model not in left_out or query_of(item).form != "transcription"

    scored = {
        place: [score for score in scores if score.value is not None]
        for place, scores in run_set.mains["strict"].items()
    }
    grouped = {place: _group_by_stratum(run_set.items, scores) for place, scores in scored.items()}
    tables = [
        _table(
            task_name(*place),
            kind,
            {name: (scores, list(map(better_end, scores))) for name, scores in by_stratum.items()},
            run_set.models,
            counts,
        )
        for place, by_kind in grouped.items()
        for kind, by_stratum in by_kind.items()
        if len(by_stratum) > 1
    ]
    if len(scored) < 2:
        return tables
    sums = {place: _sums_of_models(scores) for place, scores in scored.items()}
    whole = []
    for kind in dict.fromkeys(kind for by_kind in grouped.values() for kind in by_kind):
        of_all: dict[str, _Ends] = {}
        for place, by_kind in grouped.items():
            for stratum, of_stratum in by_kind.get(kind, {}).items():
                ends = of_all.setdefault(stratum, ([], []))
                for end, above in zip(ends, _above_means(of_stratum, sums[place]), strict=True):
                    end.extend(above)
        if len(of_all) > 1:
            whole.append(_table("", kind, of_all, run_set.models, counts))
    return [*whole, *tables]


_Ends = tuple[list[Score], list[Score]]
"""The scores of a stratum with its unclear answers as wrong, and with them as right."""


def _group_by_stratum(
    items: Mapping[tuple[str, str, str], Item], scores: Iterable[Score]
) -> dict[str, dict[str, list[Score]]]:
    found: dict[str, dict[str, list[Score]]] = {}
    for score in scores:
        for kind, stratum in _strata_of(items[score.task, score.query, score.item]):
            found.setdefault(kind, {}).setdefault(stratum, []).append(score)
    found = {kind: by for kind, by in found.items() if kind == _GROUP or not _is_id(by)}
    for kind, labels in ((_RESOLUTION, _pixel_steps()), (_LENGTH, _length_steps())):
        if kind in found:
            steps = sorted(found[kind], key=int)
            found[kind] = {labels[int(step)]: found[kind][step] for step in steps}
    return found


def _is_id(by_stratum: Mapping[str, Sequence[Score]]) -> bool:
    """Whether the values identify many items, as file names do, and no two items share one."""
    shared = any(len({score.item for score in scores}) > 1 for scores in by_stratum.values())
    return len(by_stratum) > _TELLING and not shared


def _strata_of(item: Item) -> Iterator[tuple[str, str]]:
    for kind, name in item.metadata.items():
        if name:
            yield kind, value_label(kind, name)
    if item.group:
        yield _GROUP, item.group
    if item.images and item.images[0].width:
        size = item.images[0].width * item.images[0].height / 1e6
        yield _RESOLUTION, str(sum(size >= edge for edge in _MEGAPIXELS[1:]))
    if length := len(item.answer or item.answer_simplified):
        yield _LENGTH, str(sum(length >= edge for edge in _CHARACTERS[1:]))


def _pixel_steps() -> list[Text]:
    return [
        _("{} to {} megapixels", f"{low:g}", f"{high:g}")
        if high < 100
        else _("{} megapixels or more", f"{low:g}")
        for low, high in pairwise(_MEGAPIXELS)
    ]


def _length_steps() -> list[Text]:
    return [
        *(_("{} to {} characters", low, high - 1) for low, high in pairwise(_CHARACTERS)),
        _("{} characters or more", _CHARACTERS[-1]),
    ]


class _Sums(NamedTuple):
    """The number of a model's items in a task, and the sums of their values at both ends."""

    items: int
    wrong: float
    right: float


def _sums_of_models(scores: Iterable[Score]) -> dict[str, _Sums]:
    return _by_model(
        scores,
        lambda mine: _Sums(
            len(mine),
            fsum(score.value or 0.0 for score in mine),
            fsum(score.value_if_right or 0.0 for score in mine),
        ),
    )


def _above_means(scores: Sequence[Score], sums: Mapping[str, _Sums]) -> _Ends:
    """The scores of a stratum as differences from each model's mean over the task's items.

    The difference is least if the unclear answers of the stratum are wrong and all others right,
    and greatest if it is the other way round.
    """
    own = _sums_of_models(scores)
    least, most = [], []
    for score in scores:
        mine, all_items = own[score.model], sums[score.model]
        others_right = all_items.right - (mine.right - mine.wrong)
        others_wrong = all_items.wrong + (mine.right - mine.wrong)
        least.append(_as_mean(score, (score.value or 0.0) - others_right / all_items.items))
        most.append(_as_mean(score, (score.value_if_right or 0.0) - others_wrong / all_items.items))
    return least, most


def _as_mean(score: Score, value: float) -> Score:
    return Score(
        key=score.key, item=score.item, model=score.model, benchmark=score.benchmark,
        task=score.task, query=score.query, protocol=score.protocol, metric=_ABOVE,
        value=value, group=score.group, stats={"numerator": value, "denominator": 1.0},
    )  # fmt: skip


def _table(
    task: str,
    kind: str,
    by_stratum: Mapping[str, _Ends],
    models: Sequence[str],
    counts: Callable[[Score], bool],
) -> Json:
    rows = [_row(stratum, ends, models, counts) for stratum, ends in by_stratum.items()]
    found: Json = {"task": task, "kind": kind, "rows": rows, "of": len(rows)}
    if kind not in OWN_KINDS:
        rows.sort(key=lambda row: (row.mean is None, row.mean))
    if len(rows) > _MOST:
        telling = [row for row in rows if row.items >= _TELLING and row.mean is not None] or rows
        half = _MOST // 2
        found["rows"] = telling if len(telling) <= _MOST else [*telling[:half], *telling[-half:]]
    return found


def _row(
    stratum: str, ends: _Ends, models: Sequence[str], counts: Callable[[Score], bool]
) -> Stratum:
    scores, if_right = ends
    # Most datasets have no unclear answers: both ends are equal, and computed once.
    is_range = [each.value for each in scores] != [each.value for each in if_right]
    values, means, bounds = [], [], []
    for end in ends if is_range else ends[:1]:
        by_model = _by_model(end, task_value)
        real = {
            model: value
            for model, value in _by_model(filter(counts, end), task_value).items()
            if value is not None
        }
        values.append([_short(by_model.get(model)) for model in models])
        means.append(_short(fmean(real.values())) if real else None)
        bounds.append(_interval(end, list(real)))
    interval = widest(bounds[0], bounds[-1])
    return Stratum(
        stratum,
        len({(score.task, score.query, score.item) for score in scores}),
        means[0],
        _short(interval.low) if interval else None,
        _short(interval.high) if interval else None,
        values[0],
        means[-1],
        values[-1],
    )


def _interval(scores: Sequence[Score], models: Sequence[str]) -> Interval | None:
    """The interval of the mean over models, each of which may have items of its own."""
    parts = task_parts(scores, models, number_units(scores))
    fewest = min((np.count_nonzero(part.bottom, axis=0).min() for part in parts), default=0)
    if fewest < FEWEST_GROUPS:
        return None
    mean = float(value_of(parts).mean())
    # A difference from a mean is not a share, even where it happens to be from 0 to 1.
    is_share = scores[0].metric != _ABOVE and bool(are_shares(parts).all())
    return interval_of_values(
        resample(parts).mean(axis=1), mean, group_shares(parts), is_share=is_share
    )


def _by_model(scores: Iterable[Score], of: Callable[[list[Score]], T]) -> dict[str, T]:
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.model, []).append(score)
    return {model: of(mine) for model, mine in found.items()}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
