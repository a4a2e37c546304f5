"""The sections of oracle bones: signs, inscribed pieces, fragments, and galleries of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from msgspec import Meta
from PIL import Image

from keju.building.ranking_items import make_ranking_items
from keju.errors import DataError
from keju.items import ImageRef, Item, Record
from keju.messages import message
from keju_synthetic.bones.bone_items import (
    SOURCE,
    InscriptionImage,
    describe_inscription,
    describe_sign,
    make_recognition_items,
    make_sign_items,
)
from keju_synthetic.bones.crops import CropGround, CropPlan, draw_sign_crop
from keju_synthetic.bones.fragmentation import cut_fragment, fragment_mask
from keju_synthetic.bones.inscribed_pieces import (
    InscribedPiece,
    PiecePlan,
    draw_negative,
    draw_piece,
    inscribe_piece,
)
from keju_synthetic.bones.pieces import PieceKind
from keju_synthetic.bones.signs import Sign, load_signs
from keju_synthetic.drawing_context import DrawingContext, Family
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.recipe import Amount, Difficulty, Height, ImageSpec

_TYPES = {"hand": "Handprinted", "rubbing": "Cropped words", "photo": "Cropped words",
          "small": "Cropped words"}  # fmt: skip
"""OBI-Bench's words for kinds of images."""

_PIECE_TYPES = {"rubbing": "Fragments (inked)", "photo": "Fragments (original)"}

CropHeight = Annotated[int, Meta(ge=28, le=1000)]
Text = Annotated[str, Meta(min_length=1, max_length=60)]
Parts = Annotated[int, Meta(ge=2, le=12)]


class SignImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sign for T28, T29 or deciphering; `variant` is the index of its model, from 0."""

    char: Annotated[str, Meta(min_length=1, max_length=1)]
    ground: CropGround = "rubbing"
    height: CropHeight = 170
    wear: Difficulty = 0.3
    variant: Annotated[int, Meta(ge=0)] | None = None
    asks: tuple[str, ...] = ("T28",)


class BoneImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece with its inscriptions, each in columns of its own; without any it is a negative.

    `side` is the height of a character against the piece's; it shrinks until all fit.
    `filling` is the cinnabar in the cuts of a photograph, `lost` how many parts have broken off.
    """

    kind: PieceKind
    ground: Literal["rubbing", "photo"] = "rubbing"
    texts: tuple[Text, ...] = ()
    height: Height = 640
    aspect: Annotated[float, Meta(ge=0.3, le=3)] = 0.8
    side: Annotated[float, Meta(ge=0.02, le=0.5)] = 0.1
    leftwards: bool = True
    wear: Difficulty = 0.4
    cracks: Annotated[int, Meta(ge=0, le=60)] = 6
    lost: Annotated[int, Meta(ge=0, le=5)] = 0
    filling: Difficulty = 0.0


class NegativeImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image without an inscribed bone: a negative of recognition's query Yes-or-No."""

    thing: Literal["seal", "crane"]
    legend: str = ""
    height: Height = 360


