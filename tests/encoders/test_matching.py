from __future__ import annotations

import math
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keju.encoders import encoders as matching
from keju.encoders.encoders import TokenMatcher
from keju.encoders.text import TextEncoder, Tokens
from keju.metrics.base import PRF

pytestmark = pytest.mark.semantic

number = st.floats(-4, 4, width=32)
text = st.integers(1, 6).flatmap(
    lambda rows: st.tuples(
        arrays(np.float32, (rows, 3), elements=number),
        st.lists(st.booleans(), min_size=rows, max_size=rows),
    )
)


class Given(NamedTuple):
    """An encoder whose texts have these token vectors and content."""

    texts: dict[str, tuple[np.ndarray, list[bool]]]
    device = "cpu"
    max_tokens = 512

    def tokenise(self, texts, *, max_tokens):
        return [Tokens([text], np.array(self.texts[text][1])) for text in texts]

    def token_states(self, tokens, *, layer):
        import torch

        yield {at: torch.tensor(self.texts[row.ids[0]][0]) for at, row in enumerate(tokens)}


def match(candidate, reference):
    encoder = Given({"candidate": candidate, "reference": reference})
    pair = ("candidate", "reference")
    (window,) = TokenMatcher(encoder, 1).match([pair])
    return PRF(*window[pair].tolist())


def naive_match(candidate, reference, mine, theirs):
    """Loops over Zhang et al. 2020, equations of section 3."""

    def like(a, b):
        lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
        return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0

    precision = sum(
        w * max(like(t, other) for other in reference) for t, w in zip(candidate, mine, strict=True)
    ) / sum(mine)
    recall = sum(
        w * max(like(t, other) for other in candidate)
        for t, w in zip(reference, theirs, strict=True)
    ) / sum(theirs)
    if min(precision, recall) <= 0:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)


@given(text, text)
def test_matching_is_the_naive_one(candidate, reference):
    found = match(candidate, reference)
    (tokens, mine), (others, theirs) = candidate, reference
    if not any(mine) or not any(theirs):
        assert found == PRF(0.0, 0.0, 0.0)
        return
    expected = naive_match(tokens.tolist(), others.tolist(), mine, theirs)
    # F1 of two numbers near 0 is ill-conditioned; precision and recall always hold.
    assert found[:2] == pytest.approx(expected[:2], abs=1e-5)
    if min(expected[:2]) > 1e-2:
        assert found.f1 == pytest.approx(expected[2], abs=1e-4)


def test_a_special_token_earns_nothing_but_may_be_matched():
    special, word, other = np.eye(3, dtype=np.float32)
    found = match(
        (np.array([word, special]), [True, False]), (np.array([special, other]), [False, True])
    )
    assert found == PRF(0.0, 0.0, 0.0)
    found = match(
        (np.array([special, word]), [True, False]), (np.array([word, other]), [False, True])
    )
    assert found.precision == 0.0
    found = match((np.array([word]), [True]), (np.array([word, other]), [False, True]))
    assert found == PRF(1.0, 0.0, 0.0)


def draw_texts(count):
    rng = random.Random(0)
    return ["".join(rng.choices("天地玄黃宇宙洪荒", k=rng.randint(1, 700))) for _ in range(count)]


def test_matching_encodes_each_text_once_except_the_empty_one(tiny_bert, monkeypatch):
    monkeypatch.setitem(matching._WINDOW_PAIRS, "cpu", 4)
    texts = draw_texts(12)
    pairs = [*zip(texts, reversed(texts), strict=True), ("", "天地"), ("天地", ""), ("", "")]
    encoder = TextEncoder(tiny_bert, device="cpu")
    windows = list(TokenMatcher(encoder, encoder.layers).match(pairs))
    scores = {pair: PRF(*score.tolist()) for window in windows for pair, score in window.items()}
    assert len(windows) > 3
    assert scores.keys() == set(pairs)
    assert {scores[pair] for pair in pairs if "" in pair} == {PRF(0.0, 0.0, 0.0)}
    assert encoder.encoded == len({text for pair in pairs for text in pair if text})


@pytest.mark.parametrize(("limit", "again"), [(1 << 30, 0), (0, 6)])
def test_references_stay_in_memory_up_to_a_size(tiny_bert, monkeypatch, limit, again):
    monkeypatch.setattr(matching, "REFERENCE_BYTES", limit)
    texts = draw_texts(18)
    encoder = TextEncoder(tiny_bert, device="cpu")
    matcher = TokenMatcher(encoder, encoder.layers)
    for candidates in (texts[6:12], texts[12:]):
        list(matcher.match(list(zip(candidates, texts[:6], strict=True))))
    assert encoder.encoded == 18 + again
    assert len(matcher._matrices) == (0 if again else 6)
