"""Step ``retrieval-sets``: make ranking questions from crops of characters, with distractors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from keju.building.crops import Classes, Crop, group_by_class, sample_classes
from keju.building.dropped import Dropped, write_dropped
from keju.building.ranking_items import make_ranking_items
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import tasks
from keju.errors import DataError, UsageError, unknown_name
from keju.items import Item
from keju.texts import _, n_


class RetrievalSetSettings(Settings, frozen=True):
    """The task, and the numbers of classes and crops."""

    task: Annotated[
        str,
        Meta(
            description="The task of the items, one whose candidates are crops of classes; by "
            "default the first of them. See: keju tasks"
        ),
    ] = ""
    classes: Annotated[
        int, Meta(description="Number of classes with queries, at random; 0: all.", ge=0)
    ] = 0
    references: Annotated[
        int, Meta(description="Crops of each class in the gallery.", ge=1, le=50)
    ] = 1
    queries: Annotated[int, Meta(description="Query crops of each class.", ge=1)] = 4
    distractors: Annotated[
        int, Meta(description="Additional crops of classes without queries.", ge=0)
    ] = 0


def make_retrieval_sets(context: StepContext, settings: RetrievalSetSettings) -> None:
    """Make queries from crops of each class against references of all classes and distractors.

    Raises:
        UsageError: more classes are requested than there are.
        DataError: fewer than two classes have enough crops, or there are too few distractors.
    """
    items = context.items()
    every = group_by_class(items)
    task_id = _choose_task(settings.task)
    needed = settings.references + settings.queries
    enough = {name: crops for name, crops in every.items() if len(crops) >= needed}
    if len(enough) < 2:
        raise DataError(
            n_(
                "{n:,} class has {} crops or more, but two classes are required",
                "{n:,} classes have {} crops or more, but two classes are required",
                len(enough),
                needed,
                hint="Lower references or queries",
            )
        )
    asked = sample_classes(enough, settings.classes, context.rng("classes"))
    parts = {name: _shuffle(context, name, crops) for name, crops in asked.items()}
    references = [crop for crops in parts.values() for crop in crops[: settings.references]]
    gallery = references + _draw_distractors(context, settings, every, asked)
    order = context.rng("order").permutation(len(gallery))
    gallery = [gallery[int(place)] for place in order]
    queries = [crop for crops in parts.values() for crop in crops[settings.references : needed]]
    for query in queries:
        _ask(context, task_id, query, items[query.place], gallery)
    left = [Dropped(name, f"fewer than {needed} crops") for name in every if name not in enough]
    write_dropped(context.out, left)
    distractors = len(gallery) - len(references)
    context.note(
        _(
            "{} queries of {} classes with {} candidates, {} of them distractors",
            len(queries),
            len(asked),
            len(gallery),
            distractors,
        )
    )


STEP = Step(
    "retrieval-sets",
    "Make classification or retrieval questions from crops of characters.",
    RetrievalSetSettings,
    make_retrieval_sets,
)


def _choose_task(name: str) -> str:
    """Choose the task of that name, or the first one whose candidates are crops of classes.

    Raises:
        UsageError: it is not such a task.
    """
    known = [each.id for each in tasks() if each.candidates == "classes"]
    if name and name not in known:
        raise UsageError(unknown_name(name, known, "task with candidates of classes"))
    return name or known[0]


def _shuffle(context: StepContext, name: str, crops: Sequence[Crop]) -> list[Crop]:
    return [crops[int(place)] for place in context.rng("crops", name).permutation(len(crops))]


def _draw_distractors(
    context: StepContext, settings: RetrievalSetSettings, every: Classes, asked: Classes
) -> list[Crop]:
    others = [crop for name, crops in every.items() if name not in asked for crop in crops]
    if len(others) < settings.distractors:
        raise DataError(
            "{} distractors are requested, but the classes without queries have {} crops",
            settings.distractors,
            len(others),
            hint="Lower distractors, or use fewer classes with queries",
        )
    return _shuffle(context, "distractors", others)[: settings.distractors]


def _ask(
    context: StepContext, task_id: str, query: Crop, source: Item, gallery: Sequence[Crop]
) -> None:
    for item in make_ranking_items(
        source.id,
        task_id,
        (query.ref, [crop.ref for crop in gallery]),
        [place for place, crop in enumerate(gallery, 1) if crop.name == query.name],
        group=query.name,
        metadata={"source": "crops", **source.metadata, "class": query.name},
    ):
        context.keep(replace(item, provenance=source.provenance), note=f"of class {query.name}")
