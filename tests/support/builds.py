"""What the tests of `keju build` share: a bench to work at, and the real command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keju.building.bench import Bench
from keju.building.engine import Engine
from keju.datasets.store import Dataset, DatasetWriter


def bench_over(given: Path, out: Path, step: str = "trial", *, seed: int = 0) -> Bench:
    """A bench over a dataset; close its writer to see what came out."""
    writer = DatasetWriter(
        out, name="out", version="1", licence="CC0-1.0", source="made by the tests"
    )
    return Bench(step, Dataset.open(given), writer, engine=Engine(), seed=seed)


def keju(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "keju", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        env={**os.environ, "RAY_ADDRESS": ""},
    )


def need_ray() -> None:
    """Skip without Ray, or fail under CI=true."""
    try:
        import ray  # noqa: F401
    except ImportError:
        reason = "ray is not installed: make install-semantic"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
