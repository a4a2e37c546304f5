"""`assign`: the cheapest one-to-one assignment (Hungarian algorithm)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def assign(costs: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair rows with columns, each at most once and as many as can be, for the least total cost.

    The shortest augmenting path method of Jonker and Volgenant 1987, one row at a time, with the
    search over columns in numpy: O(rows² x columns).

    Args:
        costs: rows x columns, finite.

    Returns:
        (row, column) pairs, ``min(rows, columns)`` of them, in order of rows.
    """
    if costs.shape[0] > costs.shape[1]:
        return sorted((row, column) for column, row in assign(costs.T))
    rows, columns = costs.shape
    row_price = np.zeros(rows)
    column_price = np.zeros(columns)
    row_of = np.full(columns, -1)
    for start in range(rows):
        _augment(costs, start, row_price, column_price, row_of)
    return sorted((int(row_of[column]), int(column)) for column in np.flatnonzero(row_of >= 0))


def _augment(
    costs: npt.NDArray[np.float64],
    start: int,
    row_price: npt.NDArray[np.float64],
    column_price: npt.NDArray[np.float64],
    row_of: npt.NDArray[np.int_],
) -> None:
    """Give row `start` a column, moving other rows along the cheapest alternating path."""
    shortest = np.full(costs.shape[1], np.inf)
    reached_from = np.full(costs.shape[1], -1)
    done = np.zeros(costs.shape[1], dtype=bool)
    row, so_far, visited = start, 0.0, [start]
    while True:
        through = so_far + costs[row] - row_price[row] - column_price
        better = ~done & (through < shortest)
        shortest[better] = through[better]
        reached_from[better] = row
        column = int(np.argmin(np.where(done, np.inf, shortest)))
        so_far = shortest[column]
        done[column] = True
        if row_of[column] < 0:
            break
        row = int(row_of[column])
        visited.append(row)
    for other in visited[1:]:
        row_price[other] += so_far - shortest[np.flatnonzero(row_of == other)[0]]
    row_price[start] += so_far
    column_price[done] -= so_far - shortest[done]
    while True:
        row = int(reached_from[column])
        previous = np.flatnonzero(row_of == row)
        row_of[column] = row
        if row == start:
            return
        column = int(previous[0])
