"""FORMAT ``jsonl``: items as JSON lines beside their images, with the mapping that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from keju.datasets.store import Dataset
from keju.datasets.writers.base import QuestionItems, Writer, copy_image
from keju.definitions import options_of, prompt_of, query_of
from keju.files import write_atomic
from keju.items import Item

LAYOUT = """\
OUT/
  items.jsonl             id, task, query, question (the whole prompt), question_simplified and
                          question_traditional where both were released, options, answer,
                          answer_simplified, also_accepted, transcription, group, split, images,
                          metadata; a field that no item has is omitted
  images/<sha256>.<ext>   the images
  mapping.toml            reads it again: keju data import mapped OUT --map OUT/mapping.toml
Skipped, with their number: items of tasks of pairs, and items without an image."""


def write_jsonl(dataset: Dataset, out: Path) -> list[str]:
    """Write items as JSON lines, images and a mapping file; returns notes on skipped items."""
    items = QuestionItems("jsonl", dataset)
    columns: dict[str, None] = {}
    metadata: dict[str, None] = {}

    def lines() -> Iterator[bytes]:
        for item in items:
            for ref in item.images:
                copy_image(dataset, ref, out / ref.path)
            record = {name: value for name, value in _record(item).items() if value}
            columns.update(dict.fromkeys(record))
            metadata.update(dict.fromkeys(item.metadata))
            yield msgspec.json.encode(record) + b"\n"

    write_atomic(out / "items.jsonl", lines())
    write_atomic(out / "mapping.toml", _mapping(columns, metadata))
    return items.notes


WRITER = Writer("jsonl", "items as JSON lines, with their images", LAYOUT, write_jsonl)


def _record(item: Item) -> dict[str, object]:
    wordings = {f"question_{script}": prompt_of(item, script=script) for script in item.question_in}
    answer: object = item.answer
    if query_of(item).form == "boxes":
        boxes = [[box.x0, box.y0, box.x1, box.y1] for box in item.boxes]
        answer = json.dumps(boxes) if boxes or item.answer else ""
    return {
        "id": item.id,
        "task": item.task,
        "query": item.query,
        "question": prompt_of(item),
        **wordings,
        "options": options_of(item),
        "answer": answer,
        "answer_simplified": item.answer_simplified,
        "also_accepted": item.also_accepted,
        "transcription": item.transcription,
        "group": item.group,
        "split": item.split,
        "images": [ref.path for ref in item.images],
        "metadata": item.metadata,
    }


def _mapping(columns: Iterable[str], metadata: Iterable[str]) -> str:
    """The mapping file of the fields that the lines have."""
    lines = ['prompt = "own"', "[[tables]]", 'path = "items.jsonl"', "[fields]"]
    roles = {name: "image" if name == "images" else name for name in columns}
    lines += [f'{role} = "{name}"' for name, role in roles.items() if name != "metadata"]
    kept = [f"{_quoted(name)} = {_quoted(f'metadata.{name}')}" for name in metadata]
    return "\n".join([*lines, *(["[metadata]", *kept] if kept else []), ""])


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML, except that TOML forbids the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
