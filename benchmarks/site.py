"""A leaderboard site of many bundles: memory, size, time, first paint and search in a browser.

    python -m benchmarks.site [--bundles 50] [--every 1] [--include-data] [--keep DIR]

Five simulated models of different quality answer MCS-Bench's 6,500 items and are scored. Each
bundle has the answer of one of the five to each item, drawn at random, with different odds. With
``--include-data`` the bundles have the questions, references and images too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import msgspec
from msgspec.structs import replace

from benchmarks.report_page import QUIET, answer, made_items, picture
from keju.bundles import write_bundle
from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item, Response, Score
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run
from keju.scoring.stored import (
    fingerprint_of,
    frames_of,
    iter_scores_of,
    scores_path,
    write_frames,
)

SOURCES = 5
VENDORS = ("A", "B", "C", "D")
SIZES = (3, 7, 14, 32, 72, 235)

Scored = dict[tuple[str, str], tuple[Response, list[Score]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundles", type=int, default=50)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--include-data", action="store_true", help="Also pack the items.")
    parser.add_argument("--keep", type=Path, help="Leave the bundles and the site here.")
    parser.add_argument("--build", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        build(*options.build)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = options.keep or Path(place)
        if not (folder / "bundles").exists():
            make_bundles(folder, options.bundles, options.every, include_data=options.include_data)
        for name in ("all bundles", "nothing new"):
            print(f"{name}:", end=" ", flush=True)
            command = [sys.executable, "-m", "benchmarks.site", "--build"]
            subprocess.run([*command, folder / "bundles", folder / "site"], check=True)
        print(measured(folder / "site"))


def build(bundles: Path, site: Path) -> None:
    """Write the site in a process of its own, so that the memory is the site's alone."""
    import resource

    from keju.site import write_site

    start, cpu = time.perf_counter(), time.process_time()
    made = write_site([bundles], site)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    files = sum(each.is_file() for each in site.rglob("*"))
    print(
        f"{made.read} of {made.bundles} bundles read, {made.size / 1e6:.0f} MB in {files} files, "
        f"{seconds:.0f} s, {cpu:.0f} CPU s, peak {peak:.0f} MB"
    )


def make_bundles(folder: Path, count: int, every: int, *, include_data: bool = False) -> None:
    """Write the dataset, the five scored models, and the bundles drawn from them."""
    draw = random.Random("site")
    with DatasetWriter(
        folder / "dataset", name="MCS-Bench in size", version="1", licence="CC0-1.0",
        source="benchmarks/site.py",
    ) as writer:  # fmt: skip
        pictures = [writer.add_image(picture(draw), f"{n}") for n in range(24)]
        items = list(made_items(draw, pictures))[::every]
        for item in items:
            writer.add(item)
    scored = [_scored(folder / f"source-{n}", items, n) for n in range(SOURCES)]
    (folder / "bundles").mkdir()
    facts = []
    for number in range(count):
        name = f"openai:model-{number:02}"
        odds = [draw.random() ** 3 for _ in range(SOURCES)]
        run = _new_run(folder / "run", items, name, f"2026-{1 + number % 12:02}-01T00:00:00")
        _mix(run, name, scored, random.Random(number), odds)
        target = folder / "bundles" / f"model-{number:02}.keju.zip"
        write_bundle(run.path, target, include_data=include_data)
        shutil.rmtree(run.path)
        facts.append(
            f'["{name}"]\nvendor = "{VENDORS[number % 4]}"\nsize_b = {SIZES[number % 6]}\n'
        )
    (folder / "bundles" / "models.toml").write_text("\n".join(facts), "utf-8")


def _new_run(path: Path, items: list[Item], model: str, created: str) -> RunFolder:
    run, dataset = RunFolder(path), Dataset.open(path.parent / "dataset").manifest
    path.mkdir(parents=True)
    run.write_items(items)
    run.write_manifest(
        RunManifest(
            keju="0", dataset="MCS-Bench in size", dataset_version="1", dataset_hash=dataset.hash,
            dataset_path=os.path.relpath(path.parent / "dataset", path), created=created,
            models={model: {}},
        )
    )  # fmt: skip
    return run


