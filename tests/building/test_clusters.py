"""A build on a Ray cluster of three nodes without a shared disk; nodes and drivers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from keju.datasets.store import Dataset
from keju.object_stores import ObjectFolder, parse_address, upload_folder
from tests.support.builds import need_ray
from tests.support.children import started
from tests.support.making import make_dataset
from tests.support.object_server import (
    ObjectServer,
    need_object_server,
    reach,
    serving_objects,
)
from tests.support.ray_cluster import RayCluster, ray_cluster

pytestmark = pytest.mark.slow

PAGES = 96
PER_PARTITION = 4
PLUGIN = f"""
import os, time
from functools import partial
from pathlib import Path
from msgspec import Struct
import keju
from keju.building.step import Settings
from keju.files import sha256_file


class Page(Struct, frozen=True):
    image: str


class Seen(Struct, frozen=True):
    sha256: str = ""
    folder: str = ""
    at: float = 0.0
    error: str = ""


class Nothing(Settings, frozen=True):
    pass


def look(page, images):
    time.sleep(0.1)
    folder = os.environ.get("KEJU_CACHE", "")
    return Seen(sha256_file(images.path(page.image)), folder, time.time())


@keju.step("look", summary="Note the hash of each image.", settings=Nothing)
def look_at_all(context, settings):
    pages = [Page(context.image_name(item.images[0])) for item in context.items()]
    work = partial(look, images=context.image_files())
    seen = context.engine.map("look", pages, work, Seen, chunk={PER_PARTITION})
    for item, each in zip(context.items(), seen, strict=True):
        context.keep(item, note=each.sha256 + each.error)
    context.table("seen", seen)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    need_ray()
    need_object_server()
    with serving_objects() as served:
        yield served


@pytest.fixture(autouse=True)
def environment(server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reach(server, monkeypatch)
    monkeypatch.setenv("KEJU_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("given") / "set", pages=PAGES)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plugin") / "look.py"
    file.write_text(PLUGIN)
    return file


@pytest.fixture(scope="module")
def cluster(server: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    with ray_cluster(tmp_path_factory.mktemp("nodes"), server.environment) as nodes:
        yield nodes


@pytest.fixture
def address(server: ObjectServer, given: Path, tmp_path: Path) -> str:
    """The given dataset, in the object store."""
    where = f"s3://{server.bucket}/{tmp_path.name}"
    upload_folder(given, ObjectFolder(parse_address(f"{where}/given")), "dataset.json")
    return where


def command(*words: object, cwd: Path, on: RayCluster | None = None) -> subprocess.Popen[str]:
    if on:
        words = (*words, "--engine", "ray", "--ray-address", on.address)
    cwd.mkdir(exist_ok=True)
    return started(
        [sys.executable, "-m", "keju", *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "KEJU_CACHE": str(cwd / "cache"), **(on.access if on else {})},
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


def stored(place: Path | str) -> int:
    """The number of finished partitions in a folder or at an address."""
    if isinstance(place, Path):
        return len(list(place.glob(".scratch/parts/*/*.parquet")))
    names = ObjectFolder(parse_address(f"{place}.scratch")).list()
    return sum("/parts/" in each.name for each in names)


def wait(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    while process.poll() is None and not reached():
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


@pytest.fixture(scope="module")
def wanted(given: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of the dataset that the step makes on this machine."""
    cwd = tmp_path_factory.mktemp("native")
    finish(command("build", "look", given, "--out", "out", "--plugin", plugin, cwd=cwd))
    return Dataset.open(cwd / "out").manifest.hash


def test_a_step_over_images_of_an_object_store_gives_the_same_dataset(
    cluster: RayCluster, address: str, given: Path, tmp_path: Path
):
    finish(
        command("build", "standardise", given, "--out", "native", "--pixels", 50_000,
                cwd=tmp_path / "driver")
    )  # fmt: skip
    finish(
        command("build", "standardise", f"{address}/given", "--out", f"{address}/out",
                "--pixels", 50_000, cwd=tmp_path / "driver", on=cluster)
    )  # fmt: skip
    made = Dataset.open(Path(f"{address}/out"))
    assert made.manifest.hash == Dataset.open(tmp_path / "driver" / "native").manifest.hash
    assert all(made.image_bytes(item.images[0]) for item in made)
    assert stored(f"{address}/out") == 0


def test_files_of_the_driver_need_no_shared_disk(
    cluster: RayCluster, given: Path, plugin: Path, wanted: str, tmp_path: Path
):
    """Dataset and results are in a folder of the driver, named by a path of its own."""
    cwd = tmp_path / "driver"
    cwd.mkdir()
    given.rename(cwd / "set")
    try:
        finish(
            command("build", "look", "set", "--out", "out", "--plugin", plugin, cwd=cwd,
                    on=cluster)
        )  # fmt: skip
    finally:
        (cwd / "set").rename(given)
    made = Dataset.open(cwd / "out")
    assert made.manifest.hash == wanted
    nodes = set(pl.read_parquet(made.path / "tables" / "seen.parquet")["folder"])
    assert len(nodes) > 1, "several nodes worked"


def test_a_killed_command_resumes_from_the_stored_partitions(
    cluster: RayCluster, address: str, plugin: Path, wanted: str, tmp_path: Path
):
    words = ("build", "look", f"{address}/given", "--out", f"{address}/out", "--plugin", plugin)
    first = command(*words, cwd=tmp_path / "first", on=cluster)
    wait(first, lambda: stored(f"{address}/out") >= 4)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    time.sleep(3)  # The cluster ends the workers of a killed command.
    again, done = time.time(), stored(f"{address}/out")
    finish(command(*words, cwd=tmp_path / "second", on=cluster))
    made = Dataset.open(Path(f"{address}/out"))
    assert made.manifest.hash == wanted
    ObjectFolder(parse_address(f"{address}/out")).download(
        "tables/seen.parquet", tmp_path / "seen.parquet"
    )
    seen = pl.read_parquet(tmp_path / "seen.parquet")
    assert (seen["at"] < again).sum() == done * PER_PARTITION
    assert done < PAGES / PER_PARTITION


def test_a_killed_node_loses_nothing(
    server: ObjectServer, address: str, plugin: Path, wanted: str, tmp_path: Path
):
    with ray_cluster(tmp_path / "nodes", server.environment) as nodes:
        driver = command(
            "build", "look", f"{address}/given", "--out", f"{address}/out", "--plugin", plugin,
            cwd=tmp_path / "driver", on=nodes,
        )  # fmt: skip
        wait(driver, lambda: stored(f"{address}/out") >= 4)
        nodes.kill("two")
        finish(driver)
    assert Dataset.open(Path(f"{address}/out")).manifest.hash == wanted
