"""Ranked candidates: how early the relevant ones are, with exact treatment of tied scores.

Models answer 0.8 for many candidates, so a ranking is seldom an order. Every metric here is the
expectation over all orders of the tied candidates, each equally likely; the order of their index,
which many programs use without saying so, is one of these orders. The expectation is computed in
closed form (McSherry and Najork 2008), never drawn.

A metric is of one query; a benchmark's value is the plain mean over queries. Metrics that count
relevant candidates raise `UndefinedMetricError` where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from keju.metrics.base import UndefinedMetricError
from keju.texts import _

_Ints = npt.NDArray[np.int64]


class Ranking(NamedTuple):
    """Candidates in groups of equal score, best group first.

    Attributes:
        sizes: how many candidates each group has, one or more.
        hits: how many of them are relevant.
    """

    sizes: _Ints
    hits: _Ints

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return int(self.sizes.sum())

    @property
    def relevant(self) -> int:
        """How many of the candidates are relevant."""
        return int(self.hits.sum())


def rank(scores: Sequence[float | None], relevant: Collection[int]) -> Ranking:
    """Order the candidates of one query by score, highest first.

    A score of None or NaN says that the model gave none: such candidates come last, tied with each
    other. `relevant` has the indices of the candidates that are right.

    Raises:
        ValueError: an index in `relevant` is not a candidate.
    """
    if any(not 0 <= index < len(scores) for index in relevant):
        raise ValueError(f"relevant candidates must be among the {len(scores)} ranked")
    # Sorted ascending, and all NaN together at the end.
    keys = np.array([np.nan if score is None else -score for score in scores], dtype=np.float64)
    _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    right = groups[np.array([*set(relevant)], dtype=np.int64)]
    return Ranking(sizes, np.bincount(right, minlength=len(sizes)))


def accuracy_at(ranking: Ranking, k: int) -> float:
    """Acc@k: the probability that a relevant candidate is among the first `k`.

    Within the group that the cut at `k` divides, all orders are alike, so the chance of missing
    is hypergeometric.
    """
    _check_relevant(ranking)
    left = k
    for size, hits in zip(ranking.sizes.tolist(), ranking.hits.tolist(), strict=True):
        taken = min(left, size)
        if hits:
            return 1.0 - _miss(size, hits, taken)
        left -= taken
        if not left:
            break
    return 0.0


def hits_at(ranking: Ranking, k: int) -> float:
    """The expected number of relevant candidates among the first `k`."""
    taken = np.clip(k - (np.cumsum(ranking.sizes) - ranking.sizes), 0, ranking.sizes)
    return float((taken * ranking.hits / ranking.sizes).sum())


def recall_at(ranking: Ranking, k: int) -> float:
    """Recall@k: the share of the relevant candidates that is among the first `k`.

    With R relevant candidates it cannot exceed k / R, e.g. 0.25 at 1 where R is 4.
    """
    _check_relevant(ranking)
    return hits_at(ranking, k) / ranking.relevant


def precision_at(ranking: Ranking, k: int) -> float:
    """P@k: relevant candidates among the first `k`, over `k`, also where there are fewer."""
    return hits_at(ranking, k) / k


def average_precision_at(ranking: Ranking, k: int) -> float:
    """AP@k: precision at each relevant candidate among the first `k`, over all relevant ones."""
    _check_relevant(ranking)
    return float(_precision_at_hits(ranking)[:k].sum()) / ranking.relevant


def average_precision(ranking: Ranking) -> float:
    """AP over all candidates."""
    return average_precision_at(ranking, ranking.candidates)


def average_precision_of_yes(answers: Sequence[bool | None], relevant: Collection[int]) -> float:
    """AP@|Yes|: a yes-or-no answer for each candidate, cut where the yeses end.

    The candidates answered yes have no order, so it is the expectation over all orders. A missing
    answer is not a yes.

    Raises:
        ValueError: an index in `relevant` is not a candidate.
    """
    yes = [float(answer is True) for answer in answers]
    return average_precision_at(rank(yes, relevant), int(sum(yes)))


def auc(ranking: Ranking) -> float:
    """Area under the ROC curve: how often a relevant candidate outranks another; a tie is half.

    Raises:
        UndefinedMetricError: all candidates are relevant, or none is.
    """
    misses = ranking.sizes - ranking.hits
    pairs = ranking.relevant * int(misses.sum())
    if not pairs:
        raise UndefinedMetricError(_("AUC needs relevant candidates and others"))
    below = misses.sum() - np.cumsum(misses)
    return float((ranking.hits * (below + misses / 2)).sum()) / pairs


def _check_relevant(ranking: Ranking) -> None:
    if not ranking.relevant:
        raise UndefinedMetricError(_("no candidate is relevant"))


def _miss(size: int, hits: int, taken: int) -> float:
    """Chance that none of `taken` draws out of `size` is among the `hits`: C(s-h, t) / C(s, t)."""
    few, many = sorted((hits, taken))
    return math.prod((size - many - step) / (size - step) for step in range(few))


def _precision_at_hits(ranking: Ranking) -> npt.NDArray[np.float64]:
    """For each place, the expectation of (relevant there) x (precision at that place).

    Given a relevant candidate at place i of its group, the i - 1 tied before it hold on average
    (i - 1)(h - 1) / (s - 1) of the group's other relevant ones.
    """
    sizes, hits = ranking
    before = np.cumsum(sizes) - sizes
    found = np.cumsum(hits) - hits
    places = np.arange(ranking.candidates)
    tied_before = places - np.repeat(before, sizes)
    others = np.repeat((hits - 1) / np.maximum(sizes - 1, 1), sizes)
    so_far = np.repeat(found, sizes) + 1 + tied_before * others
    return np.asarray(np.repeat(hits / sizes, sizes) * so_far / (places + 1), dtype=np.float64)
