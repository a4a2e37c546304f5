"""FORMAT ``vlmevalkit-tsv``: one table per task, with the images inside, in VLMEvalKit's format."""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase

import msgspec

from keju.datasets.store import Dataset
from keju.datasets.vlmevalkit import HEADS, build_row
from keju.datasets.writers.base import ItemFilter, Writer
from keju.definitions import task
from keju.files import replace_file
from keju.images import upright_file
from keju.items import Item
from keju.texts import _

LAYOUT = """\
OUT/
  T7.tsv                  a table a task (recognition-How.tsv: a task and query): index, id, image
                          (base64; of several images a JSON list), question, A, B, …, answer,
                          category, l2-category, split, and keju, by which the same item comes back
Of multiple choice, question is the stem: VLMEvalKit adds options and requirement in its own words.
Skipped, with their number: items of tasks of pairs, and items without an image."""


def write_vlmevalkit(dataset: Dataset, items: list[Item], out: Path) -> Iterator[str]:
    """Write a table for each task and query; yields notes on skipped items.

    Raises:
        DataError: nothing can be written, or an image is missing or altered.
    """
    chosen = ItemFilter("vlmevalkit-tsv", _objection)
    tables: dict[str, list[Item]] = {}
    for item in chosen.supported(items):
        name = "-".join(part for part in (item.task, item.query) if part)
        tables.setdefault(name, []).append(item)
    for name, members in tables.items():
        _write_table(dataset, members, out / f"{name}.tsv")
    yield from chosen.notes()


WRITER = Writer("vlmevalkit-tsv", "VLMEvalKit's TSV, one table per task", LAYOUT, write_vlmevalkit)


def _objection(item: Item) -> str:
    if task(item.task).of_pairs:
        return _("a task of pairs, but a row has one question")
    return "" if item.images else _("without an image")


def _write_table(dataset: Dataset, items: list[Item], path: Path) -> None:
    """Write rows one after the other, so that only one row's images are in memory."""
    most = max(sum(head in ascii_uppercase for head in build_row(item)) for item in items)
    options = tuple(ascii_uppercase[:most])
    heads = (*HEADS[:4], *options, *HEADS[4:])
    partial = path.with_name(f".{path.name}")
    with partial.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, heads, delimiter="\t", lineterminator="\n", restval="")
        table.writeheader()
        for index, item in enumerate(items):
            images = [
                # VLMEvalKit ignores the EXIF orientation, and boxes are those of the upright image.
                base64.b64encode(upright_file(dataset.image_bytes(ref), name=ref.path)).decode()
                for ref in item.images
            ]
            image = images[0] if len(images) == 1 else msgspec.json.encode(images).decode()
            table.writerow({"index": index, "image": image} | build_row(item))
    replace_file(partial, path)
