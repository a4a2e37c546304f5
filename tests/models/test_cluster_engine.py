"""Engines on a Ray cluster of three nodes: the responses of one machine, and no lost ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keju.cli.app import WITH_FAILURES
from keju.datasets.store import DatasetWriter
from keju.errors import UsageError
from keju.models import ModelOptions
from keju.models.cluster_engine import ClusterEngine, is_local_engine
from tests.support.builds import need_ray
from tests.support.children import started
from tests.support.making import page_item
from tests.support.planted import book_page, jpeg
from tests.support.ray_cluster import RayCluster, ray_cluster, wait_until
from tests.support.small_got import write_got

PAGES = 12


def test_only_local_engines_run_on_a_cluster():
    assert is_local_engine("ppocr")
    assert is_local_engine("tesseract")
    assert is_local_engine("tesseract:lang=chi_tra,psm=6")
    assert is_local_engine("got:weights")
    for name in ("openai:gpt-4o", "baseline:copy", "replay:x", "python:x.py:f", "nothing"):
        assert not is_local_engine(name)
        with pytest.raises(UsageError, match="--engine ray"):
            ClusterEngine(name, ModelOptions())


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with text; the bytes of the last one are damaged."""
    path = tmp_path_factory.mktemp("given") / "set"
    with DatasetWriter(path, name="p", version="1", licence="CC0-1.0", source="drawn") as writer:
        for number in range(PAGES):
            ref = writer.add_image(jpeg(book_page(number)), f"page {number}")
            writer.add(page_item(f"i{number:02}", images=(ref,)))
    (path / ref.path).write_bytes(bytes(ref.size))
    return path


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RayCluster]:
    need_ray()
    with ray_cluster(tmp_path / "nodes", {}) as nodes:
        yield nodes


def command(
    given: Path, cwd: Path, on: RayCluster | None = None, model: str = "ppocr", *more: str
) -> subprocess.Popen[str]:
    cwd.mkdir(exist_ok=True)
    words = [*more, *(["--engine", "ray", "--ray-address", on.address] if on else [])]
    return started(
        [sys.executable, "-m", "keju", "run", given, "--model", model, "--out", "run", *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **(on.access if on else {})},
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=600)
    assert process.returncode == WITH_FAILURES, said


def responses(run: Path) -> dict[str, dict[str, Any]]:
    """The stored lines by item, without times and attempts."""
    found = {}
    for file in run.glob("responses/*/*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            assert row["item"] not in found, "stored twice"
            found[row["item"]] = {
                key: value for key, value in row.items() if key not in {"seconds", "attempts"}
            }
    return found


@pytest.mark.slow
@pytest.mark.xdist_group("ray cluster")
def test_responses_are_those_of_one_machine_though_a_node_and_the_command_are_killed(
    cluster: RayCluster, given: Path, tmp_path: Path
):
    pytest.importorskip("rapidocr")
    finish(command(given, tmp_path / "native"))
    run = tmp_path / "driver" / "run"
    first = command(given, tmp_path / "driver", cluster)
    wait_until(first, lambda: len(responses(run)) >= 2)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    stored = responses(run)
    assert len(stored) < PAGES
    second = command(given, tmp_path / "driver", cluster)
    wait_until(second, lambda: len(responses(run)) > len(stored))
    cluster.kill("two")
    finish(second)
    made = responses(run)
    assert made == responses(tmp_path / "native" / "run")
    assert all(made[item] == line for item, line in stored.items())
    failed = [row for row in made.values() if row["status"] == "failed"]
    assert [row["error"]["kind"] for row in failed] == ["unreadable-image"]
    assert not (run / "timings.json").exists(), "the time of other machines is not measured"


@pytest.mark.slow
@pytest.mark.semantic
@pytest.mark.xdist_group("ray cluster")
def test_an_engine_with_weights_that_the_nodes_lack_gives_the_responses_of_one_machine(
    cluster: RayCluster, given: Path, tmp_path: Path
):
    weights = write_got(tmp_path / "weights")
    for name, on in (("native", None), ("driver", cluster)):
        cwd = tmp_path / name
        cwd.mkdir()
        (cwd / "weights").symlink_to(weights)
        finish(command(given, cwd, on, "got:/proc/self/cwd/weights", "--max-tokens", "12"))
    made = responses(tmp_path / "driver" / "run")
    assert made == responses(tmp_path / "native" / "run")
    assert [row["status"] for row in made.values()].count("truncated") == PAGES - 1
    for node in cluster.nodes:
        sent = (cluster.place(node) / "cache" / "weights").glob("*/model.safetensors")
        assert [each.read_bytes() for each in sent] == [
            (weights / "model.safetensors").read_bytes()
        ]
