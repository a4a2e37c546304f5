"""Sensitivity to wording: how scores depend on the prompt.

No interval of a spread or of a standard deviation over wordings is computed: a maximum minus a
minimum is biased upwards, in the sample and again in each resample, so that such an interval does
not contain the true spread. Differences from one wording have intervals, and the spread a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from keju.analysis.labels import task_name
from keju.analysis.run_set import ModelResponses, RunSet
from keju.definitions.wordings import RELEASED
from keju.items import Protocol, Score, better_end
from keju.scoring import PROTOCOLS
from keju.scoring.aggregate import task_value
from keju.scoring.value_parts import number_units, task_parts
from keju.statistics import (
    LEVEL,
    Interval,
    Ratio,
    as_columns,
    difference_interval,
    holm,
    variants_p,
    widest,
)

_Series = tuple[str, str, str, str]
"""Run, model, setting and script: the rows of one series differ only in the wording."""


class WordingValue(NamedTuple):
    """A value in one wording, and its difference from that in the row's base with its interval.

    `value_if_right` is the value if every unclear answer were right. While answers are unclear,
    the difference is from `least` (those of the base are right) to `most` (those of this wording
    are right), and the interval contains those of both. `unclear` is the share of unclear answers.
    """

    value: float
    value_if_right: float
    unclear: float
    least: float | None = None
    most: float | None = None
    interval: Interval | None = None


class WordingRow(NamedTuple):
    """The values of one model on one task by wording, or of the mean over several tasks.

    `base` is the released wording, or the first one if that is missing. `items` were answered in
    all wordings. `p` is the permutation test's, `adjusted` after Holm's adjustment over all rows of
    the report. Without `task` it is the mean over `tasks` tasks, which has no metric. The test is
    computed with unclear answers as wrong and as right; p is the greater one, and the row is
    `undecided` where only one of both is at most .05.
    """

    protocol: Protocol
    task: str
    metric: str
    model: str
    base: str
    values: dict[str, WordingValue]
    p: float | None
    adjusted: float | None
    items: int
    groups: int
    tasks: int = 1
    undecided: bool = False

    @property
    def unclear(self) -> float:
        """The largest share of unclear answers in a wording."""
        return max(each.unclear for each in self.values.values())

    @property
    def spread(self) -> tuple[float, float]:
        """The highest value minus the lowest, at least and at most; it has no interval."""
        ends = [sorted((each.value, each.value_if_right)) for each in self.values.values()]
        least = max(low for low, _ in ends) - min(high for _, high in ends)
        most = max(
            high - low
            for one, (_, high) in enumerate(ends)
            for other, (low, _) in enumerate(ends)
            if one != other
        )
        return max(0.0, least), max(0.0, most)


class WordingSpread(NamedTuple):
    """The section of a report; empty where no model has several wordings.

    `overall` are means over tasks, of models with several tasks in the same wordings.
    """

    wordings: list[str]
    rows: list[WordingRow]
    overall: list[WordingRow]


_Shared = Mapping[str, list[Score]]
"""The scores of one task by wording, of the items that were answered in all of them."""


def wording_spread(run_set: RunSet) -> WordingSpread:
    """The values of every model, task and protocol by wording.

    Only items that a model answered in all wordings of the task are compared.
    """
    series = _series(run_set.by_model)
    wordings = list(dict.fromkeys(word for labels in series.values() for word in labels))
    rows: list[WordingRow] = []
    overall: list[WordingRow] = []
    for protocol in PROTOCOLS:
        by_model: dict[str, list[_Shared]] = {}
        for (task, query), scores in run_set.mains[protocol].items():
            name = task_name(task, query)
            for place, labels in series.items():
                shared = _select_shared(scores, labels)
                if len(shared) < 2:
                    continue
                model = _model(place, series)
                rows.append(_row(protocol, name, model, [shared], list(shared)))
                by_model.setdefault(model, []).append(shared)
        for model, tasks in by_model.items():
            common = [word for word in tasks[0] if all(word in shared for shared in tasks)]
            if len(tasks) > 1 and len(common) > 1:
                overall.append(_row(protocol, "", model, tasks, common))
    adjusted = iter(holm([row.p for row in (*rows, *overall) if row.p is not None]))
    rows, overall = (
        [row if row.p is None else row._replace(adjusted=next(adjusted)) for row in side]
        for side in (rows, overall)
    )
    return WordingSpread(wordings, rows, overall)


def _row(
    protocol: Protocol, name: str, model: str, tasks: Sequence[_Shared], wordings: Sequence[str]
) -> WordingRow:
    """The values on one task, or of the plain mean over several."""
    chosen = [[shared[word] for word in wordings] for shared in tasks]
    scores = [score for by_wording in chosen for of_wording in by_wording for score in of_wording]
    numbers = number_units(scores)
    chosen_if_right = [
        [list(map(better_end, of_wording)) for of_wording in by_wording] for by_wording in chosen
    ]
    parts = if_right = _parts(chosen, numbers)
    if any(score.if_right for score in scores):
        if_right = _parts(chosen_if_right, numbers)
    columns = [as_columns(pair) for pair in zip(parts, if_right, strict=True)]
    ends = [parts] if if_right is parts else [parts, if_right]
    p_values = [p for end in ends if (p := variants_p(end)) is not None]
    values, values_if_right = (
        [
            fmean(task_value(by_wording[place]) or 0.0 for by_wording in side)
            for place in range(len(wordings))
        ]
        for side in (chosen, chosen_if_right)
    )
    base = wordings.index(RELEASED) if RELEASED in wordings else 0

    def wording_value(place: int) -> WordingValue:
        of_wording = [score for by_wording in chosen for score in by_wording[place]]
        unclear = sum(bool(score.if_right) for score in of_wording) / len(of_wording)
        value = WordingValue(values[place], values_if_right[place], unclear)
        if place == base:
            return value
        least = difference_interval(columns, place, base + len(wordings))
        most = difference_interval(columns, place + len(wordings), base)
        return value._replace(
            least=values[place] - values_if_right[base],
            most=values_if_right[place] - values[base],
            interval=widest(least, most),
        )

    return WordingRow(
        protocol=protocol,
        task=name,
        metric=scores[0].metric if name else "",
        model=model,
        base=wordings[base],
        values={word: wording_value(place) for place, word in enumerate(wordings)},
        p=max(p_values, default=None),
        adjusted=None,
        items=sum(len({score.item for score in by_wording[0]}) for by_wording in chosen),
        groups=len(numbers),
        tasks=len(tasks),
        undecided=len({p <= LEVEL for p in p_values}) > 1,
    )


def _parts(chosen: Sequence[Sequence[Sequence[Score]]], numbers: Mapping[str, int]) -> list[Ratio]:
    """The parts of the mean over tasks, a column for each wording; empty where a task has none."""
    parts: list[Ratio] = []
    for by_wording in chosen:
        labels = [of_wording[0].model for of_wording in by_wording]
        together = [score for of_wording in by_wording for score in of_wording]
        parts_of_task = task_parts(together, labels, numbers, weight=1 / len(chosen))
        if not parts_of_task:
            return []
        parts += parts_of_task
    return parts


def _series(by_model: Mapping[str, ModelResponses]) -> dict[_Series, dict[str, str]]:
    """The names of the report by wording, for each series with at least two wordings."""
    found: dict[_Series, dict[str, str]] = {}
    for label, model_responses in by_model.items():
        place = (
            model_responses.run,
            model_responses.model,
            model_responses.variant.setting,
            model_responses.variant.script,
        )
        found.setdefault(place, {})[model_responses.variant.wording] = label
    return {place: labels for place, labels in found.items() if len(labels) > 1}


def _model(place: _Series, series: Mapping[_Series, object]) -> str:
    """A model's name without its wording, with its other distinguishing parts in the section."""
    run, model, *variant = place
    same = [each for each in series if each[1] == model]
    others = [part for part, usual in zip(variant, ("image", "released"), strict=True)
              if part != usual]  # fmt: skip
    several = len({each[0] for each in same}) > 1
    return " · ".join([model, *([run] if several else []), *others])


def _select_shared(scores: Sequence[Score], labels: Mapping[str, str]) -> dict[str, list[Score]]:
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
