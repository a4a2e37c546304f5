"""Near-duplicate texts: the groups are those that comparing all pairs would give."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.building.dedup.minhash import (
    ANCHORS,
    BANDS,
    ROWS,
    compute_band_keys,
    find_near_pairs,
    jaccard,
    make_shingles,
)
from keju.building.dedup.union_find import UnionFind

HAN = [chr(0x4E00 + at) for at in range(1500)]


def by_all_pairs(texts: list[str], threshold: float = 0.95) -> list[list[int]]:
    sets = [make_shingles(text) for text in texts]
    joined = UnionFind(len(texts))
    for left in range(len(texts)):
        for right in range(left + 1, len(texts)):
            if jaccard(sets[left], sets[right]) >= threshold:
                joined.join(left, right)
    return joined.list_groups()


def by_bands(texts: list[str], **options) -> list[list[int]]:
    joined = UnionFind(len(texts))
    joined.join_all((pair.left, pair.right) for pair in find_near_pairs(texts, **options).pairs)
    return joined.list_groups()


def copies(draw: random.Random, texts: int, share: float, most: int) -> list[str]:
    """Texts of which a share are earlier ones with some characters changed."""
    made: list[str] = []
    for _ in range(texts):
        if made and draw.random() < share:
            text = list(draw.choice(made))
            for _ in range(draw.randint(0, most)):
                text[draw.randrange(len(text))] = draw.choice(HAN)
            made.append("".join(text))
        else:
            made.append("".join(draw.choices(HAN, k=draw.randint(1, 260))))
    return made


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_those_of_all_pairs(seed):
    texts = copies(random.Random(seed), 220, 0.5, 4)
    assert by_all_pairs(texts)
    assert by_bands(texts) == by_all_pairs(texts)


@given(st.lists(st.text("天地玄黃宇宙\U00020000", max_size=9), max_size=24))
@settings(max_examples=60)
def test_short_and_empty_texts_too(texts):
    assert by_bands(texts) == by_all_pairs(texts)


def test_a_bucket_whose_first_member_is_no_duplicate_loses_no_pair():
    """All share one band; only the last two are alike, so no star around the first finds them."""
    draw = random.Random(2)
    texts = ["".join(draw.choices(HAN, k=150)) for _ in range(ANCHORS)]
    texts += [texts[-1][:-1] + "甲"]
    keys = np.zeros((1, len(texts)), np.uint32)
    found = find_near_pairs(texts, keys=keys)
    assert [pair[:2] for pair in found.pairs] == [(ANCHORS - 1, ANCHORS)]
    assert found.capped == 0


def test_a_bucket_too_large_to_be_compared_whole_is_counted():
    texts = [f"{at:05d}" for at in range(ANCHORS + 2)]
    assert find_near_pairs(texts, keys=np.zeros((1, len(texts)), np.uint32)).capped == 1


def test_a_large_group_of_equals_is_compared_once_a_member():
    assert find_near_pairs(["知足不辱知止不殆"] * 500).compared == 499


def test_scopes_are_never_crossed():
    texts = ["學而時習之不亦說乎"] * 4
    found = find_near_pairs(texts, scopes=np.array([0, 1, 0, 1]))
    assert sorted(pair[:2] for pair in found.pairs) == [(0, 2), (1, 3)]


def test_what_else_must_hold_is_asked():
    assert not find_near_pairs(["有朋自遠方來"] * 2, agree=lambda left, right: False).pairs


def test_keys_are_the_same_alone_and_among_others():
    draw = random.Random(3)
    texts = copies(draw, 2100, 0.2, 3)
    keys = compute_band_keys(texts)
    for at in (0, 999, 1000, 2099):
        assert (compute_band_keys([texts[at]])[:, 0] == keys[:, at]).all()


def test_rows_agree_as_often_as_the_sets_are_alike():
    """MinHash's promise: a band of 8 rows agrees with probability Jaccard to the eighth."""
    draw = random.Random(4)
    texts = ["".join(draw.choices(HAN, k=200)) for _ in range(300)]
    changed = [text[:100] + "甲" + text[101:] for text in texts]
    alike = np.mean(
        [jaccard(make_shingles(a), make_shingles(b)) for a, b in zip(texts, changed, strict=True)]
    )
    agreed = (compute_band_keys(texts) == compute_band_keys(changed)).mean()
    assert agreed == pytest.approx(alike**ROWS, abs=0.02)
    assert compute_band_keys(texts).shape == (BANDS, 300)


def test_keys_are_pinned():
    """Kept chunks and other machines rely on them."""
    assert compute_band_keys(["學而時習之不亦說乎"])[:3, 0].tolist() == PINNED


PINNED = [1795499300, 3233359257, 422427361]
