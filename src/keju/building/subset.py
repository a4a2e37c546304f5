"""Step ``subset``: keep some items, by benchmark, task or group, or the first of each task."""

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
from keju.texts import _


class SubsetSettings(Settings, frozen=True):
    """The items that are kept; an empty setting does not restrict them."""

    benchmarks: Annotated[tuple[str, ...], Meta(description="Only items of these benchmarks.")] = ()
    tasks: Annotated[tuple[str, ...], Meta(description="Only items of these tasks.")] = ()
    groups: Annotated[
        tuple[str, ...], Meta(description="Only items of these groups (books …).")
    ] = ()
    limit: Annotated[int, Meta(description="Maximum items of each task; 0: all.", ge=0)] = 0


def select_items(context: StepContext, settings: SubsetSettings) -> None:
    """Keep the selected items, and list the others.

    Raises:
        UsageError: a benchmark, task or group that no item has.
    """
    wanted = {
        "benchmark": settings.benchmarks, "task": settings.tasks, "group": settings.groups
    }  # fmt: skip
    names_by_field: dict[str, set[str]] = {field: set() for field, names in wanted.items() if names}
    if names_by_field:
        for item in context.dataset:
            for field, names in names_by_field.items():
                names.add(getattr(item, field))
    for field, names in names_by_field.items():
        for name in wanted[field]:
            if name not in names:
                raise UsageError(unknown_name(name, sorted(names), field))
    kept: Counter[str] = Counter()
    write_dropped(context.out, _keep_selected(context, settings, kept))
    context.note(_("{} of {} items selected", kept.total(), len(context.dataset)))


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
    "Keep some items, by benchmark, task or group.",
    SubsetSettings,
    select_items,
)


def _find_reason(item: Item, settings: SubsetSettings, kept: Counter[str]) -> str:
    if settings.benchmarks and item.benchmark not in settings.benchmarks:
        return "another benchmark"
    if settings.tasks and item.task not in settings.tasks:
        return "another task"
    if settings.groups and item.group not in settings.groups:
        return "another group"
    if settings.limit and kept[item.task] >= settings.limit:
        return f"more than {settings.limit} of its task"
    return ""
