"""Skew and warp move the pixels and the truth alike."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from keju_synthetic.noise import make_generator, make_noise
from keju_synthetic.page_layout import Rect
from keju_synthetic.page_warp import PageWarp

SIZE = (500, 700)


@pytest.mark.parametrize("seed", range(4))
def test_a_bent_box_lies_where_its_pixels_went(seed: int):
    bend = PageWarp(SIZE, slope=0.035 * (-1) ** seed, depth=11, rng=make_generator(seed, "t"))
    box = Rect(200, 90, 260, 600)
    flat = Image.new("L", (SIZE[0] * 2, SIZE[1] * 2), 0)
    ImageDraw.Draw(flat).rectangle((400, 180, 519, 1199), fill=255)
    moved = np.asarray(bend.warp_image(flat, scale=2).reduce(2)) > 127
    outlines = Image.new("L", SIZE, 0)
    outline = bend.warp_box(box)
    ImageDraw.Draw(outlines).polygon([(x - 0.5, y - 0.5) for x, y in outline], fill=1)
    claimed = np.asarray(outlines) > 0
    assert (moved & claimed).sum() / (moved | claimed).sum() > 0.97
    still = np.zeros_like(moved)
    still[90:600, 200:260] = True
    assert (moved & still).sum() / (moved | still).sum() < 0.9, "the page was bent at all"


def test_an_outline_never_leaves_the_picture():
    bend = PageWarp(SIZE, slope=0.04, depth=12, rng=make_generator(1, "t"))
    for x, y in bend.warp_box(Rect(-30, -30, 530, 730)):
        assert 0 <= x <= SIZE[0]
        assert 0 <= y <= SIZE[1]


def test_random_numbers_depend_on_the_name_and_not_on_earlier_drawings():
    first = make_generator(7, "a").random(3)
    assert (make_generator(7, "a").random(3) == first).all()
    assert (make_generator(7, "b").random(3) != first).all()
    assert (make_generator(8, "a").random(3) != first).all()


def test_a_field_has_the_shape_asked_for_and_stays_in_its_range():
    plane = make_noise(make_generator(1, "f"), (37, 91), 5.5, stretch=3)
    assert plane.shape == (37, 91)
    assert plane.dtype == np.float32
    assert 0 <= plane.min() < plane.max() <= 1
