"""A build that is killed goes on where it stood, and comes to the same dataset; so does Ray."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.datasets.store import Dataset
from tests.support.builds import need_ray, run_keju
from tests.support.children import started

PAGES = 300
RECIPE = """
name = "killed"
seed = 7
[[source]]
form = "images"
path = "scans"
licence = "CC0-1.0"
source = "drawn"
[[step]]
do = "standardise"
pixels = 9000
tiny = true
[[step]]
do = "standardise-texts"
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recipe")
    (folder / "scans").mkdir()
    for number in range(PAGES):
        noise = np.random.default_rng(number).integers(0, 255, (140, 110, 3), np.uint8)
        out = io.BytesIO()
        Image.fromarray(noise).save(out, "PNG", compress_level=1)
        (folder / "scans" / f"p{number:04}.png").write_bytes(out.getvalue())
    (folder / "killed.toml").write_text(RECIPE)
    return folder / "killed.toml"


@pytest.fixture(scope="module")
def wanted(recipe) -> str:
    done = run_keju("build", recipe, "--out", recipe.parent / "whole")
    assert done.returncode == 0, done.stderr
    return Dataset.open(recipe.parent / "whole" / "dataset").manifest.hash


def some(folder: Path, pattern: str) -> bool:
    return folder.is_dir() and next(folder.glob(pattern), None) is not None


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "while the source is read": lambda b: some(b, ".scratch/*/parts/*/*.parquet"),
    "while the sources are joined": lambda b: some(b, "steps/00-join/images/*"),
    "while pictures are made": lambda b: some(b, "steps/01-standardise/.scratch/pictures/*"),
    "after a chunk": lambda b: some(b, "steps/01-standardise/.scratch/parts/*/*.parquet"),
    "while the items are written": lambda b: some(b, "steps/01-standardise/images/*"),
    "between the tables and the end": lambda b: some(b, "steps/01-standardise/tables/*"),
    "in the last step": lambda b: some(b, "steps/02-standardise-texts/.unfinished"),
}


@pytest.mark.slow
def test_a_build_killed_at_any_moment_comes_to_the_same_dataset(recipe, wanted, tmp_path):
    """One build, killed again and again, each time a little further on."""
    build = tmp_path / "b"
    wait = random.Random("moments")
    killed = []
    for name, reached in MOMENTS.items():
        process = started(
            [sys.executable, "-m", "keju", "build", str(recipe), "--out", str(build)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while process.poll() is None and not reached(build):
            time.sleep(0.0005)
        time.sleep(wait.uniform(0, 0.02))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        _, said = process.communicate()
        if process.returncode == -signal.SIGKILL:
            killed.append(name)
        else:
            assert process.returncode == 0, said
    assert len(killed) >= 4, f"killed only {killed}"
    done = run_keju("build", recipe, "--out", build)
    assert done.returncode == 0, done.stderr
    dataset = Dataset.open(build / "dataset")
    assert dataset.manifest.hash == wanted
    assert all(dataset.image_bytes(item.images[0]) for item in dataset.items())
    assert not [path for path in build.rglob(".scratch/*") if path.is_file()]
    fresh = recipe.parent / "whole" / "steps" / "01-standardise" / "tables" / "pictures.csv"
    again = build / "steps" / "01-standardise" / "tables" / "pictures.csv"
    assert again.read_bytes() == fresh.read_bytes()


@pytest.mark.slow
def test_ray_comes_to_the_same_dataset(recipe, wanted, tmp_path):
    need_ray()
    done = run_keju("build", recipe, "--out", tmp_path / "ray", "--engine", "ray")
    assert done.returncode == 0, done.stderr
    assert Dataset.open(tmp_path / "ray" / "dataset").manifest.hash == wanted
    assert done.stderr == "", "neither Ray nor Daft says anything"
