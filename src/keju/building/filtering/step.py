"""Steps ``measure`` and ``filter``: measure images and texts, and drop items beyond limits."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

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
from keju.building.filtering.matching import compute_matches
from keju.building.filtering.pictures import ImageMeasures, ImageToMeasure, measure_image
from keju.building.filtering.report import (
    FILE,
    Distribution,
    Quality,
    compute_distributions,
    render_quality_report,
)
from keju.building.filtering.texts import TextMeasures, collect_texts, measure_texts, read_words
from keju.building.markdown import format_cell
from keju.building.step import Step
from keju.building.step_context import StepContext
from keju.errors import UsageError, number_of, unknown_name
from keju.files import write_atomic


class ListedWords(Struct, frozen=True):
    """An item that contains listed words."""

    item: str
    task: str
    words: str


class _Measurements(NamedTuple):
    pictures: dict[str, ImageMeasures]
    texts: dict[str, TextMeasures]


def measure_items(context: StepContext, settings: MeasureSettings) -> None:
    """Keep every item, with tables of measures and a report beside them.

    Raises:
        UsageError: the list of words cannot be read.
    """
    found = _measure(context, settings)
    for item in context.items():
        context.keep(item)
    _report(context, found, [], 0)


def filter_items(context: StepContext, settings: FilterSettings) -> None:
    """Drop items that exceed a limit, each listed with the measure, the value and the limit.

    Raises:
        UsageError: the list of words cannot be read, or no item is of a task that was named.
        DataError: no item would be left.
    """
    items = context.items()
    known = {item.task for item in items}
    for name in settings.tasks:
        if name not in known:
            raise UsageError(unknown_name(name, sorted(known), "task"))
    found, limits = _measure(context, settings), list_limits(settings)
    faults: list[LimitViolation] = []
    dropped = 0
    for item in items:
        text = found.texts[item.id]
        broken = list(find_violations(item, limits, found.pictures, text))
        if settings.drop_listed and text.listed:
            broken.append(LimitViolation(item.id, item.task, "listed", 1.0, "no listed word",
                                note=text.listed))  # fmt: skip
        if broken and (not settings.tasks or item.task in settings.tasks):
            faults += broken
            dropped += 1
        else:
            context.keep(item)
    _report(context, found, faults, dropped)


MEASURE = Step("measure", "Measure images and texts; write tables and a report.", MeasureSettings,
               measure_items)  # fmt: skip
FILTER = Step("filter", "Drop items beyond limits: blurred, blank, damaged, repetitive …",
              FilterSettings, filter_items)  # fmt: skip


def _measure(context: StepContext, settings: MeasureSettings) -> _Measurements:
    items = context.items()
    refs = {ref.path: ref for item in items for ref in item.images}
    rows = [ImageToMeasure(path, str(context.image_path(ref))) for path, ref in refs.items()]
    seen = context.engine.map("pictures", rows, measure_image, ImageMeasures)
    words = partial(measure_texts, words=dict(read_words(settings.words)))
    texts = context.engine.map(
        "texts", [collect_texts(item) for item in items], words, TextMeasures
    )
    if settings.clip:
        matches = compute_matches(context, items, settings.clip)
        texts = [replace(text, match=matches.get(text.item, UNKNOWN)) for text in texts]
    else:
        context.note("image-text match: unscored, because no CLIP weights are given (clip)")
    pictures = {
        row.path: (measures if measures.path else ImageMeasures(row.path, error=measures.error))
        for row, measures in zip(rows, seen, strict=True)
    }
    return _Measurements(pictures, {item.id: text for item, text in zip(items, texts, strict=True)})


def _report(
    context: StepContext, found: _Measurements, faults: list[LimitViolation], dropped: int
) -> None:
    pictures, texts = list(found.pictures.values()), list(found.texts.values())
    quality = Quality(context.items(), pictures, texts, faults, dropped)
    listed = [ListedWords(text.item, text.task, text.listed) for text in texts if text.listed]
    context.table("pictures", pictures, ImageMeasures)
    context.table("texts", texts, TextMeasures)
    context.table("distributions", compute_distributions(quality), Distribution)
    context.table("dropped", faults, LimitViolation)
    context.table("listed", listed, ListedWords)
    name = format_cell(context.given.manifest.name)
    write_atomic(context.out / FILE, render_quality_report(quality, name) + "\n")
    context.note(
        f"{number_of(len(texts), 'item')} and {number_of(len(pictures), 'image')} measured, "
        f"{number_of(dropped, 'item')} dropped; see {FILE} for distributions and the worst items"
    )
    if listed:
        context.note(
            f"{number_of(len(listed), 'item contains', 'items contain')} listed words; "
            "review them (tables/listed)"
        )
