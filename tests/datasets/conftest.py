"""Small images and datasets that the tests of this room are made of."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from keju.datasets.store import Dataset, DatasetWriter
from keju.items import ImageRef, Item

ABOUT = {"name": "small", "version": "1", "licence": "CC0-1.0", "source": "made in the test"}


def picture(shade: int = 0, size: tuple[int, int] = (40, 60), form: str = "PNG") -> bytes:
    """The bytes of a plain picture."""
    out = io.BytesIO()
    Image.new("L", size, shade).save(out, form)
    return out.getvalue()


@pytest.fixture(name="picture")
def _picture() -> Callable[..., bytes]:
    return picture


@pytest.fixture(name="about")
def _about() -> dict[str, str]:
    return dict(ABOUT)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Dataset]:
    """Write a dataset of items, each of which is given one small picture of its own."""

    def write(*items: Item, **about: str) -> Dataset:
        path = tmp_path / "dataset"
        with DatasetWriter(path, **(ABOUT | about)) as writer:
            for number, item in enumerate(items):
                ref: ImageRef = writer.add_image(picture(number % 256), "picture.png")
                images = item.images or (ref,)
                writer.add(Item(**{f: getattr(item, f) for f in item.__struct_fields__} | {
                    "images": images
                }))  # fmt: skip
        return Dataset.open(path)

    return write
