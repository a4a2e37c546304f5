"""What is claimed about few books, and how often it is right: intervals, comparisons and ranks.

Simulated models answer the pages of 2 to 40 books. Books differ in difficulty: normal (symmetric),
beta (a few hard books), and yes-or-no (a book is right or wrong as a whole). Printed per number of
books, in percent of the samples:

- interval: the 95 % interval contains the true mean (without the rule of six groups);
- false claim: `keju compare` finds equal models different;
- found: it finds two models different that differ by 20 points;
- wrong rank: the rank sets of four models, two of them equal, exclude a true rank.
"""

from __future__ import annotations

import argparse

import numpy as np

from keju.statistics import (
    FEWEST_GROUPS,
    GroupSums,
    groups_needed,
    holm,
    interval_of,
    pairwise_p,
    randomisation_p,
    rank_sets,
    resample,
)

BOOKS = (2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 40)
WORLDS = {"normal": 0.5, "beta": 0.2, "yes-or-no": 0.2}


def difficulty(generator: np.random.Generator, world: str, books: int) -> np.ndarray:
    """The share of each book that models get right, with the world's mean."""
    mean = WORLDS[world]
    if world == "normal":
        return generator.normal(mean, 0.1, books)
    if world == "beta":
        return generator.beta(0.6, 2.4, books)
    return (generator.random(books) < mean).astype(float)


def sums(values: np.ndarray) -> GroupSums:
    """Sums of one page a book."""
    return GroupSums(values, np.ones(len(values)))


def sample(generator: np.random.Generator, world: str, books: int) -> tuple[bool, ...]:
    """One sample: interval right, false claim, difference found, wrong rank."""
    level = difficulty(generator, world, books)
    interval = interval_of(resample(sums(level), resamples=500, seed=1), sums(level))
    answers = level + generator.normal(0, 0.1, (2, books))
    gaps = np.array([0.4, 0.2, 0.0, 0.0])
    models = level + gaps[:, None] + generator.normal(0, 0.1, (4, books))
    p_values = pairwise_p(models / books, resamples=500)
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    ranks = rank_sets(models.mean(axis=1).tolist(), adjusted)
    true = [(1, 1), (2, 2), (3, 4), (3, 4)]
    return (
        interval.low <= WORLDS[world] <= interval.high,
        randomisation_p(sums(answers[0]), sums(answers[1]), resamples=500) <= 0.05,
        randomisation_p(sums(models[0]), sums(models[1]), resamples=500) <= 0.05,
        any(a > b or c < d for (a, c), (b, d) in zip(ranks, true, strict=True)),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    samples = parser.parse_args().samples
    print(f"{samples} samples a row; no interval is given below {FEWEST_GROUPS} groups, and no")
    print(f"difference of one task can be significant below {groups_needed()}")
    print(f"{'world':10} books  interval  false claim  found  wrong rank")
    for world in WORLDS:
        for books in BOOKS:
            generator = np.random.default_rng(books)
            rates = np.mean([sample(generator, world, books) for _ in range(samples)], axis=0)
            right, false, found, wrong = (f"{100 * rate:.1f}" for rate in rates)
            print(f"{world:10} {books:5} {right:>9} {false:>12} {found:>6} {wrong:>11}")


if __name__ == "__main__":
    main()
