"""Step ``review``: apply people's decisions to items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.review_form import ReviewForm, read_review_form
from keju.building.reviewing.corrections import unify_texts
from keju.building.reviewing.deciding import (
    AgreementRow,
    Disagreement,
    State,
    apply_least_mark,
    average_marks,
    decide,
    extract_vote,
    list_disagreements,
    measure_agreement,
)
from keju.building.reviewing.forms import read_review
from keju.building.reviewing.verdicts import Verdict, compute_seal, select_latest
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.checks import box_fault
from keju.datasets.readers.base import join_names
from keju.errors import DataError, UsageError
from keju.items import Item
from keju.texts import _, join_clauses, listed, n_


class ReviewSettings(Settings, frozen=True):
    """The returned reviews, and how they are merged."""

    reviewed: Annotated[
        tuple[Path, ...],
        Meta(description="Reviewed files or folders: sheets, Label Studio, boxes.", min_length=1),
    ]
    person: Annotated[
        str,
        Meta(description="Reviewer of files that do not name one. Default: the name of the file."),
    ] = ""
    people: Annotated[
        tuple[str, ...],
        Meta(description="Names of reviewers exported as numbers or addresses: 1=Li Hua."),
    ] = ()
    need: Annotated[
        int, Meta(description="Number of people who must agree on an item.", ge=1, le=9)
    ] = 1
    judge: Annotated[str, Meta(description="Person whose decision settles disputes.")] = ""
    rejected: Annotated[
        Literal["keep", "drop"], Meta(description="Rejected items: kept as drafts, or dropped.")
    ] = "keep"
    scales: Annotated[
        Path | None,
        Meta(description="Review form with which the items were marked (TOML). Default: keju's."),
    ] = None
    least_mark: Annotated[
        float,
        Meta(description="Minimum mean mark of an accepted item on each scale; 0: any.", ge=0),
    ] = 0
    below: Annotated[
        Literal["send-back", "drop"],
        Meta(description="Items with lower marks: kept as drafts, or dropped."),
    ] = "send-back"


class DecidedItem(Struct, frozen=True):
    """A row of the table ``decided``: the result for one item, and who decided it.

    `marks` contains the mean mark on each scale.
    """

    item: str
    state: str
    persons: str
    marks: str
    note: str


def review(context: StepContext, settings: ReviewSettings) -> None:
    """Apply the decision to each reviewed item; other items are kept unchanged.

    Raises:
        DataError: nothing was reviewed, an item is not in the dataset or has changed since it was
            reviewed, or two files that do not name their reviewer differ about an item.
        UsageError: a name in `people` matches no reviewer, or two; the minimum mark is higher than
            the maximum of a scale; the file of scales is not a form; or the judge is not one of the
            reviewers.
    """
    form = read_review_form(settings.scales)
    _check_least(settings.least_mark, form)
    items = context.items().by_id
    verdicts: list[Verdict] = []
    unnamed: dict[tuple[str, str], tuple[Path, Verdict]] = {}
    for src in settings.reviewed:
        person = settings.person or src.stem
        found = list(_check_verdicts(read_review(src, items, person, form), items, src))
        for verdict in found:
            if verdict.person == person:
                _check_file_persons(verdict, src, *unnamed.setdefault((person, verdict.item),
                                                              (src, verdict)))  # fmt: skip
        verdicts += found
    if not verdicts:
        raise DataError(
            "the reviewed files contain no decision",
            file=settings.reviewed[0],
            hint="Fill in the column decision, or use other files",
        )
    verdicts = list(_rename_people(verdicts, settings.people))
    _check_judge(settings.judge, verdicts)
    latest = select_latest(verdicts)
    rows: list[DecidedItem] = []
    states: Counter[State] = Counter()
    disputed: list[Disagreement] = []
    for item in context.iter_items():
        if item.id not in latest:
            context.keep(item)
            continue
        marks = average_marks(latest[item.id], settings.judge)
        outcome = decide(item, latest[item.id], need=settings.need, judge=settings.judge)
        outcome = apply_least_mark(outcome, marks, settings.least_mark)
        states[outcome.state] += 1
        persons = ", ".join(outcome.persons)
        marked = ", ".join(f"{scale} {mark:.3g}" for scale, mark in marks.items())
        rows.append(DecidedItem(item.id, outcome.state, persons, marked, outcome.note))
        disputed += list_disagreements(item, latest[item.id])
        treatments = {"rejected": settings.rejected, "marked low": settings.below}
        if treatments.get(outcome.state) != "drop":
            context.keep(outcome.item, person=persons, note=outcome.note)
    context.table("decided", rows, DecidedItem)
    context.table("disagreements", disputed, Disagreement)
    agreements = list(measure_agreement(items, latest))
    context.table("agreement", agreements, AgreementRow)
    _report(context, states, agreements, len(items) - len(latest))


STEP = Step(
    "review",
    "Apply the decisions of people to items: accepted, corrected, rejected, disputed.",
    ReviewSettings,
    review,
    version=4,
)


def _rename_people(verdicts: Sequence[Verdict], people: Sequence[str]) -> Iterator[Verdict]:
    """Rename the reviewers of verdicts."""
    persons = list(dict.fromkeys(verdict.person for verdict in verdicts))
    names = {}
    for each in people:
        exported, equals, name = (part.strip() for part in each.partition("="))
        person = exported if exported in persons else f"user {exported}"
        if not (equals and name) or person not in persons:
            raise UsageError(
                "people {!r} is not valid. Write NUMBER=NAME or ADDRESS=NAME for one of the "
                "reviewers: {}",
                each,
                join_names(persons),
            )
        names[person] = name
    reviewed_by: dict[tuple[str, str], str] = {}
    for verdict in verdicts:
        name = names.get(verdict.person, verdict.person)
        if reviewed_by.setdefault((name, verdict.item), verdict.person) != verdict.person:
            raise UsageError(
                "people: two reviewers of {} have the name {!r}. Use different names",
                verdict.item,
                name,
            )
        yield replace(verdict, person=name)


def _check_least(least: float, form: ReviewForm) -> None:
    for scale in form.scale:
        if not least <= len(scale.marks):  # also rejects a value that is not a number
            raise UsageError(
                "the minimum mark {:g} is not possible: the scale {!r} has the marks 1 to {}",
                least,
                scale.name,
                len(scale.marks),
            )


def _check_judge(judge: str, verdicts: Sequence[Verdict]) -> None:
    persons = dict.fromkeys(verdict.person for verdict in verdicts)
    if judge and judge not in persons:
        raise UsageError("judge {!r} is not one of the reviewers: {}", judge, join_names(persons))


def _check_file_persons(verdict: Verdict, src: Path, first: Path, before: Verdict) -> None:
    """Check that two files with the same assigned reviewer agree about an item.

    Otherwise two people would count as one, and the last file would replace the others. In a file
    that names its reviewers, a later verdict replaces an earlier one of the same person.
    """
    if src != first and extract_vote(verdict) != extract_vote(before):
        raise DataError(
            "{!r} decided `{}` in {} and `{}` in this file. Neither file names its reviewer, so "
            "both belong to this person",
            verdict.person,
            before.decision,
            first,
            verdict.decision,
            file=src,
            item=verdict.item,
            hint="Give the files different names, without --person, or fill in the column person",
        )


def _check_verdicts(
    verdicts: Sequence[Verdict], items: Mapping[str, Item], src: Path
) -> Iterator[Verdict]:
    for verdict in verdicts:
        item = items.get(verdict.item)
        if item is None:
            raise DataError(
                "the dataset does not contain this item",
                file=src,
                item=verdict.item,
                hint="Use the dataset from which the review was exported",
            )
        if verdict.seal and verdict.seal != compute_seal(item):
            raise DataError(
                "the item has changed since it was reviewed",
                file=src,
                item=verdict.item,
                hint="Export it and review it again",
            )
        _check_boxes(verdict, item, src)
        try:
            yield unify_texts(item, verdict)
        except DataError as error:
            raise DataError(error.problem, file=src, item=item.id) from None


def _check_boxes(verdict: Verdict, item: Item, src: Path) -> None:
    boxes = verdict.corrections.boxes or ()
    if boxes and not item.images:
        raise DataError(
            "the verdict has boxes, but the item has no image",
            file=src,
            item=item.id,
            hint="Delete the boxes",
        )
    for box in boxes:
        if fault := box_fault(box, (item.images[0].width, item.images[0].height)):
            raise DataError("the box {}", fault, file=src, item=item.id, hint="Draw it again")


def _report(
    context: StepContext,
    states: Mapping[State, int],
    agreements: Sequence[AgreementRow],
    unreviewed: int,
) -> None:
    counts = listed(_count_state(state, count) for state, count in states.items())
    context.note(join_clauses([counts, _("{:d} not reviewed", unreviewed)]))
    for row in agreements:
        alpha = "" if row.alpha is None else f", alpha {row.alpha:.3f}"
        alike = "" if row.alike is None else f"{row.alike:.3f}"
        context.note(
            n_(
                "agreement on {} ({}; {n:,} item): {}",
                "agreement on {} ({}; {n:,} items): {}",
                row.items,
                _name_subject(row.what),
                row.persons,
                f"{alike}{alpha}",
            )
        )


def _count_state(state: State, count: int) -> str:
    match state:
        case "accepted":
            return _("{:d} accepted", count)
        case "rejected":
            return _("{:d} rejected", count)
        case "disputed":
            return _("{:d} disputed", count)
        case "open":
            return _("{:d} open", count)
        case "marked low":
            return _("{:d} marked low", count)
        case _:
            return _("{:d} corrected", count)


def _name_subject(what: str) -> str:
    """The subject of an agreement: a field of the item by its name, a scale, or the decision."""
    if what == "decision":
        return _("decision")
    scale = what.removeprefix("mark: ")
    return what if scale == what else _("mark: {}", scale)
