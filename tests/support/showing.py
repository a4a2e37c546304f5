"""Pictures and requests made by hand, for the tests of models that look at pixels."""

from __future__ import annotations

import asyncio
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from keju.files import sha256_bytes
from keju.items import ImageRef, Request
from keju.models import Model

Grey = NDArray[np.uint8]


class Stored(NamedTuple):
    """A picture as a dataset stores it."""

    ref: ImageRef
    data: bytes


def stored(pixels: Grey) -> Stored:
    """Pixels as PNG, with what refers to them."""
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    packed = data.getvalue()
    name = sha256_bytes(packed)
    height, width = pixels.shape[:2]
    return Stored(
        ImageRef(path=f"{name}.png", sha256=name, width=width, height=height, size=len(packed)),
        packed,
    )


def pair(
    one: Stored, other: Stored, form: str = "probability", task: str = "classification"
) -> Request:
    """A request that shows two pictures."""
    return Request(
        item="q", benchmark="OBI-Bench", task=task, form=form, prompt="?", candidate=1,
        images=(one.ref, other.ref),
    )  # fmt: skip


def said(model: Model, request: Request, images: Sequence[bytes] = ()) -> str:
    """A model's answer to a request that it does not decline."""
    assert model.unsupported_reason(request) == ""
    return asyncio.run(model.answer(request, images)).text


def of_pair(
    model: Model, one: Stored, other: Stored, form: str = "probability", task: str = "rejoining"
) -> str:
    """A model's answer about two pictures."""
    return said(model, pair(one, other, form, task), (one.data, other.data))


class Crops(NamedTuple):
    """Labelled crops: pictures of 28 by 28 pixels, and their classes."""

    pictures: Grey
    classes: Grey


def oracle_crops(shared: Path) -> Crops:
    """The test crops of Oracle-MNIST; of its training crops there are only labels here."""
    folder = shared / "data" / "oracle-mnist"
    pictures = gzip.decompress((folder / "t10k-images-idx3-ubyte.gz").read_bytes())
    classes = gzip.decompress((folder / "t10k-labels-idx1-ubyte.gz").read_bytes())
    return Crops(
        np.frombuffer(pictures, np.uint8, offset=16).reshape(-1, 28, 28),
        np.frombuffer(classes, np.uint8, offset=8),
    )


def laid_out(draw: np.random.Generator, crops: Crops) -> tuple[Grey, list[tuple[int, ...]]]:
    """Thirty crops, at random sizes and places, in the cells of a board; the boxes of their ink."""
    board, boxes = np.full((600, 720), 12, np.uint8), []
    for cell in range(30):
        side = int(draw.integers(44, 72))
        crop = Image.fromarray(crops.pictures[draw.integers(len(crops.pictures))])
        pixels = np.asarray(crop.resize((side, side), Image.Resampling.BICUBIC))
        x = int(cell % 6 * 120 + draw.uniform(10, 110 - side))
        y = int(cell // 6 * 120 + draw.uniform(10, 110 - side))
        board[y : y + side, x : x + side] = np.maximum(board[y : y + side, x : x + side], pixels)
        rows, columns = np.nonzero(pixels > 90)
        boxes.append((x + columns.min(), y + rows.min(), x + columns.max() + 1, y + rows.max() + 1))
    return np.clip(board + draw.normal(0, 6, board.shape), 0, 255).astype(np.uint8), boxes


def torn(draw: np.random.Generator, *, wear: float = 1, size: int = 360) -> list[Grey]:
    """A bone torn in two: each half turned at random, on white, its edge worn by some pixels."""
    bone = _bone(draw, size)
    down, across = np.mgrid[:size, :size] - size / 2
    angle = draw.uniform(0, np.pi)
    along = across * np.cos(angle) + down * np.sin(angle)
    aside = down * np.cos(angle) - across * np.sin(angle)
    crack = np.interp(along, np.linspace(-size * 0.75, size * 0.75, 257), _crack(draw, size))
    halves = (aside > crack + wear / 2, aside < crack - wear / 2)
    return [_photographed(draw, np.where(half, bone, 0).astype(np.uint8)) for half in halves]


def _bone(draw: np.random.Generator, size: int) -> Grey:
    turn = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    waves = [
        draw.normal(0, 0.18 / wave) * np.cos(wave * turn + draw.uniform(0, 2 * np.pi))
        for wave in range(2, 9)
    ]
    reach = (1 + sum(waves)) * size * 0.36
    points = np.stack([np.cos(turn) * reach, np.sin(turn) * reach], axis=1) + size / 2
    mask = np.zeros((size, size), np.uint8)
    cv2.fillPoly(mask, [points.astype(np.int32)], 255)
    return mask


def _crack(draw: np.random.Generator, size: int) -> NDArray[np.float64]:
    """A line broken again and again at its middles, by less each time."""
    line = np.zeros(257)
    step, reach = 256, size / 10
    while step > 1:
        half = step // 2
        for place in range(half, 256, step):
            line[place] = (line[place - half] + line[place + half]) / 2 + draw.normal(0, reach)
        step, reach = half, reach * 0.6
    return line


def _photographed(draw: np.random.Generator, mask: Grey) -> Grey:
    rows, columns = np.nonzero(mask)
    mask = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    side = int(np.hypot(*mask.shape)) + 20
    canvas = np.zeros((side, side), np.uint8)
    top, left = (side - mask.shape[0]) // 2, (side - mask.shape[1]) // 2
    canvas[top : top + mask.shape[0], left : left + mask.shape[1]] = mask
    turned = cv2.getRotationMatrix2D((side / 2, side / 2), draw.uniform(0, 360), 1)
    here = cv2.GaussianBlur(cv2.warpAffine(canvas, turned, (side, side)), (0, 0), 0.8) / 255
    grain = cv2.GaussianBlur(draw.normal(0, 1, (side, side)), (0, 0), 6)
    surface = 150 + grain / grain.std() * 25 + draw.normal(0, 6, (side, side))
    return np.clip(surface * here + 250 * (1 - here), 0, 255).astype(np.uint8)
