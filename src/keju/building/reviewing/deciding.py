"""Merge several people's verdicts about an item into one decision, or into a dispute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from keju.building.reviewing.one_text import mended_item
from keju.building.reviewing.verdicts import Decision, Verdict
from keju.items import Box, Item
from keju.metrics import UndefinedMetricError, distance
from keju.metrics.boxes import match_boxes
from keju.statistics import Measure, krippendorff_alpha

State = Literal["accepted", "mended", "rejected", "disputed", "open", "marked low"]
"""Decided in one of three ways; people disagree; too few verdicts; accepted, but with too low
marks."""

_STATES: Mapping[Decision, State] = {"accept": "accepted", "mend": "mended", "reject": "rejected"}


class Outcome(NamedTuple):
    """The result for an item: its current form, who decided, and why."""

    item: Item
    state: State
    persons: tuple[str, ...]
    note: str


class Disagreement(Struct, frozen=True):
    """The verdicts of two people about an item where they differ, for a third to decide.

    `field` is ``decision``, a field of the item, or a scale as ``mark: correct``.
    """

    item: str
    field: str
    person: str
    says: str
    other: str
    other_says: str


class AgreementRow(Struct, frozen=True):
    """Agreement between people.

    `what` is ``decision`` (alike: the share of items with one decision; alpha: Krippendorff's,
    nominal), ``answer`` and ``transcription`` (alike: characters in common, one less the edit
    distance by the longer text), ``boxes`` (alike: mean IoU of the best matching) or a scale as
    ``mark: correct`` (alike: the share of items that all mark the same; alpha: ordinal). Texts and
    boxes are those of the item after each verdict; compared by pairs of people.
    """

    what: str
    persons: str
    items: int
    alike: float | None
    alpha: float | None = None


def decide(item: Item, said: Mapping[str, Verdict], *, need: int, judge: str = "") -> Outcome:
    """Merge verdicts into one decision.

    The most frequent verdict decides if it has more than half of the votes and at least `need`;
    corrections are the same if their content is. A judge's verdict decides alone. Whoever corrects
    an item vouches for it, so a corrected item is not a draft any more; a rejected or disputed one
    is.

    Args:
        item: the reviewed item.
        said: each person's last verdict, at least one.
        need: the minimum number of equal verdicts.
        judge: the person whose verdict decides; empty for nobody.
    """
    if judge in said:
        return _settled(item, said[judge], (judge,))
    voices = Counter(essence(verdict) for verdict in said.values())
    most, count = voices.most_common(1)[0]
    if count >= need and 2 * count > len(said):
        alike = {name: verdict for name, verdict in said.items() if essence(verdict) == most}
        return _settled(item, next(iter(alike.values())), tuple(alike))
    state: State = "disputed" if len(voices) > 1 else "open"
    return Outcome(replace(item, draft=True), state, tuple(said), f"{state} by review")


def essence(verdict: Verdict) -> tuple[str, bytes]:
    """The content by which two verdicts are the same: the decision, and the corrections."""
    return verdict.decision, msgspec.json.encode(verdict.mended, order="deterministic")


def _settled(item: Item, verdict: Verdict, persons: tuple[str, ...]) -> Outcome:
    state = _STATES[verdict.decision]
    fields = ", ".join(verdict.mended.fields())
    note = ": ".join(part for part in (state, fields) if part)
    if verdict.reason:
        note = f"{note} ({verdict.reason})"
    after = mended_item(item, verdict)
    if item.lines and not after.lines:
        note += "; lines left out, as the text has others now"
    return Outcome(replace(after, draft=state == "rejected"), state, persons, note)


def mean_marks(said: Mapping[str, Verdict], judge: str = "") -> dict[str, float]:
    """The mean mark of an item on each scale; where the judge gave a mark, the judge's."""
    marks: dict[str, list[int]] = {}
    for verdict in said.values():
        for scale, mark in verdict.marks.items():
            marks.setdefault(scale, []).append(mark)
    own = said[judge].marks if judge in said else {}
    return {scale: float(own.get(scale, fmean(given))) for scale, given in marks.items()}


def held_to(outcome: Outcome, marks: Mapping[str, float], least: float) -> Outcome:
    """The outcome, but ``marked low`` and a draft if an accepted item has a mark below `least`."""
    low = [f"{scale} {mark:.3g}" for scale, mark in marks.items() if mark < least]
    if not low or outcome.item.draft:
        return outcome
    note = f"{outcome.note}; marked below {least:g}: {', '.join(low)}"
    return outcome._replace(item=replace(outcome.item, draft=True), state="marked low", note=note)