def _scored(path: Path, items: list[Item], number: int) -> Scored:
    """The responses of one of the five models, and their scores."""
    draw, model = random.Random(f"source {number}"), f"openai:source-{number}"
    run = _new_run(path, items, model, "2026-01-01T00:00:00")
    responses = [answer(draw, item, model, wrong=0.04 + 0.09 * number) for item in items]
    _write_responses(run, model, responses)
    score_run(run, workers=os.cpu_count() or 1)
    found: dict[str, list[Score]] = {}
    for score in iter_scores_of(scores_path(run, model)):
        found.setdefault(score.item, []).append(score)
    return {(each.task, each.item): (each, found[each.item]) for each in responses}


def _mix(
    run: RunFolder, name: str, scored: list[Scored], draw: random.Random, odds: list[float]
) -> None:
    responses, scores = [], []
    for key in scored[0]:
        response, its = draw.choices(scored, odds)[0][key]
        own = f"{name}/{response.item}"
        responses.append(replace(response, model=name, key=own))
        scores += [replace(score, model=name, key=own) for score in its]
    _write_responses(run, name, responses)
    path = scores_path(run, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_frames(path, frames_of(scores), fingerprint_of(run, name))


def _write_responses(run: RunFolder, model: str, responses: list[Response]) -> None:
    lines: dict[str, list[bytes]] = {}
    for each in responses:
        lines.setdefault(each.task, []).append(msgspec.json.encode(each))
    for task, stored in lines.items():
        path = run.responses_path(model, task)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(stored) + b"\n")


def measured(site: Path) -> str:
    """Chromium's own times: first paint of two pages from the disk, and searches of the items."""
    board = next((site / "en" / "boards").glob("*.html"))
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        place = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        browser = subprocess.Popen([program, *QUIET, *place], stderr=subprocess.DEVNULL)
        told = Path(profile) / "DevToolsActivePort"
        try:
            while not told.exists() or "\n" not in told.read_text("utf-8"):
                time.sleep(0.1)
            port = told.read_text("utf-8").splitlines()[0]
            return asyncio.run(_times(site, board.name, port))
        finally:
            browser.kill()
            browser.wait()


async def _times(site: Path, board: str, port: str) -> str:
    found = []
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/json") as reply:
            (tab,) = [each for each in await reply.json() if each["type"] == "page"]
        async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            numbers = iter(range(1, 100_000))

            async def call(method: str, **params: object) -> dict[str, dict[str, object]]:
                number = next(numbers)
                await socket.send_json({"id": number, "method": method, "params": params})
                while (got := json.loads((await socket.receive()).data)).get("id") != number:
                    pass
                return got["result"]

            async def value_of(script: str) -> object:
                how = {"expression": script, "awaitPromise": True, "returnByValue": True}
                return (await call("Runtime.evaluate", **how))["result"].get("value")

            for path in ("index.html", f"boards/{board}", f"items/{board}"):
                await call("Page.navigate", url=(site / "en" / path).resolve().as_uri())
                await asyncio.sleep(4)
                paint = await value_of(PAINT)
                found.append(f"first paint of {path.partition('/')[0]} {paint:.2f} s")
            ready = await value_of("performance.getEntriesByName('searchable')[0].startTime / 1000")
            answers = await value_of("document.querySelectorAll('.answer-of').length")
            times = [await value_of(SEARCH % word) for word in ("天地", "t9-1", "不", "no such")]
    searches = ", ".join(f"{each:.0f}" for each in times)
    return (
        f"{'; '.join(found)}; {answers} answers shown; searchable after {ready:.2f} s; "
        f"searches {searches} ms"
    )


PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
SEARCH = """new Promise((done) => {
  const box = document.getElementById("word"), start = performance.now();
  box.value = "%s";
  box.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


if __name__ == "__main__":
    main()
