"""Scoring a run of many models: both cores at work, and memory that does not grow with models.

    python -m benchmarks.whole_run [--models 37] [--every 10]

Every model answers each tenth item of MCS-Bench's 6,500 (`--every 1`: all of them) with the length
profile of benchmarks/metrics.py; both protocols, JSON of every number included, no encoder.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from pathlib import Path

import msgspec
from msgspec.structs import replace

from benchmarks.metrics import answers
from keju.files import write_atomic
from keju.items import Item, Response
from keju.runs import RunFolder, RunManifest
from keju.scoring import encode_json, join_json, score_models
from keju.scoring.stored import read_frames, scores_path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=37)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--workers", type=int, action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run = RunFolder(Path(place) / "run")
        pairs = answers(random.Random(1))[:: options.every]
        names = [f"model-{number:02}" for number in range(options.models)]
        write_run(run, pairs, names)
        for workers in options.workers or (1, os.cpu_count() or 1):
            report(run, workers, len(pairs), len(names))


def write_run(run: RunFolder, pairs: list[tuple[Item, Response]], names: list[str]) -> None:
    """Every model gives the same answers, so each has the same to do."""
    run.write_items([item for item, _ in pairs])
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h",
            models={name: {} for name in names},
        )
    )  # fmt: skip
    for name in names:
        lines: dict[str, list[bytes]] = {}
        for _, response in pairs:
            line = msgspec.json.encode(replace(response, model=name))
            lines.setdefault(response.task, []).append(line)
        for task, stored in lines.items():
            path = run.responses_path(name, task)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join(stored) + b"\n")


def report(run: RunFolder, workers: int, items: int, models: int) -> None:
    wall, cpu = time.perf_counter(), cpu_seconds()
    parts = (
        encode_json(read_frames(scores_path(run, summary.model)), summary.results)
        for summary in score_models(run, workers=workers)
    )
    write_atomic(run.path / "out.json", join_json(parts))
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    own, others = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"{models} models x {items:,} items, {workers} process{'es' if workers > 1 else ''}: "
        f"{wall:.1f} s, {cpu:.1f} CPU s, {cpu / wall:.2f} cores at work; "
        f"peak memory {own:.0f} MB, in a worker {others:.0f} MB; "
        f"JSON {(run.path / 'out.json').stat().st_size / 1e6:.0f} MB"
    )


def cpu_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