def disagreements(item: Item, said: Mapping[str, Verdict]) -> Iterator[Disagreement]:
    """The disagreements of any two people about an item: marks, the decision, or the result."""
    for (one, a), (other, b) in combinations(said.items(), 2):
        for scale, mark in a.marks.items():
            if b.marks.get(scale, mark) != mark:
                theirs = str(b.marks[scale])
                yield Disagreement(item.id, _mark(scale), one, str(mark), other, theirs)
        if a.decision != b.decision and "reject" in {a.decision, b.decision}:
            yield Disagreement(item.id, "decision", one, _words(a), other, _words(b))
            continue
        left, right = mended_item(item, a), mended_item(item, b)
        for name in sorted(set(a.mended.fields()) | set(b.mended.fields())):
            mine, theirs = getattr(left, name), getattr(right, name)
            if mine != theirs:
                yield Disagreement(item.id, name, one, _shown(mine), other, _shown(theirs))


def _mark(scale: str) -> str:
    return f"mark: {scale}"


def _words(verdict: Verdict) -> str:
    return f"{verdict.decision}: {verdict.reason}" if verdict.reason else verdict.decision


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def agreement(
    items: Mapping[str, Item], said: Mapping[str, Mapping[str, Verdict]]
) -> Iterator[AgreementRow]:
    """Agreement between people about the items that two or more have reviewed."""
    both = {name: of for name, of in said.items() if len(of) > 1}
    if not both:
        return
    persons = list(dict.fromkeys(name for of in both.values() for name in of))
    decisions = [[of[name].decision if name in of else None for of in both.values()]
                 for name in persons]  # fmt: skip
    same = sum(len({verdict.decision for verdict in of.values()}) == 1 for of in both.values())
    yield AgreementRow(
        "decision", ", ".join(persons), len(both), same / len(both), _alpha(decisions, "nominal")
    )
    yield from _marks_alike(both)
    for one, other in combinations(persons, 2):
        pairs = [(mended_item(items[name], of[one]), mended_item(items[name], of[other]))
                 for name, of in both.items()
                 if one in of and other in of
                 and "reject" not in {of[one].decision, of[other].decision}]  # fmt: skip
        yield from _of_two(f"{one}, {other}", pairs)


def _alpha(ratings: Sequence[Sequence[Hashable | None]], measure: Measure) -> float | None:
    try:
        return krippendorff_alpha(ratings, measure=measure).alpha
    except UndefinedMetricError:
        return None


def _marks_alike(both: Mapping[str, Mapping[str, Verdict]]) -> Iterator[AgreementRow]:
    """A row for each scale on which at least two people marked an item."""
    scales = dict.fromkeys(s for of in both.values() for each in of.values() for s in each.marks)
    for scale in scales:
        given = [
            {name: each.marks[scale] for name, each in of.items() if scale in each.marks}
            for of in both.values()
        ]
        shared = [marks for marks in given if len(marks) > 1]
        if not shared:
            continue
        persons = list(dict.fromkeys(name for marks in shared for name in marks))
        ratings = [[marks.get(name) for marks in shared] for name in persons]
        same = sum(len(set(marks.values())) == 1 for marks in shared)
        yield AgreementRow(
            _mark(scale), ", ".join(persons), len(shared), same / len(shared),
            _alpha(ratings, "ordinal"),
        )  # fmt: skip


def _of_two(persons: str, pairs: list[tuple[Item, Item]]) -> Iterator[AgreementRow]:
    for what in ("answer", "transcription"):
        texts = [(getattr(a, what) or "", getattr(b, what) or "") for a, b in pairs]
        texts = [(a, b) for a, b in texts if a or b]
        if texts:
            longer = sum(max(len(a), len(b)) for a, b in texts)
            apart = sum(distance(a, b) for a, b in texts)
            yield AgreementRow(what, persons, len(texts), 1 - apart / longer)
    boxed = [(a.boxes, b.boxes) for a, b in pairs if a.boxes or b.boxes]
    if boxed:
        yield AgreementRow("boxes", persons, len(boxed), sum(map(_iou, boxed)) / len(boxed))


def _iou(pair: tuple[tuple[Box, ...], tuple[Box, ...]]) -> float:
    one, other = ([(box.x0, box.y0, box.x1, box.y1) for box in boxes] for boxes in pair)
    return match_boxes(one, other).mean if one and other else 0.0
