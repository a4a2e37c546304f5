"""Engines on a Ray cluster of three nodes: the responses of one machine, and no lost ones."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from keju.cli.app import WITH_FAILURES
from keju.datasets.store import DatasetWriter
from keju.errors import PrerequisiteError, UsageError
from keju.items import Request
from keju.models import Answer, AskError, ModelOptions, open_model
from keju.models.cluster import ClusterEngine, is_local_engine
from keju.running import merge
from tests.models.conftest import page_request
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


class Instance:
    """An actor whose calls raise an exception, or give an answer."""

    def __init__(self, result: Exception | bytes) -> None:
        self.answer = SimpleNamespace(remote=self.call)
        self.result = result
        self.calls = 0

    async def call(self, request: Request, images: list[bytes]) -> bytes:
        self.calls += 1
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def engine_of(*instances: Instance) -> ClusterEngine:
    engine = ClusterEngine.__new__(ClusterEngine)
    nodes = {str(at): each for at, each in enumerate(instances)}
    engine.name = "ppocr"
    engine._actors, engine._pages, engine._in_work = nodes, dict.fromkeys(nodes, 1), Counter()
    return engine


def ask(engine: ClusterEngine) -> Answer:
    return asyncio.run(engine.answer(page_request(), [b""]))


def test_the_page_of_a_lost_node_is_read_on_another_one_until_none_is_left():
    errors = pytest.importorskip("ray.exceptions")
    lost = Instance(errors.ActorUnschedulableError("its node is gone"))
    dead = Instance(errors.ActorDiedError())
    alive = Instance(msgspec.msgpack.encode(Answer(text="天")))
    engine = engine_of(lost, dead, alive)
    assert [ask(engine).text for _ in range(3)] == ["天"] * 3
    assert (lost.calls, dead.calls, alive.calls) == (1, 1, 3)
    with pytest.raises(AskError, match="no node of the Ray cluster is left") as none:
        ask(engine_of(lost, dead))
    assert none.value.kind == "connection"


def test_a_page_that_loses_its_engine_again_fails_and_is_not_sent_to_all_nodes():
    errors = pytest.importorskip("ray.exceptions")
    lost = Instance(errors.ActorUnavailableError("the process ended", b"0" * 16))
    alive = Instance(msgspec.msgpack.encode(Answer(text="天")))
    with pytest.raises(AskError, match="lost 2 times") as failed:
        ask(engine_of(lost, alive))
    assert (failed.value.kind, failed.value.retryable, alive.calls) == ("engine", False, 0)


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
@pytest.mark.parametrize("model", ["ppocr", "tesseract:lang=chi_tra"])
def test_responses_are_those_of_one_machine_though_nodes_and_commands_are_killed(
    cluster: RayCluster, given: Path, tmp_path: Path, model: str
):
    """They are also those of three shards that are merged."""
    try:
        open_model(model, ModelOptions())
    except PrerequisiteError as error:
        pytest.skip(str(error))
    finish(command(given, tmp_path / "native", None, model))
    native = responses(tmp_path / "native" / "run")
    for shard in ("1", "2", "3"):
        process = command(given, tmp_path / shard, None, model, "--shard", f"{shard}/3")
        process.communicate(timeout=600)
        assert process.returncode in {0, WITH_FAILURES}
    merge([tmp_path / shard / "run" for shard in "123"], tmp_path / "merged")
    assert responses(tmp_path / "merged") == native
    run = tmp_path / "driver" / "run"
    first = command(given, tmp_path / "driver", cluster, model)
    wait_until(first, lambda: len(responses(run)) >= 2)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    stored = responses(run)
    assert len(stored) < PAGES
    second = command(given, tmp_path / "driver", cluster, model)
    wait_until(second, lambda: len(responses(run)) > len(stored))
    cluster.kill("two")
    cluster.kill_actors("one")
    finish(second)
    made = responses(run)
    assert made == native
    assert all(made[item] == line for item, line in stored.items())
    failed = [row for row in made.values() if row["status"] == "failed"]
    assert [row["error"]["kind"] for row in failed] == ["unreadable-image"]
    assert not (run / "timings.json").exists(), "the time of other machines is not measured"


@pytest.mark.slow
@pytest.mark.semantic
@pytest.mark.xdist_group("ray cluster")
def test_an_engine_with_weights_gives_the_responses_of_one_machine(
    cluster: RayCluster, given: Path, tmp_path: Path
):
    weights = write_got(tmp_path / "weights")
    for name, on in (("native", None), ("driver", cluster)):
        finish(command(given, tmp_path / name, on, f"got:{weights}", "--max-tokens", "12"))
    made = responses(tmp_path / "driver" / "run")
    assert made == responses(tmp_path / "native" / "run")
    assert [row["status"] for row in made.values()].count("truncated") == PAGES - 1
