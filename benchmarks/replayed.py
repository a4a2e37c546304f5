"""What replaying a file costs: seconds and peak memory to open it, and to read each of its answers.

Each format is read in a process of its own. An answer is a page of 300 characters; the model is
asked for the answers in an order of its own.

    python -m benchmarks.replayed [--answers 1000000] [--only jsonl]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from keju.items import Request
from keju.models import ModelOptions, open_model

GOAL_MB = 600
FORMATS = ("jsonl", "csv", "parquet")
_STEP = 100_003
"""A number without a common divisor with the number of answers: each is read once."""


def texts(answers: int) -> Iterator[str]:
    """The answers: the number of each, and characters."""
    page = "天地玄黃宇宙洪荒" * 37
    return (f"{number} {page}" for number in range(answers))


def write(path: Path, answers: int) -> None:
    """Write a file of answers."""
    if path.suffix == ".jsonl":
        with path.open("w", encoding="utf-8") as file:
            for number, text in enumerate(texts(answers)):
                file.write(json.dumps({"item": f"page-{number}", "text": text}) + "\n")
        return
    names = [f"page-{number}" for number in range(answers)]
    frame = pl.DataFrame({"id": names, "response": list(texts(answers))})
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path, row_group_size=50_000)


def read(path: Path, answers: int) -> None:
    """Open the file and read all its answers; print seconds and memory."""
    begun = time.perf_counter()
    model = open_model(f"replay:{path}", ModelOptions())
    opened = time.perf_counter() - begun

    async def ask() -> None:
        for count in range(answers):
            number = count * _STEP % answers
            request = Request(
                item=f"page-{number}", benchmark="pages", task="page_ocr", form="transcription",
                prompt="",
            )  # fmt: skip
            answer = await model.answer(request, ())
            if not answer.text.startswith(f"{number} "):
                raise ValueError(answer.text[:20])

    begun = time.perf_counter()
    asyncio.run(ask())
    asked = time.perf_counter() - begun
    print(
        f"{path.suffix[1:]:8} {path.stat().st_size >> 20:6,} MB: opened in {opened:.1f} s, all read"
        f" in {asked:.1f} s, peak {peak_mb()} MB (goal {GOAL_MB})"
    )


def peak_mb() -> int:
    """The peak of this process alone: `resource` counts that of the parent before the start too."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text("utf-8"))
    return int(kilobytes) >> 10


def main() -> None:
    """Write and read each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--only", choices=FORMATS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read:
        read(chosen.read, chosen.answers)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in [chosen.only] if chosen.only else FORMATS:
            path = Path(folder, f"answers.{name}")
            write(path, chosen.answers)
            command = [sys.executable, "-m", "benchmarks.replayed", "--read", str(path)]
            subprocess.run([*command, "--answers", str(chosen.answers)], check=True)
            path.unlink()


if __name__ == "__main__":
    main()
