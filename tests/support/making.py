"""Small datasets for the tests that ask."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item


def picture(seed: int, *, side: int = 24, form: str = "PNG", quality: int = 95) -> bytes:
    """An image of coloured noise, different for each seed."""
    noise = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(noise).save(data, form, quality=quality)
    return data.getvalue()


def page_item(name: str, **fields: object) -> Item:
    """An item of T1 whose prompt names it as the chat server expects."""
    settings = {
        "benchmark": "MCS-Bench",
        "task": "T1",
        "question": f"[item {name}] 识别图中文字。",
        "verbatim": True,
        "answer": "天地玄黃",
        **fields,
    }
    return Item(id=name, **settings)


def make_dataset(
    path: Path,
    items: Iterable[Item] = (),
    *,
    images_of: Dataset | None = None,
    pages: int = 0,
    first: int = 0,
) -> Path:
    """Write a dataset of items and of pages with pictures.

    Args:
        path: the directory.
        items: the items.
        images_of: the dataset with the images of the items, if they are copied.
        pages: the number of pages.
        first: the number of the picture of the first page.
    """
    with DatasetWriter(
        path, name="small", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        for item in items:
            for ref in item.images if images_of else ():
                writer.add_image(images_of.image_bytes(ref), ref.path)
            writer.add(item)
        for number in range(pages):
            ref = writer.add_image(picture(first + number), f"page {number}")
            writer.add(page_item(f"i{number:04}", images=(ref,)))
    return path
