"""Step ``dedup-images``: find images that differ only in size, encoding, a turn or a small crop."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.dedup.candidates import Candidate, find_near_vectors, verify_candidates
from keju.building.dedup.canonical import canonicalize
from keju.building.dedup.groups import (
    CLUSTER,
    Links,
    choose_kept,
    get_image_key,
    rank_item,
    shorten_hash,
)
from keju.building.dedup.image_hashes import ImageFile, find_near_hashes, hash_images
from keju.building.dedup.image_similarity import SAME_IMAGE, compare_pairs
from keju.building.dedup.union_find import UnionFind
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.building.worker_encoders import encode_images
from keju.definitions import query_of
from keju.items import ImageRef, Item
from keju.texts import n_

Drop = Literal["never", "copies", "items"]

_BATCH = 256
"""Images that CLIP encodes at a time."""


class DedupImagesSettings(Settings, frozen=True):
    """Which images are compared, when two are the same, and what happens to their items."""

    within: Annotated[
        Literal["task", "dataset"],
        Meta(description="Compare images within a task, or in the whole dataset."),
    ] = "task"
    alike: Annotated[
        float,
        Meta(description="Similarity from which two registered images are the same.", ge=0, le=1),
    ] = SAME_IMAGE
    clip: Annotated[
        Path | None, Meta(description="Directory of CLIP weights, to find further candidates.")
    ] = None
    clip_cosine: Annotated[
        float, Meta(description="CLIP cosine from which a pair is a candidate.", ge=-1, le=1)
    ] = 0.95
    trust_clip: Annotated[
        bool,
        Meta(
            description="Join CLIP's candidates without comparison: for objects, never for pages."
        ),
    ] = False
    drop: Annotated[
        Drop,
        Meta(
            description="never: keep all items. copies: drop items whose image is a copy of "
            "another's and that transcribe it too, or have the same question and answer. items: "
            "keep one item per task and image, whatever it asks."
        ),
    ] = "never"


class GroupedImage(Struct, frozen=True):
    """An image of a group, and how it was added to it.

    `kept` is the representative of the group (see `choose_representative`); `kind` is ``kept`` for
    itself, ``hash`` or ``clip`` for others by how the pair was found. The distances are those of
    pHash of 64 and 256 bits and dHash of 64, `cosine` is CLIP's (NaN if not computed), and
    `likeness` is the result of the comparison, all with `through`. `items` show the image.
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


class ImageDuplicate(Struct, frozen=True):
    """An item that was dropped because another of its task is about the same image or a copy."""

    kept: str
    dropped: str
    task: str
    picture: str


def deduplicate_images(context: StepContext, settings: DedupImagesSettings) -> None:
    """Record for each item which images it shows, with copies counted as the same image.

    Raises:
        DataError: an image or CLIP's weights cannot be read.
        PrerequisiteError: CLIP was requested and its packages are not installed.
    """
    given = context.dataset
    refs = list({ref.sha256: ref for item in given for ref in item.images}.values())
    pictures = [ImageFile(context.image_name(ref), ref.width, ref.height) for ref in refs]
    candidates = _find_candidates(context, settings, given, refs, pictures)
    verified = _verify(context, settings, candidates, pictures)
    kept_by = _map_to_representatives(refs, [each.pair for each, _ in verified])
    out: list[ImageDuplicate] = []
    if settings.drop != "never":
        out = _choose_dropped([_mark_cluster(item, kept_by) for item in given], settings.drop)
    gone = {row.dropped for row in out}
    for item in context.iter_items():
        if item.id not in gone:
            context.keep(_mark_cluster(item, kept_by))
    groups = _make_rows(given, refs, kept_by, verified)
    context.table("image-groups", groups, GroupedImage)
    context.table("duplicates", out, ImageDuplicate)
    copies = sum(kept != sha256 for sha256, kept in kept_by.items())
    context.note(
        n_(
            "{} of {} images are copies of others ({n:,} candidate); {} of {} items dropped",
            "{} of {} images are copies of others ({n:,} candidates); {} of {} items dropped",
            len(candidates),
            copies,
            len(refs),
            len(out),
            len(given),
        )
    )


STEP = Step(
    "dedup-images",
    "Find copies of images, and drop their items on request.",
    DedupImagesSettings,
    deduplicate_images,
    version=2,
)


def _find_candidates(
    context: StepContext,
    settings: DedupImagesSettings,
    items: Iterable[Item],
    refs: Sequence[ImageRef],
    pictures: list[ImageFile],
) -> list[Candidate]:
    """Find the pairs that one of the hashes or CLIP proposes, each once."""
    hashes = hash_images(context.engine, pictures, context.image_files())
    vectors = None
    if settings.clip:
        images = [(ref, "") for ref in refs]
        values = encode_images(context, settings.clip, images, batch=_BATCH)
        vectors = values.reshape(len(refs), -1)
    found: dict[tuple[int, int], Candidate] = {}
    for scope in _group_by_scope(items, refs, settings.within):
        bits = [hashes[at] for at in scope]
        for pairs, distances in find_near_hashes(bits):
            for (one, other), apart in zip(pairs.T.tolist(), distances.T.tolist(), strict=True):
                pair = scope[one], scope[other]
                found[pair] = Candidate(*pair, (apart[0], apart[1], apart[2]))
        if vectors is not None:
            for pairs, cosines in find_near_vectors(vectors[scope], settings.clip_cosine):
                for (one, other), cosine in zip(pairs.T.tolist(), cosines.tolist(), strict=True):
                    pair = scope[one], scope[other]
                    known = found.get(pair, Candidate(*pair, (-1, -1, -1)))
                    found[pair] = known._replace(cosine=cosine)
    return [found[pair] for pair in sorted(found)]


