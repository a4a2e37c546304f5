"""The ground of an image and the largest thing that stands out from it."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from keju.outlines import border_level, largest_contour


def test_the_ground_is_what_most_of_the_rim_shows():
    grey = np.full((40, 60), 200, np.uint8)
    grey[5:35, 5:55] = 20
    grey[0, :30] = 0
    assert border_level(grey) == 200


def test_the_outline_follows_the_largest_thing_and_closes_a_crack_in_it():
    image = Image.new("L", (200, 160), 250)
    pen = ImageDraw.Draw(image)
    pen.rectangle((40, 30, 159, 129), fill=30)
    pen.line((100, 30, 100, 129), fill=250, width=2)
    pen.rectangle((5, 5, 15, 15), fill=0)
    contour = largest_contour(np.asarray(image))
    assert contour is not None
    assert contour.min(axis=0).tolist() == [40, 30]
    assert contour.max(axis=0).tolist() == [159, 129]


def test_an_even_image_has_no_outline():
    assert largest_contour(np.full((50, 50), 128, np.uint8)) is None
