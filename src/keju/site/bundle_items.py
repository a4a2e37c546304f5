"""The boards of a bundle: the items of each benchmark, and where each item is in the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from keju.bundles import BundledItem, number_groups
from keju.definitions import task
from keju.errors import UsageError
from keju.items import Protocol
from keju.scoring import PROTOCOLS, metric_names
from keju.site.addresses import address, stable_id
from keju.site.records import ITEMS_PER_SHARD, BoardOfBundle, BoardTask, Source
from keju.texts import _, listed

Place = tuple[str, str]
"""Task and query."""

ItemKey = tuple[str, str, str]
"""Task, query and id."""


class ItemPlace(NamedTuple):
    """Where an item is in the files of a board: the task, and the position among its items."""

    board: str
    task: BoardTask
    position: int

    @property
    def shard(self) -> int:
        """The number of the file with the item's answers."""
        return self.position // ITEMS_PER_SHARD


class BundleItems(NamedTuple):
    """The items of a bundle, its boards, and the place of each item.

    The groups of the items are numbered again for each board. A bundle numbers all groups of its
    run, and runs can have items that are not on the board. The board's own numbers are equal in all
    its bundles, because their items are, and have the order of the names in the runs.
    """

    items: Mapping[ItemKey, BundledItem]
    boards: tuple[BoardOfBundle, ...]
    places: Mapping[ItemKey, ItemPlace]


def bundle_items(items: Iterable[BundledItem], source: Source) -> BundleItems:
    """The boards of a bundle: one for each benchmark of its items."""
    known = {(each.task, each.query, each.id): each for each in items}
    by_place: dict[Place, list[BundledItem]] = {}
    groups: dict[str, set[str]] = {}
    for item in known.values():
        by_place.setdefault((item.task, item.query), []).append(item)
        groups.setdefault(task(item.task).benchmark, set()).add(item.group)
    by_benchmark: dict[str, list[BoardTask]] = {}
    digests: dict[str, list[str]] = {}
    for name, query in sorted(by_place, key=_in_definition):
        listed = sorted(by_place[name, query], key=lambda item: item.id)
        benchmark = task(name).benchmark
        by_benchmark.setdefault(benchmark, []).append(
            BoardTask(
                task=name,
                query=query,
                ids=tuple(item.id for item in listed),
                metrics=_metrics(name, query),
            )
        )
        hashes = (f"{item.id} {item.hash}" for item in listed)
        digests.setdefault(benchmark, []).append(stable_id(name, query, *hashes))
    boards = tuple(
        BoardOfBundle(
            id=address(benchmark, source.items_key, *digests[benchmark]),
            benchmark=benchmark,
            tasks=tuple(tasks),
        )
        for benchmark, tasks in by_benchmark.items()
    )
    places = {
        (each.task, each.query, name): ItemPlace(board.id, each, position)
        for board in boards
        for each in board.tasks
        for position, name in enumerate(each.ids)
    }
    numbers = {benchmark: number_groups(names) for benchmark, names in groups.items()}
    numbered = {
        key: replace(item, group=numbers[task(item.task).benchmark][item.group])
        for key, item in known.items()
    }
    return BundleItems(numbered, boards, places)


def _in_definition(place: Place) -> tuple[str, int, str]:
    """The order of tasks: numbers in names by their value."""
    name, query = place
    digits = "".join(each for each in name if each.isdecimal() and each.isascii())
    return task(name).benchmark, int(digits[:9] or 0), f"{name}/{query}"


def _metrics(name: str, query: str) -> tuple[tuple[Protocol, str], ...]:
    known = task(name)
    asked = next((each for each in known.queries if each.name == query), None)
    if asked is None:
        names = listed(each.name for each in known.queries)
        raise UsageError("task {!r} has no query {!r}", name, query, hint=_("Queries: {}", names))
    return tuple(
        (protocol, metric)
        for protocol in PROTOCOLS
        for metric in metric_names(asked, protocol, known.benchmark, of_pairs=known.of_pairs)
    )
