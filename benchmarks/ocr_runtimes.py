"""`ppocr` and RapidOCR's own settings: errors, changed texts, CPU and wall time a page.

The first row is RapidOCR as it sets itself up: lines in batches of six, every core for one page,
one page at a time. Pages are read in chunks by one row after the other, so that other load on the
machine strikes all rows alike. References and texts are compared in their Han characters. Scans
without a reference (``data/open-guji`` in the shared material, KEJU_SHARED) count for changed texts
and time.

    python -m benchmarks.ocr_runtimes [--repeat 1] [--bundled 71]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rich.console import Console
from rich.table import Table

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.errors import PrerequisiteError
from keju.items import ImageRef, Request
from keju.metrics import ErrorParts, error_parts
from keju.models import ModelOptions
from keju.models.ppocr import PPOCR
from keju.text import han_only

CHUNK, RESAMPLES = 8, 2000


class AsRapidOCR(PPOCR):
    """RapidOCR as it sets itself up."""

    settings = {  # noqa: RUF012 - as of the base class
        "Rec.rec_batch_num": 6,
        "EngineConfig.onnxruntime.intra_op_num_threads": -1,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
    }


ROWS: dict[str, tuple[type[PPOCR], int | None]] = {
    "RapidOCR's settings": (AsRapidOCR, 1),
    "ppocr": (PPOCR, None),
}


class Page(NamedTuple):
    """A page with its reference, empty where there is none, and the book that it is of."""

    name: str
    data: bytes
    reference: str
    group: str


class Spent(NamedTuple):
    """Seconds of all pages of a row."""

    cpu: float = 0.0
    wall: float = 0.0


def real_pages() -> list[Page]:
    root = Path(__file__).resolve().parents[1]
    shared = Path(os.environ.get("KEJU_SHARED") or root.parent / "shared") / "data"
    truth = shared / "real-pages" / "gt.json"
    texts = json.loads(truth.read_text("utf-8")) if truth.is_file() else {}
    references = {Path(name).stem[:3]: text for name, text in texts.items()}
    files = [*(shared / "real-pages").glob("*.jpg"), *(shared / "open-guji").glob("*.png")]
    return [
        Page(each.name, each.read_bytes(), references.get(each.stem[:3], ""), each.name)
        for each in sorted(files)
    ]


def bundled_pages(most: int) -> list[Page]:
    folder = Path(mini.path())
    found = [
        item
        for item in Dataset.open(folder).items()
        if item.split == "test" and query_of(item).form == "transcription"
    ]
    return [
        Page(
            item.id, (mini.path() / item.images[0].path).read_bytes(), str(item.answer), item.group
        )
        for item in found[:most]
    ]


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def read(model: PPOCR, pages: Sequence[Page], at_once: int) -> list[str]:
    turn = asyncio.Semaphore(at_once)
    ref = ImageRef(path="page", sha256="0" * 64, width=1, height=1, size=1)

    async def one(page: Page) -> str:
        request = Request(item=page.name, benchmark="MCS-Bench", task="T1", form="transcription",
                          prompt="", images=(ref,))  # fmt: skip
        async with turn:
            return (await model.answer(request, [page.data])).text

    return list(await asyncio.gather(*map(one, pages)))


def measure(
    models: dict[str, tuple[PPOCR, int]], pages: Sequence[Page], repeat: int
) -> tuple[dict[str, list[str]], dict[str, Spent]]:
    """Texts and seconds of each row; the rows take turns in being the first with a chunk."""
    texts: dict[str, list[str]] = {name: [] for name in models}
    spent = {name: Spent() for name in models}
    for model, at_once in models.values():
        asyncio.run(read(model, pages[:2], at_once))
    for turn in range(repeat):
        for number, start in enumerate(range(0, len(pages), CHUNK)):
            names = list(models)
            first = (turn + number) % len(names)
            for name in names[first:] + names[:first]:
                used, began = cpu(), time.monotonic()
                model, at_once = models[name]
                found = asyncio.run(read(model, pages[start : start + CHUNK], at_once))
                was = spent[name]
                spent[name] = Spent(was.cpu + cpu() - used, was.wall + time.monotonic() - began)
                if not turn:
                    texts[name] += found
    return texts, spent


def parts_of(pages: Sequence[Page], texts: Sequence[str]) -> list[tuple[str, ErrorParts]]:
    return [
        (page.group, error_parts(han_only(page.reference), han_only(text)))
        for page, text in zip(pages, texts, strict=True)
        if han_only(page.reference)
    ]


def rates(parts: Sequence[tuple[str, ErrorParts]]) -> np.ndarray:
    """By group: edits, those of recognition, those of layout, and the reference's length."""
    groups = sorted({group for group, _ in parts})
    return np.array([
        np.sum([(p.recognition + p.layout, p.recognition, p.layout, p.expected)
                for of, p in parts if of == group], axis=0)
        for group in groups
    ])  # fmt: skip


