"""How often intervals contain the true value, and how often tests claim a difference by chance.

Simulated models answer the pages of 6 to 30 books. Pages of one book resemble each other (the
intraclass correlation of right answers is .3) and books have 1 to 150 pages (lognormal), unless the
row says otherwise. All intervals and p values are those of the program. Printed in percent of the
samples, `-` where there is no interval or no test; a `*` marks coverage outside 90 to 98 %, and
more than 6 % of false claims beyond sampling error.

    python -m benchmarks.uncertainty [--samples 600] [--only coverage|others|claims|ranks|power]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import betaincinv, ndtr

from keju.analysis.resampling import ResampledMeans, resample_benchmark
from keju.items import Score
from keju.scoring import (
    SideScores,
    adjust_comparisons,
    aggregate,
    compare_sides,
    scores_frame,
)
from keju.statistics import (
    LEVEL,
    Interval,
    Ratio,
    associate,
    holm,
    intervals,
    kendall,
    paired_p,
    pearson,
    rank_sets,
    risk_coverage,
    risk_intervals,
    spearman,
    spread,
    value_of,
)

BOOKS = (6, 8, 12, 30)
CORRELATION = 0.3
COVERAGE = (0.90, 0.98)
MOST_CLAIMS = 0.06
_COLUMNS = 50
"""Samples that are resampled at once, as so many models: the draws of a number of groups are the
same in any case, and no column has an influence on the interval of another."""

_MORE = 3
"""Times more samples of tests: 6 % differs from the level by one point only, and tests are fast."""

Generator = np.random.Generator
Floats = np.ndarray

# --- Books and models -----------------------------------------------------------------------------


def pages(generator: Generator, books: int, samples: int, *, mean: float = 20) -> Floats:
    """The number of pages of each book, books by samples: lognormal with sigma .8, at least one."""
    sizes = np.exp(generator.normal(-0.32, 0.8, (books, samples)))
    return np.maximum(1, np.round(mean * sizes)).astype(int)


def rates(generator: Generator, mean: Floats | float, shape: tuple[int, ...]) -> Floats:
    """The share of each book that a model gets right: beta with the intraclass correlation."""
    strength = (1 - CORRELATION) / CORRELATION
    mean = np.broadcast_to(mean, shape)
    return generator.beta(mean * strength, (1 - mean) * strength)


def related_rates(
    generator: Generator, means: Sequence[float], shape: tuple[int, ...], *, agreement: float
) -> list[Floats]:
    """`rates` of some models or tasks that find the same books hard (a Gaussian copula)."""
    strength = (1 - CORRELATION) / CORRELATION
    common = generator.normal(size=shape)
    own = (1 - agreement**2) ** 0.5
    return [
        betaincinv(
            mean * strength,
            (1 - mean) * strength,
            np.clip(ndtr(agreement * common + own * generator.normal(size=shape)), 1e-9, 1 - 1e-9),
        )
        for mean in means
    ]


def ratio(top: Floats, bottom: Floats, *, first: int = 0, weight: float = 1.0) -> Ratio:
    """One part of a value from books by samples (or models)."""
    groups = np.arange(first, first + len(top))
    return Ratio(groups, top.astype(float), bottom.astype(float), weight)


Simulation = Callable[[Generator, int, int], list[Ratio]]
"""The parts of a value from a generator, a number of books and a number of samples."""


def accuracy(mean: float, *, equal: bool = False, harder: float = 0.0) -> Simulation:
    """Accuracy; `harder` is by how much it falls with one standard deviation of log pages."""

    def simulate(generator: Generator, books: int, samples: int) -> list[Ratio]:
        sizes = np.full((books, samples), 20) if equal else pages(generator, books, samples)
        steps = (np.log(sizes / 20) + 0.32) / 0.8 if harder else 0.0
        share = rates(generator, np.clip(mean - harder * steps, 0.02, 0.98), sizes.shape)
        return [ratio(generator.binomial(sizes, share), sizes)]

    return simulate


def error_rate(generator: Generator, books: int, samples: int) -> list[Ratio]:
    """CER of pages of about 200 characters: 5 % by book, and all characters of 3 % of the pages."""
    sizes = pages(generator, books, samples, mean=10)
    lost = generator.binomial(sizes, 0.03)
    read, unread = (
        np.round(200 * number + 60 * np.sqrt(number) * generator.normal(size=sizes.shape)).clip(
            20 * number
        )
        for number in (sizes - lost, lost)
    )
    errors = generator.binomial(read.astype(int), generator.beta(1, 19, sizes.shape))
    return [ratio(errors + unread, read + unread)]


def boxes(
    generator: Generator, sizes: Floats, found: Floats, invented: Floats | float
) -> tuple[Floats, Floats]:
    """Numerators and denominators of F1: three true boxes a page, and invented ones per page."""
    true = 3 * sizes
    right = generator.binomial(true, found)
    return 2 * right, true + right + generator.poisson(invented * sizes)


def f1(generator: Generator, books: int, samples: int) -> list[Ratio]:
    sizes = pages(generator, books, samples)
    invented = generator.gamma(2, 0.4, sizes.shape)
    return [ratio(*boxes(generator, sizes, rates(generator, 0.7, sizes.shape), invented))]


def balanced_accuracy(generator: Generator, books: int, samples: int) -> list[Ratio]:
    """The mean of two classes, each with a page or more in every book."""
    sizes = pages(generator, books, samples)
    positive = generator.binomial(sizes, 0.4) + 1
    shares = related_rates(generator, (0.8, 0.6), sizes.shape, agreement=0.5)
    return [
        ratio(generator.binomial(number, share), number, weight=0.5)
        for number, share in zip((positive, sizes), shares, strict=True)
    ]


DOMAINS = (2, 2, 2, 1, 1)
"""The number of tasks of each of five domains."""


def mean_of_tasks(*, shared: bool) -> Simulation:
    """The mean over five domains of eight tasks, whose books are the same or not."""
    weights = [1 / len(DOMAINS) / tasks for tasks in DOMAINS for _ in range(tasks)]

    def simulate(generator: Generator, books: int, samples: int) -> list[Ratio]:
        common = pages(generator, books, samples)
        agreement = 0.8 if shared else 0.0
        shares = related_rates(generator, [0.6] * 8, common.shape, agreement=agreement)
        parts = []
        for task, (share, weight) in enumerate(zip(shares, weights, strict=True)):
            sizes = (common + 1) // 2 if shared else pages(generator, books, samples)
            first = 0 if shared else task * books
            parts.append(ratio(generator.binomial(sizes, share), sizes, first=first, weight=weight))
        return parts

    return simulate


def mean_over(*numbers: int) -> Simulation:
    """The mean of tasks with these numbers of books, which no two tasks share; 0 is the row's."""

    def simulate(generator: Generator, books: int, samples: int) -> list[Ratio]:
        parts, first = [], 0
        for number in numbers:
            (part,) = accuracy(0.6)(generator, number or books, samples)
            parts.append(Ratio(part.groups + first, part.top, part.bottom, 1 / len(numbers)))
            first += number or books
        return parts

    return simulate


