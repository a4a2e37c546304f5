"""Folders of scans as a librarian has them, and what a command printed about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image


class Done(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


Keju = Callable[..., Done]


def scan(path: str, **options: Any) -> None:
    """A small page image, different for each path."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (60, 80), "white")
    for place, byte in enumerate(path.encode()):
        image.putpixel((place % 60, place // 60), (byte, 0, 0))
    image.save(file, **options)


TEXT = "抵其隙國初諸家學者之說多矣而不知其本末也\n天地玄黃宇宙洪荒"


def text(path: str, content: str = TEXT, encoding: str = "utf-8") -> None:
    """The text of a page."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode(encoding))


def pages(folder: str, *names: str) -> None:
    """A folder of images, each with a text of its own."""
    for number, name in enumerate(names or ("p1", "p2")):
        scan(f"{folder}/{name}.jpg")
        text(f"{folder}/{name}.txt", TEXT[number:] + TEXT[:number])


def pdf(path: str, count: int = 1) -> None:
    """A file of several pages."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    images = [Image.new("RGB", (60, 80), (40 * number,) * 3) for number in range(count)]
    images[0].save(path, "PDF", save_all=True, append_images=images[1:])


def tiff(path: str, count: int) -> None:
    """A file of several pages."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    images = [Image.new("RGB", (60, 80), (40 * number,) * 3) for number in range(count)]
    images[0].save(path, save_all=True, append_images=images[1:])
