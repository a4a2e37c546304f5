"""Steps ``measure`` and ``filter``: measure images and texts, and drop items beyond limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from keju.building.filtering.limits import (
    UNKNOWN,
    FilterSettings,
    LimitViolation,
    MeasureSettings,
    find_violations,
    list_limits,
)
from keju.building.filtering.pictures import ImageMeasures, ImageToMeasure, measure_image
from keju.building.filtering.report import (
    FILE,
    Distribution,
    Quality,
    compute_distributions,
    render_quality_report,
)
from keju.building.filtering.texts import (
    TextMeasures,
    collect_texts,
    measure_texts,
    read_words,
)
from keju.building.markdown import format_cell
from keju.building.step import Step
from keju.building.step_context import StepContext
from keju.building.worker_encoders import encode_images
from keju.definitions import query_of
from keju.errors import UsageError, unknown_name
from keju.files import write_atomic
from keju.items import Item
from keju.texts import _, n_

_CHUNK = 2048
"""Items whose texts are measured at a time."""

_Find = Callable[[Item, TextMeasures], list[LimitViolation]]


class ListedWords(Struct, frozen=True):
    """An item that contains listed words."""

    item: str
    task: str
    words: str


def measure_items(context: StepContext, settings: MeasureSettings) -> None:
    """Keep every item, with tables of measures and a report beside them.

    Raises:
        UsageError: the list of words cannot be read.
    """
    pictures = _measure_pictures(context)
    quality = Quality(pictures)
    context.table("texts", _measure_texts(context, settings, quality), TextMeasures)
    for item in context.iter_items():
        context.keep(item)
    _report(context, quality)


def filter_items(context: StepContext, settings: FilterSettings) -> None:
    """Drop items that exceed a limit, each listed with the measure, the value and the limit.

    Raises:
        UsageError: the list of words cannot be read, or no item is of a task that was named.
        DataError: no item would be left.
    """
    known = set(context.dataset.manifest.tasks)
    for name in settings.tasks:
        if name not in known:
            raise UsageError(unknown_name(name, sorted(known), "task"))
    pictures, limits = _measure_pictures(context), list_limits(settings)
    quality = Quality(pictures)

    def find(item: Item, text: TextMeasures) -> list[LimitViolation]:
        if settings.tasks and item.task not in settings.tasks:
            return []
        broken = list(find_violations(item, limits, pictures, text))
        if settings.drop_listed and text.listed:
            broken.append(LimitViolation(item.id, item.task, "listed", 1.0, "no listed word",
                                note=text.listed))  # fmt: skip
        return broken

    context.table("texts", _measure_texts(context, settings, quality, find), TextMeasures)
    gone = {fault.item for fault in quality.faults}
    quality.dropped = len(gone)
    for item in context.iter_items():
        if item.id not in gone:
            context.keep(item)
    _report(context, quality)


MEASURE = Step("measure", "Measure images and texts; write tables and a report.", MeasureSettings,
               measure_items)  # fmt: skip
FILTER = Step("filter", "Drop items beyond limits: blurred, blank, damaged, repetitive …",
              FilterSettings, filter_items)  # fmt: skip


def _measure_pictures(context: StepContext) -> dict[str, ImageMeasures]:
    """Measure every image once, by its path."""
    if not context.dataset.manifest.images:
        return {}
    refs = {ref.path: ref for item in context.dataset for ref in item.images}
    rows = [ImageToMeasure(path, context.image_name(ref)) for path, ref in refs.items()]
    measure = partial(measure_image, images=context.image_files())
    seen = context.engine.map("pictures", rows, measure, ImageMeasures)
    return {
        row.path: (measures if measures.path else ImageMeasures(row.path, error=measures.error))
        for row, measures in zip(rows, seen, strict=True)
    }


def _measure_texts(
    context: StepContext, settings: MeasureSettings, quality: Quality, find: _Find | None = None
) -> Iterator[TextMeasures]:
    """Yield the measures of each item's texts, and add them and its violations to `quality`."""
    words = partial(measure_texts, words=dict(read_words(settings.words)))
    matches: dict[str, float] = {}
    if settings.clip:
        matches = compute_matches(context, context.dataset, settings.clip)
    else:
        context.note(_("image-text match: unscored, because no CLIP weights are given (clip)"))
    texts = map(collect_texts, context.dataset)
    found = context.engine.iter_map("texts", texts, words, TextMeasures, chunk=_CHUNK)
    for item, measures in zip(context.dataset, found, strict=True):
        match = matches.get(measures.item, UNKNOWN)
        text = replace(measures, match=match) if settings.clip else measures
        quality.add(item, text)
        if find:
            quality.faults += find(item, text)
        yield text


def _report(context: StepContext, quality: Quality) -> None:
    listed = [ListedWords(text.item, text.task, text.listed) for text in quality.listed]
    context.table("pictures", list(quality.pictures.values()), ImageMeasures)
    distributions = compute_distributions(quality)
    context.table("distributions", distributions, Distribution)
    context.table("dropped", quality.faults, LimitViolation)
    context.table("listed", listed, ListedWords)
    name = format_cell(context.dataset.manifest.name)
    report = render_quality_report(quality, distributions, name)
    write_atomic(context.out / FILE, report + "\n")
    context.note(
        _(
            "{} and {} measured, {} dropped; see {} for distributions and the worst items",
            n_("{n:,} item", "{n:,} items", quality.items),
            n_("{n:,} image", "{n:,} images", len(quality.pictures)),
            n_("{n:,} item", "{n:,} items", quality.dropped),
            FILE,
        )
    )
    if listed:
        context.note(
            n_(
                "{n:,} item contains listed words; review them (tables/listed)",
                "{n:,} items contain listed words; review them (tables/listed)",
                len(listed),
            )
        )


_BATCH = 64


def compute_matches(context: StepContext, items: Iterable[Item], clip: Path) -> dict[str, float]:
    """Compute the cosine of an item's first image and its answer, by the item's id.

    Only of items with a text about an image: a letter or a transcription does not describe what an
    image looks like.

    Raises:
        DataError: the weights or an image cannot be read.
        PrerequisiteError: their packages are not installed.
    """
    asked = [item for item in items if _has_described_image(item)]
    pairs = [(item.images[0], item.answer) for item in asked]
    values = encode_images(context, clip, pairs, batch=_BATCH)
    return {item.id: round(value, 4) for item, value in zip(asked, values.tolist(), strict=True)}


def _has_described_image(item: Item) -> bool:
    asked = item.split == "test" and bool(item.images) and bool(item.answer.strip())
    return asked and query_of(item).form == "text"
