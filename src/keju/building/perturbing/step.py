"""Step ``perturb``: add control pages with altered text, to detect recitation from memory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.perturbing.altering import Alphabet, Alteration, alter_lines
from keju.building.sampling import sample_excluding
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.line_kinds import FLOW
from keju.definitions import query_of
from keju.errors import DataError, number_of
from keju.items import Item, get_group
from keju.runs.record_list import RecordList
from keju.scoring.memorization import CONTROL, CONTROL_OF, WRONG_PAGE
from keju.texts import _

Kind = Literal["look-alike", "other", "swapped", "blanked", "wrong-page"]

_ALTERATIONS: tuple[Alteration, ...] = ("look-alike", "other", "swapped", "blanked")
_ASKED_OF_A_WRONG_PAGE = frozenset({"transcription", "letter", "short"})
"""Answer forms with a clear right answer."""


class PerturbSettings(Settings, frozen=True):
    """The kinds of control pages, and their number."""

    kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="Kinds of controls. look-alike, other (as frequent), swapped, blanked: "
            "altered texts, which typeset then draws; wrong-page: the image of another item.",
            min_length=1,
        ),
    ] = _ALTERATIONS
    items: Annotated[
        int,
        Meta(description="Number of controls of each kind, at random; 0: all possible.", ge=0),
    ] = 0
    share: Annotated[
        float, Meta(description="Share of the characters that are altered.", gt=0, le=0.1)
    ] = 0.02


class Control(Struct, frozen=True):
    """A control, its source, and the number of altered places."""

    item: str
    control: str
    control_of: str
    places: int


def make_controls(context: StepContext, settings: PerturbSettings) -> None:
    """Keep every item, and append controls.

    Raises:
        DataError: no control of one of the kinds can be made from any item.
    """
    for item in context.iter_items():
        context.keep(item)
    items = context.items()
    sound = array(
        "q",
        (
            place
            for place, item in enumerate(items)
            if item.split == "test" and CONTROL not in item.metadata
        ),
    )
    alphabet = Alphabet(items[place].answer for place in sound)
    others = _OtherItems(items, sound if WRONG_PAGE in settings.kinds else ())
    made = RecordList(Control)
    for kind in settings.kinds:
        count = 0
        for at in context.rng("lot", kind).permutation(len(sound)):
            if settings.items and count == settings.items:
                break
            item = items[sound[int(at)]]
            rng = context.rng(kind, item.id)
            control = (
                _swap_image(item, others, rng)
                if kind == "wrong-page"
                else _alter_text(item, kind, rng, settings.share, alphabet)
            )
            if control is not None:
                context.keep(
                    control[0], note=f"{kind} of {item.id}: {number_of(control[1], 'place')}"
                )
                made.append(Control(control[0].id, kind, item.id, control[1]))
                count += 1
        if not count:
            raise DataError(
                "no item can be converted to a control of the kind {}",
                kind,
                hint=_describe_need(kind),
            )
        context.note(_("{}: {} controls", kind, count))
    context.table("controls", made, Control)


STEP = Step(
    "perturb",
    "Add control pages against recitation: altered, blanked, or with another item's image.",
    PerturbSettings,
    make_controls,
)


def _describe_need(kind: Kind) -> str:
    if kind == WRONG_PAGE:
        return _(
            "It requires items with images of two groups or more that ask for a transcription, a "
            "letter or a short answer"
        )
    return _("It requires transcriptions with lines, before typeset draws them")


def _alter_text(
    item: Item, kind: Alteration, rng: np.random.Generator, share: float, alphabet: Alphabet
) -> tuple[Item, int] | None:
    """Alter the text of an item; return it with the number of places, or None if impossible."""
    at = _find_answer_lines(item) if query_of(item).form == "transcription" else None
    if at is None:
        return None
    flow = [place for place in at if item.lines[place].kind in FLOW]
    texts, places = alter_lines(
        [item.lines[place].text for place in flow], kind, rng, share=share, alphabet=alphabet
    )
    if not places:
        return None
    lines = list(item.lines)
    for place, text in zip(flow, texts, strict=True):
        lines[place] = replace(lines[place], text=text)
    answer = "\n".join(lines[place].text for place in at)
    control = replace(
        _make_control(item, kind),
        lines=tuple(lines),
        answer=answer,
        answer_simplified="",
        also_accepted=(),
        transcription=answer,
    )
    return control, places


def _find_answer_lines(item: Item) -> list[int] | None:
    """Find the indices of the lines that form an item's answer, in order.

    None if it does not consist of lines.
    """
    wanted = item.answer.split("\n")
    found: list[int] = []
    for place, line in enumerate(item.lines):
        if len(found) < len(wanted) and line.text == wanted[len(found)]:
            found.append(place)
    return found if len(found) == len(wanted) else None


class _OtherItems:
    """Items with images, from which one of another group of the same task is drawn."""

    def __init__(self, items: Sequence[Item], places: Iterable[int]) -> None:
        self._items = items
        self._tasks: defaultdict[str, array[int]] = defaultdict(partial(array, "q"))
        self._groups: defaultdict[tuple[str, str], array[int]] = defaultdict(partial(array, "q"))
        for place in places:
            item = items[place]
            if item.images:
                same_task = self._tasks[item.task]
                self._groups[item.task, get_group(item)].append(len(same_task))
                same_task.append(place)

    def draw(self, item: Item, rng: np.random.Generator) -> Item | None:
        """Draw an item at random; None if there is none."""
        same_task, own = self._tasks[item.task], self._groups[item.task, get_group(item)]
        left = len(same_task) - len(own)
        if not left:
            return None
        return self._items[same_task[sample_excluding(int(rng.integers(left)), own)]]


def _swap_image(
    item: Item, others: _OtherItems, rng: np.random.Generator
) -> tuple[Item, int] | None:
    """Replace the image of an item by that of another group's item of its task."""
    form = query_of(item).form
    if form not in _ASKED_OF_A_WRONG_PAGE or not item.images:
        return None
    other = others.draw(item, rng)
    if other is None:
        return None
    shown = replace(_make_control(item, WRONG_PAGE), images=other.images, lines=other.lines)
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


def _make_control(item: Item, kind: Kind) -> Item:
    facts = {CONTROL: kind, CONTROL_OF: item.id}
    return replace(item, id=f"{item.id}--{kind}", metadata=item.metadata | facts)