def difference(gap: float, measure: str = "accuracy") -> Simulation:
    """The difference of two models on the same pages."""

    def simulate(generator: Generator, books: int, samples: int) -> list[Ratio]:
        sizes = pages(generator, books, samples)
        shares = related_rates(generator, (0.6 + gap, 0.6), sizes.shape, agreement=0.9)
        sums = [
            (generator.binomial(sizes, share), sizes)
            if measure == "accuracy"
            else boxes(generator, sizes, share, 0.8)
            for share in shares
        ]
        return [ratio(*one, weight=sign) for one, sign in zip(sums, (1.0, -1.0), strict=True)]

    return simulate


# --- Coverage of intervals ------------------------------------------------------------------------


class Cell(NamedTuple):
    """A rate in so many samples; none if there was nothing to count."""

    rate: float
    samples: int
    flagged: bool = False

    def __str__(self) -> str:
        return f"{100 * self.rate:.1f}{'*' if self.flagged else ''}" if self.samples else "-"

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        return (self.rate * (1 - self.rate) / self.samples) ** 0.5 if self.samples else 0.0


def coverage_cell(found: Sequence[Interval | None], truth: float) -> Cell:
    """The share of the intervals that contain the true value."""
    bounds = [(interval.low, interval.high) for interval in found if interval is not None]
    rate = float(np.mean([low <= truth <= high for low, high in bounds])) if bounds else 0.0
    return Cell(rate, len(bounds), bool(bounds) and not COVERAGE[0] <= rate <= COVERAGE[1])


