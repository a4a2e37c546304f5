"""Steps ``measure`` and ``filter``: measure images and texts, and drop items beyond limits."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from keju.building.filtering.limits import (
    UNKNOWN,
    Fault,
    FilterSettings,
    MeasureSettings,
    faults_of,
    limits_of,
)
from keju.building.filtering.matching import matches_of
from keju.building.filtering.pictures import PictureMeasures, Seen, measure_picture
from keju.building.filtering.report import FILE, Quality, Spread, quality_report, spreads
from keju.building.filtering.texts import TextMeasures, measure_texts, read_words, said_by
from keju.building.markdown import cell
from keju.building.step import Step
from keju.building.step_context import StepContext
from keju.errors import UsageError, number_of, unknown_name
from keju.files import write_atomic


class Listed(Struct, frozen=True):
    """An item that contains listed words."""

    item: str
    task: str
    words: str


class _Measured(NamedTuple):
    pictures: dict[str, PictureMeasures]
    texts: dict[str, TextMeasures]


def measure(context: StepContext, settings: MeasureSettings) -> None:
    """Keep every item, with tables of measures and a report beside them.

    Raises:
        UsageError: the list of words cannot be read.
    """
    found = _measure(context, settings)
    for item in context.items():
        context.keep(item)
    _report(context, found, [], 0)


def filter_(context: StepContext, settings: FilterSettings) -> None:
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
    found, limits = _measure(context, settings), limits_of(settings)
    faults: list[Fault] = []
    dropped = 0
    for item in items:
        text = found.texts[item.id]
        broken = list(faults_of(item, limits, found.pictures, text))
        if settings.drop_listed and text.listed:
            broken.append(Fault(item.id, item.task, "listed", 1.0, "no listed word",
                                note=text.listed))  # fmt: skip
        if broken and (not settings.tasks or item.task in settings.tasks):
            faults += broken
            dropped += 1
        else:
            context.keep(item)
    _report(context, found, faults, dropped)


MEASURE = Step("measure", "Measure pictures and texts: tables and a report.", MeasureSettings,
               measure)  # fmt: skip
FILTER = Step("filter", "Drop blurred, blank, damaged, looping … items beyond limits.",
              FilterSettings, filter_)  # fmt: skip


def _measure(context: StepContext, settings: MeasureSettings) -> _Measured:
    items = context.items()
    refs = {ref.path: ref for item in items for ref in item.images}
    rows = [Seen(path, str(context.image_path(ref))) for path, ref in refs.items()]
    seen = context.engine.map("pictures", rows, measure_picture, PictureMeasures)
    words = partial(measure_texts, words=dict(read_words(settings.words)))
    texts = context.engine.map("texts", [said_by(item) for item in items], words, TextMeasures)
    if settings.clip:
        matches = matches_of(context, items, settings.clip)
        texts = [replace(text, match=matches.get(text.item, UNKNOWN)) for text in texts]
    else:
        context.note("image-text match: unscored, no CLIP weights were given (clip)")
    pictures = {
        row.path: (measures if measures.path else PictureMeasures(row.path, error=measures.error))
        for row, measures in zip(rows, seen, strict=True)
    }
    return _Measured(pictures, {item.id: text for item, text in zip(items, texts, strict=True)})


def _report(context: StepContext, found: _Measured, faults: list[Fault], dropped: int) -> None:
    pictures, texts = list(found.pictures.values()), list(found.texts.values())
    quality = Quality(context.items(), pictures, texts, faults, dropped)
    listed = [Listed(text.item, text.task, text.listed) for text in texts if text.listed]
    context.table("pictures", pictures, PictureMeasures)
    context.table("texts", texts, TextMeasures)
    context.table("distributions", spreads(quality), Spread)
    context.table("dropped", faults, Fault)
    context.table("listed", listed, Listed)
    name = cell(context.given.manifest.name)
    write_atomic(context.out / FILE, quality_report(quality, name) + "\n")
    context.note(
        f"{number_of(len(texts), 'item')} and {number_of(len(pictures), 'image')} measured, "
        f"{number_of(dropped, 'item')} dropped; {FILE} has the distributions and the worst of each"
    )
    if listed:
        context.note(
            f"{number_of(len(listed), 'item holds', 'items hold')} listed words "
            "(tables/listed): have them looked at"
        )
