"""Step ``dedup-texts``: keep one of several items with the same question and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from keju.building.dedup.canonical import is_same_answer
from keju.building.dedup.groups import Duplicate, Kind, Links, SameImage, choose_kept
from keju.building.dedup.minhash import (
    BANDS,
    THRESHOLD,
    Keys,
    compute_band_keys,
    find_near_pairs,
    jaccard,
    make_shingles,
)
from keju.building.dedup.text_columns import TextColumns, number_rows
from keju.building.dedup.union_find import Indices, UnionFind
from keju.building.engine import Engine
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.items import Item
from keju.texts import _

_BLOCK = 1000
"""Texts of a row of the engine."""

_BLOCKS = 16
"""Rows that the engine gets at a time."""


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
    jaccard_alone: Annotated[
        bool,
        Meta(
            description="Let the similarity alone decide, as the published rule does: answers and "
            "images may differ. Where the answer is a letter, a number or a box, answer and "
            "image must still be the same (our reading)."
        ),
    ] = False


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
    columns: TextColumns
    compared: int
    capped: int


def deduplicate_texts(context: StepContext, settings: DedupTextsSettings) -> None:
    """Keep one item of each group, and list the others.

    Raises:
        DataError: an item's task is not in the catalogue.
    """
    found = group_texts(context.dataset, settings, context.engine)
    kept = {choose_kept(group, found.columns.rank): group for group in found.groups}
    gone = {at for first, group in kept.items() for at in group if at != first}
    for at, item in enumerate(context.iter_items()):
        if at not in gone:
            context.keep(item)
    kinds: Counter[Kind] = Counter()
    context.table("duplicates", _make_rows(kept, found, kinds), Duplicate)
    context.table("conflicts", _find_conflicts(found), Conflict)
    context.note(
        _(
            "{} of {} items dropped; {} items kept in their place ({} exact, {} canonical, {} "
            "near)",
            len(gone),
            len(found.columns),
            len(found.groups),
            kinds["exact"],
            kinds["canonical"],
            kinds["near"],
        )
    )
    if found.capped:
        context.note(_("{} buckets were too large to be compared completely", found.capped))


STEP = Step(
    "dedup-texts",
    "Keep one of several items with the same question and answer.",
    DedupTextsSettings,
    deduplicate_texts,
    version=2,
)


def group_texts(
    items: Iterable[Item], settings: DedupTextsSettings, engine: Engine | None = None
) -> GroupedTexts:
    """Group items with the same content.

    Only items of one task and query are compared. Two are the same if their canonical texts reach
    the threshold, their answers are the same (`is_same_answer`), and also their images where these
    are needed.

    Without an engine, texts are hashed in this process, with the same result.
    """
    columns = TextColumns(items, simplify=settings.simplify)
    needs = columns.needs_image(settings.same_image, settings.own_words)
    if settings.jaccard_alone:
        # The paper's T13 has 125 items with the same question and options (Table 5), so its rule
        # cannot be of pairs whose answer is a choice, without the image: our reading.
        needs = columns.shows & columns.is_coded
    joined, links = UnionFind(len(columns)), Links()
    pictures = np.where(needs, columns.pictures, 0)
    same = number_rows(columns.queries, *columns.forms.T, pictures)
    places = np.unique(same, return_index=True)[1]
    for at in np.flatnonzero(places[same] != np.arange(len(columns))).tolist():
        first = int(places[same[at]])
        joined.join(first, at)
        links.add(first, at, 1.0)
    keys = _compute_keys(columns.texts(places), engine)
    compared = capped = 0
    for chosen, scopes in _iter_passes(columns, needs, places):
        found = find_near_pairs(
            columns.texts(places[chosen]),
            keys=keys[:, chosen],
            scopes=scopes,
            threshold=settings.threshold,
            agree=partial(_have_same_answer, columns, places[chosen], settings.jaccard_alone),
        )
        compared, capped = compared + found.compared, capped + found.capped
        for pair in found.pairs:
            left, right = int(places[chosen[pair.left]]), int(places[chosen[pair.right]])
            joined.join(left, right)
            links.add(left, right, pair.similarity)
    return GroupedTexts(joined.list_groups(), links, columns, compared, capped)


def compute_block_keys(block: TextBlock) -> BlockKeys:
    """Compute the band keys of a block of texts."""
    return BlockKeys(keys=compute_band_keys(block.texts).tobytes())


def _have_same_answer(
    columns: TextColumns, places: Indices, jaccard_alone: bool, left: int, right: int
) -> bool:
    """Whether two texts, by index among the compared, have the same answer as far as it counts."""
    if jaccard_alone and not columns.is_coded[places[left]]:
        return True
    one, other = (columns.read(int(places[at])).form for at in (left, right))
    return is_same_answer(one.answer, other.answer)


def _compute_keys(texts: Sequence[str], engine: Engine | None) -> Keys:
    keys = np.empty((BANDS, len(texts)), np.uint32)
    starts = range(0, len(texts), _BLOCK)
    blocks = (TextBlock(list(texts[start : start + _BLOCK])) for start in starts)
    found: Iterable[BlockKeys] = map(compute_block_keys, blocks)
    if engine:
        found = engine.iter_map("band-keys", blocks, compute_block_keys, BlockKeys, chunk=_BLOCKS)
    for start, each in zip(starts, found, strict=True):
        part = np.frombuffer(each.keys, np.uint32).reshape(BANDS, -1)
        keys[:, start : start + part.shape[1]] = part
    return keys


def _iter_passes(
    columns: TextColumns, needs: NDArray[np.bool_], places: Indices
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the texts that are compared with each other: their indices, and each one's scope.

    First those that do not need an image, within their task; then all that show one, within their
    task and image. A pair of which one needs its image is thus compared in the second pass.
    """
    alone = np.flatnonzero(~needs[places])
    shown = np.flatnonzero(columns.shows[places])
    yield alone, number_rows(columns.queries[places[alone]])
    at = places[shown]
    yield shown, number_rows(columns.queries[at], columns.pictures[at])


