"""How hard torn pieces are to rejoin by the curve of their edges alone.

Pieces of bone and shell are drawn, torn at several depths of wear, and every two fragments are
compared by `baseline:edges`. Printed are, for each depth: the share of fragments whose best match
joins them (accuracy@1), accuracy over joining and not joining pairs alike at the baseline's
threshold and at the best there is, and the area under the curve. The goal is below .8 at the
defaults of `keju build tear`.

    python -m benchmarks.tearing [--pieces 24] [--parts 2] [--rough .16] [--sheet s.png]
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

from keju.metrics.ranking import auc, rank
from keju.models.baselines.edges import evidence, outline
from keju.models.baselines.pairs import best_threshold
from keju_synthetic.bones.fragment_images import FragmentationPlan, fragment_image
from keju_synthetic.bones.inscribed_pieces import PiecePlan, draw_piece, inscribe_piece
from keju_synthetic.steps.tear import FragmentSettings

DEPTHS = (0.003, 0.008, 0.012, 0.02)
TEXTS = ("癸巳卜貞旬亡禍", "今日不雨", "王田亡禍")
EVEN = 0.85  # evidence at which the baseline's probability is one half
KINDS = ("scapula", "plastron", "fragment")


Pieces = Sequence[tuple[Image.Image, np.ndarray]]


class Found(NamedTuple):
    """What was measured at one depth of wear."""

    at_one: float
    declared: float
    best: float
    auc: float
    fragments: int
    lost: float


def whole(number: int) -> tuple[Image.Image, np.ndarray]:
    """A piece as a rubbing or a photograph, and where it stands."""
    rng = np.random.default_rng([7, number])
    look = PiecePlan(KINDS[number % 3], (500, 640), 0.09, 6)
    made = inscribe_piece(f"piece {number}", look, TEXTS, rng)
    ground = "rubbing" if number // 3 % 2 else "photo"
    return draw_piece(made.piece, ground, rng, wear=0.4, grain=0.9).convert("RGB"), made.piece.mask


def torn(
    pieces: Pieces, plan: FragmentationPlan
) -> Iterator[tuple[int, int, tuple[int, ...], Image.Image, float]]:
    """Each fragment: its piece, its part, what it joins, its picture and its loss."""
    for number, (picture, mask) in enumerate(pieces):
        parts, shards = fragment_image(
            picture, mask, plan, lambda name, n=number: np.random.default_rng([n, *name.encode()])
        )
        for part, shard in enumerate(shards, start=1):
            yield number, part, parts.list_neighbours(part), shard.picture, shard.lost


def measure(pieces: Pieces, plan: FragmentationPlan) -> Found:
    fragments = list(torn(pieces, plan))
    curves = [outline(np.asarray(picture.convert("L"))) for *_, picture, _ in fragments]
    count = len(fragments)
    likeness = np.zeros((count, count))
    joins = np.zeros((count, count), bool)
    for a, b in combinations(range(count), 2):
        likeness[a, b] = likeness[b, a] = evidence(curves[a], curves[b])
        same = fragments[a][0] == fragments[b][0]
        joins[a, b] = joins[b, a] = same and fragments[b][1] in fragments[a][2]
    upper = np.triu_indices(count, 1)
    pairs, truth = likeness[upper], joins[upper]

    def balanced(threshold: float) -> float:
        return float((pairs[truth] >= threshold).mean() + (pairs[~truth] < threshold).mean()) / 2

    np.fill_diagonal(likeness, -1)
    first = joins[np.arange(count), likeness.argmax(axis=1)]
    return Found(
        float(first[joins.any(axis=1)].mean()), balanced(EVEN),
        balanced(best_threshold(pairs[truth], pairs[~truth])),
        auc(rank(pairs.tolist(), np.flatnonzero(truth).tolist())), count,
        float(np.mean([lost for *_, lost in fragments])),
    )  # fmt: skip


def sheet(pieces: Pieces, plan: FragmentationPlan, path: str) -> None:
    """The fragments of the first pieces, side by side, for the eye."""
    cells = [picture for number, *_, picture, _ in torn(pieces[:8], plan)]
    side = 330
    board = Image.new("RGB", (6 * side, -(-len(cells) // 6) * side), (120, 120, 120))
    for place, picture in enumerate(cells):
        picture.thumbnail((side - 8, side - 8))
        board.paste(picture, (place % 6 * side + 4, place // 6 * side + 4))
    board.save(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pieces", type=int, default=24)
    arguments.add_argument("--sheet", default="")
    arguments.add_argument("--depths", type=float, nargs="+", default=DEPTHS)
    default = FragmentSettings()
    arguments.add_argument("--rough", type=float, default=default.rough)
    arguments.add_argument("--parts", type=int, default=default.parts)
    told = arguments.parse_args()
    pieces = [whole(number) for number in range(told.pieces)]
    table = Table("erosion", "fragments", "lost", "accuracy@1", "at threshold", "at best", "AUC")
    for depth in told.depths:
        plan = FragmentationPlan(told.parts, depth, told.rough, default.turn)
        found = measure(pieces, plan)
        table.add_row(
            f"{depth:g}" + (" *" if depth == default.erosion else ""), str(found.fragments),
            f"{100 * found.lost:.1f} %",
            *(f"{value:.3f}" for value in (found.at_one, found.declared, found.best, found.auc)),
        )  # fmt: skip
    Console().print(table)
    if told.sheet:
        plan = FragmentationPlan(told.parts, default.erosion, told.rough, default.turn)
        sheet(pieces, plan, told.sheet)


if __name__ == "__main__":
    main()
