"""Batching of sequences by length, to limit padding."""

from __future__ import annotations

from collections.abc import Sequence

MAX_PADDING = 0.10
"""No batch has a larger share of padding than this."""


def plan_batches(lengths: Sequence[int], *, max_tokens: int) -> list[list[int]]:
    """Put sequences of similar lengths into one batch; the longest batches come first.

    Args:
        lengths: tokens of each sequence.
        max_tokens: a batch's size (its longest sequence times its sequences) ends here; one
            sequence alone may be longer.

    Returns:
        Indices into `lengths`, each once; a batch's padding is at most `MAX_PADDING` of its size.
    """
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = content = 0
    for index in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        size = longest * (len(batch) + 1)
        padding = size - content - lengths[index]
        if batch and (size > max_tokens or padding > MAX_PADDING * size):
            batches.append(batch)
            batch = []
        if not batch:
            longest, content = lengths[index], 0
        batch.append(index)
        content += lengths[index]
    if batch:
        batches.append(batch)
    return batches
