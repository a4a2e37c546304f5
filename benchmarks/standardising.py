"""The step ``standardise`` beside a plain process pool over the same function, in one run.

Pages are drawn here, one megapixel each, as JPEG; each is decoded, made smaller and written anew.
The pool does only that; the step also reads the dataset, keeps what is done, and writes another.
Only ratios within one run mean something: machines differ, and so does what else they do.

    python -m benchmarks.standardising [--pages 400] [--ray]
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table

from keju.building.engine import Engine
from keju.building.running import StepCall, run_step
from keju.building.scratch_files import ScratchFiles
from keju.building.standardising.pictures import ImageJob, ImageTarget, standardise_image
from keju.building.standardising.step import STEP, StandardiseSettings
from keju.datasets.store import Dataset, DatasetWriter
from keju.files import sha256_bytes
from keju.items import ImageRef, Item

WIDTH, HEIGHT = 840, 1190
PIXELS = 600_000
DRAWN = 40


class Cost(NamedTuple):
    """What one way cost: CPU of all its processes, time on the wall, peak of this process."""

    cpu: float
    wall: float
    peak_mb: float = 0.0


def page(number: int) -> bytes:
    """A page-like picture: paper with grain, columns of strokes, a red seal."""
    draw = np.random.default_rng(number)
    paper = draw.normal(222, 7, (HEIGHT, WIDTH, 1)) + np.array([6, 0, -18])
    image = Image.fromarray(np.clip(paper, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    for left in range(60, WIDTH - 80, 70):
        pen.line((left - 12, 40, left - 12, HEIGHT - 40), fill=(120, 90, 70), width=2)
        for top in range(60, HEIGHT - 80, 52):
            for _ in range(6):
                x, y = left + draw.integers(0, 40), top + draw.integers(0, 40)
                across, down = draw.integers(-18, 18, 2)
                pen.line((x, y, x + across, y + down), fill=(35, 30, 28), width=4)
    pen.rectangle(
        (WIDTH - 150, HEIGHT - 200, WIDTH - 80, HEIGHT - 130), outline=(180, 40, 30), width=5
    )
    out = io.BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()


def draw_dataset(folder: Path, pages: int) -> Dataset:
    """So many pages, each another file: a few are drawn, and a comment tells them apart."""
    drawn = [page(number) for number in range(min(DRAWN, pages))]
    loose = folder / "loose"
    loose.mkdir()
    with DatasetWriter(
        folder / "given", name="pages", version="1", licence="CC0-1.0", source="drawn"
    ) as writer:
        for number in range(pages):
            words = f"{number:08}".encode()
            base = drawn[number % len(drawn)]
            data = base[:2] + b"\xff\xfe" + (len(words) + 2).to_bytes(2, "big") + words + base[2:]
            file = loose / f"{number}.jpg"
            file.write_bytes(data)
            digest = sha256_bytes(data)
            ref = ImageRef(
                path=f"images/{digest}.jpg", sha256=digest, width=WIDTH, height=HEIGHT,
                size=len(data),
            )  # fmt: skip
            writer.link_image(file, ref)
            writer.add(
                Item(
                    id=f"p{number:06}", benchmark="MCS-Bench", task="T1", images=(ref,), answer="天"
                )
            )
    return Dataset.open(folder / "given")


def tree_cpu(root: int) -> float:
    """CPU seconds of a process and of all that came of it, as /proc has them now."""
    parents, used = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = int(fields[1])
        used[int(entry.parent.name)] = sum(map(int, fields[11:15]))
    mine = {root}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(used.get(pid, 0) for pid in mine) / os.sysconf("SC_CLK_TCK")


def peak_mb() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def by_pool(dataset: Dataset, out: Path) -> Cost:
    out.mkdir()
    refs = [item.images[0] for item in dataset.items()]
    rows = [ImageJob(str(dataset.image_path(ref)), ref.path) for ref in refs]
    scratch = ScratchFiles(str(out))
    work = partial(standardise_image, measure=ImageTarget(PIXELS, 90), scratch=scratch)
    cpu, wall = tree_cpu(os.getpid()), time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        made = pool.map(work, rows, chunksize=8)
        cost = Cost(tree_cpu(os.getpid()) - cpu, time.perf_counter() - wall)
    assert len({each.sha256 for each in made}) <= len(rows)
    return cost


def by_step(given: Path, out: Path, engine: str) -> Cost:
    """The step in this process; Daft takes one runner a process, so each engine has its own."""
    dataset = Dataset.open(given)
    cpu, wall = tree_cpu(os.getpid()), time.perf_counter()
    run_step(
        StepCall(STEP, StandardiseSettings(pixels=PIXELS), dataset), out, engine=Engine(engine)
    )
    return Cost(tree_cpu(os.getpid()) - cpu, time.perf_counter() - wall, peak_mb())


def in_its_own_process(given: Path, out: Path, engine: str) -> Cost:
    told = subprocess.run(
        [sys.executable, __file__, "--inner", engine, str(given), str(out)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Cost(*map(float, told.stdout.split()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--inner", nargs=3)
    told = parser.parse_args()
    if told.inner:
        engine, given, out = told.inner
        print(*by_step(Path(given), Path(out), engine))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = draw_dataset(folder, told.pages)
        half = by_pool(dataset, folder / "pool-1")
        costs = {"keju, native": in_its_own_process(dataset.path, folder / "native", "native")}
        if told.ray:
            costs["keju, local Ray"] = in_its_own_process(dataset.path, folder / "ray", "ray")
        # Before and after, since what else the machine does changes meanwhile.
        other = by_pool(dataset, folder / "pool-2")
        pool = Cost((half.cpu + other.cpu) / 2, (half.wall + other.wall) / 2)
        table = Table("", "CPU s", "CPU / pool's", "throughput / pool's", "peak MB of the process")
        table.add_row("process pool", f"{pool.cpu:.1f}", "1", "1", "")
        for way, cost in costs.items():
            table.add_row(
                way, f"{cost.cpu:.1f}", f"{cost.cpu / pool.cpu:.2f}",
                f"{pool.wall / cost.wall:.2f}", f"{cost.peak_mb:.0f}",
            )  # fmt: skip
        Console().print(f"{told.pages} pages of {WIDTH}x{HEIGHT} to {PIXELS:,} pixels")
        Console().print(table)
        if told.ray:
            native, ray = (Dataset.open(folder / way).manifest.hash for way in ("native", "ray"))
            Console().print(f"the same dataset on both engines: {'yes' if native == ray else 'NO'}")


if __name__ == "__main__":
    main()
