"""Fixtures of all tests: shared material, and images of bones."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tests.support.shared_material import shared

__all__ = ["shared"]


def draw_bone(seed: int, *, transparent: bool = False) -> bytes:
    """A bright ellipse with grain, on a dark or a transparent background, as PNG."""
    rng = np.random.default_rng(seed)
    mask = Image.new("L", (260, 300))
    ImageDraw.Draw(mask).ellipse((30, 20 + seed % 9, 235, 280), fill=255)
    image = Image.fromarray(rng.integers(150, 230, (300, 260, 3), dtype=np.uint8))
    if transparent:
        image.putalpha(mask)
    else:
        image = Image.composite(image, Image.new("RGB", mask.size, (20, 22, 25)), mask)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="session")
def make_bone() -> Callable[..., bytes]:
    """`draw_bone`."""
    return draw_bone
