"""Step ``dedup-texts``: keep one of several items with the same question and answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from keju.building.dedup.canonical import Canonical, canonicalize, is_same_answer
from keju.building.dedup.groups import Duplicate, Kind, Links, choose_kept
from keju.building.dedup.item_subjects import SameImage, get_image_key, needs_image
from keju.building.dedup.minhash import THRESHOLD, find_near_pairs
from keju.building.dedup.shingles import BANDS, Keys, compute_band_keys, jaccard, make_shingles
from keju.building.dedup.union_find import Indices, UnionFind
from keju.building.engine import Engine
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.items import Item
from keju.messages import message

_BLOCK = 1000


class DedupTextsSettings(Settings, frozen=True):
    """When two items of a task are the same."""

    threshold: Annotated[
        float, Meta(description="Minimum Jaccard similarity of character trigrams.", gt=0, le=1)
    ] = THRESHOLD
    simplify: Annotated[
        bool, Meta(description="Fold traditional and variant characters before comparing.")
    ] = False
    same_image: Annotated[
        SameImage,
        Meta(
            description="Items whose image must be the same too: those with a templated question, "
            "all (always) or none (never)."
        ),
    ] = "templated"
    own_words: Annotated[
        int,
        Meta(
            description="Minimum length of a question that is compared without its image, in "
            "characters.",
            ge=0,
        ),
    ] = 30


class Conflict(Struct, frozen=True):
    """Two items of a task with the same question about the same image and different answers."""

    item: str
    other: str
    task: str
    answer: str
    other_answer: str


class TextBlock(Struct, frozen=True):
    """A block of canonical texts, as the engine gets it."""

    texts: list[str]


class BlockKeys(Struct, frozen=True):
    """The block's band keys, as bytes of uint32 [bands, texts]."""

    keys: bytes = b""
    error: str = ""


class GroupedTexts(NamedTuple):
    """The result of `group_texts`: groups of items by index, and how they are connected."""

    groups: list[list[int]]
    links: Links
    forms: list[Canonical]
    compared: int
    capped: int


def deduplicate_texts(context: StepContext, settings: DedupTextsSettings) -> None:
    """Keep one item of each group, and list the others.

    Raises:
        DataError: an item's task is not in the catalogue.
    """
    items = context.items()
    found = group_texts(items, settings, context.engine)
    dropped = [row for group in found.groups for row in _make_rows(group, items, found)]
    gone = {row.dropped for row in dropped}
    for item in items:
        if item.id not in gone:
            context.keep(item)
    context.table("duplicates", dropped, Duplicate)
    context.table("conflicts", _find_conflicts(items, found), Conflict)
    kinds = Counter(row.kind for row in dropped)
    context.note(
        message(
            "steps.texts-deduplicated",
            dropped=len(dropped),
            items=len(items),
            kept=len(found.groups),
            exact=kinds["exact"],
            canonical=kinds["canonical"],
            near=kinds["near"],
        )
    )
    if found.capped:
        context.note(message("steps.buckets-capped", count=found.capped))


STEP = Step(
    "dedup-texts",
    "Keep one of several items with the same question and answer.",
    DedupTextsSettings,
    deduplicate_texts,
    version=2,
)


def group_texts(
    items: Sequence[Item], settings: DedupTextsSettings, engine: Engine | None = None
) -> GroupedTexts:
    """Group items with the same content.

    Only items of one task and query are compared. Two are the same if their canonical texts reach
    the threshold, their answers are the same (`is_same_answer`), and also their images where these
    are needed.

    Args:
        items: any.
        settings: when two are the same.
        engine: hashes the texts; without one they are hashed in this process, with the same result.
    """
    forms = [canonicalize(item, simplify=settings.simplify) for item in items]
    needs = needs_image(items, forms, settings.same_image, settings.own_words)
    joined, links = UnionFind(len(items)), Links()
    first: dict[tuple[object, ...], int] = {}
    for at, (item, form) in enumerate(zip(items, forms, strict=True)):
        key = (_get_query(item), form, get_image_key(item) if needs[at] else "")
        same = first.setdefault(key, at)
        if same != at:
            joined.join(same, at)
            links.add(same, at, 1.0)
    places = np.fromiter(first.values(), np.int64, len(first))
    texts = [forms[at].text for at in first.values()]
    keys = _compute_keys(texts, engine)
    compared = capped = 0
    for chosen, scopes in _iter_passes(items, needs, places):
        found = find_near_pairs(
            [texts[at] for at in chosen],
            keys=keys[:, chosen],
            scopes=scopes,
            threshold=settings.threshold,
            agree=_SameAnswer(forms, places[chosen]),
        )
        compared, capped = compared + found.compared, capped + found.capped
        for pair in found.pairs:
            left, right = int(places[chosen[pair.left]]), int(places[chosen[pair.right]])
            joined.join(left, right)
            links.add(left, right, pair.similarity)
    return GroupedTexts(joined.list_groups(), links, forms, compared, capped)