def truth_of(simulate: Simulation) -> float:
    """The value over a great many books."""
    parts = simulate(np.random.default_rng(99), 100, 2000)
    complete = [
        Ratio(np.zeros(1, dtype=int), part.top.sum(keepdims=True), part.bottom.sum(keepdims=True),
              part.weight)
        for part in parts
    ]  # fmt: skip
    return float(value_of(complete)[0])


def covered(simulate: Simulation, books: int, samples: int, truth: float) -> Cell:
    generator = np.random.default_rng(books)
    result: list[Interval | None] = []
    for start in range(0, samples, _COLUMNS):
        result += intervals(simulate(generator, books, min(_COLUMNS, samples - start)))
    return coverage_cell(result, truth)


SUMS: dict[str, Simulation] = {
    "accuracy .7, equal sizes": accuracy(0.7, equal=True),
    "accuracy .7": accuracy(0.7),
    "accuracy .55, longer books harder": accuracy(0.55, harder=0.15),
    "accuracy .95": accuracy(0.95),
    "CER, 3 % of pages lost": error_rate,
    "F1": f1,
    "balanced accuracy": balanced_accuracy,
    "mean of 8 tasks, books separate": mean_of_tasks(shared=False),
    "mean of 8 tasks, books shared": mean_of_tasks(shared=True),
    "mean of 2 tasks, the other with 60 books": mean_over(0, 60),
    "difference of 10 points": difference(0.1),
    "difference of 0 points": difference(0.0),
    "difference of F1": difference(0.1, "F1"),
}
"""Values with an interval, at each number of books."""

WITHOUT: dict[str, Simulation] = {
    "2 tasks, 3 + 3 books": mean_over(3, 3),
    "2 tasks, 3 + 60 books": mean_over(3, 60),
    "2 tasks, 2 + 100 books": mean_over(2, 100),
    "2 tasks, 1 + 30 books": mean_over(1, 30),
    "8 tasks, 2 books each": mean_over(*[2] * 8),
    "8 tasks, one with 1 book, others 30": mean_over(1, *[30] * 7),
}
"""Means that have no interval, because a task has fewer than six books."""


class Pages(NamedTuple):
    """Pages of one sample with two related numbers each, and the names of their books."""

    first: list[float]
    second: list[float]
    books: list[str]


def related_pages(generator: Generator, books: int) -> Pages:
    """A judge's and a person's grades: half of the variance is common, of which .3 is by book."""
    sizes = pages(generator, books, 1, mean=5)[:, 0]
    rows = np.repeat(np.arange(books), sizes)
    by_book = generator.normal(0, 0.3**0.5, books)[rows]
    common = by_book + generator.normal(0, 0.7**0.5, len(rows))
    first, second = (common + generator.normal(size=(2, len(rows)))).round(1)
    return Pages(first.tolist(), second.tolist(), [f"book {row:03}" for row in rows])


