"""Connected components of pairs (union-find)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class UnionFind:
    """Disjoint sets of the elements 0..n-1, which can be joined.

    A group is labelled by its minimum. Memory is one number per element.
    """

    def __init__(self, size: int) -> None:
        self._parent: Indices = np.arange(size, dtype=np.int64)

    def join(self, left: int, right: int) -> bool:
        """Join the groups of two elements; False if they were already in one group."""
        first, second = self._find_root(left), self._find_root(right)
        if first == second:
            return False
        self._parent[max(first, second)] = min(first, second)
        return True

    def are_apart(self, left: Indices, right: Indices) -> NDArray[np.bool_]:
        """Return for each pair whether its elements are in different groups."""
        return np.not_equal(self._find_roots(left), self._find_roots(right))

    def label(self) -> Indices:
        """Return the label of each element's group: its minimum."""
        self._parent = self._find_roots(self._parent)
        return self._parent.copy()

    def list_groups(self) -> list[list[int]]:
        """List the groups of two or more elements, each sorted, in order of their minimum."""
        labels = self.label()
        order = np.argsort(labels, kind="stable")
        cuts = np.flatnonzero(np.diff(labels[order])) + 1
        return [each.tolist() for each in np.split(order, cuts) if len(each) > 1]

    def join_all(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Join all pairs."""
        for left, right in pairs:
            self.join(left, right)

    def _find_root(self, at: int) -> int:
        parent = self._parent
        while (above := int(parent[at])) != at:
            parent[at] = parent[above]
            at = above
        return at

    def _find_roots(self, at: Indices) -> Indices:
        while True:
            above = self._parent[at]
            if np.array_equal(above, at):
                return above
            at = above