class FragmentedPiece(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece to be broken into parts."""

    kind: PieceKind
    texts: tuple[Text, ...]
    parts: Parts
    ground: Literal["rubbing", "photo"] = "rubbing"
    aspect: Annotated[float, Meta(ge=0.3, le=3)] = 0.8


class RejoiningSet(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Broken pieces; each fragment is compared with all others.

    `erosion` is how deep the breaks are worn, in parts of a piece's height; `turn` by how many
    degrees a fragment is turned at most.
    """

    pieces: Annotated[tuple[FragmentedPiece, ...], Meta(min_length=1)]
    height: Height = 420
    wear: Difficulty = 0.4
    erosion: Annotated[float, Meta(ge=0.002, le=0.05)] = 0.010
    turn: Annotated[float, Meta(ge=0, le=180)] = 30.0


class Gallery(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Classes of signs for classification or retrieval.

    Each class shows `references` crops; those of `queries` are asked about, by other writers.
    `distractors` are signs that belong to no query. In the split ``reference`` every class gives
    labelled crops and nothing is asked.
    """

    task: Literal["classification", "retrieval"]
    classes: Annotated[str, Meta(min_length=2)]
    queries: str = ""
    distractors: str = ""
    references: Annotated[int, Meta(ge=1, le=20)] = 1
    ground: CropGround = "rubbing"
    height: CropHeight = 90
    wear: Difficulty = 0.4
    spread: Amount = 0.3


def draw_signs(context: DrawingContext) -> Iterator[Item]:
    """Signs one by one, for T28, T29 and deciphering.

    Raises:
        DataError: a sign or model is unknown, or a task is not about signs.
    """
    maker = ItemMaker()
    for spec in context.recipe.read_section("signs", SignImageSpec):
        sign = _find_sign(spec.char, spec.id)
        if spec.variant is not None and spec.variant >= len(sign.models):
            problem = message(
                "synthetic.sign-without-variant",
                sign=sign.char,
                count=len(sign.models),
                variant=spec.variant,
            )
            raise DataError(problem, item=spec.id)
        plan = CropPlan(spec.ground, spec.height, spec.wear)
        picture = draw_sign_crop(
            sign, plan, context.rng(spec.id, "sign"), signs=load_signs(), variant=spec.variant
        )
        stored = StoredImage(
            id=spec.id,
            image=context.add_image(picture, spec.id),
            group=sign.char,
            split=spec.split,
            metadata=describe_sign(sign) | {"type": _TYPES[spec.ground], "ground": spec.ground},
            transcription=sign.char,
        )
        yield from make_sign_items(stored, sign, spec.asks, maker)


def draw_bones(context: DrawingContext) -> Iterator[Item]:
    """Whole pieces for recognition, and pieces without writing as its negatives.

    Raises:
        DataError: a text has an unknown sign, or does not fit.
    """
    for spec in context.recipe.read_section("bones", BoneImageSpec):
        size = (round(spec.height * spec.aspect), spec.height)
        look = PiecePlan(spec.kind, size, spec.side, spec.cracks, spec.leftwards, spec.lost)
        made = inscribe_piece(spec.id, look, spec.texts, context.rng(spec.id, "piece"))
        picture = draw_piece(
            made.piece, spec.ground, context.rng(spec.id, "ground"),
            wear=spec.wear, grain=spec.height / 700, filling=spec.filling,
        )  # fmt: skip
        metadata = {
            "type": _PIECE_TYPES[spec.ground],
            "piece": spec.kind,
            "columns": "right to left" if spec.leftwards else "left to right",
            "wear": f"{spec.wear:g}",
        }
        yield from make_recognition_items(
            _make_inscription_image(context, spec, picture, made, metadata)
        )


def _make_inscription_image(
    context: DrawingContext,
    spec: BoneImageSpec,
    picture: Image.Image,
    made: InscribedPiece,
    metadata: dict[str, str],
) -> InscriptionImage:
    describes = ""
    if made.boxes:
        describes = describe_inscription(spec.kind, spec.ground, len(made.boxes), len(made.columns))
    return InscriptionImage(
        id=spec.id,
        image=context.add_image(picture, spec.id),
        split=spec.split,
        boxes=made.boxes,
        text="\n".join(made.columns),
        describes=describes,
        metadata=metadata if made.boxes else metadata | {"negative": "a piece without writing"},
    )


def draw_negatives(context: DrawingContext) -> Iterator[Item]:
    """Seals and brush drawings, as negatives of recognition's Yes-or-No."""
    for spec in context.recipe.read_section("strangers", NegativeImageSpec):
        picture = draw_negative(
            spec.thing, spec.height, context.rng(spec.id, "stranger"), legend=spec.legend
        )
        image = context.add_image(picture, spec.id)
        metadata = {"type": "Other", "negative": spec.thing}
        yield from make_recognition_items(
            InscriptionImage(spec.id, image, spec.split, (), "", "", metadata)
        )


def draw_rejoining(context: DrawingContext) -> Iterator[Item]:
    """Fragments of torn pieces, each against all others of its set.

    Raises:
        DataError: a text that cannot be written, or a piece that is too small for its parts.
    """
    for spec in context.recipe.read_section("rejoining", RejoiningSet):
        refs: list[ImageRef] = []
        homes: list[tuple[int, int]] = []
        joins: set[tuple[int, int]] = set()
        for place, one in enumerate(spec.pieces):
            start = len(refs)
            torn = []
            for part, ref, beside in _draw_fragments(context, spec, place, one):
                torn.append(ref)
                homes.append((place, part))
                joins |= {(start + part, start + other) for other in beside}
            refs += torn
        for number, (place, part) in enumerate(homes):
            others = [n for n in range(len(refs)) if n != number]
            yield from make_ranking_items(
                f"{spec.id}-{place + 1}-{part + 1}",
                "rejoining",
                (refs[number], [refs[n] for n in others]),
                [at for at, n in enumerate(others, 1) if (number, n) in joins],
                group=f"{spec.id}-{place + 1}",
                metadata=SOURCE | {"type": "Fragments (mixed)", "piece": spec.pieces[place].kind},
            )


def _draw_fragments(
    context: DrawingContext, spec: RejoiningSet, place: int, one: FragmentedPiece
) -> Iterator[tuple[int, ImageRef, tuple[int, ...]]]:
    """The parts of one piece from 0, their images, and the parts that each touches."""
    name = f"{spec.id}-{place + 1}"
    look = PiecePlan(one.kind, (round(spec.height * one.aspect), spec.height), 0.11, 6)
    made = inscribe_piece(spec.id, look, one.texts, context.rng(name, "piece"))
    torn = fragment_mask(made.piece.mask, one.parts, context.rng(name, "tear"))
    for part in range(1, torn.parts + 1):
        alone = cut_fragment(
            made.piece, torn, part, context.rng(name, "wear", str(part)),
            depth=spec.erosion * spec.height, turn=spec.turn,
        )  # fmt: skip
        # Photographs of one bone share its colour; each rubbing is inked by itself.
        shade = "" if one.ground == "photo" else str(part)
        picture = draw_piece(
            alone, one.ground, context.rng(name, "ground", shade),
            wear=spec.wear, grain=spec.height / 600,
        )  # fmt: skip
        ref = context.add_image(picture, f"{name}-{part}")
        yield part - 1, ref, tuple(other - 1 for other in torn.list_neighbours(part))


def draw_galleries(context: DrawingContext) -> Iterator[Item]:
    """Classes and queries of classification and retrieval.

    Raises:
        DataError: a sign is unknown, or a query belongs to no class.
    """
    for spec in context.recipe.read_section("galleries", Gallery):
        stray = set(spec.queries) - set(spec.classes)
        if stray:
            queries = "".join(sorted(stray))
            raise DataError(message("synthetic.query-without-class", queries=queries), item=spec.id)
        if spec.split == "reference":
            yield from _make_labelled_items(context, spec)
            continue
        owners = [char for char in spec.classes for _ in range(spec.references)]
        labels = owners + list(spec.distractors)
        gallery = [
            _draw_gallery_crop(context, spec, char, f"reference-{n}")
            for n, char in enumerate(labels)
        ]
        for number, char in enumerate(spec.queries, 1):
            yield from make_ranking_items(
                f"{spec.id}-{number}",
                spec.task,
                (_draw_gallery_crop(context, spec, char, f"query-{number}"), gallery),
                [at for at, label in enumerate(owners, 1) if label == char],
                group=char,
                metadata=SOURCE
                | {"type": _TYPES[spec.ground], "class": char, "ground": spec.ground},
            )


def _make_labelled_items(context: DrawingContext, spec: Gallery) -> Iterator[Item]:
    for char in spec.classes:
        for number in range(spec.references):
            ref = _draw_gallery_crop(context, spec, char, f"labelled-{number}")
            place = spec.classes.index(char) + 1
            yield Item(
                id=f"{spec.id}-{place}-{number + 1}-{spec.task}",
                benchmark="OBI-Bench",
                task=spec.task,
                images=(ref,),
                answer=char,
                group=char,
                split="reference",
                metadata=describe_sign(_find_sign(char, spec.id))
                | {"class": char, "type": _TYPES[spec.ground]},
            )


def _draw_gallery_crop(context: DrawingContext, spec: Gallery, char: str, role: str) -> ImageRef:
    rng = context.rng(spec.id, char, role)
    wear = min(1.0, max(0.0, spec.wear + (float(rng.random()) - 0.5) * 2 * spec.spread))
    picture = draw_sign_crop(
        _find_sign(char, spec.id), CropPlan(spec.ground, spec.height, wear), rng, signs=load_signs()
    )
    return context.add_image(picture, f"{spec.id}-{role}")


def _find_sign(char: str, item: str) -> Sign:
    try:
        return load_signs()[char]
    except KeyError:
        problem = message("synthetic.stroke-model-missing", characters=char)
        raise DataError(problem, item=item) from None


BONES: Mapping[str, Family] = {
    "bones": draw_bones,
    "strangers": draw_negatives,
    "signs": draw_signs,
    "galleries": draw_galleries,
    "rejoining": draw_rejoining,
}
"""The sections of a recipe that this module draws."""
