"""`PageSpec`: a page of a recipe, and the images that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from keju.items import Record
from keju_synthetic.page_images import PassageSpec
from keju_synthetic.page_layout import Ink
from keju_synthetic.recipe import Height, Places, Ratio, Scan

PageForm = Literal["half-a", "half-b", "sheet", "opening"]
"""The visible part of a folded leaf: its front half, its back half, the unfolded sheet with the
centre column in the middle, or an opened book (back half of one leaf, front half of the next)."""


class HeadNoteSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note in the upper margin (眉批) that begins above text column `column` (1 = rightmost)."""

    text: str
    column: Places
    colour: Literal["black", "red"] = "red"


class PageSpec(PassageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page to be drawn, and the tasks of its items.

    `columns` are text columns of one half leaf, `rows` characters a column. `indent` is how many
    rows the second and later columns of a paragraph are lowered. `skip` is how many half leaves of
    the passage come before what is seen: a book begins on the front of a leaf. `heading` says
    whether the passage's heading and byline are set. `pictures` is 2 where what follows is seen as
    well: the other half of the leaf, or the next leaf or opening. A manuscript shows the
    brush and not the block; `line_ink` is red where its frame and rules are (朱絲欄).
    """

    form: PageForm = "half-a"
    scan: Scan = "colour"
    height: Height = 1060
    columns: Places = 9
    rows: Places = 18
    leaf: Annotated[int, Meta(ge=1, le=98)] = 1
    frame: Literal["double", "sides", "single", "none"] = "double"
    ruled: bool = True
    heading: bool = True
    pictures: Annotated[int, Meta(ge=1, le=2)] = 1
    made: Literal["print", "manuscript"] = "print"
    line_ink: Ink = "black"
    mouth: Literal["white", "black"] = "white"
    indent: Annotated[int, Meta(ge=0, le=100)] = 0
    skip: Annotated[int, Meta(ge=0, le=10_000)] = 0
    note_pitch: Ratio = 0.72
    note_hand: str = ""
    margin_hand: str = ""
    head_notes: tuple[HeadNoteSpec, ...] = ()


_NEXT: dict[PageForm, tuple[PageForm, int, int]] = {
    "half-a": ("half-b", 1, 0),
    "half-b": ("half-a", 1, 1),
    "sheet": ("sheet", 2, 1),
    "opening": ("opening", 2, 1),
}
"""The next image after turning a leaf: its form, and by how many half leaves and leaves it
advances."""


def list_page_specs(spec: PageSpec) -> Iterator[PageSpec]:
    """The images of a page that follow one another; seals and head notes are on the first."""
    yield spec
    if spec.pictures == 2:
        form, halves, leaves = _NEXT[spec.form]
        yield replace(
            spec, form=form, skip=spec.skip + halves, leaf=spec.leaf + leaves,
            seals=(), head_notes=(),
        )  # fmt: skip
