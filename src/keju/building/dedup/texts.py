"""Step ``dedup-texts``: keep one of several items with the same question and answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from keju.building.dedup.canonical import Canonical, canonical, same_answer
from keju.building.dedup.groups import Duplicate, Kind, Links, keeper
from keju.building.dedup.item_subjects import SameImage, needs_picture, picture_of
from keju.building.dedup.minhash import THRESHOLD, near_pairs
from keju.building.dedup.shingles import BANDS, Keys, band_keys, jaccard, shingles
from keju.building.dedup.union_find import Indices, Joined
from keju.building.engine import Engine
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.items import Item

_BLOCK = 1000


class DedupTextsSettings(Settings, frozen=True):
    """When two items of a task are the same."""

    threshold: Annotated[
        float, Meta(description="Least Jaccard of three-character shingles.", gt=0, le=1)
    ] = THRESHOLD
    simplify: Annotated[
        bool, Meta(description="Fold traditional and variant characters before comparing.")
    ] = False
    same_image: Annotated[
        SameImage,
        Meta(description="Whose picture must be the same too: of templated questions, all, none."),
    ] = "templated"
    own_words: Annotated[
        int, Meta(description="Characters from which a question stands without its picture.", ge=0)
    ] = 30


class Conflict(Struct, frozen=True):
    """Two items of a task with the same question about the same image and different answers."""

    item: str
    other: str
    task: str
    answer: str
    other_answer: str


class Texts(Struct, frozen=True):
    """A block of canonical texts, as the engine gets it."""

    texts: list[str]


class BandKeys(Struct, frozen=True):
    """The block's band keys, as bytes of uint32 [bands, texts]."""

    keys: bytes = b""
    error: str = ""


class Grouped(NamedTuple):
    """The result of `group_texts`: groups of items by index, and how they are connected."""

    groups: list[list[int]]
    links: Links
    forms: list[Canonical]
    compared: int
    capped: int


def dedup_texts(context: StepContext, settings: DedupTextsSettings) -> None:
    """Keep one item of each group, and list the others.

    Raises:
        DataError: an item's task is not in the catalogue.
    """
    items = context.items()
    found = group_texts(items, settings, context.engine)
    dropped = [row for group in found.groups for row in _rows(group, items, found)]
    gone = {row.dropped for row in dropped}
    for item in items:
        if item.id not in gone:
            context.keep(item)
    context.table("duplicates", dropped, Duplicate)
    context.table("conflicts", _conflicts(items, found), Conflict)
    kinds = ", ".join(
        f"{sum(row.kind == kind for row in dropped)} {kind}"
        for kind in ("exact", "canonical", "near")
    )
    context.note(
        f"{len(dropped)} of {len(items)} items left out for {len(found.groups)} that stay ({kinds})"
    )
    if found.capped:
        context.note(f"{found.capped} buckets were too large to be compared whole")


STEP = Step(
    "dedup-texts",
    "Keep one of items that say the same.",
    DedupTextsSettings,
    dedup_texts,
    version=2,
)


def group_texts(
    items: Sequence[Item], settings: DedupTextsSettings, engine: Engine | None = None
) -> Grouped:
    """Groups of items with the same content.

    Only items of one task and query are compared. Two are the same if their canonical texts reach
    the threshold, their answers are the same (`same_answer`), and also their images where these are
    needed.

    Args:
        items: any.
        settings: when two are the same.
        engine: hashes the texts; without one they are hashed in this process, with the same result.
    """
    forms = [canonical(item, simplify=settings.simplify) for item in items]
    needs = needs_picture(items, forms, settings.same_image, settings.own_words)
    joined, links = Joined(len(items)), Links()
    first: dict[tuple[object, ...], int] = {}
    for at, (item, form) in enumerate(zip(items, forms, strict=True)):
        key = (_asks(item), form, picture_of(item) if needs[at] else "")
        same = first.setdefault(key, at)
        if same != at:
            joined.join(same, at)
            links.add(same, at, 1.0)
    places = np.fromiter(first.values(), np.int64, len(first))
    texts = [forms[at].text for at in first.values()]
    keys = _keys(texts, engine)
    compared = capped = 0
    for chosen, scopes in _passes(items, needs, places):
        found = near_pairs(
            [texts[at] for at in chosen],
            keys=keys[:, chosen],
            scopes=scopes,
            threshold=settings.threshold,
            agree=_Agree(forms, places[chosen]),
        )
        compared, capped = compared + found.compared, capped + found.capped
        for pair in found.pairs:
            left, right = int(places[chosen[pair.left]]), int(places[chosen[pair.right]])
            joined.join(left, right)
            links.add(left, right, pair.similarity)
    return Grouped(joined.groups(), links, forms, compared, capped)


