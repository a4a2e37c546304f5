"""Confidence intervals of sums: one bootstrap over groups for every value that has an interval.

Items of one book, plate or bone are not independent, so whole groups are drawn, with replacement. A
value is a weighted sum of ratios of sums (`Ratio`): an accuracy is one ratio, a corpus rate is one
with lengths as denominators, balanced accuracy has one for each class, a mean over tasks has one or
more for each task, and a difference of two models has those of the second with negative weights.
Resampling only sums again, with matrix products; no score is computed a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

FEWEST_GROUPS = 6
"""Groups below which nothing has an interval, a test or a rank: our reading.

No exact paired test reaches .05 with fewer (2 / 2^5 is .0625), and below six groups the intervals
contain the true value too rarely."""

RESAMPLES = 20_000
"""Draws of an interval and of a test. With six groups the ends are far out in the tails, where the
5th of 2,000 values would move by a point from one seed to the next."""

SEED = 12345

MOST_GROUPS = 1000
"""Groups beyond which neighbours (by name) are drawn together, so that time and memory are bounded.

With 1,000 independent parts the width of an interval is known to 2 %."""

_BLOCK = 1 << 22
_BUDGET = 1 << 28
_FLAT = 1e-12
"""Standard deviations and differences below this are rounding errors."""


class Interval(NamedTuple):
    """A 95 % interval, the number of its groups, and the share of the largest of them."""

    low: float
    high: float
    groups: int
    largest: float


class Ratio(NamedTuple):
    """Numerators and denominators by group of one part of a value, for M models or variants.

    Attributes:
        groups: g ascending numbers of groups, in the order of the groups' names (`number_names`).
            The parts of one value must have the same numbering.
        top: numerators, g by M.
        bottom: denominators, g by M.
        weight: the weight of the part in the value.
    """

    groups: Numbers
    top: Floats
    bottom: Floats
    weight: float = 1.0

    @property
    def values(self) -> Floats:
        """The ratio of each column; NaN where its denominator is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.top.sum(axis=0) / self.bottom.sum(axis=0))

    def column(self, place: int, sign: float = 1.0) -> Ratio:
        """One column alone, with its weight multiplied by `sign`."""
        chosen = slice(place, place + 1)
        return Ratio(self.groups, self.top[:, chosen], self.bottom[:, chosen], sign * self.weight)


class GroupShares(NamedTuple):
    """The groups of a value: how many, the share of the largest, and how many equal ones.

    `effective` is Kish's effective number: groups of equal size with as much information.
    """

    groups: int
    largest: float
    effective: float


def number_names(names: Iterable[str]) -> dict[str, int]:
    """Number groups in the order of their names, so that draws do not depend on any other order."""
    return {name: number for number, name in enumerate(sorted(set(names)))}


def ratio_of(
    numerators: Sequence[float],
    denominators: Sequence[float],
    groups: Sequence[str],
    *,
    numbers: Mapping[str, int] | None = None,
    weight: float = 1.0,
) -> Ratio:
    """Sum n items of one model by group.

    Args:
        numerators: one value per item.
        denominators: one weight per item, not negative.
        groups: the name of each item's group.
        numbers: the numbering of `number_names`, if the value has several parts.
        weight: the weight of the part.

    Raises:
        ValueError: the three sequences differ in length.
    """
    if not len(numerators) == len(denominators) == len(groups):
        raise ValueError("numerators, denominators and groups must be of one length")
    numbering = number_names(groups) if numbers is None else numbers
    places = np.fromiter((numbering[name] for name in groups), dtype=np.intp, count=len(groups))
    present, rows = np.unique(places, return_inverse=True)
    top, bottom = (
        np.bincount(rows, side, minlength=len(present)).astype(np.float64)[:, None]
        for side in (numerators, denominators)
    )
    return Ratio(present, top, bottom, weight)


def as_columns(ratios: Sequence[Ratio]) -> Ratio:
    """Ratios over the same groups, with their columns side by side, as one part."""
    top, bottom = (
        np.hstack([getattr(ratio, side) for ratio in ratios]) for side in ("top", "bottom")
    )
    return Ratio(ratios[0].groups, top, bottom, ratios[0].weight)


def place_items(groups: Sequence[str]) -> tuple[Numbers, int, GroupShares]:
    """Number items' groups, for measures that are computed from items and not from sums.

    Returns:
        The cell of each item, the number of cells (see `draws`), and the groups' shares of the
        items. A cell is a group or, if there are more than `MOST_GROUPS`, some neighbouring ones.
    """
    numbers = number_names(groups)
    places = np.fromiter((numbers[name] for name in groups), dtype=np.intp, count=len(groups))
    cells = min(len(numbers), MOST_GROUPS)
    ones = [1.0] * len(groups)
    shares = group_shares([ratio_of(ones, ones, groups, numbers=numbers)])
    return places * cells // max(1, len(numbers)), cells, shares


