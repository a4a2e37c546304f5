"""Sensitivity to wording: how far scores and the order of models depend on the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from keju.items import Protocol, Score
from keju.reporting.gather import Gathered, Voice
from keju.reporting.labels import percent, task_name
from keju.scoring import PROTOCOLS, is_ratio_of_sums
from keju.scoring.aggregate import task_value
from keju.statistics import Interval, VariantSpread, variant_spread
from keju.statistics.bootstrap import numbered

_Series = tuple[str, str, str, str]
"""Run, model, setting and script: the rows of one series differ in the wording alone."""


class SpreadRow(NamedTuple):
    """The spread of one model on one task over wordings; numbers in percent points, as shown.

    `values` are those of each wording, a dash where the model was not asked in it. `p` is the
    permutation test's. `items` were answered in all of the wordings.
    """

    protocol: Protocol
    task: str
    metric: str
    model: str
    values: list[str]
    spread: str
    deviation: str
    p: str
    items: int
    groups: int


class OrderRow(NamedTuple):
    """Two models that change places between wordings of a task.

    `above` are the wordings in which the first scores higher, `below` those in which it scores
    lower.
    """

    protocol: Protocol
    task: str
    first: str
    second: str
    above: list[str]
    below: list[str]


class WordingSpread(NamedTuple):
    """The section of a report; empty where no model was asked in several wordings."""

    wordings: list[str]
    rows: list[SpreadRow]
    orders: list[OrderRow]
    pairs: int


def wording_spread(gathered: Gathered) -> WordingSpread:
    """The spread of every model, task and protocol over wordings, and the pairs that change places.

    Only items that a model answered in all wordings of the task are compared.
    """
    series = _series(gathered.voices)
    rows: list[SpreadRow] = []
    orders: list[OrderRow] = []
    pairs = 0
    wordings = list(dict.fromkeys(word for each in series.values() for word in each))
    for protocol in PROTOCOLS:
        for (task, query), scores in gathered.mains[protocol].items():
            name = task_name(task, query)
            valued: dict[str, dict[str, float]] = {}
            for place, labels in series.items():
                kept = _shared(scores, labels)
                if len(kept) < 2:
                    continue
                row, values = _row(protocol, name, _model(place, series), kept, wordings)
                rows.append(row)
                valued[row.model] = values
            found = list(_orders(protocol, name, valued))
            orders += [each for each in found if each.above and each.below]
            pairs += len(found)
    return WordingSpread(wordings, rows, orders, pairs)


def _series(voices: Mapping[str, Voice]) -> dict[_Series, dict[str, str]]:
    """The names of the report by wording, of each series with two wordings or more."""
    found: dict[_Series, dict[str, str]] = {}
    for label, voice in voices.items():
        place = (voice.run, voice.model, voice.variant.setting, voice.variant.script)
        found.setdefault(place, {})[voice.variant.wording] = label
    return {place: labels for place, labels in found.items() if len(labels) > 1}


def _model(place: _Series, series: Mapping[_Series, object]) -> str:
    """A model's name without its wording, with what else distinguishes it in the section."""
    run, model, *variant = place
    same = [each for each in series if each[1] == model]
    others = [part for part, usual in zip(variant, ("image", "released"), strict=True)
              if part != usual]  # fmt: skip
    several = len({each[0] for each in same}) > 1
    return " · ".join([model, *([run] if several else []), *others])


def _shared(scores: Sequence[Score], labels: Mapping[str, str]) -> dict[str, list[Score]]:
    """The scores by wording, of the items and rounds that have a value in all of them."""
    found: dict[str, dict[tuple[str, int], Score]] = {}
    for wording, label in labels.items():
        mine = {(s.item, s.round): s for s in scores if s.model == label and s.value is not None}
        if mine:
            found[wording] = mine
    if not found:
        return {}
    both = set.intersection(*(set(each) for each in found.values()))
    return {w: [each[key] for key in sorted(both)] for w, each in found.items()} if both else {}


def _row(
    protocol: Protocol,
    task: str,
    model: str,
    kept: Mapping[str, list[Score]],
    wordings: Sequence[str],
) -> tuple[SpreadRow, dict[str, float]]:
    first = next(iter(kept.values()))
    found = _spread(list(kept.values())) if is_ratio_of_sums(first[0]) else None
    values = {wording: task_value(scores) or 0.0 for wording, scores in kept.items()}
    spread = max(values.values()) - min(values.values())
    deviation = float(np.std(list(values.values()), ddof=1))
    row = SpreadRow(
        protocol=protocol,
        task=task,
        metric=first[0].metric,
        model=model,
        values=[percent(values.get(wording)) for wording in wordings],
        spread=_with(spread, found.spread_interval if found else None),
        deviation=_with(deviation, found.deviation_interval if found else None),
        p="–" if found is None or found.p is None else f"{found.p:.3f}".removeprefix("0"),
        items=len({score.item for score in first}),
        groups=found.groups if found else len({score.group or score.item for score in first}),
    )
    return row, values


def _spread(by_wording: Sequence[Sequence[Score]]) -> VariantSpread:
    places, count = numbered([score.group or score.item for score in by_wording[0]])
    top, bottom = (
        np.stack([
            np.bincount(places, [score.stats[part] for score in scores], minlength=count)
            for scores in by_wording
        ], axis=1).astype(np.float64)
        for part in ("numerator", "denominator")
    )  # fmt: skip
    return variant_spread(top, bottom)


def _with(value: float, interval: Interval | None) -> str:
    shown = percent(value)
    if interval is None:
        return shown
    return f"{shown} ({percent(interval.low)} to {percent(interval.high)})"


def _orders(
    protocol: Protocol, task: str, valued: Mapping[str, Mapping[str, float]]
) -> Iterator[OrderRow]:
    """Every two models with two wordings in common, and the wordings in which each is above."""
    for (one, first), (other, second) in combinations(valued.items(), 2):
        shared = [wording for wording in first if wording in second]
        if len(shared) > 1:
            yield OrderRow(
                protocol, task, one, other,
                [word for word in shared if first[word] > second[word]],
                [word for word in shared if first[word] < second[word]],
            )  # fmt: skip
