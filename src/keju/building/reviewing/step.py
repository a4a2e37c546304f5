"""Step ``review``: apply people's decisions to items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.review_form import ReviewForm, review_form
from keju.building.reviewing.deciding import (
    AgreementRow,
    Disagreement,
    State,
    agreement,
    decide,
    disagreements,
    essence,
    held_to,
    mean_marks,
)
from keju.building.reviewing.forms import read_review
from keju.building.reviewing.one_text import on_one_text
from keju.building.reviewing.verdicts import Verdict, last_words, seal_of
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.boxes import box_fault
from keju.datasets.readers.base import join_names
from keju.errors import DataError, UsageError, number_of
from keju.items import Item
from keju.messages import message


class ReviewSettings(Settings, frozen=True):
    """The returned reviews, and how they are merged."""

    reviewed: Annotated[
        tuple[Path, ...],
        Meta(description="Reviewed files or folders: sheets, Label Studio, boxes.", min_length=1),
    ]
    person: Annotated[
        str, Meta(description="Whose they are where they don't say; else a file's own name.")
    ] = ""
    people: Annotated[
        tuple[str, ...],
        Meta(description="Names of people that come back as numbers or addresses: 1=Li Hua."),
    ] = ()
    need: Annotated[
        int, Meta(description="People who must say the same of an item.", ge=1, le=9)
    ] = 1
    judge: Annotated[
        str, Meta(description="The person whose word settles what others dispute.")
    ] = ""
    rejected: Annotated[
        Literal["keep", "drop"], Meta(description="Rejected items: kept as drafts, or dropped.")
    ] = "keep"
    scales: Annotated[
        Path | None, Meta(description="The form that items were marked by (TOML); else keju's own.")
    ] = None
    least_mark: Annotated[
        float,
        Meta(
            description="The mean mark that a taken item needs on each scale marked; 0: any.", ge=0
        ),
    ] = 0
    below: Annotated[
        Literal["send-back", "drop"],
        Meta(description="Items marked lower: kept as drafts for another review, or dropped."),
    ] = "send-back"


class Decided(Struct, frozen=True):
    """The result for an item, and who decided it; `marks` is the mean of each scale."""

    item: str
    state: str
    persons: str
    marks: str
    note: str


def review(context: StepContext, settings: ReviewSettings) -> None:
    """Apply the decision to each reviewed item; others stay as they are.

    Raises:
        DataError: nothing was reviewed, an item is not in the dataset or has changed since it was
            reviewed, or two files without names of persons contain different verdicts about an
            item.
        UsageError: a name in `people` matches no reviewer, or two of them; the least mark is higher
            than the scale's maximum, the file contains no form, or the judge reviewed nothing.
    """
    form = review_form(settings.scales)
    _check_least(settings.least_mark, form)
    items = {item.id: item for item in context.items()}
    verdicts: list[Verdict] = []
    unnamed: dict[tuple[str, str], tuple[Path, Verdict]] = {}
    for src in settings.reviewed:
        person = settings.person or src.stem
        found = list(_checked(read_review(src, items, person, form), items, src))
        for verdict in found:
            if verdict.person == person:
                _check_same(verdict, src, *unnamed.setdefault((person, verdict.item),
                                                              (src, verdict)))  # fmt: skip
        verdicts += found
    if not verdicts:
        raise DataError(message("building.nothing-reviewed"), file=settings.reviewed[0])
    verdicts = list(_renamed(verdicts, settings.people))
    _check_judge(settings.judge, verdicts)
    said = last_words(verdicts)
    rows: list[Decided] = []
    states: Counter[State] = Counter()
    disputed: list[Disagreement] = []
    for item in items.values():
        if item.id not in said:
            context.keep(item)
            continue
        marks = mean_marks(said[item.id], settings.judge)
        outcome = decide(item, said[item.id], need=settings.need, judge=settings.judge)
        outcome = held_to(outcome, marks, settings.least_mark)
        states[outcome.state] += 1
        persons = ", ".join(outcome.persons)
        marked = ", ".join(f"{scale} {mark:.3g}" for scale, mark in marks.items())
        rows.append(Decided(item.id, outcome.state, persons, marked, outcome.note))
        disputed += disagreements(item, said[item.id])
        dropped = {"rejected": settings.rejected, "marked low": settings.below}
        if dropped.get(outcome.state) != "drop":
            context.keep(outcome.item, person=persons, note=outcome.note)
    context.table("decided", rows, Decided)
    context.table("disagreements", disputed, Disagreement)
    agreed = list(agreement(items, said))
    context.table("agreement", agreed, AgreementRow)
    _say(context, states, agreed, len(items) - len(said))


STEP = Step(
    "review",
    "Make of items what people decided: accepted, mended, rejected, disputed.",
    ReviewSettings,
    review,
    version=4,
)


def _renamed(verdicts: Sequence[Verdict], people: Sequence[str]) -> Iterator[Verdict]:
    """The verdicts with people renamed as in `people`, ``NUMBER=NAME`` or ``ADDRESS=NAME``."""
    came = list(dict.fromkeys(verdict.person for verdict in verdicts))
    names = {}
    for each in people:
        who, equals, name = (part.strip() for part in each.partition("="))
        known = who if who in came else f"user {who}"
        if not (equals and name) or known not in came:
            raise UsageError(
                message("building.people-invalid", given=each, persons=join_names(came))
            )
        names[known] = name
    reviewed_by: dict[tuple[str, str], str] = {}
    for verdict in verdicts:
        name = names.get(verdict.person, verdict.person)
        if reviewed_by.setdefault((name, verdict.item), verdict.person) != verdict.person:
            raise UsageError(message("building.people-name-repeated", item=verdict.item, name=name))
        yield replace(verdict, person=name)


def _check_least(least: float, form: ReviewForm) -> None:
    for scale in form.scale:
        if not least <= len(scale.marks):  # also rejects a value that is not a number
            raise UsageError(
                message(
                    "building.least-mark-outside",
                    least=least,
                    name=scale.name,
                    count=len(scale.marks),
                )
            )


def _check_judge(judge: str, verdicts: Sequence[Verdict]) -> None:
    persons = dict.fromkeys(verdict.person for verdict in verdicts)
    if judge and judge not in persons:
        raise UsageError(
            message("building.no-such-judge", judge=judge, persons=join_names(persons))
        )


def _check_same(verdict: Verdict, src: Path, first: Path, before: Verdict) -> None:
    """Check that two files in one assigned name do not contradict each other about an item.

    Otherwise two people would count as one, and the last file would win. Where a file names its
    persons itself, the later verdict replaces the earlier one.
    """
    if src != first and essence(verdict) != essence(before):
        raise DataError(
            message(
                "building.decisions-differ",
                decision=before.decision,
                first=first,
                other=verdict.decision,
                person=verdict.person,
            ),
            file=src,
            item=verdict.item,
        )


def _checked(
    verdicts: Sequence[Verdict], items: Mapping[str, Item], src: Path
) -> Iterator[Verdict]:
    for verdict in verdicts:
        item = items.get(verdict.item)
        if item is None:
            raise DataError(message("building.review-no-item"), file=src, item=verdict.item)
        if verdict.seal and verdict.seal != seal_of(item):
            raise DataError(message("building.item-changed-since"), file=src, item=verdict.item)
        _check_boxes(verdict, item, src)
        try:
            yield on_one_text(item, verdict)
        except DataError as error:
            raise DataError(error.problem, file=src, item=item.id, hint=error.hint) from None


def _check_boxes(verdict: Verdict, item: Item, src: Path) -> None:
    boxes = verdict.mended.boxes or ()
    if boxes and not item.images:
        raise DataError(message("building.boxes-without-picture"), file=src, item=item.id)
    for box in boxes:
        if fault := box_fault(box, (item.images[0].width, item.images[0].height)):
            raise DataError(
                message("building.review-box-fault", fault=fault), file=src, item=item.id
            )


def _say(
    context: StepContext, states: Mapping[State, int], agreed: Sequence[AgreementRow], unseen: int
) -> None:
    told = ", ".join(f"{count} {state}" for state, count in states.items())
    context.note(f"{told}; {unseen} not reviewed")
    for row in agreed:
        alpha = "" if row.alpha is None else f", alpha {row.alpha:.3f}"
        alike = "" if row.alike is None else f"{row.alike:.3f}"
        context.note(
            f"agreement on {row.what} ({row.persons}; {number_of(row.items, 'item')}): "
            f"{alike}{alpha}"
        )
