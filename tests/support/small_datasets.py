"""Fixtures: small images, and datasets that are made of them or imported."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset, DatasetManifest, DatasetWriter
from keju.items import ImageRef, Item

ABOUT = {"name": "small", "version": "1", "licence": "CC0-1.0", "source": "made in the test"}


class Read(NamedTuple):
    """What an import made."""

    items: list[Item]
    notes: tuple[str, ...]
    manifest: DatasetManifest
    path: Path


def picture(shade: int = 0, size: tuple[int, int] = (40, 60), form: str = "PNG") -> bytes:
    """The bytes of a plain picture."""
    out = io.BytesIO()
    Image.new("L", size, shade).save(out, form)
    return out.getvalue()


@pytest.fixture(name="picture")
def picture_fixture() -> Callable[..., bytes]:
    return picture


@pytest.fixture(name="about")
def about_fixture() -> dict[str, str]:
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


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Read]:
    """Import a source and open what it became; options are named with ``_`` for ``-``."""

    def import_(format: str, src: Path, **options: str) -> Read:  # noqa: A002
        out = tmp_path / f"read-{len(list(tmp_path.iterdir()))}"
        given = {name.replace("_", "-"): value for name, value in options.items()}
        done = import_dataset(format, src, out, **ABOUT, options=given)
        return Read(Dataset.open(out).items(), done.notes, done.manifest, out)

    return import_
