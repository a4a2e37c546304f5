"""A build on a Ray cluster of three nodes without a shared disk; nodes and drivers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
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
from tests.support.ray_cluster import RayCluster, ray_cluster, wait_until
from tests.support.tiny_clip import write_clip

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray cluster")]

PAGES = 96
PER_PARTITION = 4
BEFORE_GATE = 48
PLUGIN = """
import os, secrets, time
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
    folder = os.environ.get("KEJU_CACHE", "")
    shared = Path({shared!r})
    (shared / "calls" / secrets.token_hex(8)).touch()
    while len(os.listdir(shared / "calls")) > {before_gate} and not (shared / "gate").exists():
        (shared / "waiting" / Path(folder).parent.name).touch()
        time.sleep(0.05)
    time.sleep(0.1)
    return Seen(sha256_file(images.path(page.image)), folder, time.time())


@keju.step("look", summary="Note the hash of each image.", settings=Nothing)
def look_at_all(context, settings):
    pages = [Page(context.image_name(item.images[0])) for item in context.items()]
    work = partial(look, images=context.image_files())
    seen = context.engine.map("look", pages, work, Seen, chunk={per_partition})
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
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "gate").touch()
    file = folder / "look.py"
    file.write_text(
        PLUGIN.format(shared=str(folder), before_gate=BEFORE_GATE, per_partition=PER_PARTITION)
    )
    for name in ("calls", "waiting"):
        (folder / name).mkdir()
    return file


@pytest.fixture
def gate(plugin: Path) -> Iterator[Path]:
    """A closed gate: until the file exists, only `BEFORE_GATE` pages are worked."""
    for name in ("calls", "waiting"):
        for mark in (plugin.parent / name).iterdir():
            mark.unlink()
    file = plugin.parent / "gate"
    file.unlink()
    yield file
    file.touch()


@pytest.fixture(scope="module")
def cluster(server: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    with ray_cluster(tmp_path_factory.mktemp("nodes"), server.environment) as nodes:
        yield nodes


@pytest.fixture
def address(server: ObjectServer, given: Path, tmp_path: Path) -> str:
    """The given dataset, in the object store."""
    where = server.at(tmp_path.name)
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
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said


def stored(address: str) -> list[str]:
    """The names of finished partitions at an address, below its scratch directory."""
    names = [each.name for each in ObjectFolder(parse_address(f"{address}.scratch")).list()]
    return [name for name in names if "/parts/" in name]


def times(address: str, names: Iterable[str]) -> set[float]:
    """When the pages of tables at an address were worked."""
    folder = ObjectFolder(parse_address(address))
    return {at for name in names for at in pl.read_parquet(folder.read(name))["at"]}


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
    assert stored(f"{address}/out") == []


@pytest.mark.semantic
def test_encoders_run_on_the_nodes(
    cluster: RayCluster, given: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    clip = write_clip(tmp_path_factory.mktemp("clip"))
    words = ("build", "dedup-images", given, "--clip", clip, "--clip-cosine", 0.9, "--trust-clip")
    finish(command(*words, "--out", "native", cwd=tmp_path))
    finish(command(*words, "--out", "nodes", cwd=tmp_path, on=cluster))
    native, made = (Dataset.open(tmp_path / name) for name in ("native", "nodes"))
    assert made.manifest.hash == native.manifest.hash
    rows = pl.read_parquet(made.path / "tables" / "image-groups.parquet")
    assert "clip" in set(rows["kind"])


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
    cluster: RayCluster, address: str, plugin: Path, gate: Path, wanted: str, tmp_path: Path
):
    out = f"{address}/out"
    words = ("build", "look", f"{address}/given", "--out", out, "--plugin", plugin)
    first = command(*words, cwd=tmp_path / "first", on=cluster)
    wait_until(first, lambda: len(stored(out)) >= 4)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    kept = times(f"{out}.scratch", stored(out))
    gate.touch()
    finish(command(*words, cwd=tmp_path / "second", on=cluster))
    assert Dataset.open(Path(out)).manifest.hash == wanted
    assert 4 * PER_PARTITION <= len(kept) <= BEFORE_GATE
    assert kept <= times(out, ["tables/seen.parquet"])


def test_a_killed_node_loses_nothing(
    cluster: RayCluster, address: str, plugin: Path, gate: Path, wanted: str, tmp_path: Path
):
    """The last test: two nodes are left."""
    driver = command(
        "build", "look", f"{address}/given", "--out", f"{address}/out", "--plugin", plugin,
        cwd=tmp_path / "driver", on=cluster,
    )  # fmt: skip
    wait_until(driver, (plugin.parent / "waiting" / "two").exists)
    cluster.kill("two")
    gate.touch()
    finish(driver)
    assert Dataset.open(Path(f"{address}/out")).manifest.hash == wanted