def pooled(counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=-2)
    return 100 * total[..., :3] / total[..., 3:]


def interval(counts: np.ndarray, base: np.ndarray | None = None) -> str:
    """95 % bootstrap interval of the CER, or of its difference from `base`, over groups."""
    if len(counts) < 6:
        return "too few books"
    drawn = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    found = pooled(counts[drawn])[:, 0]
    if base is not None:
        found = found - pooled(base[drawn])[:, 0]
    low, high = np.percentile(found, [2.5, 97.5])
    return f"{low:.2f} to {high:.2f}"


def error_table(title: str, pages: Sequence[Page], texts: dict[str, list[str]]) -> Table:
    table = Table("%", "CER", "recognition", "layout", "interval", "CER − first row", "interval",
                  "other pages", "other characters", title=title)  # fmt: skip
    first = next(iter(texts))
    base = rates(parts_of(pages, texts[first]))
    for name, own in texts.items():
        counts = rates(parts_of(pages, own))
        value = pooled(counts)
        edits = [Levenshtein.distance(a, b) for a, b in zip(texts[first], own, strict=True)]
        table.add_row(
            name, *(f"{each:.2f}" for each in value), interval(counts),
            f"{value[0] - pooled(base)[0]:+.2f}", interval(counts, base),
            f"{sum(map(bool, edits))} of {len(pages)}",
            f"{sum(edits)} of {sum(map(len, texts[first]))}",
        )  # fmt: skip
    return table


def time_table(title: str, pages: int, spent: dict[str, Spent]) -> Table:
    table = Table("", "CPU s a page", "wall s a page", "pages a CPU minute", "a wall minute",
                  title=f"{title}; the last two as multiples of the first row")  # fmt: skip
    first = next(iter(spent.values()))
    for name, each in spent.items():
        table.add_row(name, f"{each.cpu / pages:.2f}", f"{each.wall / pages:.2f}",
                      f"{first.cpu / each.cpu:.2f}", f"{first.wall / each.wall:.2f}")  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=1, help="rounds over the pages")
    parser.add_argument("--bundled", type=int, default=71, help="bundled pages at most")
    options = parser.parse_args()
    console = Console(width=150)
    models: dict[str, tuple[PPOCR, int]] = {}
    for name, (kind, at_once) in ROWS.items():
        try:
            model = kind(ModelOptions())
        except PrerequisiteError as error:
            console.print(f"{name} skipped: {error}")
            continue
        models[name] = (model, at_once or model.concurrency)
        console.print(f"{name}: {model.identity}", highlight=False)
    for title, pages in (("scans", real_pages()), ("bundled", bundled_pages(options.bundled))):
        if not models or not pages:
            console.print(f"{title} skipped: no runtime, or no pages (scans need KEJU_SHARED)")
            continue
        texts, spent = measure(models, pages, options.repeat)
        console.print(error_table(title, pages, texts))
        console.print(time_table(title, len(pages) * options.repeat, spent))
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", highlight=False)


if __name__ == "__main__":
    main()
