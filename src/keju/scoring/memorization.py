"""Whether a model reads a page or recites the text that it knows.

A *control* is a page that differs from the known text: characters are altered, swapped or blanked
out, or the image is of another page. At each such place an answer can give the text on the page, or
the known text. The image does not contain the latter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from msgspec.structs import replace

from keju.extraction import read
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
    found = []
    for one, other in zip(counted[: len(here)], counted[len(here) :], strict=True):
        found += [_place(one, other, span) for span in _departures(one, other)]
    return found


def _departures(on_page: str, canonical: str) -> Iterator[Span]:
    """Stretches of an alignment that differ, joined with less than two characters between them."""
    spans = [span for span in align(canonical, on_page) if span.kind != "equal"]
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and span.reference_start - last.reference_end < 2:
            joined[-1] = Span(
                "substitute", last.reference_start, span.reference_end,
                last.hypothesis_start, span.hypothesis_end,
            )  # fmt: skip
        else:
            joined.append(span)
    yield from joined


def _place(on_page: str, canonical: str, span: Span) -> Place:
    before = on_page[max(0, span.hypothesis_start - _AROUND) : span.hypothesis_start]
    after = on_page[span.hypothesis_end : span.hypothesis_end + _AROUND]
    return Place(
        before + on_page[span.hypothesis_start : span.hypothesis_end] + after,
        before + canonical[span.reference_start : span.reference_end] + after,
        len(before + after),
    )


def place_outcome(place: Place, answer: str) -> Outcome:
    """The reading of a place in an answer that is counted alike, wherever in it that is."""
    read, recited = (
        partial_distance(place.on_page, answer),
        partial_distance(place.canonical, answer),
    )
    if min(read, recited) > _FOUND * place.around:
        return "missed"
    if read == recited:
        return "neither"
    return "read" if read < recited else "recited"


def place_outcomes(on_page: str, canonical: str, answer: str) -> list[Outcome]:
    """The readings of an answer at each place where the page differs from the known text."""
    counted = counted_alike([answer.replace("\n", "")])[0]
    return [place_outcome(place, counted) for place in altered_places(on_page, canonical)]


def page_outcome(on_page: str, canonical: str, answer: str) -> Outcome:
    """Which of two whole pages an answer is."""
    here, there, given = counted_alike([on_page, canonical, answer])
    read, recited = _alike(here, given), _alike(there, given)
    if max(read, recited) < _ALIKE:
        return "missed"
    if read == recited:
        return "neither"
    return "read" if read > recited else "recited"


def _alike(one: str, other: str) -> float:
    return 1 - distance(one, other) / max(len(one), len(other), 1)


class _ControlOutcome(NamedTuple):
    """One control's outcomes, and those of its unaltered page, where `recited` is a slip."""

    group: str
    outcomes: Counter[Outcome]
    unaltered: Counter[Outcome]


class _Counts(NamedTuple):
    """The outcomes of one model's answers by control: to the control, and to its original."""

    controls: dict[str, Counter[Outcome]]
    originals: dict[str, Counter[Outcome]]


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
    controls: dict[str, list[Item]] = {}
    """The controls that were made from an item."""
    for item in known.values():
        if item.metadata.get(CONTROL) and item.metadata.get(CONTROL_OF) in known:
            controls.setdefault(item.metadata[CONTROL_OF], []).append(item)
    rows: dict[tuple[str, PromptScript, str], _Counts] = {}
    for response in responses:
        if response.setting != "image" or response.round != 1 or response.item not in known:
            continue
        prompted = response.model, response.script, response.wording
        counts = rows.setdefault(prompted, _Counts({}, {}))
        item = known[response.item]
        original = known.get(item.metadata.get(CONTROL_OF, ""))
        if original and item.metadata.get(CONTROL):
            counts.controls[item.id] = _outcomes(item, original, response)
        for control in controls.get(item.id, ()):
            if control.metadata[CONTROL] != WRONG_PAGE:
                counts.originals[control.id] = _outcomes_of_original(item, control, response)
    results = []
    for (model, script, wording), counts in rows.items():
        kinds: dict[str, list[_ControlOutcome]] = {}
        for name, outcomes in counts.controls.items():
            group = get_group(known[known[name].metadata[CONTROL_OF]])
            outcome = _ControlOutcome(group, outcomes, counts.originals.get(name, Counter()))
            kinds.setdefault(known[name].metadata[CONTROL], []).append(outcome)
        results += [
            replace(_result(model, kind, outcomes), script=script, wording=wording)
            for kind, outcomes in kinds.items()
        ]
    adjusted = iter(holm([result.p for result in results if result.p is not None]))
    return [result if result.p is None else replace(result, p=next(adjusted)) for result in results]


def _outcomes(control: Item, original: Item, response: Response) -> Counter[Outcome]:
    answer = ScoringSample(control, response).answer or ""
    if control.metadata[CONTROL] == WRONG_PAGE:
        return Counter([_on_wrong_page(control, original, answer)])
    return Counter(place_outcomes(control.answer, original.answer, answer))


def _outcomes_of_original(original: Item, control: Item, response: Response) -> Counter[Outcome]:
    """The outcomes of an answer to the unaltered page, where `recited` is the altered reading."""
    text = "" if response.status in {"failed", "filtered"} else response.text
    page = read("transcription", text).value
    return Counter(place_outcomes(original.answer, control.answer, page))


def _on_wrong_page(item: Item, original: Item, answer: str) -> Outcome:
    """A transcription is one page or the other; any other answer is known or it is not."""
    if ScoringSample(item, _NOTHING).form == "transcription":
        return page_outcome(item.answer, original.answer, answer)
    if not answer.strip():
        return "missed"
    given, truth = counted_alike([answer, original.answer])
    return "recited" if given == truth else "neither"


_NOTHING = Response(key="", item="", model="", benchmark="", task="", status="empty")


def _result(model: str, kind: str, controls: list[_ControlOutcome]) -> MemorizationResult:
    sums = Counter[Outcome]()
    for control in controls:
        sums.update(control.outcomes)
    pairs = [control for control in controls if control.unaltered]
    groups = [control.group for control in pairs]
    recited = _ratio([control.outcomes for control in pairs], "recited", groups)
    slips = _ratio([control.unaltered for control in pairs], "recited", groups)
    parts = [as_columns([recited, slips])] if pairs else []
    outcomes = [control.outcomes for control in controls]
    groups = [control.group for control in controls]
    return MemorizationResult(
        model=model,
        kind=kind,
        items=len(controls),
        places=sums.total(),
        read=sums["read"],
        recited=sums["recited"],
        neither=sums["neither"],
        missed=sums["missed"],
        slips=sum(control.unaltered["recited"] for control in pairs),
        of=sum(control.unaltered.total() for control in pairs),
        reading=_ends(interval([_ratio(outcomes, "read", groups)])),
        reciting=_ends(interval([_ratio(outcomes, "recited", groups)])),
        excess=float(value_of(parts) @ (1, -1)) if parts else None,
        exceeding=_ends(difference_interval(parts, 0, 1)),
        p=paired_p(parts).get((0, 1)),
    )


def _ratio(counts: list[Counter[Outcome]], outcome: Outcome, groups: list[str]) -> Ratio:
    return ratio_of([each[outcome] for each in counts], [each.total() for each in counts], groups)


def _ends(found: Interval | None) -> tuple[float, float] | None:
    return found and (found.low, found.high)
