"""Peak memory and CPU seconds of every command of the pipeline, for growing datasets.

    python -m benchmarks.scale [--items 10000 --items 100000] [--only score] [--keep DIR]
    python -m benchmarks.scale --items 1000000 --only import --form csv
    python -m benchmarks.scale --images 30000
    python -m benchmarks.scale --models 10 --items 6500

Texts: generated multiple-choice and short-answer items without images, 100 to a book; one item of
200 repeats another. Every command is its own process, and the figures are of it and of its largest
child. With two sizes or more, the last column is the exponent of CPU seconds between the smallest
and the largest (1 is linear growth), less the time that `keju --version` needs. Goals: 600 MB at
100,000 items, 1,500 MB at 1,000,000 (700 MB for the import), and an exponent of at most 1.1.

Images: JPEG files of noise of about 150 KB, of which one of 100 is a copy, through import,
standardise and dedup-images. Goal: 1,500 MB for 30,000.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

CHARACTERS = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜"
OPTIONS = [one + two for one in CHARACTERS for two in CHARACTERS]
BOOK = 100  # items of a book
REPEAT = 200  # one item of so many repeats the one before it
SIDE = 330  # pixels: a JPEG of noise of about 150 KB

BENCHMARK = """
name = "Scale"
version = "1"
licence = "CC0-1.0"
count_kind = "open"

[families.choice]
form = "letter"
image = false
strict = ["Acc"]

[families.short]
form = "short"
image = false
strict = ["ExactMatch"]

[tasks.choice]
name_zh = "选择"
name_en = "Choice"
domain = "Knowledge"
format = "MCQ"
family = "choice"
ask = "题目：{question}\\nA. {a}\\nB. {b}\\nC. {c}\\nD. {d}"
requirement = "请只给出选项。"

