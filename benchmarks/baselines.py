"""What the baselines that look at pictures cost, and what they earn on real and on made pictures.

Costs are CPU: a picture once (decoding it included), then a pair whose pictures are known, as a
gallery asks it. HOG's earnings are on the crops of Oracle-MNIST in the shared material
(KEJU_SHARED), those of edges on bones torn by the tests, those of components on boards made of the
crops.

    python -m benchmarks.baselines [--references 10] [--queries 100] [--bones 25]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from keju.metrics.boxes import box_hits
from keju.metrics.ranking import accuracy_at, auc, average_precision, rank
from keju.models import Model, ModelOptions, open_model

ROOT = Path(__file__).resolve().parents[1]
from tests.support.showing import Stored, laid_out, oracle_crops, pair, stored, torn  # noqa: E402


def asked(model: Model, one: Stored, other: Stored, task: str) -> float:
    request = pair(one, other, task=task)
    return float(asyncio.run(model.answer(request, (one.data, other.data))).text)


async def likenesses(
    model: Model, queries: Sequence[Stored], gallery: Sequence[Stored], task: str
) -> list[list[float]]:
    """Every query against the whole gallery, as a run asks."""
    return [
        [
            float((await model.answer(pair(one, other, task=task), (one.data, other.data))).text)
            for other in gallery
        ]
        for one in queries
    ]


def measured(
    name: str, task: str, queries: Sequence[Stored], gallery: Sequence[Stored]
) -> tuple[list[list[float]], float, float]:
    """Likenesses, and CPU milliseconds a picture and a pair."""
    model = open_model(name, ModelOptions())
    pictures = [*gallery, *queries]
    started = time.process_time()
    for each in pictures:
        asked(model, each, each, task)
    first = time.process_time() - started
    started = time.process_time()
    found = asyncio.run(likenesses(model, queries, gallery, task))
    pairs = (time.process_time() - started) / (len(queries) * len(gallery))
    return found, 1000 * (first / len(pictures) - pairs), 1000 * pairs


def row(
    table: Table, name: str, found: list[list[float]], right: list[list[int]], *costs: float
) -> None:
    """A row of what a baseline earned, and one of what chance earns with the same galleries."""
    for label, scores in ((name, found), ("by chance", [[0.0] * len(row) for row in found])):
        ranked = [rank(row, places) for row, places in zip(scores, right, strict=True)]
        earned = (
            np.mean([accuracy_at(each, 1) for each in ranked]),
            np.mean([accuracy_at(each, 5) for each in ranked]),
            np.mean([average_precision(each) for each in ranked]),
            np.mean([auc(each) for each in ranked]),
        )
        spent = [f"{cost:.3f}" for cost in costs] if label == name else ["", ""]
        table.add_row(label, *(f"{value:.3f}" for value in earned), *spent)


def characters(table: Table, shared: Path, references: int, queries: int) -> None:
    crops = oracle_crops(shared)
    places = [np.flatnonzero(crops.classes == each) for each in range(10)]
    known = np.concatenate([each[:references] for each in places])
    wanted = np.concatenate([each[references : references + queries] for each in places])
    gallery, query = ([stored(crops.pictures[at]) for at in group] for group in (known, wanted))
    found, picture, one_pair = measured("baseline:hog", "classification", query, gallery)
    right = [np.flatnonzero(crops.classes[known] == crops.classes[at]).tolist() for at in wanted]
    title = f"hog: {len(wanted)} queries, {references} references a class"
    row(table, title, found, right, picture, one_pair)


def fragments(table: Table, bones: int, wear: float) -> None:
    draw = np.random.default_rng(1)
    halves = [stored(half) for _ in range(bones) for half in torn(draw, wear=wear)]
    found, picture, one_pair = measured("baseline:edges", "rejoining", halves, halves)
    others = [[place for place in range(len(halves)) if place != at] for at in range(len(halves))]
    scores = [[row[place] for place in rest] for row, rest in zip(found, others, strict=True)]
    right = [[rest.index(at ^ 1)] for at, rest in enumerate(others)]
    row(table, f"edges: {2 * bones} halves, {wear:g} px worn", scores, right, picture, one_pair)


def boards(shared: Path, count: int) -> str:
    """What components finds on boards of real characters, and its CPU a board."""
    from keju.models.baselines.vision import ink_boxes

    crops, draw = oracle_crops(shared), np.random.default_rng(4)
    hits = given = spent = 0.0
    for _ in range(count):
        board, boxes = laid_out(draw, crops)
        started = time.process_time()
        found = ink_boxes(board)
        spent += time.process_time() - started
        counted = box_hits(boxes, found)
        hits, given = hits + counted.hits[0], given + counted.truth + counted.predicted
    return (
        f"components: F1 {2 * hits / given:.3f} at an IoU of .5 on {count} boards of 30 characters "
        f"that stand apart, {1000 * spent / count:.0f} ms a board"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", type=int, default=10)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--bones", type=int, default=25)
    given = parser.parse_args()
    shared = Path(os.environ.get("KEJU_SHARED") or ROOT.parent / "shared")
    table = Table("", "Acc@1", "Acc@5", "AP", "AUC", "ms a picture", "ms a pair")
    for column in table.columns[1:]:
        column.justify = "right"
    there = (shared / "data" / "oracle-mnist").is_dir()
    if there:
        characters(table, shared, given.references, given.queries)
    else:
        print("left out: no crops at data/oracle-mnist; set KEJU_SHARED to the shared material")
    for wear in (1, 3):
        fragments(table, given.bones, wear)
    Console(width=110).print(table)
    if there:
        print(boards(shared, 20))


if __name__ == "__main__":
    main()
