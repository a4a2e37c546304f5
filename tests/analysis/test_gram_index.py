"""The index finds the runs of other texts that a naive search finds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from keju.analysis import gram_index
from keju.analysis.gram_index import GramIndex

LENGTH, MOST = 3, 2


def naive(texts, said, own):
    for start in range(len(said) - LENGTH + 1):
        gram = said[start : start + LENGTH]
        places = [
            number
            for number, text in enumerate(texts)
            for at in range(len(text) - LENGTH + 1)
            if text[at : at + LENGTH] == gram
        ][:MOST]
        if others := [number for number in places if number != own]:
            yield gram, others


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bits", [64, 4])
def test_it_finds_what_a_naive_search_finds(seed, bits, monkeypatch):
    full = gram_index._hash_grams
    monkeypatch.setattr(
        gram_index,
        "_hash_grams",
        lambda text, length: full(text, length) % np.uint64(2**bits - 1),
    )
    draw = random.Random(seed)
    texts = ["".join(draw.choices("天地玄黃𠀀", k=draw.randrange(12))) for _ in range(6)]
    index = GramIndex(LENGTH, most=MOST, text=texts.__getitem__)
    for number in range(len(texts)):
        index.add(number)
    for own, text in enumerate(texts):
        said = text + "".join(draw.choices("天地玄黃𠀀宇", k=8))
        found = list(index.find(said, own))
        expected = list(naive(texts, said, own))
        assert found == expected if bits == 64 else set(map(str, found)) <= set(map(str, expected))
    assert list(index.find("天", 0)) == []


def test_without_texts_nothing_is_found():
    assert list(GramIndex(LENGTH, most=MOST, text=str).find("天地玄黃", 0)) == []
