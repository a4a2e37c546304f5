"""What a task of pairs costs: a rejoining of many fragments, planned, asked and scored.

Each fragment is asked against all others, so 317 of them make 100,172 requests of two images. Each
stage runs in a fresh process, whose CPU and peak memory are its own; the server, which answers
every pair with a probability, is another. Memory must stay under 300 MB: requests are streamed,
and images are encoded once.

    python -m benchmarks.pairs [--fragments 317] [--at-once 64]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from keju.datasets.store import DatasetWriter
from keju.items import Item
from tests.support.making import picture
from tests.support.serving import Chat

GOAL_MB = 300
STAGES = ("plan", "run", "go on", "score")
MODEL = "openai:served"


def make(path: Path, fragments: int) -> None:
    """Fragments of 12 KB; each belongs to the next."""
    with DatasetWriter(
        path, name="pairs", version="1", licence="CC0-1.0", source="benchmark", synthetic=True
    ) as writer:
        refs = [writer.add_image(picture(n, side=62), f"{n}") for n in range(fragments)]
        for place, ref in enumerate(refs):
            others = (*refs[:place], *refs[place + 1 :])
            following = refs[(place + 1) % fragments]
            writer.add(
                Item(
                    id=f"f{place}", benchmark="OBI-Bench", task="rejoining", query="How",
                    images=(ref, *others), relevant=(others.index(following) + 1,),
                )
            )  # fmt: skip


def stage(name: str, dataset: Path, out: Path, url: str, at_once: int) -> int:
    """Do one stage; the number of pairs that it saw."""
    from keju.models import ModelOptions
    from keju.running import Policy, plan_run, run
    from keju.runs import RunFolder
    from keju.scoring import score_run

    options = ModelOptions(base_url=url)
    if name == "plan":
        return plan_run(dataset, [MODEL], options=options).calls
    if name == "score":
        scores = score_run(RunFolder.open(out), ("strict",))
        return sum(int(each.stats["pairs"]) for each in scores if each.metric == "AP")
    summary = run(dataset, [MODEL], out, options=options, policy=Policy(concurrency=at_once))
    assert summary.complete, summary
    return summary.models[0].planned


def child(args: list[str]) -> None:
    name, dataset, out, url, at_once = args
    started = time.monotonic()
    pairs = stage(name, Path(dataset), Path(out), url, int(at_once))
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "pairs": pairs,
        "seconds": time.monotonic() - started,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fragments", type=int, default=317)
    parser.add_argument("--at-once", type=int, default=64)
    given = parser.parse_args()
    console = Console()
    table = Table("stage", "pairs", "wall s", "CPU s", "ms CPU a pair", "peak MB", box=None)
    chat = Chat()
    worst = 0.0
    with tempfile.TemporaryDirectory() as place:
        dataset, out = Path(place) / "dataset", Path(place) / "run"
        make(dataset, given.fragments)
        chat.plan(says="0.5")
        for name in STAGES:
            command = ["-m", "benchmarks.pairs", "--child", name, str(dataset), str(out), chat.url]
            done = subprocess.run(
                [sys.executable, *command, str(given.at_once)],
                capture_output=True, text=True, check=True,
                env={**os.environ, "OPENAI_API_KEY": ""},
            )  # fmt: skip
            found = json.loads(done.stdout)
            worst = max(worst, found["peak"])
            table.add_row(
                name, f"{found['pairs']:,}", f"{found['seconds']:.1f}", f"{found['cpu']:.1f}",
                f"{1000 * found['cpu'] / found['pairs']:.2f}", f"{found['peak']:.0f}",
            )  # fmt: skip
    chat.stop()
    console.print(table)
    console.print(f"peak {worst:.0f} MB; the goal is at most {GOAL_MB}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        main()