def _group_by_scope(
    items: Iterable[Item], refs: Sequence[ImageRef], within: Literal["task", "dataset"]
) -> list[list[int]]:
    """Group the images that are compared with each other, by index."""
    if within == "dataset":
        return [list(range(len(refs)))]
    place = {ref.sha256: at for at, ref in enumerate(refs)}
    scopes: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for item in items:
        scopes[item.benchmark, item.task].update(place[ref.sha256] for ref in item.images)
    return [sorted(scope) for scope in scopes.values()]


def _verify(
    context: StepContext,
    settings: DedupImagesSettings,
    candidates: list[Candidate],
    pictures: list[ImageFile],
) -> list[tuple[Candidate, float]]:
    """Verify candidates by registering their images on each other; each with its similarity."""
    images = context.image_files()

    def compare(some: list[Candidate]) -> list[float]:
        pairs = ((pictures[each.one], pictures[each.other]) for each in some)
        found = compare_pairs(context.engine, pairs, images)
        return [
            1.0 if settings.trust_clip and each.cosine >= settings.clip_cosine else likeness
            for each, likeness in zip(some, found, strict=True)
        ]

    return verify_candidates(candidates, len(pictures), compare, settings.alike)


def _map_to_representatives(
    refs: Sequence[ImageRef], pairs: Iterable[tuple[int, int]]
) -> dict[str, str]:
    """Map from each image's hash to that of its representative, itself or another."""
    joined = UnionFind(len(refs))
    joined.join_all(pairs)
    kept_by = {ref.sha256: ref.sha256 for ref in refs}
    for group in joined.list_groups():
        kept = choose_representative(group, refs)
        kept_by |= {refs[at].sha256: refs[kept].sha256 for at in group}
    return kept_by


def _mark_cluster(item: Item, kept_by: Mapping[str, str]) -> Item:
    """Add its cluster to an item if another image represents one of its own."""
    if all(kept_by[ref.sha256] == ref.sha256 for ref in item.images):
        return item
    cluster = " ".join(shorten_hash(kept_by[ref.sha256]) for ref in item.images)
    return replace(item, metadata={**item.metadata, CLUSTER: cluster})


def _choose_dropped(items: Sequence[Item], drop: Drop) -> list[ImageDuplicate]:
    about: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        if item.images:
            content = _compute_content_key(item) if drop == "copies" else ()
            about[item.benchmark, item.task, item.query, get_image_key(item), content].append(at)
    rows = []
    for places in about.values():
        kept = items[choose_kept(places, lambda at: rank_item(items[at]))]
        rows += [
            ImageDuplicate(kept.id, item.id, item.task, get_image_key(item))
            for item in (items[at] for at in places)
            if item is not kept and (drop == "items" or item.images != kept.images)
        ]
    return rows


def _compute_content_key(item: Item) -> tuple[object, ...]:
    """Compute what two items about copies must share to be the same; empty for transcriptions."""
    return () if query_of(item).form == "transcription" else canonicalize(item)


def _make_rows(
    items: Iterable[Item],
    refs: Sequence[ImageRef],
    kept_by: Mapping[str, str],
    verified: Sequence[tuple[Candidate, float]],
) -> list[GroupedImage]:
    """Make the rows of the groups of two or more images, one per image."""
    place = {ref.sha256: at for at, ref in enumerate(refs)}
    shown: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        for sha256 in dict.fromkeys(ref.sha256 for ref in item.images):
            shown[sha256].append(item.id)
    links = Links()
    by_pair = {}
    for each, found in verified:
        links.add(*each.pair, found)
        by_pair[each.pair] = each
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for sha256, kept in kept_by.items():
        groups[kept].append(place[sha256])
    rows = []
    for kept, group in groups.items():
        if len(group) > 1:
            towards = links.find_paths(place[kept])
            for at in group:
                through, found = towards.get(at, (at, 1.0))
                pair = by_pair.get((min(at, through), max(at, through)))
                rows.append(_make_row(refs, (place[kept], at, through), found, pair, shown))
    return rows


def _make_row(
    refs: Sequence[ImageRef],
    places: tuple[int, int, int],
    found: float,
    pair: Candidate | None,
    shown: Mapping[str, list[str]],
) -> GroupedImage:
    kept, at, through = (refs[place] for place in places)
    distances = pair.distances if pair else (0, 0, 0)
    return GroupedImage(
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


AS_LARGE = 0.8
"""Share of the largest image's pixels from which an image counts as equally large: cropping a few
percent on every side does not make a scan worse, and more lossy pixels do not make it better."""

_LOSSLESS = frozenset({".png", ".tif", ".tiff", ".bmp"})


def choose_representative(group: Iterable[int], refs: Sequence[ImageRef]) -> int:
    """Choose the representative image of a group.

    Of those as large as the largest: lossless before lossy, then the most bytes, then the most
    pixels, then the first. Enlarged copies cannot be distinguished from large scans, nor a PNG made
    from a JPEG from an original one.
    """
    places = list(group)
    most = max(_count_pixels(refs[at]) for at in places)
    large = [at for at in places if _count_pixels(refs[at]) >= AS_LARGE * most]
    return min(
        large,
        key=lambda at: (not _is_lossless(refs[at]), -refs[at].size, -_count_pixels(refs[at]), at),
    )


def _count_pixels(ref: ImageRef) -> int:
    return ref.width * ref.height


def _is_lossless(ref: ImageRef) -> bool:
    return PurePosixPath(ref.path).suffix.lower() in _LOSSLESS