def costs(generator: Generator, books: int) -> Pages:
    """Characters to correct on a page: skewed, with bad books and bad pages."""
    sizes = pages(generator, books, 1, mean=5)[:, 0]
    rows = np.repeat(np.arange(books), sizes)
    rate = generator.gamma(2, 0.03, books)[rows] * generator.gamma(2, 0.5, len(rows))
    cost = generator.poisson(200 * rate).astype(float)
    return Pages(cost.tolist(), cost.tolist(), [f"book {row:03}" for row in rows])


def confident(generator: Generator, books: int) -> Pages:
    """Errors of pages of 200 characters, and a confidence that falls with them."""
    result = related_pages(generator, books)
    errors = generator.binomial(200, 0.02 + 0.4 * ndtr(np.array(result.first) - 1.5))
    return Pages(errors.astype(float).tolist(), (-np.array(result.second)).tolist(), result.books)


def intervals_of_costs(one: Pages) -> list[Interval | None]:
    return [result.interval for result in spread(one.first, one.books, (0.9,))]


def intervals_of_association(one: Pages) -> list[Interval | None]:
    result = associate(one.first, one.second, one.books)
    return [result.interval(name) for name in ("spearman", "kendall", "pearson")]


def intervals_of_risk(one: Pages) -> list[Interval | None]:
    result = risk_intervals(one.first, [200.0] * len(one.books), one.second, one.books)
    return [result.area, result.gain]


def risk_values(one: Pages) -> list[float]:
    curve = risk_coverage(one.first, [200.0] * len(one.books), one.second)
    return [curve.area, curve.gain or 0.0]


class Other(NamedTuple):
    """Values that are not ratios of sums, their true values and their intervals."""

    names: tuple[str, ...]
    simulate: Callable[[Generator, int], Pages]
    values: Callable[[Pages], list[float]]
    intervals: Callable[[Pages], list[Interval | None]]


OTHERS = [
    Other(
        ("post-editing, mean", "post-editing, 90 %"),
        costs,
        lambda one: [float(np.mean(one.first)), float(np.quantile(one.first, 0.9))],
        intervals_of_costs,
    ),
    Other(
        ("judge and person, rho", "judge and person, tau", "judge and person, r"),
        related_pages,
        lambda one: [measure(one.first, one.second) for measure in (spearman, kendall, pearson)],
        intervals_of_association,
    ),
    Other(
        ("risk-coverage, area", "risk-coverage, gain"), confident, risk_values, intervals_of_risk
    ),
]


def print_coverage(console: Console, samples: int) -> None:
    table = table_of("interval, books", BOOKS)
    for name, simulate in SUMS.items():
        truth = truth_of(simulate)
        add_row(table, name, [covered(simulate, books, samples, truth) for books in BOOKS])
        console.log(name)
    for name, simulate in WITHOUT.items():
        cell = covered(simulate, 0, samples, 0.6)
        add_row(table, name, [cell] * len(BOOKS))
    console.print(table)


def print_others(console: Console, samples: int) -> None:
    table = table_of("interval, books", BOOKS)
    for other in OTHERS:
        truths = other.values(other.simulate(np.random.default_rng(99), 2000))
        cells: list[list[Cell]] = []
        for books in BOOKS:
            generator = np.random.default_rng(books)
            result = [other.intervals(other.simulate(generator, books)) for _ in range(samples)]
            cells.append(
                [
                    coverage_cell(of_value, truth)
                    for of_value, truth in zip(zip(*result, strict=True), truths, strict=True)
                ]
            )
            console.log(f"{other.names[0]}, {books} books")
        for name, row in zip(other.names, zip(*cells, strict=True), strict=True):
            add_row(table, name, row)
    console.print(table)


# --- False claims of tests ------------------------------------------------------------------------

Models = Callable[[Generator, int], list[Ratio]]
"""The parts of a value with a column for each model, from a generator and a number of books."""


