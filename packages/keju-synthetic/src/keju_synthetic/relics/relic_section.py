"""The section ``relics``: images of one relic each, and items of T32 to T36."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import field

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Item, Record
from keju.messages import message
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.recipe import Amount, Difficulty, Height, ImageSpec
from keju_synthetic.relics.photograph import Ground, Staging, photograph_relic
from keju_synthetic.relics.shapes import list_letters, load_shapes
from keju_synthetic.texts import DATA
from keju_synthetic.wear import compute_wear

_DIGITS = "0123456789 cm"


class RelicImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relic of ``data/relics.toml`` and its presentation.

    `labelled` puts a card with its name before it; `measured` puts a scale bar below it. `hand`
    writes both, and the characters on the thing.
    """

    relic: str
    hand: str
    asks: tuple[str, ...]
    height: Height = 480
    ground: Ground = "grey"
    labelled: bool = False
    measured: bool = False
    difficulty: Difficulty = 0.15
    wear: dict[str, Amount] = field(default_factory=dict)


class Relic(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts about a relic or a type of relic, in simplified Chinese.

    `shape` is one of ``data/relic_shapes.toml``, `centimetres` its height; `other_…` are wrong
    options. A type that many museums have has no `collection`.
    """

    id: str
    shape: str
    name: str
    kind: str
    period: str
    centimetres: float
    collection: str = ""
    other_names: tuple[str, ...] = ()
    other_kinds: tuple[str, ...] = ()
    other_periods: tuple[str, ...] = ()
    other_collections: tuple[str, ...] = ()
    introduction: str = ""


class _Relics(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    relics: tuple[Relic, ...]


@lru_cache(maxsize=1)
def load_relics(path: Path = DATA / "relics.toml") -> dict[str, Relic]:
    """The known relics by id.

    Raises:
        DataError: two entries have the same id, or a shape is unknown.
    """
    relics: dict[str, Relic] = {}
    for relic in read_toml(path, _Relics).relics:
        if relic.id in relics:
            raise DataError(message("synthetic.id-twice"), file=path, item=relic.id)
        if relic.shape not in load_shapes():
            problem = unknown_name(relic.shape, load_shapes(), "shape")
            raise DataError(problem, file=path, item=relic.id)
        relics[relic.id] = relic
    return relics


def draw_relics(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's relics, and yield their items.

    Raises:
        DataError: no such relic or hand, a character without an outline, or a task without
            data.
    """
    maker = ItemMaker()
    for spec in context.recipe.read_section("relics", RelicImageSpec):
        yield from _make_items(context, spec, maker)


def _make_items(context: DrawingContext, spec: RelicImageSpec, maker: ItemMaker) -> Iterator[Item]:
    relics = load_relics()
    if spec.relic not in relics:
        raise DataError(unknown_name(spec.relic, relics, "relic"), item=spec.id)
    relic = relics[spec.relic]
    if spec.labelled and "T32" in spec.asks:
        raise DataError(message("synthetic.label-gives-name"), item=spec.id)
    shape = load_shapes()[relic.shape]
    label = (relic.name,) if spec.labelled else ()
    needed = (
        list_letters(shape) + "".join(label) + (_DIGITS.replace(" ", "") if spec.measured else "")
    )
    font = context.find_font(spec.hand, needed, spec.id)
    centimetres = relic.centimetres if spec.measured else 0.0
    wear = compute_wear(spec.difficulty, spec.wear, item=spec.id)
    shown = photograph_relic(
        shape, Staging(spec.height, spec.ground, centimetres, label), wear, font,
        context.rng(spec.id, "relic"),
    )  # fmt: skip
    stored = StoredImage(
        id=spec.id,
        image=context.add_image(shown.image, spec.id),
        group=relic.name,
        split=spec.split,
        metadata=_make_metadata(spec, relic),
        transcription="\n".join(label),
    )
    for name in spec.asks:
        yield _make_item(maker, stored, relic, name)


def _make_metadata(spec: RelicImageSpec, relic: Relic) -> dict[str, str]:
    known = {
        "name": relic.name,
        "kind": relic.kind,
        "period": relic.period,
        "shape": relic.shape,
        "material": load_shapes()[relic.shape].material,
        "labelled": "yes" if spec.labelled else "no",
        "difficulty": f"{spec.difficulty:g}",
        "note": "drawn after the type, not after the piece",
    }
    return known | ({"collection": relic.collection} if relic.collection else {})


def _make_item(maker: ItemMaker, stored: StoredImage, relic: Relic, name: str) -> Item:
    chosen = {
        "T32": (relic.name, relic.other_names),
        "T33": (relic.period, relic.other_periods),
        "T34": (relic.collection, relic.other_collections),
        "T36": (relic.kind, relic.other_kinds),
    }
    if name in chosen and all(chosen[name]):
        return maker.make_choice(stored, name, *chosen[name])
    if name == "T35" and relic.introduction:
        return maker.make_open_question(stored, name, relic.introduction)
    raise DataError(
        message("synthetic.relic-without-data", task=name, relic=relic.name), item=stored.id
    )
