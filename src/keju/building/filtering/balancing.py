"""Step ``balance``: limit the size of each stratum, drawn with a seed and evenly over groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from keju.building.dropped import Dropped, write_dropped
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.values import value_label
from keju.errors import UsageError, unknown_name
from keju.items import Item, get_group
from keju.texts import _, listed

_FIELDS: dict[str, Callable[[Item], str]] = {
    "task": lambda item: item.task,
    "query": lambda item: item.query,
    "benchmark": lambda item: item.benchmark,
    "group": get_group,
    "answer": lambda item: item.answer,
    "split": lambda item: item.split,
}
NO_VALUE = "(not said)"


class BalanceSettings(Settings, frozen=True):
    """The strata that are balanced, and their limits."""

    by: Annotated[
        tuple[str, ...],
        Meta(description="Fields that define a stratum: task, query, benchmark, group, answer, "
             "split, or a name in the items' metadata, such as dynasty.", min_length=1),
    ] = ("task",)  # fmt: skip
    most: Annotated[int, Meta(description="Maximum items of a stratum; 0: no limit.", ge=0)] = 0
    ratio: Annotated[
        float,
        Meta(
            description="Maximum size of a stratum as a multiple of the smallest; 0: no limit.",
            ge=0,
        ),
    ] = 0
    whole_groups: Annotated[
        bool, Meta(description="Keep or drop whole groups, instead of some items of each.")
    ] = False


class StratumRow(Struct, frozen=True):
    """A stratum before and after."""

    stratum: str
    groups: int
    items: int
    kept: int
    allowed: int


class Member(NamedTuple):
    """The part of an item of a stratum that is in memory: its id, task and group (`get_group`)."""

    id: str
    task: str
    group: str


def balance_items(context: StepContext, settings: BalanceSettings) -> None:
    """Drop items of strata that are too large.

    Raises:
        UsageError: nothing limits a stratum, or no item has a field that was named.
    """
    if not settings.most and not settings.ratio:
        raise UsageError("no limit for a stratum is set. Set most or ratio")
    if 0 < settings.ratio < 1:
        raise UsageError("ratio must be 1 or more, not {:g}", settings.ratio)
    strata = _list_strata(context, settings.by)
    allowed = compute_allowance(list(map(len, strata.values())), settings.most, settings.ratio)
    kept: set[str] = set()
    rows = []
    for name, some in strata.items():
        chosen = draw_items(some, allowed, context.rng("draw", name), whole=settings.whole_groups)
        kept |= chosen
        groups = len({item.group for item in some})
        rows.append(StratumRow(name, groups, len(some), len(chosen), allowed))
    for item in context.iter_items():
        if item.id in kept:
            context.keep(item)
    context.table("strata", rows, StratumRow)
    left = (
        Dropped(item.id, f"over {allowed} items of its stratum", item.task, name)
        for name, some in strata.items()
        for item in some
        if item.id not in kept
    )
    write_dropped(context.out, left)
    counts = [row.kept for row in rows]
    context.note(
        _(
            "{} of {} items kept in {} strata by {}: {} to {} in each",
            len(kept),
            len(context.dataset),
            len(rows),
            listed(settings.by),
            min(counts),
            max(counts),
        )
    )


STEP = Step("balance", "Limit the size of strata (task, dynasty …), at random over groups.",
            BalanceSettings, balance_items)  # fmt: skip


def compute_allowance(sizes: Sequence[int], most: int, ratio: float) -> int:
    """Compute how many items a stratum may keep."""
    limits = [most] if most else []
    limits += [int(ratio * min(sizes))] if ratio else []
    return max(1, min(limits))


def draw_items(
    items: Sequence[Member], allowed: int, rng: np.random.Generator, *, whole: bool = False
) -> set[str]:
    """Draw the ids of at most `allowed` items, evenly over groups.

    Groups come in random order and give one item each in turn, so that no book dominates. With
    `whole`, each group that still fits is taken, and the first in any case.
    """
    if len(items) <= allowed:
        return {item.id for item in items}
    groups: dict[str, list[str]] = defaultdict(list)
    for item in items:
        groups[item.group].append(item.id)
    names = sorted(groups)
    order = [names[place] for place in rng.permutation(len(names))]
    chosen: set[str] = set()
    if whole:
        for name in order:
            if not chosen or len(chosen) + len(groups[name]) <= allowed:
                chosen.update(groups[name])
        return chosen
    queues = [[some[place] for place in rng.permutation(len(some))]
              for some in (groups[name] for name in order)]  # fmt: skip
    while len(chosen) < allowed:
        for queue in queues:
            if queue and len(chosen) < allowed:
                chosen.add(queue.pop())
    return chosen


def _list_strata(context: StepContext, by: Sequence[str]) -> dict[str, list[Member]]:
    """List the members of each stratum, in the order of the items.

    Raises:
        UsageError: a name is neither a field nor in the metadata of an item.
    """
    known: set[str] = set()
    strata: dict[str, list[Member]] = defaultdict(list)
    for item in context.dataset:
        known.update(item.metadata)
        name = " / ".join(_get_value(item, name) for name in by)
        strata[name].append(Member(item.id, item.task, get_group(item)))
    for name in by:
        if name not in _FIELDS and name not in known:
            raise UsageError(unknown_name(name, sorted({*_FIELDS, *known}), "field"))
    return strata


def _get_value(item: Item, name: str) -> str:
    read = _FIELDS.get(name)
    found = read(item) if read else value_label(name, item.metadata.get(name, ""))
    return found or NO_VALUE
