"""The measures, each with its worse direction, and the limits of a filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from keju.building.filtering.pictures import ImageMeasures
from keju.building.filtering.texts import TextMeasures
from keju.building.step import Settings
from keju.items import Item

Worst = Literal["low", "high"]


class Measure(NamedTuple):
    """A measure: whether of images or texts, its worse direction, and its meaning."""

    of: Literal["picture", "text"]
    worst: Worst
    what: str


MEASURES: Mapping[str, Measure] = {
    "pixels": Measure("picture", "low", "width times height"),
    "short_side": Measure("picture", "low", "the shorter side, in pixels"),
    "aspect": Measure("picture", "high", "longer over shorter side"),
    "blur": Measure("picture", "high", "0 sharp, 1 without an edge"),
    "marked": Measure("picture", "low", "share that differs from the paper; 0 is blank"),
    "contrast": Measure("picture", "low", "between the 1st and 99th percentile of grey"),
    "brightness": Measure("picture", "low", "median grey, 1 is white"),
    "burnt": Measure("picture", "high", "share of pure white"),
    "black": Measure("picture", "high", "share of pure black"),
    "holes": Measure("picture", "high", "share in patches thicker than strokes"),
    "dark_edges": Measure("picture", "high", "share of the rim that is dark"),
    "question": Measure("text", "high", "characters of the question"),
    "answer": Measure("text", "low", "characters of the answer"),
    "transcription": Measure("text", "low", "characters of the transcription, where one is known"),
    "han": Measure("text", "low", "share of Han among the letters"),
    "modern": Measure("text", "high", "modern particles among modern and classical ones"),
    "gaps": Measure("text", "high", "share of signs for illegible characters"),
    "loops": Measure("text", "high", "share that repeats earlier text"),
    "match": Measure("text", "low", "cosine of image and answer, by CLIP"),
}
"""Every measure by its name; `UNKNOWN` values are excluded from distributions and limits."""

UNKNOWN = -1
"""The value of a text measure that cannot be determined."""

_Bound = Annotated[float, Meta(ge=0)]
Least = Annotated[_Bound | None, Meta(description="Minimum; no limit if unset.")]
Most = Annotated[_Bound | None, Meta(description="Maximum; no limit if unset.")]


class MeasureSettings(Settings, frozen=True):
    """Settings of measuring."""

    words: Annotated[
        Path | None,
        Meta(description="TOML file of words to search for, instead of keju's own short list."),
    ] = None
    clip: Annotated[
        Path | None,
        Meta(description="Directory of CLIP weights and tokenizer, to match images and answers."),
    ] = None


class FilterSettings(MeasureSettings, frozen=True):
    """The limits: ``min_`` and ``max_`` before the name of a measure."""

    tasks: Annotated[
        tuple[str, ...], Meta(description="Only items of these tasks can be dropped.")
    ] = ()
    drop_listed: Annotated[
        bool, Meta(description="Drop items that contain a listed word, instead of reporting them.")
    ] = False
    min_pixels: Annotated[Least, Meta(description="Of width times height, in pixels.")] = None
    min_short_side: Annotated[Least, Meta(description="Of the shorter side, in pixels.")] = 16
    max_aspect: Annotated[Most, Meta(description="Of the longer side by the shorter.")] = None
    max_blur: Annotated[Most, Meta(description="Of the blur: 0 sharp, 1 without an edge.")] = 0.6
    min_marked: Annotated[
        Least, Meta(description="Of the share that differs from the paper; 0 is blank.")
    ] = 0.002
    min_contrast: Annotated[Least, Meta(description="Of the contrast of grey values.")] = 0.12
    min_brightness: Annotated[
        Least, Meta(description="Of the brightness: median grey, 1 is white.")
    ] = None
    max_brightness: Annotated[
        Most, Meta(description="Of the brightness: median grey, 1 is white.")
    ] = None
    max_burnt: Annotated[Most, Meta(description="Of the share of pure white.")] = None
    max_black: Annotated[Most, Meta(description="Of the share of pure black.")] = None
    max_holes: Annotated[
        Most, Meta(description="Of the share in patches thicker than strokes.")
    ] = None
    max_dark_edges: Annotated[Most, Meta(description="Of the share of the rim that is dark.")] = (
        None
    )
    min_question: Annotated[Least, Meta(description="Of the characters of the question.")] = None
    max_question: Annotated[Most, Meta(description="Of the characters of the question.")] = None
    min_answer: Annotated[Least, Meta(description="Of the characters of the answer.")] = None
    max_answer: Annotated[Most, Meta(description="Of the characters of the answer.")] = None
    min_transcription: Annotated[
        Least, Meta(description="Of the characters of the transcription.")
    ] = None
    max_transcription: Annotated[
        Most, Meta(description="Of the characters of the transcription.")
    ] = None
    min_han: Annotated[Least, Meta(description="Of the share of Han among the letters.")] = None
    min_modern: Annotated[
        Least, Meta(description="Of the share of modern particles among all.")
    ] = None
    max_modern: Annotated[Most, Meta(description="Of the share of modern particles among all.")] = (
        None
    )
    max_gaps: Annotated[
        Most, Meta(description="Of the share of signs for illegible characters.")
    ] = None
    max_loops: Annotated[Most, Meta(description="Of the share that repeats earlier text.")] = 0.5
    min_match: Annotated[Least, Meta(description="Of the cosine of image and answer, by CLIP.")] = (
        None
    )


class LimitViolation(Struct, frozen=True):
    """The reason why an item was dropped: a measure, its value, the limit, and the image."""

    item: str
    task: str
    measure: str
    value: float
    limit: str
    image: str = ""
    note: str = ""


class Limit(NamedTuple):
    """One limit."""

    measure: str
    end: Literal["min", "max"]
    bound: float

    def is_exceeded_by(self, value: float) -> bool:
        """Return whether a value is beyond the limit."""
        if MEASURES[self.measure].of == "text" and value == UNKNOWN:
            return False
        return value < self.bound if self.end == "min" else value > self.bound

    @property
    def description(self) -> str:
        """The limit as a table shows it."""
        return f"{'at least' if self.end == 'min' else 'at most'} {self.bound:g}"


def list_limits(settings: FilterSettings) -> tuple[Limit, ...]:
    """List the limits that are set, in the order of the settings."""
    found = []
    for name in settings.__struct_fields__:
        end, _, measure = name.partition("_")
        bound = getattr(settings, name)
        if measure in MEASURES and bound is not None:
            found.append(Limit(measure, "min" if end == "min" else "max", float(bound)))
    return tuple(found)


def find_violations(
    item: Item,
    limits: Sequence[Limit],
    pictures: Mapping[str, ImageMeasures],
    text: TextMeasures,
) -> Iterator[LimitViolation]:
    """Find every limit that an item exceeds; of an item with several images, each counts."""
    for ref in item.images:
        seen = pictures[ref.path]
        if seen.error:
            yield LimitViolation(
                item.id, item.task, "unreadable", 0.0, "readable", ref.path, seen.error
            )
            continue
        for limit in limits:
            if MEASURES[limit.measure].of == "picture":
                value = float(getattr(seen, limit.measure))
                if limit.is_exceeded_by(value):
                    yield LimitViolation(
                        item.id, item.task, limit.measure, value, limit.description, ref.path
                    )
    for limit in limits:
        if MEASURES[limit.measure].of == "text":
            value = float(getattr(text, limit.measure))
            if limit.is_exceeded_by(value):
                yield LimitViolation(item.id, item.task, limit.measure, value, limit.description)
