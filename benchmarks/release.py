"""Reading one item with its picture out of a release, at random: CPU milliseconds.

Makes a set of a few hundred megabytes, releases it, and reads items in random order from the
release, from the same set with its images as files, and from one table in a single row group, which
is what a table is unless somebody says otherwise. Goal: 3 ms of CPU for an item with its picture.
"""

from __future__ import annotations

import io
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from keju.building.releasing.release import write_release
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item, Line

ITEMS = 2000
READS = 300
SIDE = 300


def make(path: Path) -> Dataset:
    """Pages of noise of about 100 KB, each with twenty lines of text."""
    base = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    lines = tuple(
        Line(id=str(n), text="天地玄黃宇宙洪荒", polygon=((n, 0.0), (n + 9, 0.0), (n + 9, 99.0)))
        for n in range(20)
    )
    about = {"name": "noise", "version": "1", "licence": "CC0-1.0", "source": "the benchmark"}
    with DatasetWriter(path, **about, synthetic=True) as writer:
        for number in range(ITEMS):
            data = io.BytesIO()
            Image.fromarray(np.roll(base, number, axis=0)).save(data, "JPEG", quality=95)
            ref = writer.add_image(data.getvalue() + number.to_bytes(4, "big"), "noise")
            writer.add(
                Item(id=f"i{number}", benchmark="MCS-Bench", task="T1", images=(ref,),
                     answer="天地玄黃" * 50, lines=lines, group=f"b{number % 40}")
            )  # fmt: skip
    return Dataset.open(path)


def cost(read: Callable[[str], object], names: list[str]) -> float:
    """CPU milliseconds a read."""
    read(names[0])
    start = time.process_time()
    for name in names:
        read(name)
    return (time.process_time() - start) / len(names) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain = make(Path(folder, "plain"))
        start = time.process_time()
        write_release(plain, Path(folder, "release"))
        took = time.process_time() - start
        release = Dataset.open(Path(folder, "release"))
        size = sum(path.stat().st_size for path in release.path.iterdir())
        print(
            f"{ITEMS} items, {size / 1e6:.0f} MB; released in {took:.1f} s of CPU, checks included"
        )
        names = random.Random(1).choices([f"i{n}" for n in range(ITEMS)], k=READS)
        start = time.process_time()
        release.item("i0")
        release.image_bytes(release.item("i0").images[0])
        print(f"open and first item: {(time.process_time() - start) * 1000:.0f} ms")
        item = cost(release.item, names)
        refs = {name: release.item(name).images[0] for name in set(names)}
        image = cost(lambda name: release.image_bytes(refs[name]), names)
        files = cost(lambda name: plain.image_bytes(refs[name]), names)
        one = Path(folder, "one.parquet")
        pq.write_table(pq.read_table(release.path / "images-00000.parquet"), one)
        table = pq.ParquetFile(one, memory_map=True)
        whole = cost(lambda _: table.read_row_group(0, columns=["image.bytes"]), names[:3])
        print(
            f"item {item:.2f} ms + picture {image:.2f} ms = {item + image:.2f} ms of CPU (goal: 3)"
        )
        print(f"picture from a file of its own {files:.2f} ms; from one row group {whole:.0f} ms")


if __name__ == "__main__":
    main()