def value_of(parts: Sequence[Ratio]) -> Floats:
    """The value of each column: the weighted sum of its ratios."""
    return np.asarray(sum(part.weight * part.values for part in parts), dtype=np.float64)


def group_shares(parts: Sequence[Ratio]) -> GroupShares:
    """The groups of a value, by their shares of the denominators of all its parts."""
    union = _union(parts)
    shares = np.zeros(len(union))
    for part in parts:
        weights = part.bottom.mean(axis=1)
        if total := float(weights.sum()):
            shares[np.searchsorted(union, part.groups)] += abs(part.weight) * weights / total
    if not shares.any():
        return GroupShares(len(shares), 0.0, float(len(shares)))
    shares /= shares.sum()
    return GroupShares(len(shares), float(shares.max()), 1 / float((shares**2).sum()))


def intervals(parts: Sequence[Ratio]) -> list[Interval | None]:
    """The 95 % interval of each column of a value.

    A value whose every part has ratios from 0 to 1 in all groups is a share. Its interval is the
    exact binomial one with the number of observations that fits its resampled variance (Korn and
    Graubard 1998), so that it stays in 0 to 1 and has a width at both ends: where all groups are
    wholly right or wholly wrong, it is the exact binomial interval over groups. Other values
    (differences, error rates above 1) have quantiles of the resampled values, which are taken
    further out where groups are few (Hesterberg 2015). Both count unequal groups as fewer (Kish).

    Returns:
        One interval per column; None where a part has fewer than `FEWEST_GROUPS` groups, where a
        denominator is 0, or where the value does not vary between groups and is not 0 or 1.
    """
    columns = parts[0].top.shape[1] if parts else 0
    if not parts or min(len(part.groups) for part in parts) < FEWEST_GROUPS:
        return [None] * columns
    values, resampled = value_of(parts), resample(parts)
    bounded = are_shares(parts)
    # A column has shares of its own: its interval is the same beside any other columns.
    return [
        interval_of_values(
            resampled[:, place],
            float(values[place]),
            group_shares([part.column(place) for part in parts]),
            is_share=bool(bounded[place]),
        )
        for place in range(columns)
    ]


def interval(parts: Sequence[Ratio]) -> Interval | None:
    """The 95 % interval of a value with one column (see `intervals`)."""
    return intervals(parts)[0] if parts else None


def widest(first: Interval | None, second: Interval | None) -> Interval | None:
    """The interval from the lower to the upper end of both; None where one is missing."""
    if first is None or second is None:
        return None
    return first._replace(low=min(first.low, second.low), high=max(first.high, second.high))


def ratio_interval(
    numerators: Sequence[float], denominators: Sequence[float], groups: Sequence[str]
) -> Interval | None:
    """The 95 % interval of ``sum(numerators) / sum(denominators)`` over items (see `ratio_of`)."""
    return interval([ratio_of(numerators, denominators, groups)])


def standard_error(parts: Sequence[Ratio]) -> float | None:
    """The standard error of a value with one column, from the draws of its interval.

    None where a part has fewer than `FEWEST_GROUPS` groups.
    """
    if not parts or min(len(part.groups) for part in parts) < FEWEST_GROUPS:
        return None
    groups = group_shares(parts).groups
    return float(resample(parts).std() * np.sqrt(groups / (groups - 1)))


def mean_interval(values: Sequence[float], groups: Sequence[str]) -> Interval | None:
    """The 95 % interval of the mean of an amount over items (seconds, characters, money).

    Unlike `ratio_interval`, it does not take an amount for a share where all values are up to 1.
    """
    part = ratio_of(values, [1.0] * len(values), groups)
    if len(part.groups) < FEWEST_GROUPS:
        return None
    return interval_of_values(resample([part])[:, 0], float(part.values[0]), group_shares([part]))


def difference_interval(parts: Sequence[Ratio], first: int, second: int) -> Interval | None:
    """The 95 % interval of the value of one column minus that of another."""
    return interval(
        [part.column(place, sign) for part in parts for place, sign in ((first, 1), (second, -1))]
    )


def resample(parts: Sequence[Ratio]) -> Floats:
    """The value of each column in each draw of the groups of all parts: draws by M.

    A draw without any group of a part keeps that part's own ratio: a mean that sometimes loses a
    task would vary for a reason that is independent of the models.
    """
    cells, merged = merge_groups(parts)
    complete = all(len(part.groups) == cells for part in merged)
    blocks = []
    for drawn in draws(cells):
        # Rows of a transposed copy are taken several times faster than columns.
        by_cell = drawn if complete else np.ascontiguousarray(drawn.T)
        total: Floats | float = 0.0
        for part in merged:
            counts = drawn if len(part.groups) == cells else by_cell[part.groups].T
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = (counts @ part.top) / (counts @ part.bottom)
            total = total + part.weight * np.where(np.isfinite(ratios), ratios, part.values)
        blocks.append(total)
    return np.concatenate(blocks)


