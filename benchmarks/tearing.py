"""How hard broken pieces are to rejoin by the curve of their edges alone.

The bones of the bundled set are broken at several depths of wear, and every two fragments of a
break are compared by `baseline:edges`. Printed are, for each depth: the share of fragments whose
best match joins them (accuracy@1), accuracy over joining and not joining pairs alike at the
baseline's threshold and at the best there is, and the area under the curve. The defaults of
`keju build fragment` are marked.

    python -m benchmarks.tearing [--breaks 4] [--parts 2] [--rough .16] [--sheet s.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.metrics.ranking import auc, rank
from keju.models.baselines.vision import fit, outline
from keju_synthetic.fragment_images import FragmentationPlan, fragment_image
from keju_synthetic.masks import load_masked
from keju_synthetic.steps.tear import FragmentSettings

DEPTHS = (0.003, 0.008, 0.012, 0.02)
EVEN = 0.5  # the probability from which the baseline says yes


Pieces = Sequence[tuple[Image.Image, np.ndarray]]


class Found(NamedTuple):
    """What was measured at one depth of wear."""

    at_one: float
    declared: float
    best: float
    auc: float
    fragments: int
    lost: float


def bones(side: int) -> Pieces:
    """The whole bones of the bundled set, with their masks."""
    dataset = Dataset.open(mini.path())
    refs = {
        item.images[0].sha256: item.images[0]
        for item in dataset
        if item.task == "recognition" and item.id.startswith("bone-")
    }
    return [
        load_masked(dataset.image_bytes(ref), name=ref.path, most_side=side)
        for ref in refs.values()
    ]


def torn(
    pieces: Pieces, plan: FragmentationPlan, seed: int
) -> Iterator[tuple[int, int, tuple[int, ...], Image.Image, float]]:
    """Each fragment: its piece, its part, what it joins, its image and its loss."""
    for number, (picture, mask) in enumerate(pieces):
        parts, shards = fragment_image(
            picture, mask, plan,
            lambda name, n=number: np.random.default_rng([seed, n, *name.encode()]),
        )  # fmt: skip
        for part, shard in enumerate(shards, start=1):
            yield number, part, parts.list_neighbours(part), shard.picture, shard.lost


def compare(
    fragments: Sequence[tuple[int, int, tuple[int, ...], Image.Image, float]],
) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each two fragments, and whether they join."""
    curves = [outline(np.asarray(picture.convert("L"))) for *_, picture, _ in fragments]
    count = len(fragments)
    likeness = np.full((count, count), -1.0)
    joins = np.zeros((count, count), bool)
    for a, b in combinations(range(count), 2):
        likeness[a, b] = likeness[b, a] = fit(curves[a], curves[b])
        same = fragments[a][0] == fragments[b][0]
        joins[a, b] = joins[b, a] = same and fragments[b][1] in fragments[a][2]
    return likeness, joins


def measure(pieces: Pieces, plan: FragmentationPlan, breaks: int) -> Found:
    first, lost, fits, answers = [], [], [], []
    for seed in range(breaks):
        fragments = list(torn(pieces, plan, seed))
        likeness, joins = compare(fragments)
        hits = joins[np.arange(len(fragments)), likeness.argmax(axis=1)]
        first.append(hits[joins.any(axis=1)])
        lost += [share for *_, share in fragments]
        upper = np.triu_indices(len(fragments), 1)
        fits.append(likeness[upper])
        answers.append(joins[upper])
    pairs, truth = np.concatenate(fits), np.concatenate(answers)
    balanced = [
        float((pairs[truth] >= cut).mean() + (pairs[~truth] < cut).mean()) / 2
        for cut in (EVEN, *np.unique(pairs))
    ]
    return Found(
        float(np.concatenate(first).mean()), balanced[0], max(balanced),
        auc(rank(pairs.tolist(), np.flatnonzero(truth).tolist())), len(lost),
        float(np.mean(lost)),
    )  # fmt: skip


def sheet(pieces: Pieces, plan: FragmentationPlan, path: str) -> None:
    """The fragments of the first pieces, side by side, for the eye."""
    cells = [picture for number, *_, picture, _ in torn(pieces[:8], plan, 0)]
    side = 330
    board = Image.new("RGB", (6 * side, -(-len(cells) // 6) * side), (120, 120, 120))
    for place, picture in enumerate(cells):
        picture.thumbnail((side - 8, side - 8))
        board.paste(picture, (place % 6 * side + 4, place // 6 * side + 4))
    board.save(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--breaks", type=int, default=4)
    arguments.add_argument("--sheet", default="")
    arguments.add_argument("--depths", type=float, nargs="+", default=DEPTHS)
    default = FragmentSettings()
    arguments.add_argument("--rough", type=float, default=default.rough)
    arguments.add_argument("--parts", type=int, default=default.parts)
    options = arguments.parse_args()
    pieces = bones(default.side)
    table = Table("erosion", "fragments", "lost", "accuracy@1", "at threshold", "at best", "AUC")
    for depth in options.depths:
        plan = FragmentationPlan(options.parts, depth, options.rough, default.turn)
        rates = measure(pieces, plan, options.breaks)
        table.add_row(
            f"{depth:g}" + (" *" if depth == default.erosion else ""), str(rates.fragments),
            f"{100 * rates.lost:.1f} %",
            *(f"{value:.3f}" for value in (rates.at_one, rates.declared, rates.best, rates.auc)),
        )  # fmt: skip
    Console().print(table)
    if options.sheet:
        plan = FragmentationPlan(options.parts, default.erosion, options.rough, default.turn)
        sheet(pieces, plan, options.sheet)


if __name__ == "__main__":
    main()
