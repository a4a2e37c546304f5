"""What the tests of `keju build` share: a bench to work at, and the real command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from keju.building.engine import Engine
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item
from tests.support import commanding, showing


def bench_over(given: Path, out: Path, step: str = "trial", *, seed: int = 0) -> StepContext:
    """A bench over a dataset; close its writer to see what came out."""
    writer = DatasetWriter(
        out, name="out", version="1", licence="CC0-1.0", source="made by the tests"
    )
    return StepContext(step, Dataset.open(given), writer, engine=Engine(), seed=seed)


def built(
    step: Step[Any], given: Path, out: Path, settings: Settings | None = None
) -> tuple[Dataset, list[str]]:
    """The dataset that a step makes of a dataset, and the step's notes."""
    context = bench_over(given, out, step.name)
    with context.writer:
        step.run(context, settings or step.settings())
    return Dataset.open(out), context.notes


def oracle_crops(shared: Path, folder: Path, count: int = 120) -> Path:
    """A dataset of the first crops of Oracle-MNIST, as labelled examples, made in a folder."""
    crops = showing.oracle_crops(shared)
    about = {"name": "m", "version": "1", "licence": "Apache-2.0", "source": "Oracle-MNIST"}
    with DatasetWriter(folder / "crops", **about) as writer:
        for number in range(count):
            label = str(crops.classes[number])
            ref = writer.add_image(showing.stored(crops.pictures[number]).data, f"crop {number}")
            writer.add(Item(id=f"{number:05d}", benchmark="OBI-Bench", task="classification",
                            images=(ref,), answer=label, group=ref.sha256,
                            split="reference", metadata={"class": label}))  # fmt: skip
    return folder / "crops"


def run_keju(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `keju` without an address of Ray, and in a process of its own if it uses Ray."""
    environment = {**os.environ, "RAY_ADDRESS": ""}
    return commanding.keju(*arguments, cwd=cwd, env=environment, fork="ray" not in arguments)


def need_ray() -> None:
    """Skip without Ray, or fail under CI=true."""
    try:
        import ray  # noqa: F401
    except ImportError:
        reason = "ray is not installed: make install-semantic"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
