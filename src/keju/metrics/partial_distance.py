"""`partial_distance`: the edit distance of a pattern to the most similar part of a text."""

from __future__ import annotations

import numpy as np


def partial_distance(pattern: str, text: str) -> int:
    """The fewest edits between a pattern and any substring of a text (Sellers 1980).

    Returns:
        0 if the text contains the pattern; at most the pattern's length.
    """
    if pattern in text:
        return 0
    codes = _codes(text)
    slope = np.arange(len(text) + 1, dtype=np.int64)
    row = np.zeros(len(text) + 1, dtype=np.int64)
    for code in _codes(pattern):
        step = row + 1
        np.minimum(step[1:], row[:-1] + (codes != code), out=step[1:])
        # Each inserted character costs one more than the cheapest earlier place; subtracting the
        # slope turns that into a running minimum.
        row = np.minimum.accumulate(step - slope) + slope
    return int(row.min())


def _codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
