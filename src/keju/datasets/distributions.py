"""Distributions of a dataset's items: the numbers of the papers' charts, as one table."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import polars as pl

from keju.definitions import has_reference, prompt_of, query_of, task
from keju.items import Item
from keju.texts import _

_LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_PIXELS = tuple(1000 * n for n in (0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000))
_RATIOS = (0, 0.1, 0.2, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 5, 10)
_SHARES = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_FEW = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def _letter(item: Item) -> list[str]:
    letter = has_reference(item) and not is_unasked(item) and query_of(item).form == "letter"
    return [item.answer] * letter


def is_unasked(item: Item) -> bool:
    """Whether an item is a labelled image of a pair task, which has no question."""
    return item.split == "reference" and task(item.task).of_pairs


def text_length(text: str | None) -> int:
    """Characters without white space."""
    return sum(not character.isspace() for character in text or "")


def _box_shares(item: Item) -> list[float]:
    if not item.images:
        return []
    area = max(1, item.images[0].width * item.images[0].height)
    return [(box.x1 - box.x0) * (box.y1 - box.y0) / area for box in item.boxes]


class _Quantity(NamedTuple):
    """A quantity of every item: its unit, and the lower ends of its bins."""

    unit: str
    bins: tuple[float, ...]
    values: Callable[[Item], Iterable[float]]


MEASURES: Mapping[str, _Quantity] = {
    "question": _Quantity(_("characters"), _LENGTHS, lambda item: (
        [] if is_unasked(item) else [text_length(prompt_of(item))])),
    "answer": _Quantity(_("characters"), _LENGTHS, lambda item: (
        [text_length(item.answer)] * has_reference(item))),
    "transcription": _Quantity(
        _("characters"), _LENGTHS, lambda item: [text_length(item.transcription)] * (
            item.transcription is not None)
    ),
    "pixels": _Quantity(_("pixels an image"), _PIXELS, lambda item: (
        ref.width * ref.height for ref in item.images)),
    "aspect": _Quantity(_("width / height"), _RATIOS, lambda item: (
        ref.width / max(1, ref.height) for ref in item.images)),
    "images": _Quantity(_("an item"), _FEW, lambda item: [len(item.images)]),
    "options": _Quantity(_("an item"), _FEW, lambda item: [len(item.options)] * bool(item.options)),
    "lines": _Quantity(_("an item"), _FEW, lambda item: [len(item.lines)] * bool(item.lines)),
    "boxes": _Quantity(_("an item"), _FEW, lambda item: [len(item.boxes)] * bool(item.boxes)),
    "box": _Quantity(_("share of the image"), _SHARES, _box_shares),
}  # fmt: skip

_WORDS: Mapping[str, Callable[[Item], Iterable[str]]] = {
    "task": lambda item: [item.task],
    "format": lambda item: [task(item.task).format],
    "letter": _letter,
    "split": lambda item: [item.split],
    "draft": lambda item: ["draft" if item.draft else "accepted"],
}
"""The categorical values of every item. ``letter`` is the right one of multiple choice: all letters
should be about equally frequent."""


def distributions(items: Iterable[Item]) -> pl.DataFrame:
    """Counts by bin and by category, one row each; no image is read.

    Columns: `measure`, `unit`, `name` (the bin, or the category), `low` (the bin's lower end,
    inclusive) and `high` (its upper end, exclusive; null for the last bin and for categories), and
    `count`. Lengths are in characters without white space. ``group`` counts groups by their number
    of items. Empty bins between full ones are rows too.
    """
    bins: dict[str, Counter[int]] = {name: Counter() for name in MEASURES}
    words: dict[str, Counter[str]] = {name: Counter() for name in _WORDS}
    groups: Counter[str] = Counter()
    for item in items:
        for name, measured in MEASURES.items():
            bins[name].update(_bin_of(value, measured.bins) for value in measured.values(item))
        for name, say in _WORDS.items():
            words[name].update(say(item))
        if item.group:
            groups[item.group] += 1
    rows: list[dict[str, object]] = []
    for name, measured in MEASURES.items():
        rows += _binned(name, measured.unit, measured.bins, bins[name])
    sizes = Counter(_bin_of(size, _FEW) for size in groups.values())
    rows += _binned("group", _("items a group"), _FEW, sizes)
    for name, counts in words.items():
        rows += [
            {"measure": name, "unit": "items", "name": word, "count": count}
            for word, count in (counts.items() if name == "task" else sorted(counts.items()))
        ]
    schema = {
        "measure": pl.String, "unit": pl.String, "name": pl.String,
        "low": pl.Float64, "high": pl.Float64, "count": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


class DistributionLine(NamedTuple):
    """A distribution in one line: its unit, and its bins or categories with their counts."""

    measure: str
    unit: str
    counts: str


def distribution_lines(frame: pl.DataFrame) -> list[DistributionLine]:
    """A line for each measure of `distributions`, without empty bins.

    Tasks have tables of their own.
    """
    return [
        DistributionLine(
            str(measure),
            str(unit),
            ", ".join(
                f"{name}: {count:,}"
                for name, count in zip(some["name"], some["count"], strict=True)
                if count
            ),
        )
        for (measure, unit), some in frame.group_by("measure", "unit", maintain_order=True)
        if measure != "task"
    ]


def _bin_of(value: float, bins: tuple[float, ...]) -> int:
    return max(0, bisect_right(bins, value) - 1)


def _binned(
    measure: str, unit: str, bins: tuple[float, ...], counts: Counter[int]
) -> list[dict[str, object]]:
    if not counts:
        return []
    rows = []
    for place in range(min(counts), max(counts) + 1):
        low, high = bins[place], bins[place + 1] if place + 1 < len(bins) else None
        name = f"{low:,.12g} and more" if high is None else f"{low:,.12g} to {high:,.12g}"
        rows.append(
            {"measure": measure, "unit": unit, "name": name, "low": float(low),
             "high": None if high is None else float(high), "count": counts[place]}
        )  # fmt: skip
    return rows
