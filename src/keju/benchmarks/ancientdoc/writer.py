"""FORMAT ``ancientdoc``: AncientDoc's questions as JSON lines, with images by class and book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from keju.datasets.store import Dataset
from keju.datasets.writers.base import ItemFilter, Writer, copy_image, not_a_question_of
from keju.definitions import prompt_of
from keju.errors import DataError, number_of
from keju.files import write_atomic
from keju.items import Item

LAYOUT = """\
OUT/
  data.jsonl              id, image, task, question (the whole prompt), answer; and where they are
                          known: category, book, dynasty, script
  CLASS/BOOK/PAGE.jpg     the images, where they came from; else <sha256>.<ext>
Skipped, with their number: other benchmarks' items, items without image, the reference split."""

_BENCHMARK = "AncientDoc"
_TOLD = ("category", "book", "dynasty", "script")


def write_ancientdoc(dataset: Dataset, items: list[Item], out: Path) -> Iterator[str]:
    """Write the items of AncientDoc; yields notes on skipped items.

    Raises:
        DataError: there is none, an image is missing or altered, or two pages have one name.
    """
    chosen = ItemFilter("ancientdoc", _objection)
    lines = []
    for item in chosen.supported(items):
        name = _page(item)
        copy_image(dataset, item.images[0], out / name)
        record = {
            "id": item.id,
            "image": name,
            "task": item.task,
            "question": prompt_of(item),
            "answer": item.answer,
        }
        record |= {key: item.metadata[key] for key in _TOLD if key in item.metadata}
        lines.append(msgspec.json.encode(record))
    write_atomic(out / "data.jsonl", b"\n".join(lines) + b"\n")
    yield from chosen.notes()


WRITER = Writer("ancientdoc", "AncientDoc's JSON lines with page images", LAYOUT, write_ancientdoc)


def _objection(item: Item) -> str:
    count = len(item.images)
    return not_a_question_of(_BENCHMARK, item) or (
        f"{number_of(count, 'image')} instead of one" if count != 1 else ""
    )


def _page(item: Item) -> str:
    """The page's name: the one it came with, where it is one that stays inside the folder.

    Raises:
        DataError: it would lead out of the folder.
    """
    name = item.metadata.get("page") or PurePosixPath(item.images[0].path).name
    plain = PurePosixPath(name)
    if plain.is_absolute() or ".." in plain.parts or any(mark in name for mark in "\\\0:"):
        raise DataError(
            "the page {!r} leads out of the folder", name, item=item.id, hint="Rename the page"
        )
    return name
