"""Runs and scores of simulated checkpoints, whose true accuracies are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import msgspec

from keju.items import Item, Response, Score
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

MODEL = "openai:m"
UNSTABLE = 0.2
"""The share of items whose answer is drawn again by each checkpoint; the others depend on the item
alone, so that checkpoints answer most items alike, as those of one model do."""


def right_answers(task: str, count: int, accuracy: float, checkpoint: int, seed: int) -> list[bool]:
    """Which of `count` items a checkpoint answers correctly; each with probability `accuracy`."""
    items = Random(f"items {task} {seed}")
    noise = Random(f"checkpoint {task} {checkpoint} {seed}")
    found = []
    for _ in range(count):
        difficulty, stable = items.random(), items.random() >= UNSTABLE
        found.append((difficulty if stable else noise.random()) < accuracy)
    return found


def checkpoint_scores(
    accuracies: Mapping[str, float], count: int, checkpoint: int, seed: int
) -> list[Score]:
    """The strict scores of a checkpoint on tasks of multiple choice, `count` items of each.

    The items are independent, ten in a group.
    """
    return [
        Score(
            key=f"{task}{place}", item=f"{task}-{place}", model=MODEL, benchmark="MCS-Bench",
            task=task, protocol="strict", metric="Acc", value=float(right), group=f"g{place // 10}",
            stats={"numerator": float(right), "denominator": 1.0},
        )
        for task, accuracy in accuracies.items()
        for place, right in enumerate(right_answers(task, count, accuracy, checkpoint, seed))
    ]  # fmt: skip


def checkpoint_run(
    path: Path, label: str, accuracies: Mapping[str, float], *,
    count: int = 600, checkpoint: int = 0, seed: int = 0, **manifest: object,
) -> Path:  # fmt: skip
    """A scored run of a simulated checkpoint; `checkpoint` is also the minute of its creation."""
    path.mkdir(parents=True)
    folder = RunFolder(path)
    folder.write_items(
        [
            Item(id=f"{task}-{place}", benchmark="MCS-Bench", task=task, options=("甲", "乙"),
                 answer="A", group=f"g{place}")
            for task in accuracies for place in range(count)
        ]
    )  # fmt: skip
    given = {
        "dataset_hash": "h",
        "created": f"2026-11-01T00:{checkpoint:02}:00+00:00",
        "settings": {"label": label} if label else {},
        "models": {MODEL: {}},
        **manifest,
    }
    folder.write_manifest(RunManifest(keju="0", dataset="d", dataset_version="1", **given))
    for task, accuracy in accuracies.items():
        file = folder.responses_path(MODEL, task)
        file.parent.mkdir(parents=True, exist_ok=True)
        rights = right_answers(task, count, accuracy, checkpoint, seed)
        file.write_bytes(
            b"".join(
                msgspec.json.encode(
                    Response(key=f"{task}{place}", item=f"{task}-{place}", model=MODEL,
                             benchmark="MCS-Bench", task=task, status="answered",
                             text="A" if right else "B")
                ) + b"\n"
                for place, right in enumerate(rights)
            )
        )  # fmt: skip
    score_run(folder)
    return path
