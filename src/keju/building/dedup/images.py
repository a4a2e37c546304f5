"""Step ``dedup-images``: find images that differ only in size, encoding, a turn or a small crop."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from keju.building.dedup.candidates import Candidate, holding, near_vectors
from keju.building.dedup.canonical import canonical
from keju.building.dedup.groups import Links, keeper
from keju.building.dedup.image_hashes import Hashes, Picture, hashes_of, near_hashes
from keju.building.dedup.image_similarity import ALIKE, Likeness, PicturePair, likeness_of
from keju.building.dedup.item_subjects import CLUSTER, picture_of, short
from keju.building.dedup.representative import best
from keju.building.dedup.union_find import Joined
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import query_of
from keju.errors import DataError, number_of
from keju.files import sha256_bytes
from keju.images import open_image
from keju.items import ImageRef, Item

Drop = Literal["never", "copies", "items"]

_CHUNK = 256


class DedupImagesSettings(Settings, frozen=True):
    """Which images are compared, when two are the same, and what happens to their items."""

    within: Annotated[
        Literal["task", "dataset"], Meta(description="Compare pictures of one task, or all.")
    ] = "task"
    alike: Annotated[
        float, Meta(description="Likeness of strokes, laid upon each other.", ge=0, le=1)
    ] = ALIKE
    clip: Annotated[
        Path | None, Meta(description="Folder of CLIP weights, to bring up further candidates.")
    ] = None
    clip_cosine: Annotated[
        float, Meta(description="CLIP's cosine from which a pair is a candidate.", ge=-1, le=1)
    ] = 0.95
    trust_clip: Annotated[
        bool, Meta(description="Join what CLIP brings up unseen: for objects, never for pages.")
    ] = False
    drop: Annotated[
        Drop,
        Meta(
            description="Keep all items; or drop copies: items whose picture is another's copy and "
            "that transcribe it too, or ask and answer the same; or keep one of a task about one "
            "picture, whatever it asks."
        ),
    ] = "never"


class GroupedPicture(Struct, frozen=True):
    """An image of a group, and how it was added to it.

    `kept` is the representative of the group (see `best`); `kind` is ``kept`` for itself, ``hash``
    or ``clip`` for others by how the pair was found. The distances are those of pHash of 64 and 256
    bits and dHash of 64, `cosine` CLIP's (NaN where not computed), and `likeness` the result of the
    comparison, all with `through`. `items` show it.
    """

    kept: str
    picture: str
    kind: str
    through: str
    likeness: float
    phash: int
    phash256: int
    dhash: int
    cosine: float
    items: list[str]


class Dropped(Struct, frozen=True):
    """An item that was dropped for another of its task about the same image or a copy of it."""

    kept: str
    dropped: str
    task: str
    picture: str


def dedup_images(context: StepContext, settings: DedupImagesSettings) -> None:
    """Record for each item which images it shows, with copies counted as the same image.

    Raises:
        DataError: an image or CLIP's weights cannot be read.
        PrerequisiteError: CLIP was requested and its packages are not installed.
    """
    items = context.items()
    refs = list({ref.sha256: ref for item in items for ref in item.images}.values())
    pictures = [Picture(str(context.image_path(ref)), ref.width, ref.height) for ref in refs]
    candidates = _candidates(context, settings, items, refs, pictures)
    held = _held(context, settings, candidates, pictures)
    stands = _standing(refs, [each.pair for each, _ in held])
    marked = [_marked(item, stands) for item in items]
    out = _left_out(marked, settings.drop)
    gone = {row.dropped for row in out}
    for item in marked:
        if item.id not in gone:
            context.keep(item)
    groups = _rows(items, refs, stands, held)
    context.table("image-groups", groups, GroupedPicture)
    context.table("duplicates", out, Dropped)
    copies = sum(kept != sha256 for sha256, kept in stands.items())
    context.note(
        f"{copies} of {len(refs)} pictures are copies of others "
        f"({number_of(len(candidates), 'candidate')}); {len(out)} of {len(items)} items left out"
    )


STEP = Step(
    "dedup-images", "Find pictures that are one.", DedupImagesSettings, dedup_images, version=2
)


def _candidates(
    context: StepContext,
    settings: DedupImagesSettings,
    items: Sequence[Item],
    refs: Sequence[ImageRef],
    pictures: list[Picture],
) -> list[Candidate]:
    """Pairs that one of the hashes or CLIP finds, each once."""
    hashes = context.engine.map("hashes", pictures, hashes_of, Hashes)
    _check(each.error for each in hashes)
    vectors = _vectors(context, settings.clip, refs, pictures) if settings.clip else None
    found: dict[tuple[int, int], Candidate] = {}
    for scope in _scopes(items, refs, settings.within):
        bits = [hashes[at].bits for at in scope]
        for pairs, distances in near_hashes(bits):
            for (one, other), apart in zip(pairs.T.tolist(), distances.T.tolist(), strict=True):
                pair = scope[one], scope[other]
                found[pair] = Candidate(*pair, (apart[0], apart[1], apart[2]))
        if vectors is not None:
            for pairs, cosines in near_vectors(vectors[scope], settings.clip_cosine):
                for (one, other), cosine in zip(pairs.T.tolist(), cosines.tolist(), strict=True):
                    pair = scope[one], scope[other]
                    known = found.get(pair, Candidate(*pair, (-1, -1, -1)))
                    found[pair] = known._replace(cosine=cosine)
    return [found[pair] for pair in sorted(found)]


def _scopes(
    items: Sequence[Item], refs: Sequence[ImageRef], within: Literal["task", "dataset"]
) -> list[list[int]]:
    """The images that are compared with each other, by index."""
    if within == "dataset":
        return [list(range(len(refs)))]
    place = {ref.sha256: at for at, ref in enumerate(refs)}
    scopes: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for item in items:
        scopes[item.benchmark, item.task].update(place[ref.sha256] for ref in item.images)
    return [sorted(scope) for scope in scopes.values()]


def _held(
    context: StepContext,
    settings: DedupImagesSettings,
    candidates: list[Candidate],
    pictures: list[Picture],
) -> list[tuple[Candidate, float]]:
    """The candidates that are confirmed when the images are registered on each other."""

    def compare(some: list[Candidate]) -> list[float]:
        pairs = [PicturePair.of(pictures[each.one], pictures[each.other]) for each in some]
        found = context.engine.map("comparisons", pairs, likeness_of, Likeness)
        _check(each.error for each in found)
        if not settings.trust_clip:
            return [each.likeness for each in found]
        return [
            1.0 if each.cosine >= settings.clip_cosine else seen.likeness
            for each, seen in zip(some, found, strict=True)
        ]

    return holding(candidates, len(pictures), compare, settings.alike)


def _vectors(
    context: StepContext, folder: Path, refs: Sequence[ImageRef], pictures: Sequence[Picture]
) -> NDArray[np.float32]:
    """CLIP's vector of each image; finished batches survive an interruption."""
    from keju.encoders.pictures import PictureEncoder  # noqa: PLC0415 - torch

    encoder = PictureEncoder(folder)
    parts = []
    for start in range(0, len(refs), _CHUNK):
        names = "".join(ref.sha256 for ref in refs[start : start + _CHUNK])
        mark = sha256_bytes(f"{encoder.weights_hash}{names}".encode())
        file = context.scratch("clip") / f"{short(mark)}.npy"
        if not file.exists():
            some = (
                open_image(Path(each.path).read_bytes(), name=each.path)
                for each in pictures[start : start + _CHUNK]
            )
            partial = file.with_suffix(".part.npy")
            np.save(partial, np.stack(list(encoder.vectors(some))))
            partial.replace(file)
        parts.append(np.load(file))
    return np.concatenate(parts)


