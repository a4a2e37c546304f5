"""The recipe of a synthetic set: what is to be drawn and asked, as TOML with a schema."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, field

from keju.errors import DataError
from keju.items import Record

FORMAT = "keju-synth-1"

PageForm = Literal["half-a", "half-b", "sheet", "opening"]
"""What of a folded leaf is seen: its front half, its back half, the unfolded sheet with the centre
column in the middle, or an opened book (back half of one leaf, front half of the next)."""

Scan = Literal["colour", "grey", "bitonal"]

Split = Literal["test", "reference"]

Height = Annotated[int, Meta(ge=64, le=6000)]
"""Pixels of a picture from top to bottom."""

Places = Annotated[int, Meta(ge=1, le=100)]
"""Columns of a page, or characters of a column."""

Ratio = Annotated[float, Meta(gt=0, le=10)]
Amount = Annotated[float, Meta(ge=0, le=1000)]

MOST_PIXELS = 100_000_000

T = TypeVar("T")


class HandSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hand: a font, and how it is set.

    `width` squeezes the character (1 = as designed), `fill` is the em against the cell, `weight`
    thickens (> 0) or thins (< 0) the strokes, `sway` is how far characters leave the middle and
    the upright (in parts of the em). `forms` are characters that this hand writes in another form;
    truth follows what is drawn. `script` is the name of the script style in simplified Chinese.
    """

    family: str
    style: str
    licence: str
    script: str = "楷书"
    width: Ratio = 1.0
    fill: Ratio = 1.0
    weight: float = 0.0
    sway: float = 0.01
    forms: dict[str, str] = field(default_factory=dict)


class SealSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seal: its legend in reading order, and where it stands.

    `at` is its centre in parts of the picture's width and height, `size` its side in parts of the
    height. ``zhuwen`` has red characters, ``baiwen`` white ones on red.
    """

    legend: str
    at: tuple[float, float]
    size: float = 0.06
    style: Literal["zhuwen", "baiwen"] = "zhuwen"
    shape: Literal["square", "round"] = "square"


class HeadNoteSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note in the upper margin (眉批) that begins above text column `column` (1 = rightmost)."""

    text: str
    column: int
    colour: Literal["black", "red"] = "red"


class PageSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page to be drawn, and the tasks that ask about it.

    `columns` are text columns of one half leaf, `rows` characters a column. `difficulty` in 0..1
    drives every kind of wear; `wear` overrides single values of it (see ``data/wear.toml``).
    `indent` is how many rows the second and later columns of a paragraph are lowered. `skip` is how
    many half leaves of the passage come before what is seen: a book begins on the front of a leaf.
    """

    id: str
    passage: str
    hand: str
    asks: tuple[str, ...]
    difficulty: float
    form: PageForm = "half-a"
    scan: Scan = "colour"
    split: Split = "test"
    height: Height = 1060
    columns: Places = 9
    rows: Places = 18
    leaf: int = 1
    frame: Literal["double", "sides", "single", "none"] = "double"
    ruled: bool = True
    mouth: Literal["white", "black"] = "white"
    indent: Annotated[int, Meta(ge=0, le=100)] = 0
    skip: Annotated[int, Meta(ge=0, le=10_000)] = 0
    note_pitch: Ratio = 0.72
    note_hand: str = ""
    margin_hand: str = ""
    seal_hand: str = ""
    seals: tuple[SealSpec, ...] = ()
    head_notes: tuple[HeadNoteSpec, ...] = ()
    wear: dict[str, Amount] = field(default_factory=dict)


class SheetSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sheet of calligraphy: a short text in one hand, with signature and seals.

    `aspect` is its width in heights, `rows` the characters of a column. It has no other side.
    """

    id: str
    passage: str
    hand: str
    asks: tuple[str, ...]
    difficulty: float
    rows: Places
    split: Split = "test"
    height: Height = 900
    aspect: Ratio = 0.62
    signature: str = ""
    seal_hand: str = ""
    seals: tuple[SealSpec, ...] = ()
    wear: dict[str, Amount] = field(default_factory=lambda: {"show": 0.0})


class Recipe(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole synthetic set. Each family of pictures has its own list."""

    format: str
    name: str
    version: str
    licence: str
    seed: Annotated[int, Meta(ge=0)]
    quality: Annotated[int, Meta(ge=1, le=95)] = 78
    hands: dict[str, HandSpec] = field(default_factory=dict)
    pages: tuple[PageSpec, ...] = ()
    sheets: tuple[SheetSpec, ...] = ()

    def hand(self, name: str, *, asked_by: str) -> HandSpec:
        """The hand called `name`.

        Raises:
            DataError: the recipe has no such hand.
        """
        try:
            return self.hands[name]
        except KeyError:
            known = ", ".join(self.hands)
            raise DataError(
                f"no hand '{name}' in the recipe", item=asked_by, mend=f"Known: {known}"
            ) from None


def read_toml(path: Path, shape: type[T]) -> T:
    """Read a TOML file as `shape`.

    Raises:
        DataError: the file is missing, is not TOML, or does not fit the shape.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), type=shape)
    except FileNotFoundError:
        raise DataError("no such file", file=path) from None
    except (OSError, ValueError, RecursionError, msgspec.ValidationError) as error:
        raise DataError(f"not readable: {error}", file=path) from None


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises:
        DataError: not a recipe of this format, an id twice or empty, a difficulty outside 0..1,
            or a page too large to draw.
    """
    recipe = read_toml(path, Recipe)
    if recipe.format != FORMAT:
        raise DataError(f"format is {recipe.format!r}", file=path, mend=f"Expected {FORMAT!r}")
    seen: set[str] = set()
    parts: list[PageSpec | SheetSpec] = [*recipe.pages, *recipe.sheets]
    for part in parts:
        if part.id in seen:
            raise DataError("this id stands twice", file=path, item=part.id)
        seen.add(part.id)
        if not 0 <= part.difficulty <= 1:
            raise DataError(
                f"difficulty is {part.difficulty}", file=path, item=part.id, mend="Use 0 to 1"
            )
        if not part.id.strip():
            raise DataError("a picture without an id", file=path)
        if isinstance(part, PageSpec) and _pixels(part) > MOST_PIXELS:
            raise DataError(
                f"{part.columns} columns of {part.rows} rows at height {part.height} make more "
                f"than {MOST_PIXELS:,} pixels",
                file=path,
                item=part.id,
                mend="Lower height or columns, or raise rows",
            )
    return recipe


def _pixels(page: PageSpec) -> float:
    """About how many pixels a page has, its characters being as wide as high."""
    return page.height**2 * page.columns / page.rows
