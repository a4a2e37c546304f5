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

from keju.building.reviewing.corrections import apply_corrections
from keju.building.reviewing.verdicts import Decision, Verdict
from keju.items import Box, Item
from keju.metrics import UndefinedMetricError, distance
from keju.metrics.boxes import mean_iou
from keju.statistics import Measure, krippendorff_alpha

State = Literal["accepted", "mended", "rejected", "disputed", "open", "marked low"]
"""The state of a reviewed item, as the table ``decided`` and the provenance store it: accepted,
corrected, rejected, in dispute, too few verdicts, or accepted with marks that are too low."""

_STATES: Mapping[Decision, State] = {
    Decision.ACCEPT: "accepted",
    Decision.CORRECT: "mended",
    Decision.REJECT: "rejected",
}


class Outcome(NamedTuple):
    """The result of the review of an item: its new form, its state, who decided, and a note."""

    item: Item
    state: State
    persons: tuple[str, ...]
    note: str


class Disagreement(Struct, frozen=True):
    """One difference between the verdicts of two people about an item, for a third to decide.

    `field` is ``decision``, a field of the item, or a scale as ``mark: correct``.
    """

    item: str
    field: str
    person: str
    says: str
    other: str
    other_says: str


class AgreementRow(Struct, frozen=True):
    """Agreement between people in one respect, `what`.

    ``decision``: `alike` is the share of items with a unanimous decision; `alpha` is
    Krippendorff's, nominal. A scale such as ``mark: correct``: `alike` is the share of items with
    equal marks; `alpha` is ordinal. The others compare the item after each verdict, by pairs of
    people. ``answer`` and ``transcription``: `alike` is 1 - edit distance / length of the longer
    text. ``boxes``: `alike` is the mean IoU of the best matching.
    """

    what: str
    persons: str
    items: int
    alike: float | None
    alpha: float | None = None


def decide(item: Item, verdicts: Mapping[str, Verdict], *, need: int, judge: str = "") -> Outcome:
    """Merge the verdicts about an item into one decision.

    The most frequent verdict decides if more than half of the people, and at least `need`, gave it.
    Two corrections are equal if all their values are. The judge's verdict decides alone. A
    corrected item counts as accepted, so it is not a draft any more; a rejected or disputed item
    is a draft.

    `verdicts` are the last ones of each person, at least one; `need` is the minimum number of equal
    ones.
    """
    if judge in verdicts:
        return _settle(item, verdicts[judge], (judge,))
    votes = Counter(extract_vote(verdict) for verdict in verdicts.values())
    most, count = votes.most_common(1)[0]
    if count >= need and 2 * count > len(verdicts):
        equal = {name: each for name, each in verdicts.items() if extract_vote(each) == most}
        return _settle(item, next(iter(equal.values())), tuple(equal))
    state: State = "disputed" if len(votes) > 1 else "open"
    return Outcome(replace(item, draft=True), state, tuple(verdicts), f"{state} by review")


def extract_vote(verdict: Verdict) -> tuple[str, bytes]:
    """The decision and the corrections of a verdict; equal verdicts have equal votes."""
    return verdict.decision, msgspec.json.encode(verdict.corrections, order="deterministic")


def _settle(item: Item, verdict: Verdict, persons: tuple[str, ...]) -> Outcome:
    state = _STATES[verdict.decision]
    fields = ", ".join(verdict.corrections.fields())
    note = ": ".join(part for part in (state, fields) if part)
    if verdict.reason:
        note = f"{note} ({verdict.reason})"
    after = apply_corrections(item, verdict)
    if item.lines and not after.lines:
        note += "; lines left out, as the text has others now"
    return Outcome(replace(after, draft=state == "rejected"), state, persons, note)


def average_marks(verdicts: Mapping[str, Verdict], judge: str = "") -> dict[str, float]:
    """The mean mark of an item on each scale; the judge's mark instead, if there is one."""
    marks: dict[str, list[int]] = {}
    for verdict in verdicts.values():
        for scale, mark in verdict.marks.items():
            marks.setdefault(scale, []).append(mark)
    decisive = verdicts[judge].marks if judge in verdicts else {}
    return {scale: float(decisive.get(scale, fmean(each))) for scale, each in marks.items()}


