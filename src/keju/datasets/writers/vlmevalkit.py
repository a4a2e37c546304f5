"""FORMAT ``vlmevalkit-tsv``: one table per task, with the images inside, in VLMEvalKit's format."""

from __future__ import annotations

import base64
import csv
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from string import ascii_uppercase

import msgspec

from keju.datasets.store import Dataset
from keju.datasets.writers.base import QuestionItems, Writer
from keju.definitions import options_in, options_of, prompt_of, query_of, task
from keju.files import replace_file
from keju.images import upright_file
from keju.items import Item

LAYOUT = """\
OUT/
  T7.tsv                  a table a task (recognition-How.tsv: a task and query): index, id, image
                          (base64; of several images a JSON list), question, A, B, …, answer,
                          category, l2-category, split
Of multiple choice, question is the stem: VLMEvalKit adds options and requirement in its own words.
Skipped, with their number: items of tasks of pairs, and items without an image."""

HEADS = ("index", "id", "image", "question", "answer", "category", "l2-category", "split")
"""The columns beside the options ``A``, ``B`` …: VLMEvalKit's own by its development guide, and
``id``, which it ignores and by which its answers are replayed."""


def write_vlmevalkit(dataset: Dataset, out: Path) -> list[str]:
    """Write a table for each task and query; returns notes on skipped items."""
    items = QuestionItems("vlmevalkit-tsv", dataset)
    options: Counter[str] = Counter()
    for item in items:
        name = _table_name(item)
        options[name] = max(options[name], len(options_of(item)))
    with ExitStack() as files:
        tables = {}
        for name in options:
            path = out / f".{name}.tsv"
            file = files.enter_context(path.open("w", encoding="utf-8", newline=""))
            heads = (*HEADS[:4], *ascii_uppercase[: options[name]], *HEADS[4:])
            tables[name] = csv.DictWriter(
                file, heads, delimiter="\t", lineterminator="\n", restval=""
            )
            tables[name].writeheader()
        rows: Counter[str] = Counter()
        for item in items:
            name = _table_name(item)
            images = [
                # VLMEvalKit ignores the EXIF orientation, and boxes are those of the upright image.
                base64.b64encode(upright_file(dataset.image_bytes(ref), name=ref.path)).decode()
                for ref in item.images
            ]
            image = images[0] if len(images) == 1 else msgspec.json.encode(images).decode()
            tables[name].writerow({"index": rows[name], "image": image} | build_row(item))
            rows[name] += 1
    for name in options:
        replace_file(out / f".{name}.tsv", out / f"{name}.tsv")
    return items.notes


def _table_name(item: Item) -> str:
    return f"{item.task}-{item.query}" if item.query else item.task


WRITER = Writer("vlmevalkit-tsv", "VLMEvalKit's TSV, one table per task", LAYOUT, write_vlmevalkit)


def build_row(item: Item) -> dict[str, str]:
    """The columns of an item, except its index and images.

    For multiple choice, ``question`` is the stem and each option has its column, since VLMEvalKit
    joins them in its own wording; else it is the whole prompt.
    """
    options = options_of(item)
    # In the format of the prompt.
    boxes = ", ".join(f"[{box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g}]" for box in item.boxes)
    cells = {
        "id": item.id,
        "question": stem_of(prompt_of(item), options) if options else prompt_of(item),
        "answer": item.answer if query_of(item).form != "boxes" else boxes,
        "category": f"{item.task} {item.query}".strip(),
        "l2-category": task(item.task).domain,
        "split": item.split,
    }
    return cells | dict(zip(ascii_uppercase, options, strict=False))


def stem_of(prompt: str, options: tuple[str, ...]) -> str:
    """A prompt up to its options, which all occur in the rest."""
    for place in range(len(prompt) - 1, -1, -1):
        if prompt[place] in "AＡ" and options_in(prompt[place:]) == options:
            return prompt[:place].strip().rstrip("(（[【").rstrip()
    return prompt