def _standing(refs: Sequence[ImageRef], pairs: Iterable[tuple[int, int]]) -> dict[str, str]:
    """Map from each image's hash to that of its representative, itself or another."""
    joined = Joined(len(refs))
    joined.join_all(pairs)
    stands = {ref.sha256: ref.sha256 for ref in refs}
    for group in joined.groups():
        kept = best(group, refs)
        stands |= {refs[at].sha256: refs[kept].sha256 for at in group}
    return stands


def _marked(item: Item, stands: Mapping[str, str]) -> Item:
    """The item with its cluster, where another image represents one of its own."""
    if all(stands[ref.sha256] == ref.sha256 for ref in item.images):
        return item
    cluster = " ".join(short(stands[ref.sha256]) for ref in item.images)
    return replace(item, metadata={**item.metadata, CLUSTER: cluster})


def _left_out(items: Sequence[Item], drop: Drop) -> list[Dropped]:
    if drop == "never":
        return []
    about: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        if item.images:
            said = _said(item) if drop == "copies" else ()
            about[item.benchmark, item.task, item.query, picture_of(item), said].append(at)
    rows = []
    for places in about.values():
        kept = items[keeper(places, items)]
        rows += [
            Dropped(kept.id, item.id, item.task, picture_of(item))
            for item in (items[at] for at in places)
            if item is not kept and (drop == "items" or item.images != kept.images)
        ]
    return rows


def _said(item: Item) -> tuple[object, ...]:
    """Values that two items about copies must share to be the same; empty for transcriptions."""
    return () if query_of(item).form == "transcription" else canonical(item)


def _rows(
    items: Sequence[Item],
    refs: Sequence[ImageRef],
    stands: Mapping[str, str],
    held: Sequence[tuple[Candidate, float]],
) -> list[GroupedPicture]:
    """The groups of two or more images, one row per image."""
    place = {ref.sha256: at for at, ref in enumerate(refs)}
    shown: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        for sha256 in dict.fromkeys(ref.sha256 for ref in item.images):
            shown[sha256].append(item.id)
    links = Links()
    by_pair = {}
    for each, found in held:
        links.add(*each.pair, found)
        by_pair[each.pair] = each
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for sha256, kept in stands.items():
        groups[kept].append(place[sha256])
    rows = []
    for kept, group in groups.items():
        if len(group) > 1:
            towards = links.towards(place[kept])
            for at in group:
                through, found = towards.get(at, (at, 1.0))
                pair = by_pair.get((min(at, through), max(at, through)))
                rows.append(_row(refs, (place[kept], at, through), found, pair, shown))
    return rows


def _row(
    refs: Sequence[ImageRef],
    places: tuple[int, int, int],
    found: float,
    pair: Candidate | None,
    shown: Mapping[str, list[str]],
) -> GroupedPicture:
    kept, at, through = (refs[place] for place in places)
    distances = pair.distances if pair else (0, 0, 0)
    return GroupedPicture(
        kept=kept.path,
        picture=at.path,
        kind="kept" if pair is None else "hash" if distances[0] >= 0 else "clip",
        through=through.path,
        likeness=round(found, 4),
        phash=distances[0],
        phash256=distances[1],
        dhash=distances[2],
        cosine=pair.cosine if pair else math.nan,
        items=shown[at.sha256],
    )


def _check(errors: Iterable[str]) -> None:
    if error := next(filter(None, errors), ""):
        raise DataError(error)
