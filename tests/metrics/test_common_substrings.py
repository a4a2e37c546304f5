"""Runs that two texts share, against a naive search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics.common_substrings import find_common_substrings, find_longest_common

TEXTS = st.text("天地玄", max_size=14)


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_runs_stand_in_both_and_cannot_go_on(text, other, least):
    end = 0
    for run in find_common_substrings(text, other, least=least):
        assert run.start >= end
        end = run.start + len(run.text)
        assert text[run.start : end] == run.text
        assert len(run.text) >= least
        assert run.text in other
        assert end == len(text) or text[run.start : end + 1] not in other


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_the_longest_is_the_longest(text, other, least):
    every = [
        text[a:b]
        for a in range(len(text))
        for b in range(a + least, len(text) + 1)
        if text[a:b] in other
    ]
    assert len(find_longest_common(text, other, least=least)) == max(map(len, every), default=0)
    assert find_longest_common(text, other, least=least) in other


def test_a_common_substring_has_a_character():
    with pytest.raises(ValueError, match="least"):
        list(find_common_substrings("天", "天", least=0))
