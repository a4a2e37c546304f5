"""Step ``review``: what people decided about items, made of the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from keju.building.bench import Bench
from keju.building.reviewing.deciding import (
    AgreementRow,
    Disagreement,
    State,
    agreement,
    decide,
    disagreements,
)
from keju.building.reviewing.forms import read_review
from keju.building.reviewing.verdicts import Verdict, last_words, seal_of
from keju.building.step import Settings, Step
from keju.datasets.boxes import box_fault
from keju.errors import DataError
from keju.items import Item


class ReviewSettings(Settings, frozen=True):
    """What came back, and how it decides."""

    reviewed: Annotated[
        tuple[Path, ...],
        Meta(description="Reviewed files or folders: sheets, Label Studio, boxes.", min_length=1),
    ]
    person: Annotated[
        str, Meta(description="Whose they are where they don't say; else a file's own name.")
    ] = ""
    need: Annotated[
        int, Meta(description="People who must say the same of an item.", ge=1, le=9)
    ] = 1
    judge: Annotated[
        str, Meta(description="The person whose word settles what others dispute.")
    ] = ""
    rejected: Annotated[
        Literal["keep", "drop"], Meta(description="Rejected items: kept as drafts, or dropped.")
    ] = "keep"


class Decided(Struct, frozen=True):
    """What became of an item, and who decided it."""

    item: str
    state: str
    persons: str
    note: str


def review(bench: Bench, settings: ReviewSettings) -> None:
    """Make of each reviewed item what was decided; others stay as they are.

    Raises:
        DataError: nothing was reviewed, an item that is not in the dataset, or one that has changed
            since it was reviewed.
    """
    items = {item.id: item for item in bench.items()}
    verdicts: list[Verdict] = []
    for src in settings.reviewed:
        found = read_review(src, items, settings.person or src.stem)
        _check(found, items, src)
        verdicts += found
    if not verdicts:
        raise DataError("nothing in it was reviewed", file=settings.reviewed[0])
    said = last_words(verdicts)
    rows: list[Decided] = []
    states: Counter[State] = Counter()
    disputed: list[Disagreement] = []
    for item in items.values():
        if item.id not in said:
            bench.keep(item)
            continue
        outcome = decide(item, said[item.id], need=settings.need, judge=settings.judge)
        states[outcome.state] += 1
        persons = ", ".join(outcome.persons)
        rows.append(Decided(item.id, outcome.state, persons, outcome.note))
        disputed += disagreements(item, said[item.id])
        if outcome.state != "rejected" or settings.rejected == "keep":
            bench.keep(outcome.item, person=persons, note=outcome.note)
    bench.table("decided", rows, Decided)
    bench.table("disagreements", disputed, Disagreement)
    agreed = list(agreement(items, said))
    bench.table("agreement", agreed, AgreementRow)
    _say(bench, states, agreed, len(items) - len(said))


STEP = Step(
    "review",
    "Make of items what people decided: accepted, mended, rejected, disputed.",
    ReviewSettings,
    review,
)


def _check(verdicts: Sequence[Verdict], items: Mapping[str, Item], src: Path) -> None:
    for verdict in verdicts:
        item = items.get(verdict.item)
        if item is None:
            raise DataError(
                "no item of this name",
                file=src,
                item=verdict.item,
                mend="Review what was exported from this dataset",
            )
        if verdict.seal and verdict.seal != seal_of(item):
            raise DataError(
                "it has changed since it was reviewed",
                file=src,
                item=verdict.item,
                mend="Review it again as it is now",
            )
        _check_boxes(verdict, item, src)


def _check_boxes(verdict: Verdict, item: Item, src: Path) -> None:
    boxes = verdict.mended.boxes or ()
    if boxes and not item.images:
        raise DataError("boxes, but it has no picture", file=src, item=item.id)
    for box in boxes:
        if fault := box_fault(box, (item.images[0].width, item.images[0].height)):
            raise DataError(f"the box {fault}", file=src, item=item.id, mend="Draw it again")


def _say(
    bench: Bench, states: Mapping[State, int], agreed: Sequence[AgreementRow], unseen: int
) -> None:
    told = ", ".join(f"{count} {state}" for state, count in states.items())
    bench.note(f"{told}; {unseen} not reviewed")
    for row in agreed:
        alpha = "" if row.alpha is None else f", alpha {row.alpha:.3f}"
        alike = "" if row.alike is None else f"{row.alike:.3f}"
        bench.note(f"agreement on {row.what} ({row.persons}; {row.items} items): {alike}{alpha}")