[tasks.short]
name_zh = "问答"
name_en = "Question"
domain = "Knowledge"
format = "QA"
family = "short"
ask = "{question}"
requirement = "请只给出答案。"
"""

MAPPING = """
prompt = "template"
[[tables]]
path = "items.*"
[fields]
id = "id"
task = "task"
question = "question"
options = ["a", "b", "c", "d"]
answer = "answer"
group = "book"
[blanks]
a = "a"
b = "b"
c = "c"
d = "d"
"""


class Usage(NamedTuple):
    """What a command used: CPU seconds, wall seconds, and peak memory in MB."""

    cpu: float
    wall: float
    memory: float


def generated(items: int) -> Iterator[dict[str, str]]:
    """Records of multiple-choice and short-answer items."""
    generator = random.Random(1)

    def words(least: int, most: int) -> str:
        return "".join(generator.choices(CHARACTERS, k=generator.randint(least, most)))

    question, options = "", [""]
    for number in range(items):
        if number % REPEAT != REPEAT - 1:
            question, options = words(20, 60), generator.sample(OPTIONS, 4)
        choice = number // REPEAT % 2 == 0
        answer = generator.randrange(4)
        yield {
            "id": f"i{number:08}",
            "task": "choice" if choice else "short",
            "question": question,
            **(dict(zip("abcd", options, strict=True)) if choice else {}),
            "answer": "ABCD"[answer] if choice else options[0],
            "book": f"b{number // BOOK:06}",
        }


def write_source(folder: Path, items: int, form: str = "jsonl") -> None:
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text(BENCHMARK, "utf-8")
    (folder / "mapping.toml").write_text(MAPPING, "utf-8")
    (folder / "source").mkdir()
    if form == "csv":
        heads = ("id", "task", "question", "a", "b", "c", "d", "answer", "book")
        with (folder / "source" / "items.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, heads)
            writer.writeheader()
            writer.writerows(generated(items))
        return
    with (folder / "source" / "items.jsonl").open("wb") as file:
        for record in generated(items):
            file.write(msgspec.json.encode(record) + b"\n")


def write_answers(folder: Path, items: int, models: int) -> None:
    """Answers of models that are right in 50 of 100 items and more: one more for each model."""
    for model in range(1, models):
        generator = random.Random(model)
        with (folder / f"answers-{model}.jsonl").open("wb") as file:
            for record in generated(items):
                right = generator.random() < 0.5 + model / 100
                answer = {"item": record["id"], "text": record["answer"] if right else "不詳"}
                file.write(msgspec.json.encode(answer) + b"\n")


def write_images(folder: Path, images: int) -> None:
    (folder / "source").mkdir(parents=True)
    for number in range(images):
        kind = number - 1 if number % 100 == 99 else number
        pixels = np.random.default_rng(kind).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "JPEG", quality=95)
        book = folder / "source" / f"b{number // BOOK:05}"
        book.mkdir(exist_ok=True)
        (book / f"{number:06}.jpg").write_bytes(data.getvalue())
        (book / f"{number:06}.txt").write_text(CHARACTERS[kind % len(CHARACTERS)] * 8, "utf-8")


def text_commands(models: int) -> dict[str, list[str]]:
    """The commands of a run on texts, in order: `baseline:copy`, and replayed models beside it."""
    more = [f"replay:answers-{number}.jsonl" for number in range(1, models)]
    names = ["baseline:copy", *more]
    model_options = [word for name in names for word in ("--model", name)]
    comparison = {"compare": ["compare", "run", "--models", *names[:2]]} if more else {}
    return {
        "import": [
            *("data", "import", "mapped", "source", "--map", "mapping.toml", "--out", "imported"),
            *("--benchmark", "benchmark.toml", "--licence", "CC0-1.0", "--source", "generated"),
        ],
        "validate": ["data", "validate", "imported"],
        "stats": ["data", "stats", "imported"],
        "dedup-texts": ["build", "dedup-texts", "imported", "--out", "distinct"],
        "measure": ["build", "measure", "distinct", "--out", "measured"],
        "split": ["build", "split", "measured", "--out", "divided"],
        "release": ["build", "release", "divided", "--out", "release"],
        "plan": ["run", "--plan", "release", *model_options],
        "run": ["run", "release", *model_options, "--out", "run"],
        "score": ["score", "run"],
        **comparison,
        "report": ["report", "run", "--out", "report"],
    }


def image_commands() -> dict[str, list[str]]:
    """The commands of a build on images, in order."""
    return {
        "import": ["data", "import", "pages", "source", "--out", "imported"],
        "standardise": ["build", "standardise", "imported", "--out", "standard"],
        "dedup-images": ["build", "dedup-images", "standard", "--out", "distinct"],
    }


def measured(arguments: list[str], folder: Path) -> Usage:
    """Run a command of keju in a folder; its output is shown only if it fails."""
    start = os.times()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "keju", *arguments],
            cwd=folder,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            output.seek(0)
            raise SystemExit(f"{' '.join(arguments)}\n{output.read().decode()[-2000:]}")
    wall = os.times().elapsed - start.elapsed
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure_all(folder: Path, commands: dict[str, list[str]], only: list[str]) -> dict[str, Usage]:
    """Run the commands in order; of those that are not named, only what the named ones read."""
    usages = {}
    if only:
        last = max(list(commands).index(name) for name in only)
        commands = dict(islice(commands.items(), last + 1))
    for name, arguments in commands.items():
        out = folder / arguments[arguments.index("--out") + 1] if "--out" in arguments else None
        if only and name not in only and (out is None or out.exists()):
            continue
        if out is not None and out.exists():
            shutil.rmtree(out)
        usages[name] = measured(arguments, folder)
        print(
            f"{name}: {usages[name].memory:,.0f} MB, {usages[name].cpu:,.1f} CPU s, "
            f"{usages[name].wall:,.1f} s",
            file=sys.stderr,
        )
    return usages


def exponent(first: Usage, last: Usage, ratio: float, start: float) -> float:
    """The exponent b of CPU seconds = a · items^b, without the time of starting."""
    return math.log(max(last.cpu - start, 0.01) / max(first.cpu - start, 0.01)) / math.log(ratio)


def show(usages: dict[int, dict[str, Usage]], start: float, unit: str) -> None:
    sizes = sorted(usages)
    table = Table("command", *(f"{size:,} {unit}: MB · CPU s" for size in sizes))
    if len(sizes) > 1:
        table.add_column("exponent")
    for name in usages[sizes[-1]]:
        row = [usages[size].get(name) for size in sizes]
        cells = [f"{usage.memory:,.0f} · {usage.cpu:,.1f}" if usage else "" for usage in row]
        first, last = row[0], row[-1]
        if len(sizes) > 1 and first and last:
            cells.append(f"{exponent(first, last, sizes[-1] / sizes[0], start):.2f}")
        table.add_row(name, *cells)
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, action="append", help="number of text items")
    parser.add_argument("--images", type=int, help="number of images, in place of texts")
    parser.add_argument("--form", choices=("jsonl", "csv"), default="jsonl", help="of texts")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="COMMAND")
    parser.add_argument("--keep", type=Path, help="folder for the files; used again if it exists")
    options = parser.parse_args()
    sizes = [options.images] if options.images else options.items or [1_000, 10_000]
    place = nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory()
    usages = {}
    with place as root:
        for size in sizes:
            folder = Path(root) / f"{'images' if options.images else 'items'}-{size}"
            if not folder.exists() and options.images:
                write_images(folder, size)
            elif not folder.exists():
                write_source(folder, size, options.form)
            write_answers(folder, 0 if options.images else size, options.models)
            commands = image_commands() if options.images else text_commands(options.models)
            usages[size] = measure_all(folder, commands, options.only)
            print(f"{size:,}: {size_mb(folder):,.0f} MB on disk", file=sys.stderr)
        show(
            usages, measured(["--version"], Path(root)).cpu, "images" if options.images else "items"
        )


if __name__ == "__main__":
    main()