def compute_block_keys(block: TextBlock) -> BlockKeys:
    """Compute the band keys of a block of texts."""
    return BlockKeys(keys=compute_band_keys(block.texts).tobytes())


class _SameAnswer:
    """A condition on pairs: two texts, by index among the compared, have the same answer."""

    def __init__(self, forms: list[Canonical], places: NDArray[np.int64]) -> None:
        self._forms = forms
        self._places = places

    def __call__(self, left: int, right: int) -> bool:
        one, other = self._forms[self._places[left]], self._forms[self._places[right]]
        return is_same_answer(one.answer, other.answer)


def _compute_keys(texts: list[str], engine: Engine | None) -> Keys:
    if engine is None:
        return compute_band_keys(texts)
    starts = range(0, len(texts), _BLOCK)
    blocks = [TextBlock(texts[start : start + _BLOCK]) for start in starts]
    found = engine.map("band-keys", blocks, compute_block_keys, BlockKeys)
    parts = [np.frombuffer(each.keys, np.uint32).reshape(BANDS, -1) for each in found]
    return np.concatenate(parts, axis=1) if parts else np.empty((BANDS, 0), np.uint32)


def _iter_passes(
    items: Sequence[Item], needs: list[bool], places: Indices
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the texts that are compared with each other: their indices, and each one's scope.

    First those that do not need an image, within their task; then all that show one, within their
    task and image. A pair of which one needs its image is thus compared in the second pass.
    """
    alone = np.flatnonzero([not needs[at] for at in places])
    shown = np.flatnonzero([bool(items[at].images) for at in places])
    yield alone, _number_scopes(_get_query(items[places[at]]) for at in alone)
    yield (
        shown,
        _number_scopes((_get_query(items[at]), get_image_key(items[at])) for at in places[shown]),
    )


def _number_scopes(scopes: Iterable[object]) -> Indices:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(scope, len(numbers)) for scope in scopes], np.int64)


def _get_query(item: Item) -> tuple[str, str, str]:
    return item.benchmark, item.task, item.query


def _make_rows(group: list[int], items: Sequence[Item], found: GroupedTexts) -> list[Duplicate]:
    kept = choose_kept(group, items)
    own = make_shingles(found.forms[kept].text)
    towards = found.links.find_paths(kept)
    rows = []
    for at in group:
        if at != kept:
            through, link = towards[at]
            rows.append(
                Duplicate(
                    kept=items[kept].id,
                    dropped=items[at].id,
                    task=items[at].task,
                    kind=_classify(at, kept, items, found.forms),
                    similarity=round(jaccard(own, make_shingles(found.forms[at].text)), 6),
                    through=items[through].id,
                    link=round(link, 6),
                )
            )
    return rows


def _classify(at: int, kept: int, items: Sequence[Item], forms: list[Canonical]) -> Kind:
    if forms[at] != forms[kept]:
        return "near"
    return "exact" if _get_content(items[at]) == _get_content(items[kept]) else "canonical"


def _get_content(item: Item) -> tuple[object, ...]:
    pictures = tuple(ref.sha256 for ref in item.images)
    return item.question, item.fields, item.options, item.answer, pictures


def _find_conflicts(items: Sequence[Item], found: GroupedTexts) -> list[Conflict]:
    """Find items with the same question, by image or by own words, in different groups."""
    group_of = {at: number for number, group in enumerate(found.groups) for at in group}
    asked: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, (item, form) in enumerate(zip(items, found.forms, strict=True)):
        picture = get_image_key(item)
        if picture or form.asked:
            asked[_get_query(item), form.asked, form.options, picture].append(at)
    rows = []
    for first, *others in asked.values():
        seen = {group_of.get(first, ~first)}
        for at in others:
            group = group_of.get(at, ~at)
            if group not in seen:
                seen.add(group)
                one, other = items[first], items[at]
                answers = found.forms[first].answer, found.forms[at].answer
                rows.append(Conflict(one.id, other.id, one.task, *answers))
    return rows
