"""Step ``split``: divide items by group, each task as close to its share as possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.dedup.union_find import UnionFind
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import has_reference, task
from keju.errors import DataError, UsageError, number_of
from keju.items import Item
from keju.messages import message

Split = Literal["test", "reference"]

_PASSES = 20
"""The maximum number of passes; each visits every unit once, and most splits settle in three."""


class SplitSettings(Settings, frozen=True):
    """The sizes of the splits."""

    reference: Annotated[
        float,
        Meta(description="Share of each task that becomes the reference split.", gt=0, lt=1),
    ] = 0.2


class SplitUnit(NamedTuple):
    """Items that must stay together: of one group, or connected by an image that groups share."""

    items: tuple[str, ...]
    tasks: Mapping[str, int]


class TaskSplit(Struct, frozen=True):
    """The result for a task: its items in each split, and the requested share."""

    task: str
    items: int
    units: int
    test: int
    reference: int
    share: float
    wanted: float
    kept: int


class ItemSplit(Struct, frozen=True):
    """The split of an item, with its group."""

    item: str
    task: str
    group: str
    split: str


def get_group(item: Item) -> str:
    """Return the unit of independence of an item: its group, else its first image, else itself."""
    return item.group or (item.images[0].sha256 if item.images else item.id)


def list_units(items: Iterable[Item]) -> list[SplitUnit]:
    """List the units: items that share a group or an image, directly or through others."""
    items = list(items)
    joined = UnionFind(len(items))
    first: dict[tuple[str, str], int] = {}
    for place, item in enumerate(items):
        marks = [("group", get_group(item)), *(("image", ref.sha256) for ref in item.images)]
        for mark in marks:
            joined.join(first.setdefault(mark, place), place)
    members: dict[int, list[Item]] = defaultdict(list)
    for item, unit in zip(items, joined.label().tolist(), strict=True):
        members[unit].append(item)
    return [
        SplitUnit(tuple(item.id for item in some), Counter(item.task for item in some))
        for some in members.values()
    ]


def divide_units(units: Sequence[SplitUnit], share: float, rng: np.random.Generator) -> set[int]:
    """Choose the units of the reference split so that each task comes close to its share.

    Units are taken large before small, equal ones at random; each goes where the sum over tasks of
    (items − wanted)² / wanted is smaller. Then single units move as long as the sum decreases.

    Args:
        units: the units.
        share: of each task's items, between 0 and 1.
        rng: random generator.

    Returns:
        Indices in `units`.
    """
    names = sorted({name for unit in units for name in unit.tasks})
    counts = np.array([[unit.tasks.get(name, 0) for name in names] for unit in units], float)
    wanted = share * counts.sum(axis=0)
    away = -wanted
    chosen: set[int] = set()

    def falls(place: int) -> bool:
        """Move this unit to the other side if the sum decreases; return whether it did."""
        nonlocal away
        moved = away + counts[place] * (-1 if place in chosen else 1)
        if float(((away**2 - moved**2) / wanted).sum()) <= 1e-9:
            return False
        away = moved
        chosen.symmetric_difference_update({place})
        return True

    shuffled = rng.permutation(len(units)).tolist()
    order = sorted(shuffled, key=lambda place: -len(units[place].items))
    for _ in range(_PASSES):
        if not sum(map(falls, order)):
            break
    return chosen


def split_items(context: StepContext, settings: SplitSettings) -> None:
    """Assign a split to every item.

    Items of pair tasks keep theirs, since their reference split has labelled images and no
    questions; everything connected with one of them stays with it. Units without any reference
    answer keep theirs too.

    Raises:
        UsageError: nothing can be divided.
        DataError: an item's task is unknown.
    """
    items = context.items()
    paired = {item.id for item in items if _is_of_pairs(item)}
    units = list_units(items)
    lacking = {item.id for item in items if not has_reference(item)} - paired
    free = [unit for unit in units
            if paired.isdisjoint(unit.items) and not lacking.issuperset(unit.items)]  # fmt: skip
    if len(free) < 2:
        more = message("building.and-references", count=len(lacking)) if lacking else ""
        raise UsageError(
            message("building.nothing-to-split", items=len(items), units=len(free), more=more)
        )
    chosen = divide_units(free, settings.reference, context.rng("divide"))
    reference = {name for place in chosen for name in free[place].items}
    divided = {name for unit in free for name in unit.items}
    done = []
    for item in items:
        side: Split = "reference" if item.id in reference else "test"
        done.append(replace(item, split=side if item.id in divided else item.split))
        context.keep(done[-1])
    rows = list(_make_rows(done, units, divided, settings.reference))
    context.table("split", rows, TaskSplit)
    context.table(
        "places", [ItemSplit(each.id, each.task, get_group(each), each.split) for each in done]
    )
    counts = Counter(item.split for item in done)
    context.note(
        f"{number_of(counts['test'], 'item')} to test, {counts['reference']:,} to reference, in "
        f"{number_of(len(free), 'unit')}"
    )
    without = {name for unit in units if lacking.issuperset(unit.items) for name in unit.items}
    if kept := len(items) - len(divided) - len(without):
        keep = number_of(kept, "item keeps its", "items keep their")
        context.note(f"{keep} split: tasks of pairs, and items connected with them")
    if without:
        keep = number_of(len(without), "item keeps its", "items keep their")
        context.note(f"{keep} split, because they have no reference")
    for side in ("test", "reference"):
        if bare := [row for row in rows if not getattr(row, side) and row.kept < row.items]:
            names = ", ".join(f"{row.task} ({number_of(row.units, 'unit')})" for row in bare)
            context.note(f"no {side} item of {names}: their items form too few independent units")


STEP = Step(
    "split", "Divide into test and reference, by group and task.", SplitSettings, split_items
)


def _is_of_pairs(item: Item) -> bool:
    try:
        return task(item.task).of_pairs
    except UsageError as error:
        raise DataError(str(error), item=item.id, hint=message("building.give-task-id")) from None


def _make_rows(
    items: Sequence[Item], units: Sequence[SplitUnit], divided: Container[str], wanted: float
) -> Iterator[TaskSplit]:
    """Make a row per task, in order of appearance."""
    tied = Counter(name for unit in units for name in unit.tasks)
    by_task: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_task[item.task].append(item)
    for name, some in by_task.items():
        reference = sum(item.split == "reference" for item in some)
        yield TaskSplit(
            task=name,
            items=len(some),
            units=tied[name],
            test=len(some) - reference,
            reference=reference,
            share=round(reference / len(some), 4),
            wanted=wanted,
            kept=sum(item.id not in divided for item in some),
        )
