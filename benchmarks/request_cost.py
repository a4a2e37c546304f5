"""What asking costs: CPU a request, peak memory and wall time of keju's whole way.

Beside it, in the same run and against the same local server (a process of its own), a loop over
raw aiohttp, which is the floor, and a loop over the openai SDK as its readme shows it. Each part
runs in a fresh process. Every request carries an image of 150 KB; "distinct" sends a thousand
images in turn, "repeated" twenty. Wall times mean something only where nothing else runs: the
server, which takes about as much CPU as keju, must have a core of its own.

    python -m benchmarks.request_cost [--requests 1000] [--at-once 64] [--latency 0.2] [--only keju]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item
from tests.support.serving import Chat

GOAL_MS, GOAL_TIMES, GOAL_MB, GOAL_WALL = 3.0, 3.0, 130, 1.15
IMAGE_BYTES = 150_000
PARTS = {
    "raw aiohttp, distinct": "raw",
    "raw aiohttp, repeated": "raw",
    "openai SDK, distinct": "sdk",
    "keju run, distinct": "keju",
    "keju run, repeated": "keju",
}
One = Callable[[int], Awaitable[None]]


def photograph(size: int) -> bytes:
    """A JPEG of about `size` bytes."""
    noise = np.random.default_rng(0).integers(0, 256, (1250, 850), dtype=np.uint8)
    low, high = 1, 95
    while high - low > 1:
        data = io.BytesIO()
        Image.fromarray(noise // 3 + 90).save(data, "JPEG", quality=(low + high) // 2)
        low, high = ((low + high) // 2, high) if data.tell() < size else (low, (low + high) // 2)
    return data.getvalue()


def numbered(picture: bytes, number: int) -> bytes:
    """The same picture as another file: a comment segment holds the number."""
    comment = b"\xff\xfe" + (10).to_bytes(2, "big") + number.to_bytes(8, "big")
    return picture[:2] + comment + picture[2:]


def make(path: Path, requests: int, images: int, picture: bytes) -> None:
    with DatasetWriter(
        path, name="bench", version="1", licence="CC0-1.0", source="benchmark", synthetic=True
    ) as writer:
        refs = [writer.add_image(numbered(picture, n), f"{n}") for n in range(images)]
        for n in range(requests):
            writer.add(
                Item(
                    id=f"i{n}",
                    benchmark="MCS-Bench",
                    task="T1",
                    question=f"[item i{n}] 按古代阅读顺序识别图中古籍内的文字内容。",
                    verbatim=True,
                    answer="天",
                    images=(refs[n % images],),
                )
            )


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_memory() -> float:
    """The peak of this process in MB.

    Not `ru_maxrss`, which begins with the memory of the process that started this one: that has
    drawn the photographs and written the datasets.
    """
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


async def crowd(one: One, requests: int, at_once: int) -> None:
    numbers = iter(range(requests))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(at_once)))


def body(dataset: Dataset, item: Item) -> dict[str, object]:
    data = base64.b64encode(dataset.image_path(item.images[0]).read_bytes()).decode()
    picture = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}
    content = [picture, {"type": "text", "text": item.question}]
    return {"model": "served", "messages": [{"role": "user", "content": content}]}


async def raw(dataset: Dataset, items: list[Item], url: str, at_once: int) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def one(number: int) -> None:
            data = json.dumps(body(dataset, items[number])).encode()
            kind = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=data, headers=kind) as reply:
                assert json.loads(await reply.read())["choices"][0]["message"]["content"]

        await crowd(one, len(items), at_once)


async def sdk(dataset: Dataset, items: list[Item], url: str, at_once: int) -> None:
    import openai

    async with openai.AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=openai.DefaultAioHttpClient()
    ) as client:

        async def one(number: int) -> None:
            reply = await client.chat.completions.create(**body(dataset, items[number]))
            assert reply.choices[0].message.content

        await crowd(one, len(items), at_once)


def whole_way(path: Path, out: Path, url: str, at_once: int, limit: int | None) -> int:
    from keju.models import ModelOptions
    from keju.running import Policy, Selection, run

    summary = run(
        path,
        ["openai:served"],
        out,
        selection=Selection(limit=limit),
        options=ModelOptions(base_url=url),
        policy=Policy(concurrency=at_once),
        console=Console(stderr=True, quiet=True),
    )
    assert summary.complete, summary
    return summary.models[0].asked


def part(kind: str, path: Path, out: Path, url: str, at_once: int) -> dict[str, float]:
    """Run one part in this process; the first request, which imports and connects, is apart."""
    os.environ.pop("OPENAI_API_KEY", None)
    if kind == "keju":
        whole_way(path, out / "warm", url, at_once, 1)
        started, used = time.monotonic(), cpu()
        count = whole_way(path, out / "run", url, at_once, None)
    else:
        dataset = Dataset.open(path)
        items = dataset.items()
        loop = raw if kind == "raw" else sdk
        asyncio.run(loop(dataset, items[:1], url, at_once))
        started, used = time.monotonic(), cpu()
        asyncio.run(loop(dataset, items, url, at_once))
        count = len(items)
    return {
        "ms": 1000 * (cpu() - used) / count,
        "all_ms": 1000 * cpu() / count,
        "peak": peak_memory(),
        "wall": time.monotonic() - started,
    }


def measure(arguments: argparse.Namespace) -> None:
    table = Table("", "CPU ms a request", "with start-up", "× floor", "peak MB", "wall s")
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    picture = photograph(IMAGE_BYTES)
    chat = Chat()
    floor: dict[str, float] = {}
    least = arguments.requests * arguments.latency / arguments.at_once
    kept: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "distinct", arguments.requests, min(arguments.requests, 1000), picture)
        make(folder / "repeated", arguments.requests, 20, picture)
        for number, (label, kind) in enumerate(PARTS.items()):
            if not label.startswith(arguments.only):
                continue
            images = label.rpartition(" ")[2]
            chat.plan(delay=arguments.latency)
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.request_cost", "--part", kind,
                 "--dataset", folder / images, "--out", folder / f"out{number}", "--url", chat.url,
                 "--at-once", str(arguments.at_once)],
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            got = json.loads(done.stdout)
            ms = floor.setdefault(images, got["ms"])
            if kind == "keju":
                kept[f"{got['ms']:.2f} ms of at most {GOAL_MS:g}"] = got["ms"] <= GOAL_MS
                kept[f"{got['ms'] / ms:.1f} × the floor of at most {GOAL_TIMES:g}"] = (
                    got["ms"] <= GOAL_TIMES * ms
                )
                kept[f"{got['peak']:.0f} MB of at most {GOAL_MB}"] = got["peak"] <= GOAL_MB
                kept[f"{got['wall'] / least:.2f} × the wire's time of at most {GOAL_WALL}"] = (
                    got["wall"] <= GOAL_WALL * least
                )
            table.add_row(
                label, f"{got['ms']:.2f}", f"{got['all_ms']:.2f}", f"{got['ms'] / ms:.1f}",
                f"{got['peak']:.0f}", f"{got['wall']:.1f}",
            )  # fmt: skip
    chat.stop()
    console = Console()
    console.print(
        f"{arguments.requests} requests with an image of {len(picture) / 1000:.0f} KB, "
        f"{arguments.at_once} at once, {arguments.latency * 1000:.0f} ms latency "
        f"(at least {least:.1f} s), load {os.getloadavg()[0]:.1f}",
        table,
        "\n".join(f"{'kept' if good else 'MISSED'}: {said}" for said, good in kept.items()),
        highlight=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--only", default="", help="Parts whose names begin so.")
    for hidden in ("--part", "--url"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    for hidden in ("--dataset", "--out"):
        parser.add_argument(hidden, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        got = part(
            arguments.part, arguments.dataset, arguments.out, arguments.url, arguments.at_once
        )
        print(json.dumps(got))
    else:
        measure(arguments)


if __name__ == "__main__":
    main()
