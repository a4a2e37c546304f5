"""`Units`: what the units of independence of items are, how many there are, and the largest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from keju.items import Item, get_group
from keju.texts import Text, _, join_sentences, n_

UnitKind = Literal["group", "image", "item", "mixed"]

_HASH = re.compile("[0-9a-f]{64}")
"""The SHA-256 of an image, which some formats store as the group if a source has none."""


class Units(NamedTuple):
    """The units of independence of some items (`get_group`): what intervals and tests resample.

    `kind` is what a unit is: a ``group`` of the dataset (a book, a plate, a bone), the first
    ``image`` of items without a group, the ``item`` where there is no image either, or ``mixed``.
    `name` is what the dataset calls its groups, where it is recorded. `largest` is the share of the
    items that the largest unit has.
    """

    kind: UnitKind
    name: str
    groups: int
    items: int
    largest: float


class UnitCounter:
    """Counts the units of independence of items, which can also be added one by one."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._sizes = Counter[str]()
        self._kinds: set[UnitKind] = set()
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        """Add the next item."""
        unit = get_group(item)
        self._sizes[unit] += 1
        own: UnitKind = "group" if item.group else "item"
        self._kinds.add("image" if _HASH.fullmatch(unit) else own)

    def units(self, name: str = "") -> Units:
        """The units of the items so far; `name` is what the dataset calls its groups."""
        kind: UnitKind = next(iter(self._kinds)) if len(self._kinds) == 1 else "mixed"
        items, largest = self._sizes.total(), max(self._sizes.values(), default=0)
        return Units(kind, name, len(self._sizes), items, largest / max(1, items))


def describe_units(units: Units) -> Text:
    """One sentence: what the unit is, the number of units, and the share of the largest."""
    groups = units.groups
    name = f"“{units.name}”" if units.name else _("book, plate or bone")
    what = {
        "group": n_(
            "{n:,} group of the dataset ({})", "{n:,} groups of the dataset ({})", groups, name
        ),
        "image": n_("{n:,} image", "{n:,} images", groups),
        "item": n_("{n:,} item", "{n:,} items", groups),
        "mixed": n_(
            "{n:,} unit (groups of the dataset; images of items without a group)",
            "{n:,} units (groups of the dataset; images of items without a group)",
            groups,
        ),
    }[units.kind]
    return n_(
        "Unit of independence: {}, the largest with {} % of the {n:,} item",
        "Unit of independence: {}, the largest with {} % of the {n:,} items",
        units.items,
        what,
        f"{100 * units.largest:.0f}",
    )


def describe_ungrouped(units: Units, option: str = "") -> str | None:
    """A note on imported items without a group; None where all have one.

    `option` is what the user can give so that items get a group; empty: nothing.
    """
    if units.kind == "group":
        return None
    note = _(
        "Not every item has a group: the unit of independence is then its first image, or the item "
        "itself ({:,} units in total)",
        units.groups,
    )
    fix = _(
        "If images come from one book, plate or bone, they are not independent: give its column "
        "with {}",
        option,
    )
    return join_sentences([note, fix]) if option else note
