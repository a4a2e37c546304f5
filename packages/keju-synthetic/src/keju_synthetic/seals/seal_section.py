"""The section ``seals``: images of one impression each, with items of T30 and T31."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import field

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Item, Line, Record
from keju.messages import message
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.recipe import Amount, Difficulty, Height, ImageSpec
from keju_synthetic.seals.carving import SealDesign
from keju_synthetic.seals.impression import Ground, press_seal
from keju_synthetic.texts import DATA
from keju_synthetic.wear import compute_wear

_NAMES = {"zhuwen": "朱文", "baiwen": "白文", "mixed": "朱白相间"}
_ORDERS = {"columns": "columns from right to left", "turning": "回文"}


class SealImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seal to be carved and pressed; `asks` are tasks among T30 and T31.

    `difficulty` in 0..1 drives the wear of ground, paste and scan; `wear` overrides single values
    (a seal's small piece of ground has no stains unless it says so).
    """

    cut: SealDesign
    asks: tuple[str, ...] = ("T30",)
    difficulty: Difficulty = 0.3
    ground: Ground = "paper"
    height: Height = 340
    wear: dict[str, Amount] = field(default_factory=dict)


class SealOwner(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known legend: its owner, other owners as wrong options, and a note on the source."""

    legend: str
    owner: str
    others: tuple[str, ...]
    note: str


class _Seals(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seals: tuple[SealOwner, ...]


@lru_cache(maxsize=1)
def load_owners(path: Path = DATA / "seals.toml") -> dict[str, SealOwner]:
    """The known owners by legend.

    Raises:
        DataError: two entries have the same legend.
    """
    owners: dict[str, SealOwner] = {}
    for seal in read_toml(path, _Seals).seals:
        if seal.legend in owners:
            raise DataError(message("synthetic.legend-twice"), file=path, item=seal.legend)
        owners[seal.legend] = seal
    return owners


def draw_seals(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's seals, and yield their items.

    Raises:
        DataError: a legend cannot be carved, a task is not about seals, or the owner is unknown.
    """
    maker = ItemMaker()
    for spec in context.recipe.read_section("seals", SealImageSpec):
        yield from _make_items(context, spec, maker)


def _make_items(context: DrawingContext, spec: SealImageSpec, maker: ItemMaker) -> Iterator[Item]:
    owned = load_owners().get(spec.cut.legend)
    wear = compute_wear(spec.difficulty, {"stains": 0.0} | spec.wear, item=spec.id)
    made = press_seal(
        spec.cut, height=spec.height, ground=spec.ground, wear=wear,
        rng=context.rng(spec.id, "seal"),
    )  # fmt: skip
    metadata = {
        "legend": spec.cut.legend,
        "style": _NAMES[spec.cut.style],
        "shape": spec.cut.shape,
        "order": _ORDERS[spec.cut.order],
        "ground": spec.ground,
        "difficulty": f"{spec.difficulty:g}",
        "script": "squared seal script, models drawn for keju",
    }
    if owned is not None:
        metadata |= {"owner": owned.owner, "note": owned.note}
    stored = StoredImage(
        id=spec.id,
        image=context.add_image(made.image, spec.id),
        group=spec.cut.legend,
        split=spec.split,
        metadata=metadata,
        transcription=spec.cut.legend,
    )
    line = Line(id="l001", text=spec.cut.legend, polygon=made.outline, kind="seal")
    for name in spec.asks:
        if name == "T30":
            yield maker.make_transcription(stored, name, (line,))
        elif name == "T31" and owned is not None:
            yield maker.make_choice(stored, name, owned.owner, owned.others)
        elif name == "T31":
            raise DataError(message("synthetic.seal-without-owner", task=name), item=spec.id)
        else:
            raise DataError(message("synthetic.task-not-about-seals", task=name), item=spec.id)
