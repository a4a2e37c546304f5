"""Step ``split``: divide items by group, each task as close to its share as possible."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from keju.building.dedup.union_find import Indices, UnionFind
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import has_reference, task
from keju.errors import DataError, UsageError, error_text
from keju.items import Item, get_group
from keju.texts import _, listed, n_

Split = Literal["test", "reference"]

_PASSES = 20
"""The maximum number of passes; each visits every unit once, and most splits settle in three."""


class SplitSettings(Settings, frozen=True):
    """The sizes of the splits."""

    reference: Annotated[
        float,
        Meta(description="Share of each task that becomes the reference split.", gt=0, lt=1),
    ] = 0.2


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


class UnitMarks:
    """The links between items: a hash of each group and image, and the items that have it."""

    def __init__(self) -> None:
        self._marks = array("Q")
        self._places = array("q")
        self._items = 0

    def add(self, item: Item) -> None:
        """Add the next item."""
        names = [f"group {get_group(item)}", *(f"image {ref.sha256}" for ref in item.images)]
        for name in names:
            digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            self._marks.append(int.from_bytes(digest, "big"))
            self._places.append(self._items)
        self._items += 1

    def number_units(self) -> Indices:
        """Number the unit of each item; units are numbered in order of their first item."""
        marks = np.frombuffer(self._marks, np.uint64)
        places = np.frombuffer(self._places, np.int64)
        order = np.argsort(marks, kind="stable")
        same = np.flatnonzero(marks[order[1:]] == marks[order[:-1]])
        joined = UnionFind(self._items)
        pairs = zip(places[order[same]].tolist(), places[order[same + 1]].tolist(), strict=True)
        joined.join_all(pairs)
        return np.unique(joined.label(), return_inverse=True)[1]


class UnitTasks(NamedTuple):
    """The number of items of each task in each unit, without zeros.

    The tasks of unit `u` are ``tasks[starts[u]:starts[u + 1]]``, their items in `counts`.
    """

    starts: Indices
    tasks: Indices
    counts: Indices

    @classmethod
    def tally(cls, units: Indices, tasks: Indices, size: int) -> UnitTasks:
        """Count the items of each unit and task."""
        width = int(tasks.max(initial=0)) + 1
        pairs, counts = np.unique(units * width + tasks, return_counts=True)
        starts = np.searchsorted(pairs, np.arange(size + 1) * width)
        return cls(starts, pairs % width, counts)


def divide(units: UnitTasks, sizes: Indices, share: float, rng: np.random.Generator) -> set[int]:
    """Choose the units of the reference split so that each task comes close to its share.

    Units are taken large before small, equal ones at random; each goes where the sum over tasks of
    (items − wanted)² / wanted is smaller. Then single units move as long as the sum decreases.

    Tasks are numbered in the order of their names; `sizes` are the numbers of items of the units.
    """
    wanted = (share * np.bincount(units.tasks, units.counts)).tolist()
    away = [-each for each in wanted]
    chosen: set[int] = set()

    def falls(place: int) -> bool:
        """Move this unit to the other side if the sum decreases; return whether it did."""
        part = slice(units.starts[place], units.starts[place + 1])
        sign = -1 if place in chosen else 1
        tasks = units.tasks[part].tolist()
        before = [away[name] for name in tasks]
        after = [
            away[name] + count * sign
            for name, count in zip(tasks, units.counts[part].tolist(), strict=True)
        ]
        # The terms of the other tasks are 0, and numpy adds in an order that depends on them.
        terms = np.zeros(len(away) if len(tasks) > 1 else 1)
        for at, name in enumerate(tasks):
            term = (before[at] * before[at] - after[at] * after[at]) / wanted[name]
            terms[name if len(tasks) > 1 else 0] = term
        if float(terms.sum()) <= 1e-9:
            return False
        for name, value in zip(tasks, after, strict=True):
            away[name] = value
        chosen.symmetric_difference_update({place})
        return True

    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist()
    for __ in range(_PASSES):
        if not sum(map(falls, order)):
            break
    return chosen


class _Given:
    """The input by columns: task, unit, and whether an item is of pairs or lacks a reference."""

    def __init__(self, items: Iterable[Item]) -> None:
        numbers: dict[str, int] = {}
        marks, tasks, paired, lacking = UnitMarks(), array("q"), bytearray(), bytearray()
        for item in items:
            marks.add(item)
            tasks.append(numbers.setdefault(item.task, len(numbers)))
            paired.append(_is_of_pairs(item))
            lacking.append(not paired[-1] and not has_reference(item))
        self.names = list(numbers)
        self.tasks = np.frombuffer(tasks, np.int64)
        self.units = marks.number_units()
        self.lacking = np.frombuffer(lacking, bool)
        self.sizes = np.bincount(self.units)
        self.bare = np.bincount(self.units, self.lacking) == self.sizes
        self.free = ~self.bare & (np.bincount(self.units, np.frombuffer(paired, bool)) == 0)

    def choose(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Choose the units of the reference split among the free ones; true for the chosen."""
        by_name = np.argsort(np.argsort(self.names))
        free = np.flatnonzero(self.free)
        divided = self.free[self.units]
        renumbered = np.searchsorted(free, self.units[divided])
        tasks = np.unique(by_name[self.tasks[divided]], return_inverse=True)[1]
        units = UnitTasks.tally(renumbered, tasks, len(free))
        chosen = np.zeros(len(self.sizes), bool)
        chosen[free[sorted(divide(units, self.sizes[free], share, rng))]] = True
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
    given = _Given(context.dataset)
    total, free, lacking = len(given.tasks), int(given.free.sum()), int(given.lacking.sum())
    if free < 2:
        more = (
            n_(
                ", and references to the {n:,} item without one",
                ", and references to the {n:,} items without one",
                lacking,
            )
            if lacking
            else ""
        )
        raise UsageError(
            "the {} form {}, and a split requires two. Give each book a group of its own{}",
            n_("{n:,} item", "{n:,} items", total),
            n_("{n:,} unit", "{n:,} units", free),
            more,
        )
    chosen = given.choose(settings.reference, context.rng("divide"))
    side = np.zeros(total, bool)
    context.table("places", _keep_all(context, given, chosen, side))
    rows = list(_make_rows(given, side, settings.reference))
    context.table("split", rows, TaskSplit)
    reference = int(side.sum())
    context.note(
        _(
            "{} to test, {:,} to reference, in {}",
            n_("{n:,} item", "{n:,} items", total - reference),
            reference,
            n_("{n:,} unit", "{n:,} units", free),
        )
    )
    divided, without = (int(given.sizes[which].sum()) for which in (given.free, given.bare))
    if kept := total - divided - without:
        context.note(
            n_(
                "{n:,} item keeps its split: tasks of pairs, and items connected with them",
                "{n:,} items keep their split: tasks of pairs, and items connected with them",
                kept,
            )
        )
    if without:
        context.note(
            n_(
                "{n:,} item keeps its split, because they have no reference",
                "{n:,} items keep their split, because they have no reference",
                without,
            )
        )
    for name in ("test", "reference"):
        if bare := [row for row in rows if not getattr(row, name) and row.kept < row.items]:
            names = (n_("{} ({n:,} unit)", "{} ({n:,} units)", row.units, row.task) for row in bare)
            context.note(
                _(
                    "no {} item of {}: their items form too few independent units",
                    name,
                    listed(names),
                )
            )


