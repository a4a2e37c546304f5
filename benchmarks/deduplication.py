"""Deduplication: what is found of planted copies among many texts, and what that costs.

    python -m benchmarks.deduplication                    100,000 texts, then planted pictures
    python -m benchmarks.deduplication --texts 1000000    a million texts

Texts are questions and answers of 137 characters on average; 5 % are copies of others with 0 to 8
characters changed. The truth is exact: within every family (an original and all copies of it) all
pairs are compared; across families random texts share next to no shingles. CPU seconds, one thread.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from keju.building.dedup.minhash import (
    THRESHOLD,
    compute_band_keys,
    find_near_pairs,
    jaccard,
    make_shingles,
)
from keju.building.dedup.union_find import UnionFind
from tests.support.planting import kinds, outcome

HAN = [chr(0x4E00 + at) for at in range(3000)]
COPIED = 0.05


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--texts", type=int, default=100_000)
    options.add_argument("--planted", type=int, default=5, help="originals of each planted kind")
    given = options.parse_args()
    texts(given.texts)
    if given.planted:
        planted(given.planted)


def texts(count: int) -> None:
    made, family = corpus(count)
    begun, before = time.process_time(), peak_mb()
    keys = compute_band_keys(made)
    hashed = time.process_time()
    found = find_near_pairs(made, keys=keys)
    ended, after = time.process_time(), peak_mb()
    joined = UnionFind(len(made))
    joined.join_all((pair.left, pair.right) for pair in found.pairs)
    ours = pairs_in(joined.list_groups())
    truth = pairs_in(true_groups(made, family))
    right = len(truth & ours)
    print(f"{count:,} texts, {sum(map(len, made)) / count:.0f} characters on average")
    print(f"pairs of one group: {len(truth):,} true, {len(ours):,} found")
    print(f"recall {right / len(truth):.4f}, precision {right / len(ours):.4f}")
    print(f"groups are exactly the true ones: {truth == ours}")
    print(f"candidates compared: {found.compared:,} ({len(found.pairs) / found.compared:.2f} held)")
    print(f"CPU s: {ended - begun:.1f} (MinHash {hashed - begun:.1f}, search {ended - hashed:.1f})")
    print(f"memory beyond the texts: {after - before:.0f} MB at its peak")


def corpus(count: int) -> tuple[list[str], list[int]]:
    """Texts, and of each the original that it descends from."""
    draw = random.Random(1)
    made: list[str] = []
    family: list[int] = []
    for at in range(count):
        if at and draw.random() < COPIED:
            source = draw.randrange(at)
            text = list(made[source])
            for _ in range(draw.randint(0, 8)):
                text[draw.randrange(len(text))] = draw.choice(HAN)
            made.append("".join(text))
            family.append(family[source])
        else:
            made.append("".join(draw.choices(HAN, k=draw.randint(90, 184))))
            family.append(at)
    return made, family


def true_groups(made: list[str], family: list[int]) -> list[list[int]]:
    members = defaultdict(list)
    for at, name in enumerate(family):
        members[name].append(at)
    joined = UnionFind(len(made))
    for group in members.values():
        if len(group) > 1:
            sets = {at: make_shingles(made[at]) for at in group}
            joined.join_all(
                pair
                for pair in combinations(group, 2)
                if jaccard(sets[pair[0]], sets[pair[1]]) >= THRESHOLD
            )
    return joined.list_groups()


def pairs_in(groups: list[list[int]]) -> set[tuple[int, int]]:
    return {pair for group in groups for pair in combinations(group, 2)}


def planted(originals: int) -> None:
    print(f"\n{'planted':<52}{'duplicate':>10}{'found':>7}{'missed':>8}{'falsely dropped':>17}")
    for kind in kinds():
        with tempfile.TemporaryDirectory() as folder:
            seen = outcome(kind, originals, Path(folder))
        if kind.drop:
            print(f"{kind.name:<52}{'yes':>10}{seen.single:>7}{originals - seen.single:>8}")
        else:
            print(f"{kind.name:<52}{'no':>10}{'':>15}{seen.single:>17}")


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