def _make_rows(
    kept: Mapping[int, list[int]], found: GroupedTexts, kinds: Counter[Kind]
) -> Iterator[Duplicate]:
    """Make a row for each dropped item; count their kinds."""
    read = found.columns.read
    for first, group in kept.items():
        one = read(first)
        own = make_shingles(one.form.text)
        towards = found.links.find_paths(first)
        for at in group:
            if at == first:
                continue
            through, link = towards[at]
            other = read(at)
            kind = _classify(at, first, found.columns)
            kinds[kind] += 1
            yield Duplicate(
                kept=one.id,
                dropped=other.id,
                task=other.task,
                kind=kind,
                similarity=round(jaccard(own, make_shingles(other.form.text)), 6),
                through=read(through).id,
                link=round(link, 6),
            )


def _classify(at: int, kept: int, columns: TextColumns) -> Kind:
    if not np.array_equal(columns.forms[at], columns.forms[kept]):
        return "near"
    return "exact" if columns.contents[at] == columns.contents[kept] else "canonical"


def _find_conflicts(found: GroupedTexts) -> Iterator[Conflict]:
    """Find items with the same question, by image or by own words, in different groups."""
    columns = found.columns
    group_of = ~np.arange(len(columns))
    for number, group in enumerate(found.groups):
        group_of[group] = number
    asked = np.flatnonzero(columns.has_subject)
    subjects = number_rows(columns.subjects[asked])
    shared = np.bincount(subjects)[subjects] > 1
    asked, subjects = asked[shared], subjects[shared]
    order = np.argsort(subjects, kind="stable")
    cuts = np.flatnonzero(np.diff(subjects[order])) + 1
    for some in np.split(asked[order], cuts) if len(asked) else ():
        first, *others = some.tolist()
        seen = {int(group_of[first])}
        for at in others:
            if group_of[at] not in seen:
                seen.add(int(group_of[at]))
                one, other = columns.read(first), columns.read(at)
                yield Conflict(one.id, other.id, one.task, one.form.answer, other.form.answer)