STEP = Step(
    "split",
    "Divide the items into a test split and a reference split; the items of a group stay together.",
    SplitSettings,
    split_items,
)


def _is_of_pairs(item: Item) -> bool:
    try:
        return task(item.task).of_pairs
    except UsageError as error:
        raise DataError(
            error_text(error), item=item.id, hint=_("Give it the id of a task")
        ) from None


def _keep_all(
    context: StepContext, given: _Given, chosen: NDArray[np.bool_], side: NDArray[np.bool_]
) -> Iterator[ItemSplit]:
    """Keep every item with its split, and yield it; `side` becomes true for reference items."""
    for at, item in enumerate(context.iter_items()):
        unit = given.units[at]
        split: Split = "reference" if chosen[unit] else "test"
        done = replace(item, split=split) if given.free[unit] else item
        context.keep(done)
        side[at] = done.split == "reference"
        yield ItemSplit(done.id, done.task, get_group(done), done.split)


def _make_rows(given: _Given, side: NDArray[np.bool_], wanted: float) -> Iterator[TaskSplit]:
    """Make a row per task, in order of appearance."""
    size = len(given.names)
    items = np.bincount(given.tasks, minlength=size).tolist()
    references = np.bincount(given.tasks, side, minlength=size).astype(int).tolist()
    kept = np.bincount(given.tasks, ~given.free[given.units], minlength=size).astype(int).tolist()
    units = UnitTasks.tally(given.units, given.tasks, len(given.sizes))
    tied = np.bincount(units.tasks, minlength=size).tolist()
    for at, name in enumerate(given.names):
        yield TaskSplit(
            task=name,
            items=items[at],
            units=tied[at],
            test=items[at] - references[at],
            reference=references[at],
            share=round(references[at] / items[at], 4),
            wanted=wanted,
            kept=kept[at],
        )