def tasks_of(
    gaps: Sequence[float], *, tasks: int = 1, shared: bool = True, agreement: float = 0.9
) -> Models:
    """Accuracies of some models on some tasks: .6 and a gap, exchangeable where gaps are equal."""

    def simulate(generator: Generator, books: int) -> list[Ratio]:
        parts = []
        common = pages(generator, books, 1)
        for task in range(tasks):
            sizes = common if shared else pages(generator, books, 1)
            sizes = np.broadcast_to(sizes, (books, len(gaps)))
            shares = related_rates(
                generator, [0.6 + gap for gap in gaps], (books, 1), agreement=agreement
            )
            right = generator.binomial(sizes, np.hstack(shares))
            first = 0 if shared else task * books
            parts.append(ratio(right, sizes, first=first, weight=1 / tasks))
        return parts

    return simulate


def models_of_f1(verbose: float) -> Models:
    """F1 of two exchangeable models and of a third one that invents so many times more boxes."""

    def simulate(generator: Generator, books: int) -> list[Ratio]:
        sizes = pages(generator, books, 1)
        shares = related_rates(generator, (0.6, 0.6, 0.6), sizes.shape, agreement=0.8)
        invented = (
            generator.gamma(1, 0.8, (3, *sizes.shape)) * np.array([1, 1, verbose])[:, None, None]
        )
        sums = [boxes(generator, sizes, *one) for one in zip(shares, invented, strict=True)]
        top, bottom = (np.hstack(side) for side in zip(*sums, strict=True))
        return [ratio(top, bottom)]

    return simulate


def unequal_variance(generator: Generator, books: int) -> list[Ratio]:
    """Two models with equal means, of which the second varies more between books."""
    sizes = np.broadcast_to(pages(generator, books, 1), (books, 2))
    strengths = np.array([9.0, 1.0])
    share = generator.beta(0.6 * strengths, 0.4 * strengths, (books, 2))
    return [ratio(generator.binomial(sizes, share), sizes)]


def lost_books(generator: Generator, books: int) -> list[Ratio]:
    """Two models with an expected CER of 13 %: the second reads 5 %, and loses 8.4 % of books."""
    characters = np.broadcast_to(200 * pages(generator, books, 1, mean=10), (books, 2))
    usual = (generator.beta(1, 19, (books, 1)) + generator.beta(1, 19, (books, 2))) / 2
    rates_of_both = usual + np.array([0.08, 0.0])
    rates_of_both[generator.random(books) < 0.0842, 1] = 1.0
    return [ratio(generator.binomial(characters, rates_of_both.clip(0, 1)), characters)]


def adjusted_p(parts: Sequence[Ratio]) -> dict[tuple[int, int], float]:
    """The p values of all pairs, adjusted as in a leaderboard."""
    p_values = paired_p(parts)
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def claims_of_two(models: Models) -> Callable[[Generator, int], bool]:
    """Whether the first two models differ significantly."""
    return lambda generator, books: paired_p(models(generator, books))[0, 1] <= LEVEL


def any_claim(models: Models, equal: int) -> Callable[[Generator, int], bool]:
    """Whether any two of the first `equal` models differ significantly, after adjustment."""

    def claim(generator: Generator, books: int) -> bool:
        adjusted = adjusted_p(models(generator, books))
        return any(adjusted[pair] <= LEVEL for pair in combinations(range(equal), 2))

    return claim


def any_of_tasks(tasks: int) -> Callable[[Generator, int], bool]:
    """Whether two models differ significantly in any task of a table, after adjustment."""
    models = tasks_of((0, 0), tasks=tasks, agreement=0.9)

    def claim(generator: Generator, books: int) -> bool:
        parts = models(generator, books)
        return min(holm([paired_p([part])[0, 1] for part in parts])) <= LEVEL

    return claim


def wrong_ranks(gaps: Sequence[float]) -> Callable[[Generator, int], bool]:
    """Whether the possible ranks of any model exclude one of its true ranks."""
    models = tasks_of(gaps, tasks=3)
    true = [
        (1 + sum(other > gap for other in gaps), sum(other >= gap for other in gaps))
        for gap in gaps
    ]

    def claim(generator: Generator, books: int) -> bool:
        parts = models(generator, books)
        result = rank_sets(value_of(parts).tolist(), adjusted_p(parts))
        return any(low > first or high < last
                   for (low, high), (first, last) in zip(result, true, strict=True))  # fmt: skip

    return claim


