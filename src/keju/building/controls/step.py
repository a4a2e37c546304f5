"""Step ``controls``: add pages whose text was altered, so that it cannot be recited from memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.controls.altering import Alphabet, Alteration, altered
from keju.building.sampling import outside
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.line_kinds import FLOW
from keju.definitions import query_of
from keju.errors import DataError, number_of
from keju.items import Item
from keju.messages import message
from keju.scoring.memorization import CONTROL, CONTROL_OF, WRONG_PAGE

Kind = Literal["look-alike", "other", "swapped", "blanked", "wrong-page"]

_ALTERATIONS: tuple[Alteration, ...] = ("look-alike", "other", "swapped", "blanked")
_ASKED_OF_A_WRONG_PAGE = frozenset({"transcription", "letter", "short"})
"""Answer forms with a clear right answer."""


class ControlSettings(Settings, frozen=True):
    """Which controls, and from how many items."""

    kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="look-alike, other (as frequent), swapped, blanked: texts altered, to be "
            "drawn by set-type; wrong-page: the picture of another item.",
            min_length=1,
        ),
    ] = _ALTERATIONS
    items: Annotated[
        int, Meta(description="Controls of each kind, by lot; 0: as many as can be.", ge=0)
    ] = 0
    share: Annotated[
        float, Meta(description="Part of the characters that is altered.", gt=0, le=0.1)
    ] = 0.02


class Control(Struct, frozen=True):
    """A control, its source, and the number of altered places."""

    item: str
    control: str
    control_of: str
    places: int


def make_controls(context: StepContext, settings: ControlSettings) -> None:
    """Keep every item, and append controls.

    Raises:
        DataError: no control of one of the kinds can be made from any item.
    """
    items = context.items()
    for item in items:
        context.keep(item)
    sound = [item for item in items if item.split == "test" and CONTROL not in item.metadata]
    alphabet = Alphabet(item.answer for item in sound)
    others = _Others(sound)
    made: list[Control] = []
    for kind in settings.kinds:
        count = 0
        for item in _by_lot(sound, context.rng("lot", kind)):
            if settings.items and count == settings.items:
                break
            rng = context.rng(kind, item.id)
            control = (
                _wrong_page(item, others, rng)
                if kind == "wrong-page"
                else _altered(item, kind, rng, settings.share, alphabet)
            )
            if control is not None:
                context.keep(
                    control[0], note=f"{kind} of {item.id}: {number_of(control[1], 'place')}"
                )
                made.append(Control(control[0].id, kind, item.id, control[1]))
                count += 1
        if not count:
            raise DataError(message("building.no-control-of-kind", kind=kind), hint=_MENDS[kind])
        context.note(f"{kind}: {count} controls")
    context.table("controls", made, Control)


STEP = Step(
    "controls",
    "Add controls against recitation: pages altered, blanked, or with another's picture.",
    ControlSettings,
    make_controls,
)

_MEND_TEXT = "It needs transcriptions with lines, before set-type draws them"
_MENDS = dict.fromkeys(_ALTERATIONS, _MEND_TEXT) | {
    WRONG_PAGE: "It needs items with pictures of two groups or more, that ask for a transcription, "
    "a letter or a short answer"
}


def _by_lot(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    return [items[int(place)] for place in rng.permutation(len(items))]


def _altered(
    item: Item, kind: Alteration, rng: np.random.Generator, share: float, alphabet: Alphabet
) -> tuple[Item, int] | None:
    """The item with its text altered, and the number of places; None where it cannot be altered."""
    at = _answer_lines(item) if query_of(item).form == "transcription" else None
    if at is None:
        return None
    flow = [place for place in at if item.lines[place].kind in FLOW]
    texts, places = altered(
        [item.lines[place].text for place in flow], kind, rng, share=share, alphabet=alphabet
    )
    if not places:
        return None
    lines = list(item.lines)
    for place, text in zip(flow, texts, strict=True):
        lines[place] = replace(lines[place], text=text)
    answer = "\n".join(lines[place].text for place in at)
    control = replace(
        _control(item, kind),
        lines=tuple(lines),
        answer=answer,
        answer_simplified="",
        also_accepted=(),
        transcription=answer,
    )
    return control, places


def _answer_lines(item: Item) -> list[int] | None:
    """The indices of the lines that form an item's answer, in order.

    None where it is not made of lines.
    """
    wanted = item.answer.split("\n")
    found: list[int] = []
    for place, line in enumerate(item.lines):
        if len(found) < len(wanted) and line.text == wanted[len(found)]:
            found.append(place)
    return found if len(found) == len(wanted) else None


class _Others:
    """Items with images, from which one of another group of the same task is drawn."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._tasks: defaultdict[str, list[Item]] = defaultdict(list)
        self._groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for item in items:
            if item.images:
                shelf = self._tasks[item.task]
                self._groups[item.task, item.group].append(len(shelf))
                shelf.append(item)

    def drawn(self, item: Item, rng: np.random.Generator) -> Item | None:
        """An item drawn at random; None where there is none."""
        shelf, own = self._tasks[item.task], self._groups[item.task, item.group]
        left = len(shelf) - len(own)
        return shelf[outside(int(rng.integers(left)), own)] if left else None


def _wrong_page(item: Item, others: _Others, rng: np.random.Generator) -> tuple[Item, int] | None:
    """The item with the image of another group's item of its task."""
    form = query_of(item).form
    if form not in _ASKED_OF_A_WRONG_PAGE or not item.images:
        return None
    other = others.drawn(item, rng)
    if other is None:
        return None
    shown = replace(_control(item, WRONG_PAGE), images=other.images, lines=other.lines)
    if form == "transcription":
        # The text in the image is the other page's; the question stays that of this item.
        shown = replace(
            shown,
            answer=other.answer,
            answer_simplified=other.answer_simplified,
            also_accepted=(),
            transcription=other.transcription,
        )
    return shown, 1


def _control(item: Item, kind: Kind) -> Item:
    told = {CONTROL: kind, CONTROL_OF: item.id}
    return replace(item, id=f"{item.id}--{kind}", metadata=item.metadata | told)
