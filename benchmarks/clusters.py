"""CPU seconds per page of a build step and of `ppocr`, on this machine and on nodes of Ray.

The same function in a process pool, run beside them, is the unit. All processes of a command are
counted, and those of the nodes while it runs. Each command is run on a tenth of the pages too: the
difference of both is the cost of further pages, without that of starting. Only CPU seconds and
ratios within one run mean something: the nodes share the cores of this machine.

    python -m benchmarks.clusters [--images 200] [--pages 10]      # 0: not this work
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.standardising import PIXELS, draw_dataset
from keju.building.scratch_files import ScratchFiles
from keju.building.standardising.pictures import ImageJob, ImageTarget, standardise_image
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item, Request
from keju.models import Model, ModelOptions, open_model
from tests.support.children import started
from tests.support.making import page_item
from tests.support.planted import book_page, jpeg
from tests.support.ray_cluster import RayCluster, ray_cluster

ROOT = Path(__file__).parents[1]
INTERVAL_S = 0.2
DRAWN = 10
MODEL = "ppocr"


class Cost(NamedTuple):
    """CPU seconds of a command on a tenth of the pages and on all, and its result on all."""

    few: float
    all: float
    result: str


class Work(NamedTuple):
    """A kind of work.

    Attributes:
        name: in the table.
        given: the datasets of a tenth of the pages and of all.
        words: the words of the command for a dataset and an output folder.
        result: a text that is the same for the same results in an output folder.
    """

    name: str
    given: tuple[Dataset, Dataset]
    words: Callable[[Path, Path], list[object]]
    result: Callable[[Path], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=200, help="images of the build step")
    parser.add_argument("--pages", type=int, default=10, help="pages that ppocr reads")
    parser.add_argument("--pool", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pool:
        name, given, out = options.pool
        run_pool(name, Dataset.open(Path(given)), Path(out))
        return
    if missing := [name for name in ("ray", "rapidocr") if find_spec(name) is None]:
        print(f"skipped: {missing[0]} is not installed")
        return
    with tempfile.TemporaryDirectory() as name:
        for work in make_works(Path(name), options.images, options.pages):
            costs = {}
            for place, cost in measure_all(work, Path(name) / work.name):
                costs[place] = cost
                print(f"{work.name}, {place}: {cost.all:.1f} CPU s", file=sys.stderr)
            show(work, costs)


def make_works(folder: Path, images: int, pages: int) -> Iterator[Work]:
    """Draw the datasets of both kinds of work."""
    if images:
        yield Work(
            "standardise",
            (
                draw_images(folder / "few-images", images // 10),
                draw_images(folder / "images", images),
            ),
            lambda given, out: ["build", "standardise", given, "--out", out, "--pixels", PIXELS],
            lambda out: Dataset.open(out).manifest.hash,
        )
    if pages:
        yield Work(
            MODEL,
            (draw_pages(folder / "few-pages", pages // 10), draw_pages(folder / "pages", pages)),
            lambda given, out: ["run", given, "--model", MODEL, "--out", out],
            read_responses,
        )


def draw_images(folder: Path, count: int) -> Dataset:
    folder.mkdir()
    return draw_dataset(folder, max(1, count))


def draw_pages(folder: Path, count: int) -> Dataset:
    """Draw pages of a book; a comment makes their files differ."""
    count = max(1, count)
    drawn = [jpeg(book_page(number)) for number in range(min(DRAWN, count))]
    with DatasetWriter(
        folder, name="pages", version="1", licence="CC0-1.0", source="drawn"
    ) as writer:
        for number in range(count):
            base, words = drawn[number % len(drawn)], f"{number:08}".encode()
            comment = b"\xff\xfe" + (len(words) + 2).to_bytes(2, "big") + words
            ref = writer.add_image(base[:2] + comment + base[2:], f"page {number}")
            writer.add(page_item(f"p{number:06}", images=(ref,)))
    return Dataset.open(folder)


def measure_all(work: Work, folder: Path) -> Iterator[tuple[str, Cost]]:
    """Measure the work in each place."""
    folder.mkdir()
    yield "process pool", measure(work, folder / "pool")
    yield "this machine", measure(work, folder / "native")
    with nodes(folder / "one", os.cpu_count() or 1) as cluster:
        yield "Ray, one node", measure(work, folder / "one-node", cluster)
    with ray_cluster(folder / "three", {}) as cluster:
        yield "Ray, three nodes", measure(work, folder / "three-nodes", cluster)


@contextmanager
def nodes(folder: Path, cores: int) -> Iterator[RayCluster]:
    """A cluster of one node."""
    cluster = RayCluster(folder, {}, cores=cores)
    try:
        cluster.start("head")
        yield cluster
    finally:
        cluster.close()


def measure(work: Work, folder: Path, cluster: RayCluster | None = None) -> Cost:
    """Run the work on both datasets in new processes."""
    folder.mkdir()
    used = []
    for number, given in enumerate(work.given):
        out = folder / str(number)
        if folder.name == "pool":
            words = ["-m", "benchmarks.clusters", "--pool", work.name, given.path, out]
        else:
            words = ["-m", "keju", *work.words(given.path, out)]
        access = {}
        if cluster:
            words += ["--engine", "ray", "--ray-address", cluster.address]
            access = {**cluster.access, "KEJU_CACHE": str(folder / "cache")}
        used.append(count_cpu([sys.executable, *words], access))
    return Cost(used[0], used[1], "" if folder.name == "pool" else work.result(out))


def count_cpu(words: list[object], environment: dict[str, str]) -> float:
    """CPU seconds of all descendants of this process while a command runs.

    Processes are sampled, so the last fifth of a second of each may be missing.
    """
    before = list_cpu(os.getpid())
    with tempfile.TemporaryFile() as log:
        process = started(
            words, cwd=ROOT, env={**os.environ, **environment}, stdout=log,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        seen: dict[tuple[int, int], float] = {}
        while process.poll() is None:
            seen |= list_cpu(os.getpid())
            time.sleep(INTERVAL_S)
        seen |= list_cpu(os.getpid())
        log.seek(0)
        if process.returncode:
            raise RuntimeError(log.read().decode())
    return sum(cpu - before.get(key, 0.0) for key, cpu in seen.items())


def list_cpu(root: int) -> dict[tuple[int, int], float]:
    """CPU seconds of all descendants of a process, by process id and time of start."""
    parents, used = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = (int(fields[19]), sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"))
    found, mine = set(), {root}
    while more := {pid for pid, parent in parents.items() if parent in mine} - found:
        found |= more
        mine = more
    return {(pid, used[pid][0]): used[pid][1] for pid in found}


def run_pool(name: str, dataset: Dataset, out: Path) -> None:
    """Apply the function of a work to all pages in a pool of one process per core."""
    out.mkdir()
    jobs = [(item, str(dataset.image_path(item.images[0]))) for item in dataset.items()]
    apply = read_page if name == MODEL else partial(standardise_page, folder=str(out))
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        pool.map(apply, jobs, chunksize=1 if name == MODEL else 8)


def standardise_page(job: tuple[Item, str], folder: str) -> None:
    item, file = job
    picture, scratch = ImageJob(file, item.images[0].path), ScratchFiles(folder)
    standardise_image(picture, measure=ImageTarget(PIXELS, 90), scratch=scratch)


def read_page(job: tuple[Item, str]) -> str:
    item, file = job
    request = Request(
        item=item.id, benchmark=item.benchmark, task=item.task, form="transcription", prompt="",
        images=item.images,
    )  # fmt: skip
    return asyncio.run(open_engine().answer(request, [Path(file).read_bytes()])).text


@cache
def open_engine() -> Model:
    return open_model(MODEL, ModelOptions())


def read_responses(run: Path) -> str:
    rows = [
        json.loads(line)
        for file in run.glob("responses/*/*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    ]
    return json.dumps(sorted((row["item"], row["status"], row.get("text")) for row in rows))


def show(work: Work, costs: dict[str, Cost]) -> None:
    """Print a table of the costs, and whether the results are the same."""
    few, count = (len(dataset) for dataset in work.given)
    pool = costs["process pool"]
    unit = (pool.all - pool.few) / (count - few)
    table = Table("", f"CPU s, {few}", f"CPU s, {count}", "CPU s per further page", "/ pool's")
    for place, cost in costs.items():
        page = (cost.all - cost.few) / (count - few)
        table.add_row(
            place, f"{cost.few:.1f}", f"{cost.all:.1f}", f"{page:.3f}", f"{page / unit:.2f}"
        )
    results = {cost.result for cost in costs.values() if cost.result}
    console = Console()
    console.print(f"{work.name}: {count} pages")
    console.print(table)
    console.print(f"the same results everywhere: {'yes' if len(results) == 1 else 'NO'}")


if __name__ == "__main__":
    main()
