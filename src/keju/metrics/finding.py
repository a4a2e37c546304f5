"""How near a text comes to holding a pattern anywhere."""

from __future__ import annotations

import numpy as np


def nearest(pattern: str, text: str) -> int:
    """The fewest edits between a pattern and any stretch of a text (Sellers 1980).

    Returns:
        0 where the text holds the pattern; at most the pattern's length, the distance to nothing.
    """
    if pattern in text:
        return 0
    codes = _codes(text)
    slope = np.arange(len(text) + 1, dtype=np.int64)
    row = np.zeros(len(text) + 1, dtype=np.int64)
    for code in _codes(pattern):
        step = row + 1
        np.minimum(step[1:], row[:-1] + (codes != code), out=step[1:])
        # What is inserted costs one more from the cheapest place on; the slope makes that a minimum
        # over all places before.
        row = np.minimum.accumulate(step - slope) + slope
    return int(row.min())


def _codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