CLAIMS: dict[str, Callable[[Generator, int], bool]] = {
    "compare, exchangeable": claims_of_two(tasks_of((0, 0))),
    "compare, mean of 3 tasks on the same books": claims_of_two(tasks_of((0, 0), tasks=3)),
    "compare, mean of 3 tasks on other books": claims_of_two(
        tasks_of((0, 0), tasks=3, shared=False)
    ),
    "F1 in a table of 3": claims_of_two(models_of_f1(1)),
    "F1, the third model invents 3 x the boxes": claims_of_two(models_of_f1(3)),
    "F1, the third model invents 12 x the boxes": claims_of_two(models_of_f1(12)),
    "ranks, 5 equal models": wrong_ranks((0, 0, 0, 0, 0)),
    "ranks, one far, 4 equal": wrong_ranks((0.3, 0, 0, 0, 0)),
    "a step in any of 8 tasks": any_of_tasks(8),
}
"""Claims that are false."""

NOT_TESTED: dict[str, Callable[[Generator, int], bool]] = {
    "equal means, the second varies more by book": claims_of_two(unequal_variance),
    "equal CER, the second loses 8 % of whole books": claims_of_two(lost_books),
}
"""Claims about models of equal means that are not exchangeable, which is what is tested."""

POWER: dict[str, Callable[[Generator, int], bool]] = {
    "two models, 3 tasks on the same books": claims_of_two(tasks_of((0.1, 0), tasks=3)),
    "two models, 3 tasks on other books": claims_of_two(tasks_of((0.1, 0), tasks=3, shared=False)),
    "one better than 4 others, in every pair": lambda generator, books: all(
        p <= LEVEL
        for pair, p in adjusted_p(tasks_of((0.1, 0, 0, 0, 0), tasks=3)(generator, books)).items()
        if 0 in pair
    ),
}
"""Claims that are true: a difference of ten points."""


def rate(claim: Callable[[Generator, int], bool], books: int, samples: int) -> Cell:
    generator = np.random.default_rng(books)
    return Cell(float(np.mean([claim(generator, books) for _ in range(samples)])), samples)


def print_claims(console: Console, samples: int) -> None:
    samples *= _MORE
    table = table_of(f"claims at {LEVEL:g}, books", BOOKS)
    for name, claim in CLAIMS.items():
        cells = [rate(claim, books, samples) for books in BOOKS]
        add_row(table, name, [cell._replace(flagged=is_above(cell)) for cell in cells])
        console.log(name)
    table.add_section()
    for name, claim in NOT_TESTED.items():
        add_row(table, name, [rate(claim, books, samples) for books in BOOKS])
        console.log(name)
    console.print(table)


def is_above(cell: Cell) -> bool:
    """Whether a rate is above the level by more than 6 % and two standard errors."""
    return cell.rate - 2 * cell.error > LEVEL and cell.rate > MOST_CLAIMS


def print_power(console: Console, samples: int) -> None:
    books = (12, 30)
    table = table_of("power at 10 points, books", books)
    for name, claim in POWER.items():
        add_row(table, name, [rate(claim, number, samples) for number in books])
    console.print(table)


# --- Reports and comparisons of runs --------------------------------------------------------------

TASKS = ("T5", "T10", "T16")
"""Three tasks of MCS-Bench in three domains, with accuracy as their main metric."""


