"""Encoders on a Ray cluster of three nodes: the scores of one machine, and no lost vectors."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.files import sha256_file
from keju.items import Item, Score
from keju.scoring import read_scores
from tests.support.answered import answered_run
from tests.support.builds import need_ray
from tests.support.children import started
from tests.support.ray_cluster import RayCluster, ray_cluster, wait_until
from tests.support.small_bert import HAN, write_bert

pytestmark = [pytest.mark.slow, pytest.mark.semantic, pytest.mark.xdist_group("ray cluster")]

ITEMS = 160
OWN = "/proc/self/cwd/weights"
"""A folder in the working directory of each process: nodes do not have it."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    need_ray()
    with ray_cluster(tmp_path_factory.mktemp("nodes"), {}) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder that is slow enough to be interrupted."""
    return write_bert(tmp_path_factory.mktemp("weights") / "bert", layers=6, size=384)


def write_run(folder: Path, weights: Path) -> Path:
    """A run, in a working directory with the weights."""
    folder.mkdir()
    (folder / "weights").symlink_to(weights)
    draw = random.Random(5)
    items = [
        Item(
            id=f"i{number:03}", benchmark="MCS-Bench", task="T9", answer=text,
            answer_simplified=text, question="?",
        )
        for number in range(ITEMS)
        for text in ["".join(draw.choices(HAN, k=draw.randint(20, 300)))]
    ]  # fmt: skip
    return answered_run(folder / "run", items, {"m": 0.7})


def score(
    cwd: Path, on: RayCluster | None = None, *, weights: str = "weights", **variables: str
) -> subprocess.Popen[str]:
    words = ["--engine", "ray", "--ray-address", on.address] if on else []
    access: Mapping[str, str] = on.access if on else {}
    return started(
        [sys.executable, "-m", "keju", "score", "run",
         "--semantic", weights, *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), **access, **variables},
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said


def scores(cwd: Path) -> list[Score]:
    return read_scores(next((cwd / "run" / "scores").glob("*.parquet")))


def vectors(cwd: Path) -> dict[bytes, bytes]:
    """The cached vectors by key."""
    path = cwd / "cache" / "keju" / "encoders-1.sqlite"
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return dict(connection.execute("SELECT key, value FROM vectors").fetchall())
        except sqlite3.OperationalError:  # The table is not made yet.
            return {}


@pytest.fixture(scope="module")
def native(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    cwd = tmp_path_factory.mktemp("native") / "here"
    write_run(cwd, weights)
    finish(score(cwd, OMP_NUM_THREADS="1"))
    return cwd


def sent_files(cluster: RayCluster, node: str) -> dict[str, int]:
    """The time of change of each file of weights in the cache of a node, by its SHA-256."""
    files = (cluster.place(node) / "cache" / "weights").glob("*/*")
    return {sha256_file(each): each.stat().st_mtime_ns for each in files}


def test_scores_and_vectors_are_those_of_one_machine_to_the_bit_and_weights_are_sent_once(
    cluster: RayCluster, weights: Path, native: Path, tmp_path: Path
):
    write_run(tmp_path / "first", weights)
    finish(score(tmp_path / "first", cluster, weights=OWN))
    made = scores(tmp_path / "first")
    assert made == scores(native)
    encoded = [each for each in made if each.metric in {"BERTScore", "BERTScore_floor"}]
    assert len(encoded) == 2 * ITEMS
    assert all(each.value is not None for each in encoded)
    assert vectors(tmp_path / "first") == vectors(native)
    sent = {node: sent_files(cluster, node) for node in cluster.nodes}
    wanted = {sha256_file(each) for each in weights.iterdir()}
    assert [files.keys() for files in sent.values()] == [wanted] * 3

    damage(next((cluster.place("one") / "cache").rglob("model.safetensors")))
    write_run(tmp_path / "second", weights)
    finish(score(tmp_path / "second", cluster, weights=OWN))
    assert scores(tmp_path / "second") == made
    again = {node: sent_files(cluster, node) for node in cluster.nodes}
    assert {node for node in sent if again[node] != sent[node]} == {"one"}
    assert again["one"].keys() == wanted


def damage(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        last = opened.read(1)[0]
        opened.seek(-1, os.SEEK_END)
        opened.write(bytes([last ^ 1]))


def test_a_killed_command_and_a_killed_node_lose_nothing(
    cluster: RayCluster, weights: Path, native: Path, tmp_path: Path
):
    """The last test: two nodes are left."""
    cwd = tmp_path / "driver"
    write_run(cwd, weights)
    first = score(cwd, cluster)
    wait_until(first, lambda: len(vectors(cwd)) >= 8)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    kept = vectors(cwd)
    assert len(kept) < len(vectors(native))
    second = score(cwd, cluster)
    wait_until(second, lambda: len(vectors(cwd)) > len(kept))
    cluster.kill("two")
    finish(second)
    made = vectors(cwd)
    assert made.keys() == vectors(native).keys()
    assert {key: made[key] for key in kept} == kept
    assert [replace(each, value=None, stats={}) for each in scores(cwd)] == [
        replace(each, value=None, stats={}) for each in scores(native)
    ]
    # Texts that were cached change the batches of the others.
    assert [each.value for each in scores(cwd)] == [
        pytest.approx(each.value, abs=1e-6) for each in scores(native)
    ]
