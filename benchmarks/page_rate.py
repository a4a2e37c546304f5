"""How many pages `ppocr` reads in a minute of CPU, and at what peak memory.

The pages are the scans of ``data/real-pages`` in the shared material (KEJU_SHARED). Loading the
engine and one page to warm it up are timed apart.

    python -m benchmarks.page_rate [--repeat 3]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from keju.errors import PrerequisiteError
from keju.files import sha256_bytes
from keju.images import probe_image
from keju.items import ImageRef, Request
from keju.models import Model, ModelOptions, open_model


def find_pages() -> list[Path]:
    root = Path(__file__).resolve().parents[1]
    shared = Path(os.environ.get("KEJU_SHARED") or root.parent / "shared")
    return sorted((shared / "data" / "real-pages").glob("*.jpg"))


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def request_of(path: Path, data: bytes) -> Request:
    facts = probe_image(data, name=path.name)
    ref = ImageRef(
        path=path.name,
        sha256=sha256_bytes(data),
        width=facts.width,
        height=facts.height,
        size=len(data),
    )
    return Request(
        item=path.stem,
        benchmark="MCS-Bench",
        task="T1",
        form="transcription",
        prompt="",
        images=(ref,),
    )


async def read(model: Model, pages: list[Path], repeat: int) -> Table:
    table = Table("", "CPU s", "wall s", "characters")
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    spent = 0.0
    for number, path in enumerate([pages[0], *(pages * repeat)]):
        data = path.read_bytes()
        request = request_of(path, data)
        used, started = cpu(), time.monotonic()
        answer = await model.answer(request, [data])
        used, wall = cpu() - used, time.monotonic() - started
        spent += used if number else 0.0
        label = path.stem if number else f"{path.stem} (first, with loading)"
        table.add_row(label, f"{used:.1f}", f"{wall:.1f}", str(len(answer.text)))
    await model.close()
    count = len(pages) * repeat
    table.add_section()
    table.add_row(f"{60 * count / spent:.1f} pages a CPU minute", f"{spent / count:.1f}", "", "")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    pages = find_pages()
    if not pages:
        print("skipped: no pages at data/real-pages; set KEJU_SHARED to the shared material")
        return
    try:
        model = open_model("ppocr", ModelOptions())
    except PrerequisiteError as error:
        print(f"skipped: {error}")
        return
    console = Console()
    console.print(asyncio.run(read(model, pages, repeat)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"peak memory {peak:.0f} MB, load {os.getloadavg()[0]:.1f}", highlight=False)


if __name__ == "__main__":
    main()
