"""Step ``galleries``: make ranking questions from crops of characters, with distractors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.crops import Classes, Crop, classes_of, sampled
from keju.building.ranking_items import ranking_items
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import tasks
from keju.errors import DataError, UsageError, unknown_name
from keju.messages import message


class GallerySettings(Settings, frozen=True):
    """Which gallery, with how many classes and crops."""

    task: Annotated[
        str,
        Meta(
            description="The task of the items, one whose candidates are crops of classes; by "
            "default the first of them. See: keju tasks"
        ),
    ] = ""
    classes: Annotated[int, Meta(description="Classes asked about, by lot; 0: all.", ge=0)] = 0
    references: Annotated[
        int, Meta(description="Crops of each class in the gallery.", ge=1, le=50)
    ] = 1
    queries: Annotated[int, Meta(description="Crops of each class asked about.", ge=1)] = 4
    distractors: Annotated[
        int, Meta(description="Crops of classes that nobody asks about.", ge=0)
    ] = 0


class Dropped(Struct, frozen=True):
    """A class that was dropped, and why."""

    name: str
    why: str


def make_galleries(context: StepContext, settings: GallerySettings) -> None:
    """Make queries from crops of each class against references of all classes and distractors.

    Raises:
        UsageError: more classes are requested than there are.
        DataError: fewer than two classes have enough crops, or there are too few distractors.
    """
    every = classes_of(context.items())
    task_id = _task(settings.task)
    needed = settings.references + settings.queries
    enough = {name: crops for name, crops in every.items() if len(crops) >= needed}
    if len(enough) < 2:
        raise DataError(
            message("building.too-few-gallery-classes", count=len(enough), needed=needed)
        )
    asked = sampled(enough, settings.classes, context.rng("classes"))
    parts = {name: _shuffled(context, name, crops) for name, crops in asked.items()}
    references = [crop for crops in parts.values() for crop in crops[: settings.references]]
    gallery = references + _distractors(context, settings, every, asked)
    order = context.rng("order").permutation(len(gallery))
    gallery = [gallery[int(place)] for place in order]
    queries = [crop for crops in parts.values() for crop in crops[settings.references : needed]]
    for query in queries:
        _ask(context, task_id, query, gallery)
    left = [Dropped(name, f"fewer than {needed} crops") for name in every if name not in enough]
    context.table("left-out", left, Dropped)
    strangers = len(gallery) - len(references)
    context.note(f"{len(queries)} queries of {len(asked)} classes against {len(gallery)} crops, "
               f"{strangers} of them distractors")  # fmt: skip


STEP = Step(
    "galleries",
    "Ask crops of characters against each other: classification or retrieval.",
    GallerySettings,
    make_galleries,
)


def _task(name: str) -> str:
    """The task of that name, or the first one whose candidates are crops of classes.

    Raises:
        UsageError: it is not such a task.
    """
    known = [each.id for each in tasks() if each.candidates == "classes"]
    if name and name not in known:
        raise UsageError(unknown_name(name, known, "task with candidates of classes"))
    return name or known[0]


def _shuffled(context: StepContext, name: str, crops: Sequence[Crop]) -> list[Crop]:
    return [crops[int(place)] for place in context.rng("crops", name).permutation(len(crops))]


def _distractors(
    context: StepContext, settings: GallerySettings, every: Classes, asked: Classes
) -> list[Crop]:
    others = [crop for name, crops in every.items() if name not in asked for crop in crops]
    if len(others) < settings.distractors:
        raise DataError(
            message(
                "building.too-few-distractors", distractors=settings.distractors, count=len(others)
            )
        )
    return _shuffled(context, "distractors", others)[: settings.distractors]


def _ask(context: StepContext, task_id: str, query: Crop, gallery: Sequence[Crop]) -> None:
    for item in ranking_items(
        query.item.id,
        task_id,
        (query.ref, [crop.ref for crop in gallery]),
        [place for place, crop in enumerate(gallery, 1) if crop.name == query.name],
        group=query.name,
        metadata={"source": "crops", **query.item.metadata, "class": query.name},
    ):
        context.keep(replace(item, provenance=query.item.provenance), note=f"of class {query.name}")