def block_keys(block: Texts) -> BandKeys:
    """The band keys of a block of texts."""
    return BandKeys(keys=band_keys(block.texts).tobytes())


class _Agree:
    """Whether two texts, by index among the compared, have the same answer."""

    def __init__(self, forms: list[Canonical], places: NDArray[np.int64]) -> None:
        self._forms = forms
        self._places = places

    def __call__(self, left: int, right: int) -> bool:
        one, other = self._forms[self._places[left]], self._forms[self._places[right]]
        return same_answer(one.answer, other.answer)


def _keys(texts: list[str], engine: Engine | None) -> Keys:
    if engine is None:
        return band_keys(texts)
    starts = range(0, len(texts), _BLOCK)
    blocks = [Texts(texts[start : start + _BLOCK]) for start in starts]
    found = engine.map("band-keys", blocks, block_keys, BandKeys)
    parts = [np.frombuffer(each.keys, np.uint32).reshape(BANDS, -1) for each in found]
    return np.concatenate(parts, axis=1) if parts else np.empty((BANDS, 0), np.uint32)


def _passes(
    items: Sequence[Item], needs: list[bool], places: Indices
) -> Iterator[tuple[Indices, Indices]]:
    """Which texts are compared with which: their indices, and a number for each one's scope.

    First those that do not need an image, within their task; then all that show one, within their
    task and image. A pair of which one needs its image is thus compared in the second pass.
    """
    alone = np.flatnonzero([not needs[at] for at in places])
    shown = np.flatnonzero([bool(items[at].images) for at in places])
    yield alone, _numbered(_asks(items[places[at]]) for at in alone)
    yield shown, _numbered((_asks(items[at]), picture_of(items[at])) for at in places[shown])


def _numbered(scopes: Iterable[object]) -> Indices:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(scope, len(numbers)) for scope in scopes], np.int64)


def _asks(item: Item) -> tuple[str, str, str]:
    return item.benchmark, item.task, item.query


def _rows(group: list[int], items: Sequence[Item], found: Grouped) -> list[Duplicate]:
    kept = keeper(group, items)
    own = shingles(found.forms[kept].text)
    towards = found.links.towards(kept)
    rows = []
    for at in group:
        if at != kept:
            through, link = towards[at]
            rows.append(
                Duplicate(
                    kept=items[kept].id,
                    dropped=items[at].id,
                    task=items[at].task,
                    kind=_kind(at, kept, items, found.forms),
                    similarity=round(jaccard(own, shingles(found.forms[at].text)), 6),
                    through=items[through].id,
                    link=round(link, 6),
                )
            )
    return rows


def _kind(at: int, kept: int, items: Sequence[Item], forms: list[Canonical]) -> Kind:
    if forms[at] != forms[kept]:
        return "near"
    return "exact" if _as_it_stands(items[at]) == _as_it_stands(items[kept]) else "canonical"


def _as_it_stands(item: Item) -> tuple[object, ...]:
    pictures = tuple(ref.sha256 for ref in item.images)
    return item.question, item.fields, item.options, item.answer, pictures


def _conflicts(items: Sequence[Item], found: Grouped) -> list[Conflict]:
    """Items with the same question, by image or by their own words, in different groups."""
    group_of = {at: number for number, group in enumerate(found.groups) for at in group}
    asked: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, (item, form) in enumerate(zip(items, found.forms, strict=True)):
        picture = picture_of(item)
        if picture or form.asked:
            asked[_asks(item), form.asked, form.options, picture].append(at)
    rows = []
    for first, *others in asked.values():
        seen = {group_of.get(first, ~first)}
        for at in others:
            group = group_of.get(at, ~at)
            if group not in seen:
                seen.add(group)
                one, other = items[first], items[at]
                said = found.forms[first].answer, found.forms[at].answer
                rows.append(Conflict(one.id, other.id, one.task, *said))
    return rows
