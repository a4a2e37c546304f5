from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keju.encoders.batches import MAX_PADDING, plan_batches


@given(st.lists(st.integers(1, 512), max_size=80), st.integers(1, 4096))
def test_every_sequence_once_little_padding_and_no_batch_too_large(lengths, max_tokens):
    batches = plan_batches(lengths, max_tokens=max_tokens)
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        size = max(lengths[at] for at in batch) * len(batch)
        padding = size - sum(lengths[at] for at in batch)
        assert padding <= MAX_PADDING * size
        assert size <= max_tokens or len(batch) == 1


def test_equal_lengths_fill_a_batch_and_the_longest_come_first():
    assert plan_batches([4, 4, 4, 9, 4, 4], max_tokens=16) == [[3], [0, 1, 2, 4], [5]]
