"""The report of a whole benchmark in a browser: time to the first table, time of a search, size.

    python -m benchmarks.report_page [--models 10] [--every 1] [--keep DIR]

Ten models answer MCS-Bench's 6,500 items with the length profile of benchmarks/metrics.py. Chromium
opens the report from the disk, as a person does who was sent it; it times itself.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import msgspec
from msgspec.structs import replace
from PIL import Image

from benchmarks.metrics import ALPHABET, LOOP, truth_of
from keju.datasets.store import DatasetWriter
from keju.definitions import task, tasks
from keju.items import ImageRef, Item, Response, Usage
from keju.reporting.page import write_report
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

ENGINES, BASELINES = ("ppocr",), ("baseline:chance", "baseline:majority")
STRATA = {
    "dynasty": ("唐", "宋", "元", "明", "清"),
    "category": ("經", "史", "子", "集"),
    "script": ("楷", "行", "草", "篆"),
    "layout": ("one column", "two registers", "scroll"),
}
PICTURES = 240
SIZES = ((480, 640), (900, 1200), (1500, 2000))
COLOURS = ("青", "赤", "黃", "白")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-domain-reliability",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="Leave the run and the report here.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.keep or Path(place)
        run = folder / "run"
        if not run.exists():
            make_run(folder / "dataset", RunFolder(run), options.models, options.every)
            score_run(RunFolder.open(run))
        for name in ("report.html", "report"):
            start = time.process_time()
            made = write_report([run], folder / name)
            spent = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{name}: {made.size / 1e6:.1f} MB, its page {made.page.stat().st_size / 1e6:.1f} "
                f"MB; made in {spent:.1f} CPU s, peak {peak:.0f} MB"
            )
            print(measured(made.page))


def make_run(dataset: Path, run: RunFolder, models: int, every: int) -> None:
    """The dataset, and what ten models of different quality answered."""
    draw = random.Random("report_page")
    with DatasetWriter(
        dataset, name="MCS-Bench in size", version="1", licence="CC0-1.0",
        source="benchmarks/report_page.py", synthetic=True,
    ) as writer:  # fmt: skip
        pictures = [writer.add_image(picture(draw), f"{n}") for n in range(PICTURES)]
        items = list(made_items(draw, pictures))[::every]
        for item in items:
            writer.add(item)
    vendors = models - len(ENGINES) - len(BASELINES)
    names = [*ENGINES, *(f"openai:model-{n}" for n in range(vendors)), *BASELINES]
    run.write_items(items)
    run.write_manifest(
        RunManifest(
            keju="0", dataset="MCS-Bench in size", dataset_version="1", dataset_hash="h",
            dataset_path="../dataset", synthetic=True, models={name: {} for name in names},
        )
    )  # fmt: skip
    for place, name in enumerate(names):
        asked = (item for item in items if name != "ppocr" or form_of(item) == "transcription")
        lines: dict[str, list[bytes]] = {}
        for item in asked:
            response = answer(draw, item, name, wrong=0.06 + 0.05 * place)
            lines.setdefault(item.task, []).append(msgspec.json.encode(response))
        for task_id, stored in lines.items():
            path = run.responses_path(name, task_id)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join(stored) + b"\n")


def made_items(draw: random.Random, pictures: list[ImageRef]) -> Iterator[Item]:
    for each in tasks():
        if each.benchmark != "MCS-Bench":
            continue
        for number in range(each.count):
            book = draw.randrange(60)
            truth = truth_of(draw, each.id)
            item = Item(
                id=f"{each.id}-{number}", benchmark=each.benchmark, task=each.id,
                images=(draw.choice(pictures),), answer=truth, answer_simplified=truth,
                question="圖中所寫是什麼？", group=f"book {book}",
                metadata={key: values[book % len(values)] for key, values in STRATA.items()},
            )  # fmt: skip
            yield replace(item, options=COLOURS) if form_of(item) == "letter" else item


def form_of(item: Item) -> str:
    return task(item.task).queries[0].form


def answer(draw: random.Random, item: Item, name: str, wrong: float) -> Response:
    text, truth = "", item.answer
    if form_of(item) == "letter":
        text = truth if draw.random() > 2 * wrong else draw.choice("ABCD")
    else:
        text = "".join(c if draw.random() > wrong else draw.choice(ALPHABET) for c in truth)
    if draw.random() < 0.02:
        text = (text[:9] * LOOP)[:LOOP] or "的" * LOOP
    failed = draw.random() < 0.01
    return Response(
        key=f"{name}/{item.id}", item=item.id, model=name, benchmark=item.benchmark,
        task=item.task, status="failed" if failed else "answered", text="" if failed else text,
        usage=Usage(input_tokens=1500, output_tokens=len(text)), seconds=draw.uniform(0.5, 4),
    )  # fmt: skip


def picture(draw: random.Random) -> bytes:
    """Dark strokes on paper: as heavy as a page once compressed."""
    width, height = draw.choice(SIZES)
    image = Image.new("L", (width // 8, height // 8))
    image.putdata(
        [
            255 if draw.random() > 0.25 else draw.randrange(120)
            for _ in range((width // 8) * (height // 8))
        ]
    )
    stream = io.BytesIO()
    image.resize((width, height)).convert("RGB").save(stream, "JPEG", quality=60)
    return stream.getvalue()


def measured(page: Path) -> str:
    """What Chromium says of itself while it opens the page and searches it."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        place = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        browser = subprocess.Popen([program, *QUIET, *place], stderr=subprocess.DEVNULL)
        told = Path(profile) / "DevToolsActivePort"
        try:
            while not told.exists() or "\n" not in told.read_text("utf-8"):
                time.sleep(0.1)
            port = told.read_text("utf-8").splitlines()[0]
            return asyncio.run(_open_and_search(page.resolve().as_uri(), port))
        finally:
            browser.kill()
            browser.wait()


async def _open_and_search(address: str, port: str) -> str:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/json") as reply:
            (tab,) = [each for each in await reply.json() if each["type"] == "page"]
        async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            asked = iter(range(1, 100_000))

            async def call(method: str, **params: object) -> dict[str, dict[str, object]]:
                number = next(asked)
                await socket.send_json({"id": number, "method": method, "params": params})
                while (found := json.loads((await socket.receive()).data)).get("id") != number:
                    pass
                return found["result"]

            async def said(script: str) -> object:
                how = {"expression": script, "awaitPromise": True, "returnByValue": True}
                return (await call("Runtime.evaluate", **how))["result"].get("value")

            await call("Page.navigate", url=address)
            for _ in range(600):
                if await said("performance.getEntriesByName('searchable').length"):
                    break
                await asyncio.sleep(0.25)
            paint, tables, ready = [
                await said(f"performance.getEntriesByName('{name}')[0].startTime / 1000")
                for name in ("first-contentful-paint", "tables", "searchable")
            ]
            times = [await said(SEARCH % word) for word in ("天地", "T9-1", "不", "no such words")]
            shown = await said("document.querySelectorAll('#list li').length")
            memory = await said("performance.memory.usedJSHeapSize / 1e6")
    assert shown == 0
    searches = ", ".join(f"{each:.0f}" for each in times)
    return (
        f"  first paint after {paint:.2f} s, all tables after {tables:.2f} s, all answers "
        f"searchable after {ready:.1f} s, searches {searches} ms, heap {memory:.0f} MB"
    )


SEARCH = """new Promise((done) => {
  const box = document.getElementById("word"), start = performance.now();
  box.value = "%s";
  box.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


if __name__ == "__main__":
    main()
