"""Whether a model reads a page or recites the text that it knows.

A *control* is a page that differs from the known text: characters are altered, swapped or blanked
out, or the image is of another page. At each such place an answer can give the text on the page, or
the known text. The image does not contain the latter.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, get_args

import polars as pl
from msgspec.structs import replace

from keju.definitions import query_of
from keju.items import Item, PromptScript, Record, Response, get_group
from keju.metrics import distance
from keju.metrics.alignment import Span, align, partial_distance
from keju.scoring.scoring_sample import ScoringSample
from keju.statistics import (
    LEVEL,
    Interval,
    Ratio,
    as_columns,
    difference_interval,
    holm,
    interval,
    paired_p,
    ratio_of,
    value_of,
)
from keju.text import counted_alike

CONTROL, CONTROL_OF = "control", "control_of"
"""Metadata of a control: its kind, and the id of the item that it was made from."""

WRONG_PAGE: Literal["wrong-page"] = "wrong-page"

Outcome = Literal["read", "recited", "neither", "missed"]
"""The text on the page; the known text; something else, or both elsewhere; not found."""

_AROUND = 4
"""Characters on either side by which a place is found in an answer."""

_FOUND = 0.4
"""A place is found where no more than this share of those characters must be edited."""

_ALIKE = 0.2
"""Two pages are taken for the same from this share of characters in common on."""


class Place(NamedTuple):
    """Both readings of a place where a page differs from the known text, with the same context."""

    on_page: str
    canonical: str
    around: int


class MemorizationResult(Record, frozen=True, kw_only=True):
    """The outcomes at the altered places of one model's controls of one kind.

    `slips` counts the places of the unaltered pages at which an answer has the altered reading:
    mere misreading makes as many, so only the excess of `recited` over it is recitation. `of` is
    the number of places that could have been slips. `excess` is the share of `recited` less that of
    `slips`, over the controls whose unaltered page was sent too. `p` is of the paired test that
    swaps the two within groups, adjusted (Holm) for all results of the run; None with too few
    groups. Intervals are of 95 %, by group (of the unaltered page).
    """

    model: str
    kind: str
    items: int
    places: int
    read: int
    recited: int
    neither: int
    missed: int
    slips: int = 0
    of: int = 0
    reading: tuple[float, float] | None = None
    reciting: tuple[float, float] | None = None
    excess: float | None = None
    exceeding: tuple[float, float] | None = None
    p: float | None = None
    script: PromptScript = "released"
    wording: str = "released"

    @property
    def recites(self) -> bool:
        """Whether more is recited than misreading and chance explain."""
        return self.p is not None and self.p <= LEVEL and (self.excess or 0) > 0


def altered_places(on_page: str, canonical: str) -> list[Place]:
    """The places where a page differs from the known text, line by line.

    Args:
        on_page: the text on the page, a line a column.
        canonical: the known text, in the same lines.
    """
    here, there = on_page.split("\n"), canonical.split("\n")
    if len(here) != len(there):
        here, there = ["".join(here)], ["".join(there)]
    counted = counted_alike([*here, *there])
    places = []
    for page_line, known_line in zip(counted[: len(here)], counted[len(here) :], strict=True):
        for span in _departures(page_line, known_line):
            start, end = span.hypothesis_start, span.hypothesis_end
            before, after = page_line[max(0, start - _AROUND) : start], page_line[end:][:_AROUND]
            readings = page_line[start:end], known_line[span.reference_start : span.reference_end]
            page, known = (before + reading + after for reading in readings)
            places.append(Place(page, known, len(before + after)))
    return places


def _departures(on_page: str, canonical: str) -> list[Span]:
    """Stretches of an alignment that differ, joined with less than two characters between them."""
    joined: list[Span] = []
    for span in align(canonical, on_page):
        if span.kind != "equal":
            near = joined and span.reference_start - joined[-1].reference_end < 2
            first = joined.pop() if near else span
            joined.append(first._replace(
                reference_end=span.reference_end, hypothesis_end=span.hypothesis_end
            ))  # fmt: skip
    return joined


def place_outcome(place: Place, answer: str) -> Outcome:
    """The reading of a place in an answer that is counted alike, wherever in it that is."""
    read = partial_distance(place.on_page, answer)
    recited = partial_distance(place.canonical, answer)
    return _nearer(read, recited, most=_FOUND * place.around)


def place_outcomes(on_page: str, canonical: str, answer: str) -> list[Outcome]:
    """The readings of an answer at each place where the page differs from the known text."""
    counted = counted_alike([answer.replace("\n", "")])[0]
    return [place_outcome(place, counted) for place in altered_places(on_page, canonical)]


def page_outcome(on_page: str, canonical: str, answer: str) -> Outcome:
    """Which of two whole pages an answer is."""
    *pages, text = counted_alike([on_page, canonical, answer])
    read, recited = (distance(page, text) / max(len(page), len(text), 1) for page in pages)
    return _nearer(read, recited, most=1 - _ALIKE)


def _nearer(read: float, recited: float, *, most: float) -> Outcome:
    if min(read, recited) > most:
        return "missed"
    if read == recited:
        return "neither"
    return "read" if read < recited else "recited"


_PROMPT = ("model", "script", "wording", "kind")
_COUNTS = get_args(Outcome)


def measure_memorization(
    items: Iterable[Item], responses: Iterable[Response]
) -> list[MemorizationResult]:
    """Count, for each model and kind of control, what was read and what recited.

    Args:
        items: controls and what they were made from.
        responses: to them, in any order; of several settings and rounds only the first round to the
            image counts, and a failed one counts as nothing found. Only counts stay in memory.

    Returns:
        One record a model, prompt (script and wording) and kind, in order of appearance. A control
        whose original is not among the items is skipped.
    """
    known = {item.id: item for item in items}
    controls: dict[str, list[Item]] = defaultdict(list)
    """The controls that were made from an item."""
    for item in known.values():
        if item.metadata.get(CONTROL) and item.metadata.get(CONTROL_OF) in known:
            controls[item.metadata[CONTROL_OF]].append(item)
    counts = []
    for response in responses:
        if response.setting != "image" or response.round != 1 or response.item not in known:
            continue
        page = known[response.item]
        original = known.get(page.metadata.get(CONTROL_OF, ""))
        # The response is to a control, or to the unaltered page of some controls.
        for control in [page] if original else controls[page.id]:
            kind = control.metadata.get(CONTROL, "")
            if not kind or (not original and kind == WRONG_PAGE):
                continue
            answer = ScoringSample(page, response).answer or ""
            outcomes = Counter(_outcomes(page, original or control, answer, kind))
            prompt = (response.model, response.script, response.wording, kind)
            group, places = get_group(original or page), outcomes.total()
            numbers = (outcomes[outcome] for outcome in _COUNTS)
            counts.append((*prompt, control.id, group, bool(original), places, *numbers))
    columns = [*_PROMPT, "control", "group", "is_altered", "places", *_COUNTS]
    by_prompt = pl.DataFrame(counts, columns, orient="row").partition_by(*_PROMPT, as_dict=True)
    results = []
    for names, rows in by_prompt.items():
        with_places = rows.filter(pl.col("places") > 0)
        if with_places["is_altered"].any():
            # As the same objects as the defaults, which are not stored.
            about = dict(zip(_PROMPT, map(sys.intern, names), strict=True))
            results.append(_result(with_places, about))
    adjusted = iter(holm([result.p for result in results if result.p is not None]))
    return [result if result.p is None else replace(result, p=next(adjusted)) for result in results]


def _outcomes(page: Item, known: Item, answer: str, kind: str) -> list[Outcome]:
    """The outcomes of an answer at the places where its page differs from a known one.

    Of another page, a transcription is one page or the other; any other answer is known or it is
    not.
    """
    if kind != WRONG_PAGE:
        return place_outcomes(page.answer, known.answer, answer)
    if query_of(page).form == "transcription":
        return [page_outcome(page.answer, known.answer, answer)]
    if not answer.strip():
        return ["missed"]
    counted_answer, counted_known = counted_alike([answer, known.answer])
    return ["recited" if counted_answer == counted_known else "neither"]


def _result(rows: pl.DataFrame, about: dict[str, Any]) -> MemorizationResult:
    """The result of the counts of each control, and of its unaltered page, where it has them."""
    controls, unaltered = rows.filter("is_altered"), rows.filter(~pl.col("is_altered"))
    paired = controls.join(unaltered, on="control", suffix="_unaltered", maintain_order="left")

    def share(outcome: str, own: pl.DataFrame, suffix: str = "") -> Ratio:
        columns = (f"{outcome}{suffix}", f"places{suffix}", "group")
        return ratio_of(*(own[column].to_list() for column in columns))

    slips = share("recited", paired, "_unaltered")
    parts = [as_columns([share("recited", paired), slips])] if len(paired) else []
    return MemorizationResult(
        **about,
        items=len(controls),
        **controls.select(pl.col("places", *_COUNTS).sum()).row(0, named=True),
        slips=int(paired["recited_unaltered"].sum()),
        of=int(paired["places_unaltered"].sum()),
        reading=_ends(interval([share("read", controls)])),
        reciting=_ends(interval([share("recited", controls)])),
        excess=float(value_of(parts) @ (1, -1)) if parts else None,
        exceeding=_ends(difference_interval(parts, 0, 1)),
        p=paired_p(parts).get((0, 1)),
    )


def _ends(bounds: Interval | None) -> tuple[float, float] | None:
    return bounds and (bounds.low, bounds.high)