def apply_least_mark(outcome: Outcome, marks: Mapping[str, float], least: float) -> Outcome:
    """Change the outcome of an accepted item to ``marked low`` if a mark is below `least`.

    Such an item becomes a draft. Other outcomes are returned unchanged.
    """
    low = [f"{scale} {mark:.3g}" for scale, mark in marks.items() if mark < least]
    if not low or outcome.item.draft:
        return outcome
    note = f"{outcome.note}; marked below {least:g}: {', '.join(low)}"
    return outcome._replace(item=replace(outcome.item, draft=True), state="marked low", note=note)


def list_disagreements(item: Item, verdicts: Mapping[str, Verdict]) -> Iterator[Disagreement]:
    """The differences between any two people about an item: marks, the decision, or the result."""
    for (one, a), (other, b) in combinations(verdicts.items(), 2):
        for scale, mark in a.marks.items():
            if b.marks.get(scale, mark) != mark:
                theirs = str(b.marks[scale])
                yield Disagreement(item.id, _name_scale(scale), one, str(mark), other, theirs)
        if a.decision != b.decision and Decision.REJECT in {a.decision, b.decision}:
            yield Disagreement(item.id, "decision", one, _describe(a), other, _describe(b))
            continue
        left, right = apply_corrections(item, a), apply_corrections(item, b)
        for name in sorted(set(a.corrections.fields()) | set(b.corrections.fields())):
            mine, theirs = getattr(left, name), getattr(right, name)
            if mine != theirs:
                yield Disagreement(
                    item.id, name, one, _format_value(mine), other, _format_value(theirs)
                )


def _name_scale(scale: str) -> str:
    return f"mark: {scale}"


def _describe(verdict: Verdict) -> str:
    return f"{verdict.decision}: {verdict.reason}" if verdict.reason else str(verdict.decision)


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def measure_agreement(
    items: Mapping[str, Item], verdicts: Mapping[str, Mapping[str, Verdict]]
) -> Iterator[AgreementRow]:
    """Measure the agreement about the items that two or more people reviewed."""
    both = {name: of for name, of in verdicts.items() if len(of) > 1}
    if not both:
        return
    persons = list(dict.fromkeys(name for of in both.values() for name in of))
    decisions = [[of[name].decision if name in of else None for of in both.values()]
                 for name in persons]  # fmt: skip
    same = sum(len({verdict.decision for verdict in of.values()}) == 1 for of in both.values())
    yield AgreementRow(
        "decision",
        ", ".join(persons),
        len(both),
        same / len(both),
        _compute_alpha(decisions, "nominal"),
    )
    yield from _measure_mark_agreement(both)
    for one, other in combinations(persons, 2):
        shared = [
            (items[name], of[one], of[other])
            for name, of in both.items()
            if one in of
            and other in of
            and Decision.REJECT not in {of[one].decision, of[other].decision}
        ]
        pairs = [(apply_corrections(item, a), apply_corrections(item, b)) for item, a, b in shared]
        yield from _measure_pair_agreement(f"{one}, {other}", pairs)


def _compute_alpha(ratings: Sequence[Sequence[Hashable | None]], measure: Measure) -> float | None:
    try:
        return krippendorff_alpha(ratings, measure=measure)
    except UndefinedMetricError:
        return None


def _measure_mark_agreement(both: Mapping[str, Mapping[str, Verdict]]) -> Iterator[AgreementRow]:
    """One row for each scale on which at least two people marked the same item."""
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
            _name_scale(scale), ", ".join(persons), len(shared), same / len(shared),
            _compute_alpha(ratings, "ordinal"),
        )  # fmt: skip


def _measure_pair_agreement(persons: str, pairs: list[tuple[Item, Item]]) -> Iterator[AgreementRow]:
    for what in ("answer", "transcription"):
        texts = [(getattr(a, what) or "", getattr(b, what) or "") for a, b in pairs]
        texts = [(a, b) for a, b in texts if a or b]
        if texts:
            longer = sum(max(len(a), len(b)) for a, b in texts)
            apart = sum(distance(a, b) for a, b in texts)
            yield AgreementRow(what, persons, len(texts), 1 - apart / longer)
    boxed = [(a.boxes, b.boxes) for a, b in pairs if a.boxes or b.boxes]
    if boxed:
        yield AgreementRow("boxes", persons, len(boxed), sum(map(_compute_iou, boxed)) / len(boxed))


def _compute_iou(pair: tuple[tuple[Box, ...], tuple[Box, ...]]) -> float:
    one, other = ([(box.x0, box.y0, box.x1, box.y1) for box in boxes] for boxes in pair)
    return mean_iou(one, other) if one and other else 0.0
