"""Step ``fragment``: images of bones and shells are broken, for items of rejoining."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace
from PIL import Image

from keju.building.dropped import Dropped, write_dropped
from keju.building.ranking_items import make_ranking_items
from keju.building.sampling import sample_excluding
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef, Item
from keju.plugins import Settings, StepContext, step
from keju.texts import _, listed, n_
from keju_synthetic.camera import encode_jpeg
from keju_synthetic.fragment_images import FragmentationPlan, fragment_image
from keju_synthetic.masks import is_page, load_masked

LABELS = "labels"
"""Beside the items: for each piece one map of its parts, 0 beside it, as PNG."""

_CHUNK = 32


class FragmentSettings(Settings, frozen=True):
    """The shape of the fragments, and the size of the galleries."""

    parts: Annotated[int, Meta(description="Number of fragments of a piece.", ge=2, le=12)] = 2
    erosion: Annotated[
        float,
        Meta(
            description="Depth of chips along a fracture, in sides of the piece.", ge=0.002, le=0.1
        ),
    ] = 0.008
    rough: Annotated[
        float,
        Meta(
            description="Deviation of a fracture from a straight line, in parts of its length.",
            ge=0.0,
            le=0.3,
        ),
    ] = 0.16
    turn: Annotated[
        float, Meta(description="Maximum rotation of a fragment in degrees.", ge=0, le=180)
    ] = 30.0
    gallery: Annotated[
        int, Meta(description="Number of candidates for a fragment; 0: all others.", ge=0)
    ] = 40
    side: Annotated[
        int, Meta(description="Longest side of a piece in pixels.", ge=128, le=4000)
    ] = 640
    quality: Annotated[int, Meta(description="JPEG quality.", ge=1, le=95)] = 90


class Fragment(Struct, frozen=True):
    """A fragment: which piece's which part it is, and where its pixels were.

    A point (x, y) of its image lay at (a x + b y + c, d x + e y + f) in the map of labels.
    """

    sha256: str
    piece: str
    part: int
    joins: list[int]
    lost: float
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float


class PieceImage(Struct, frozen=True):
    """An image to be broken."""

    item: str
    data: bytes
    seeds: list[int]


class BrokenPiece(Struct, frozen=True):
    """A broken piece: its map of labels, and for each part JPEG, six numbers and neighbours.

    `page` is true if its outline is that of a page.
    """

    labels: bytes = b""
    pictures: list[bytes] = []
    affines: list[float] = []
    lost: list[float] = []
    neighbours: list[int] = []
    page: bool = False
    error: str = ""


class _StoredFragment(NamedTuple):
    """A fragment whose image is stored in the dataset."""

    ref: ImageRef
    piece: Item
    part: int
    joins: tuple[int, ...]


@step(
    "fragment",
    summary="Break images of bones and shells into fragments, and ask which join.",
    settings=FragmentSettings,
)
def fragment_pieces(context: StepContext, settings: FragmentSettings) -> None:
    """Break each image once, and make an item of rejoining for every fragment.

    Raises:
        DataError: no image can be broken.
    """
    wholes, items = [], []
    seen: set[str] = set()
    for item in context.iter_items():
        if item.images and item.images[0].sha256 not in seen:
            ref = item.images[0]
            seen.add(ref.sha256)
            seeds = context.rng(ref.sha256).integers(1 << 31, size=4).tolist()
            wholes.append(PieceImage(ref.sha256, context.dataset.image_bytes(ref), seeds))
            items.append(item)
    torn = context.engine.map(
        "tear", wholes, partial(fragment_piece, settings=settings), BrokenPiece, chunk=_CHUNK
    )
    left = [
        Dropped(item.id, piece.error, item.task)
        for item, piece in zip(items, torn, strict=True)
        if piece.error
    ]
    whole = [(item, piece) for item, piece in zip(items, torn, strict=True) if not piece.error]
    if not whole:
        if not left:
            raise DataError("no item has an image", hint="Use a dataset with images")
        raise DataError(
            "no image can be broken into fragments; the first: {}",
            left[0].reason,
            hint="Use images with a plain or transparent background",
        )
    shelf: list[_StoredFragment] = []
    rows: list[Fragment] = []
    for item, piece in whole:
        for shown, row in _store_fragments(context, item, piece):
            shelf.append(shown)
            rows.append(row)
    of_piece: defaultdict[str, list[int]] = defaultdict(list)
    for place, shown in enumerate(shelf):
        of_piece[shown.piece.id].append(place)
    for place, shown in enumerate(shelf):
        mine = [other for other in of_piece[shown.piece.id] if shelf[other].part in shown.joins]
        _keep_items(context, settings, shelf, place, mine)
    context.table("fragments", rows, Fragment)
    write_dropped(context.out, left)
    joined = sum(bool(shown.joins) for shown in shelf)
    context.note(
        n_(
            "{} pieces broken into {n:,} fragment, {} of them join others",
            "{} pieces broken into {n:,} fragments, {} of them join others",
            len(shelf),
            len(whole),
            joined,
        )
    )
    if pages := [item.id for item, piece in whole if piece.page]:
        context.note(
            _(
                "{} of {} images have no outline of a bone, but a rectangle, such as a page or "
                "its frame: {}{}",
                len(pages),
                len(whole),
                listed(pages[:3]),
                " …" if len(pages) > 3 else "",
            )
        )
    if left:
        context.note(_("{} images not broken: {}", len(left), left[0].reason))


def fragment_piece(whole: PieceImage, settings: FragmentSettings) -> BrokenPiece:
    """Break one image."""
    picture, mask = load_masked(whole.data, name=whole.item, most_side=settings.side)
    plan = FragmentationPlan(settings.parts, settings.erosion, settings.rough, settings.turn)

    def rng_of(name: str) -> np.random.Generator:
        return np.random.default_rng([*whole.seeds, *name.encode()])

    torn, shards = fragment_image(picture, mask, plan, rng_of)
    labels = io.BytesIO()
    Image.fromarray(torn.labels).save(labels, "PNG")
    return BrokenPiece(
        labels=labels.getvalue(),
        pictures=[encode_jpeg(shard.picture, settings.quality) for shard in shards],
        affines=[number for shard in shards for number in shard.affine],
        lost=[round(shard.lost, 4) for shard in shards],
        neighbours=[part for pair in sorted(torn.neighbours) for part in pair],
        page=is_page(picture, mask),
    )


def _store_fragments(
    context: StepContext, item: Item, piece: BrokenPiece
) -> Iterator[tuple[_StoredFragment, Fragment]]:
    """Add the images of a piece's fragments to the dataset; yield the fragments and their rows."""
    name = item.images[0].sha256
    write_atomic(context.out / LABELS / f"{name}.png", piece.labels)
    pairs = list(zip(piece.neighbours[::2], piece.neighbours[1::2], strict=True))
    for part, data in enumerate(piece.pictures, start=1):
        joins = tuple(b if a == part else a for a, b in pairs if part in {a, b})
        ref = context.writer.add_image(data, f"{item.id}, part {part}")
        numbers = piece.affines[6 * (part - 1) : 6 * part]
        row = Fragment(ref.sha256, item.id, part, list(joins), piece.lost[part - 1], *numbers)
        yield _StoredFragment(ref, item, part, joins), row


def _keep_items(
    context: StepContext,
    settings: FragmentSettings,
    shelf: Sequence[_StoredFragment],
    place: int,
    mine: Sequence[int],
) -> None:
    """Keep the items about one fragment, if it joins others; `mine` are the places of those."""
    own, gone = shelf[place], sorted((place, *mine))
    others = len(shelf) - len(gone)
    wanted = max(0, settings.gallery - len(mine)) if settings.gallery else others
    rng = context.rng("gallery", own.piece.id, str(own.part))
    lot = [sample_excluding(int(at), gone) for at in rng.permutation(others)[:wanted]]
    gallery = sorted([*mine, *lot])
    if not mine or not lot:
        return
    for item in make_ranking_items(
        f"{own.piece.id}--{own.part}",
        "rejoining",
        (own.ref, [shelf[other].ref for other in gallery]),
        [at for at, other in enumerate(gallery, 1) if other in mine],
        group=own.piece.group or own.piece.id,
        metadata={
            "source": "torn",
            **own.piece.metadata,
            "piece_of": own.piece.id,
            "part": str(own.part),
        },
    ):
        past = replace(item, provenance=own.piece.provenance)
        context.keep(past, note=f"part {own.part} of {own.piece.id}, torn")
