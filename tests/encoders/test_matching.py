from __future__ import annotations

import random

import pytest

from keju.encoders import TextEncoder
from keju.encoders.cache import VectorCache
from keju.encoders.matching import DeviceMatcher, Matcher
from keju.metrics.base import PRF

pytestmark = pytest.mark.semantic
BERT = "bert-base-chinese"


def found(kind, encoder, pairs):
    matcher = kind(encoder, VectorCache(None), "space", encoder.layers)
    return {pair: value for window in matcher.match(pairs) for pair, value in window.items()}


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return TextEncoder(tiny_bert, device="cpu")


@pytest.fixture(scope="module")
def pairs():
    rng = random.Random(0)
    texts = ["".join(rng.choices("天地玄黃宇宙洪荒", k=rng.randint(1, 700))) for _ in range(12)]
    return [*zip(texts, reversed(texts), strict=True), ("", "天地"), ("天地", ""), ("", "")]


def test_matching_on_the_device_gives_the_values_of_matching_in_numpy(encoder, pairs):
    expected = found(Matcher, encoder, pairs)
    values = found(DeviceMatcher, encoder, pairs)
    assert values.keys() == expected.keys() == set(pairs)
    for pair, value in values.items():
        assert value == pytest.approx(expected[pair], abs=1e-6)
    assert {values[pair] for pair in pairs if "" in pair} == {PRF(0.0, 0.0, 0.0)}


def test_matching_on_the_device_encodes_each_text_once_and_keeps_none(tiny_bert, pairs):
    encoder = TextEncoder(tiny_bert, device="cpu")
    matcher = DeviceMatcher(encoder, VectorCache(None), "space", encoder.layers)
    assert sum(map(len, matcher.match(pairs))) == len(set(pairs))
    assert encoder.counts.texts == len({text for pair in pairs for text in pair})
    assert matcher._held == {}
    assert matcher.cache.matrices([b"any"], size=encoder.size) == {}