def count_draws(numbers: int) -> int:
    """The number of draws where each computes so many numbers: fewer if they are many.

    There are at most `RESAMPLES`, and at least a thousand.
    """
    return int(np.clip(_BUDGET // max(1, numbers), 1000, RESAMPLES))


def draws(groups: int, *, numbers: int = 1) -> Iterator[Floats]:
    """How often each group is drawn, in blocks of rows: one row per draw, `groups` columns.

    Args:
        groups: the number of groups.
        numbers: the size of what is computed from a draw beyond sums by group (`count_draws`).
    """
    generator = np.random.default_rng(SEED)
    count = count_draws(numbers)
    block = max(1, _BLOCK // max(groups, min(numbers, _BLOCK)))
    for start in range(0, count, block):
        size = min(block, count - start)
        chosen = generator.integers(0, groups, size=(size, groups), dtype=np.int32)
        chosen = chosen + (np.arange(size) * groups)[:, None]
        counts = np.bincount(chosen.ravel(), minlength=size * groups)
        yield counts.reshape(size, groups).astype(np.float64)


def interval_of_values(
    values: Floats, value: float, shares: GroupShares, *, is_share: bool = False
) -> Interval | None:
    """The 95 % interval of any measure from its resampled values (see `intervals`).

    Args:
        values: the measure in each draw; NaN values are dropped.
        value: the measure itself.
        shares: the groups that were drawn.
        is_share: whether the measure of any groups is from 0 to 1.

    Returns:
        The interval; None with fewer than `FEWEST_GROUPS` groups, where most draws have no value,
        or where the measure does not vary and is not a share of 0 or 1.
    """
    finite = values[np.isfinite(values)]
    groups = shares.groups
    if groups < FEWEST_GROUPS or 2 * finite.size < max(1, values.size) or not np.isfinite(value):
        return None
    ends = _ends_of_share(finite, value, shares) if is_share else _ends_of_quantiles(finite, shares)
    return Interval(*ends, groups, shares.largest) if ends else None


def _ends_of_share(values: Floats, value: float, shares: GroupShares) -> tuple[float, float] | None:
    """The exact binomial interval with the number of observations that fits the variance."""
    from scipy.special import betaincinv, ndtri, stdtrit  # noqa: PLC0415  a tenth of a second

    value = min(1.0, max(0.0, value))
    variance = float(values.var()) * shares.groups / (shares.groups - 1)
    if variance <= _FLAT**2:
        if _FLAT < value < 1 - _FLAT:
            return None
        observations = float(shares.groups)
    else:
        freedom = max(1.0, shares.effective - 1)
        narrower = float(ndtri(0.975) / stdtrit(freedom, 0.975))
        observations = value * (1 - value) / variance * narrower**2
    right, wrong = observations * value, observations * (1 - value)
    low = float(betaincinv(right, wrong + 1, 0.025)) if right > _FLAT else 0.0
    high = float(betaincinv(right + 1, wrong, 0.975)) if wrong > _FLAT else 1.0
    return low, high


def _ends_of_quantiles(values: Floats, shares: GroupShares) -> tuple[float, float] | None:
    """Quantiles, further out by the factor by which Student's t exceeds the normal ones."""
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415

    if np.ptp(values) <= _FLAT:
        return None
    effective = max(2.0, shares.effective)
    factor = np.sqrt(effective / (effective - 1))
    tail = float(ndtr(factor * stdtrit(effective - 1, 0.025)))
    low, high = np.quantile(values, (tail, 1 - tail))
    return float(low), float(high)


def are_shares(parts: Sequence[Ratio]) -> npt.NDArray[np.bool_]:
    """For each column, whether its value is a mean of ratios that are from 0 to 1 in all groups."""
    if min(part.weight for part in parts) < 0:
        return np.zeros(parts[0].top.shape[1], dtype=bool)
    shares = [
        ((part.top >= -_FLAT) & (part.top <= part.bottom + _FLAT)).all(axis=0) for part in parts
    ]
    return np.asarray(np.logical_and.reduce(shares))


def _union(parts: Sequence[Ratio]) -> Numbers:
    """The numbers of all groups of some parts, ascending."""
    return np.unique(np.concatenate([part.groups for part in parts]))


def merge_groups(parts: Sequence[Ratio]) -> tuple[int, list[Ratio]]:
    """The number of cells that are drawn or swapped, and the parts with cells instead of groups.

    A cell is a group or, if there are more than `MOST_GROUPS`, some neighbouring ones.
    """
    union = _union(parts)
    cells = min(len(union), MOST_GROUPS)
    merged = []
    for part in parts:
        places = np.searchsorted(union, part.groups) * cells // len(union)
        present, rows = np.unique(places, return_inverse=True)
        top, bottom = np.zeros((2, len(present), part.top.shape[1]))
        np.add.at(top, rows, part.top)
        np.add.at(bottom, rows, part.bottom)
        merged.append(Ratio(present, top, bottom, part.weight))
    return cells, merged
