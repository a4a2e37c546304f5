"""Step ``compose-inscriptions``: crops of characters as inscriptions on bones, with boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace
from PIL import Image

from keju.building.crops import Classes, Crop, group_by_class, sample_classes
from keju.building.dropped import Dropped, write_dropped
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.errors import DataError, UsageError
from keju.images import open_image
from keju.items import Box
from keju.messages import message
from keju.text import is_han
from keju_synthetic.bones.bone_items import (
    InscriptionImage,
    describe_inscription,
    make_recognition_items,
)
from keju_synthetic.bones.inscribed_pieces import draw_piece
from keju_synthetic.bones.pieces import PieceKind, make_blank_piece
from keju_synthetic.bones.placement import extract_strokes, place_inscriptions
from keju_synthetic.camera import encode_jpeg

_KINDS: tuple[PieceKind, ...] = ("scapula", "plastron", "fragment")
_SHRINK, _LEAST = 0.92, 12
_CHUNK = 64
_TRIES = 200
_PROBE, _STROKE = 32, 7


class CompositeSettings(Settings, frozen=True):
    """The number, size and look of the inscriptions."""

    pictures: Annotated[int, Meta(description="Number of inscriptions.", ge=1)] = 20
    fewest: Annotated[
        int, Meta(description="Minimum number of characters of an inscription.", ge=1, le=60)
    ] = 4
    most: Annotated[
        int, Meta(description="Maximum number of characters of an inscription.", ge=1, le=60)
    ] = 14
    classes: Annotated[
        int, Meta(description="Number of classes, chosen at random; 0: all.", ge=0)
    ] = 0
    sampling: Annotated[
        Literal["even", "natural"],
        Meta(description="Frequency of classes: all equal, or as in the crops."),
    ] = "even"
    ground: Annotated[Literal["rubbing", "photo"], Meta(description="Rendering of the piece.")] = (
        "rubbing"
    )
    wear: Annotated[float, Meta(description="Wear of the surface, 0 to 1.", ge=0, le=1)] = 0.35
    height: Annotated[int, Meta(description="Height of an image in pixels.", ge=200, le=3000)] = 640
    quality: Annotated[int, Meta(description="JPEG quality.", ge=1, le=95)] = 85


class InscriptionPlan(Struct, frozen=True):
    """A planned inscription: the files of its crops, and the seeds of its random generator."""

    name: str
    kind: str
    crops: list[bytes]
    seeds: list[int]


class Composite(Struct, frozen=True):
    """A finished inscription: JPEG, four numbers for each box, and the length of each column."""

    data: bytes = b""
    boxes: list[float] = []
    columns: list[int] = []
    error: str = ""


class CompositePart(Struct, frozen=True):
    """The crop of one box of an image."""

    picture: str
    place: int
    name: str
    crop: str
    of_item: str


def make_composites(context: StepContext, settings: CompositeSettings) -> None:
    """Make inscriptions of labelled crops, and items of recognition about them.

    Raises:
        UsageError: `classes` is larger than their number, or `fewest` than `most`.
        DataError: there are no classes of crops, or no inscription could be made.
    """
    if settings.fewest > settings.most:
        raise UsageError(
            message("synthetic.fewest-exceeds-most", fewest=settings.fewest, most=settings.most)
        )
    classes = sample_classes(
        group_by_class(context.items()), settings.classes, context.rng("classes")
    )
    shelf = _CropSampler(context, settings, classes)
    chosen = [
        _choose_crops(context, settings, shelf, number) for number in range(settings.pictures)
    ]
    plans = [_make_plan(context, number, crops) for number, crops in enumerate(chosen)]
    made = context.engine.map(
        "compose", plans, partial(compose_inscription, settings=settings), Composite, chunk=_CHUNK
    )
    parts: list[CompositePart] = []
    left = []
    for plan, crops, picture in zip(plans, chosen, made, strict=True):
        if picture.error:
            left.append(Dropped(plan.name, picture.error))
            continue
        parts += _keep(context, settings, plan, crops, picture)
    if not parts:
        raise DataError(message("synthetic.no-inscription-made", why=left[0].reason))
    context.table("parts", parts, CompositePart)
    write_dropped(context.out, left)
    count = len(plans) - len(left)
    context.note(
        message(
            "synthetic.inscriptions-made",
            count=count,
            characters=len(parts),
            classes=len(classes),
        )
    )
    if shelf.unclear_count:
        context.note(message("synthetic.crops-unused", count=shelf.unclear_count))


STEP = Step(
    "compose-inscriptions",
    "Place crops of characters as inscriptions on bones, with a box each.",
    CompositeSettings,
    make_composites,
    stored_name="composites",
)


def compose_inscription(plan: InscriptionPlan, settings: CompositeSettings) -> Composite:
    """Make one inscription; characters shrink until all fit.

    Raises:
        DataError: a crop has nothing written on it, or they do not fit.
    """
    rng = np.random.default_rng(plan.seeds)
    strokes = [extract_strokes(open_image(crop, name=f"{plan.name}: crop")) for crop in plan.crops]
    kind = next(each for each in _KINDS if each == plan.kind)
    piece = make_blank_piece((round(settings.height * 0.8), settings.height), kind, rng)
    side = settings.height * 0.13
    while side >= _LEAST:
        masks = [_resize_strokes(crop, side) for crop in strokes]
        written = place_inscriptions([masks], piece.mask, rng)
        if written is not None:
            whole = piece._replace(strokes=written.strokes)
            picture = draw_piece(
                whole, settings.ground, rng, wear=settings.wear, grain=settings.height / 700
            )
            return Composite(
                encode_jpeg(picture, settings.quality),
                [edge for box in written.boxes for edge in (box.x0, box.y0, box.x1, box.y1)],
                [len(column) for column in written.columns],
            )
        side *= _SHRINK
    problem = message("synthetic.characters-without-room", count=len(strokes))
    raise DataError(problem, item=plan.name)


def _resize_strokes(crop: Image.Image, side: float) -> Image.Image:
    """The crop with its longer side about so long, cropped to its strokes again."""
    scale = side / max(crop.size)
    size = (max(1, round(crop.width * scale)), max(1, round(crop.height * scale)))
    larger = crop.resize(size, Image.Resampling.BICUBIC)
    return larger.crop(larger.point(lambda value: 255 if value > 127 else 0).getbbox())


class _CropSampler:
    """Chooses crops at random, except those that contain a rim, a flake or a stain."""

    def __init__(self, context: StepContext, settings: CompositeSettings, classes: Classes) -> None:
        self._context = context
        self._even = settings.sampling == "even"
        self._classes = list(classes.values())
        self._every = [crop for crops in self._classes for crop in crops]
        self._clear: dict[str, bool] = {}

    @property
    def unclear_count(self) -> int:
        """The number of crops that were rejected."""
        return sum(not clear for clear in self._clear.values())

    def choose(self, rng: np.random.Generator) -> Crop:
        """A random crop.

        Raises:
            DataError: no crop of many consists of strokes alone.
        """
        for _ in range(_TRIES):
            of_class = self._classes[int(rng.integers(len(self._classes)))]
            pool = of_class if self._even else self._every
            crop = pool[int(rng.integers(len(pool)))]
            if self._is_clear(crop):
                return crop
        raise DataError(message("synthetic.crops-unclear", count=_TRIES))

    def _is_clear(self, crop: Crop) -> bool:
        known = self._clear.get(crop.ref.sha256)
        if known is None:
            name = self._context.items()[crop.place].id
            picture = open_image(self._context.dataset.image_bytes(crop.ref), name=name)
            try:
                known = not has_patch(extract_strokes(picture))
            except DataError:
                known = False
            self._clear[crop.ref.sha256] = known
        return known


def has_patch(strokes: Image.Image) -> bool:
    """Whether a white area is wider than a stroke: a fifth of the crop in both directions."""
    scale = _PROBE / max(strokes.size)
    size = (max(1, round(strokes.width * scale)), max(1, round(strokes.height * scale)))
    small = np.asarray(strokes.resize(size, Image.Resampling.BOX)) > 127
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(small, _STROKE), (_STROKE, _STROKE))
    return bool(windows.all(axis=(2, 3)).any())


def _choose_crops(
    context: StepContext, settings: CompositeSettings, shelf: _CropSampler, number: int
) -> list[Crop]:
    rng = context.rng("characters", str(number))
    count = int(rng.integers(settings.fewest, settings.most + 1))
    return [shelf.choose(rng) for _ in range(count)]


def _make_plan(context: StepContext, number: int, crops: Sequence[Crop]) -> InscriptionPlan:
    name = f"composite-{number + 1:04d}"
    rng = context.rng("piece", name)
    return InscriptionPlan(
        name=name,
        kind=_KINDS[int(rng.integers(len(_KINDS)))],
        crops=[context.dataset.image_bytes(crop.ref) for crop in crops],
        seeds=rng.integers(1 << 31, size=4).tolist(),
    )


def _keep(
    context: StepContext,
    settings: CompositeSettings,
    plan: InscriptionPlan,
    crops: Sequence[Crop],
    made: Composite,
) -> list[CompositePart]:
    numbers = made.boxes
    boxes = tuple(
        Box(x0=x0, y0=y0, x1=x1, y1=y1)
        for x0, y0, x1, y1 in zip(*(numbers[edge::4] for edge in range(4)), strict=True)
    )
    kind = next(each for each in _KINDS if each == plan.kind)
    shown = InscriptionImage(
        id=plan.name,
        image=context.writer.add_image(made.data, f"{plan.name}.jpg"),
        split="test",
        boxes=boxes,
        text=_join_names(crops, made.columns),
        describes=describe_inscription(kind, settings.ground, len(boxes), len(made.columns)),
        metadata={
            "source": "composed of crops",
            "piece": kind,
            "classes": " ".join(crop.name for crop in crops),
        },
    )
    sources = [context.items()[crop.place] for crop in crops]
    past = tuple(dict.fromkeys(each for source in sources for each in source.provenance))
    for item in make_recognition_items(shown):
        context.keep(replace(item, provenance=past), note=f"composed of {len(crops)} crops")
    return [
        CompositePart(plan.name, place, crop.name, crop.ref.sha256, source.id)
        for place, (crop, source) in enumerate(zip(crops, sources, strict=True), start=1)
    ]


def _join_names(crops: Sequence[Crop], columns: Sequence[int]) -> str:
    """The inscription column by column, where every class is named by its character."""
    names = [crop.name for crop in crops]
    if not all(len(name) == 1 and is_han(name) for name in names):
        return ""
    lines, at = [], 0
    for length in columns:
        lines.append("".join(names[at : at + length]))
        at += length
    return "\n".join(lines)