def scores_of(generator: Generator, books: int, gaps: Sequence[float]) -> list[Score]:
    """The scores of some models on pages of the same books in three tasks."""
    sizes = pages(generator, books, 1, mean=4)[:, 0]
    rows = np.repeat(np.arange(books), sizes)
    scores = []
    for task in TASKS:
        shares = related_rates(generator, [0.6 + gap for gap in gaps], (books,), agreement=0.9)
        for model, share in enumerate(shares):
            for page, (book, right) in enumerate(
                zip(rows.tolist(), generator.random(len(rows)) < share[rows], strict=True)
            ):
                scores.append(
                    Score(
                        key=f"{model} {task} {page}", item=f"{task} {page}", model=f"model {model}",
                        benchmark="MCS-Bench", task=task, protocol="strict", metric="Acc",
                        value=float(right), group=f"book {book:02}",
                        stats={"numerator": float(right), "denominator": 1.0},
                    )
                )  # fmt: skip
    return scores


def leaderboard(scores: Sequence[Score], models: int) -> ResampledMeans:
    """The ranks and tests of a report."""
    mains: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        mains.setdefault((score.task, score.query), []).append(score)
    results = {result.model: result.benchmarks[0] for result in aggregate(scores)}
    return resample_benchmark(mains, results, ranked=[f"model {model}" for model in range(models)])


def ranks_a_part(generator: Generator, books: int) -> bool:
    """Whether a model has a rank although it lacks the third of the items that is the hardest."""
    scores = scores_of(generator, books, (0, 0, 0))
    right: dict[str, float] = {}
    for score in scores:
        right[score.item] = right.get(score.item, 0.0) + (score.value or 0.0)
    lacking = set(sorted(right, key=right.__getitem__)[: len(right) // 3])
    part = [score for score in scores if score.model != "model 0" or score.item not in lacking]
    return "model 0" in leaderboard(part, 3).ranks


def separated(generator: Generator, books: int) -> bool:
    """Whether any of five equal models has fewer than five possible ranks."""
    ranks = leaderboard(scores_of(generator, books, [0.0] * 5), 5).ranks
    return any(possible not in (None, (1, 5)) for _, possible in ranks.values())


def compared(*, overall: bool) -> Callable[[Generator, int], bool]:
    """Whether `keju compare` calls one of two equal models better: overall, or in any task."""

    def claim(generator: Generator, books: int) -> bool:
        scores = scores_of(generator, books, (0, 0))
        first, second = (
            SideScores("strict", scores_frame([s for s in scores if s.model == model]))
            for model in ("model 0", "model 1")
        )
        of_tasks, of_means = compare_sides(first, second)
        tests = of_means if overall else of_tasks
        return any(result.better for result in adjust_comparisons(tests))

    return claim


RANKS: dict[str, Callable[[Generator, int], bool]] = {
    "a rank without the hardest third of items": ranks_a_part,
    "ranks of 5 equal models exclude a true rank": separated,
    "compare, one of 2 equal models better overall": compared(overall=True),
    "compare, one of 2 better in any of 3 tasks": compared(overall=False),
}
"""False claims of the report and of `keju compare`, from the scores of a run."""


def print_ranks(console: Console, samples: int) -> None:
    books = (6, 12, 30)
    table = table_of("claims from scores, books", books)
    for name, claim in RANKS.items():
        cells = [rate(claim, number, samples) for number in books]
        add_row(table, name, [cell._replace(flagged=is_above(cell)) for cell in cells])
        console.log(name)
    console.print(table)


# --- Tables ---------------------------------------------------------------------------------------


def table_of(title: str, columns: Sequence[int]) -> Table:
    table = Table(title, box=None)
    for column in (*map(str, columns), "±"):
        table.add_column(column, justify="right")
    return table


def add_row(table: Table, name: str, cells: Sequence[Cell]) -> None:
    error = max(cell.error for cell in cells)
    table.add_row(name, *map(str, cells), f"{100 * error:.1f}" if error else "")


PARTS = {
    "coverage": print_coverage,
    "others": print_others,
    "claims": print_claims,
    "ranks": print_ranks,
    "power": print_power,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    console = Console()
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(console, options.samples)
    console.print(
        f"{options.samples} samples a cell ({_MORE} x of claims), {time.process_time():.0f} CPU s"
    )


if __name__ == "__main__":
    main()
