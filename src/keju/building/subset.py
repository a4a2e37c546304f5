"""Step ``subset``: keep some of the items, by task, group or split, or the first of each task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from keju.building.dropped import Dropped, write_dropped
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.errors import UsageError, unknown_name
from keju.items import Item
from keju.messages import message


class SubsetSettings(Settings, frozen=True):
    """The items that are kept; an empty setting does not restrict them."""

    tasks: Annotated[tuple[str, ...], Meta(description="Only items of these tasks.")] = ()
    groups: Annotated[
        tuple[str, ...], Meta(description="Only items of these groups (books …).")
    ] = ()
    limit: Annotated[int, Meta(description="Maximum items of each task; 0: all.", ge=0)] = 0


def select_items(context: StepContext, settings: SubsetSettings) -> None:
    """Keep the selected items, and list the others.

    Raises:
        UsageError: a task or group that no item has.
    """
    tasks: set[str] = set()
    groups: set[str] = set()
    if settings.tasks or settings.groups:
        for item in context.dataset:
            tasks.add(item.task)
            groups.add(item.group)
    _check("task", settings.tasks, tasks)
    _check("group", settings.groups, groups)
    kept: Counter[str] = Counter()
    write_dropped(context.out, _keep_selected(context, settings, kept))
    context.note(message("steps.selected", kept=kept.total(), items=len(context.dataset)))


def _keep_selected(
    context: StepContext, settings: SubsetSettings, kept: Counter[str]
) -> Iterator[Dropped]:
    """Keep the selected items, counted by task in `kept`; yield the others."""
    for item in context.iter_items():
        if why := _find_reason(item, settings, kept):
            yield Dropped(item.id, why, item.task)
        else:
            kept[item.task] += 1
            context.keep(item)


STEP = Step(
    "subset",
    "Keep some items, by task or group.",
    SubsetSettings,
    select_items,
    stored_name="select",
)


def _check(what: str, wanted: tuple[str, ...], known: set[str]) -> None:
    for name in wanted:
        if name not in known:
            raise UsageError(unknown_name(name, sorted(known), what))


def _find_reason(item: Item, settings: SubsetSettings, kept: Counter[str]) -> str:
    if settings.tasks and item.task not in settings.tasks:
        return "another task"
    if settings.groups and item.group not in settings.groups:
        return "another group"
    if settings.limit and kept[item.task] >= settings.limit:
        return f"more than {settings.limit} of its task"
    return ""
