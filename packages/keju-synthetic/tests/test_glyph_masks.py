"""Characters as drawn: no two alike are equal, and worn wood has breaks in its strokes."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import ImageChops

from keju.errors import PrerequisiteError
from keju_synthetic.fonts import HandSpec, find_font
from keju_synthetic.glyph_masks import draw_glyphs
from keju_synthetic.noise import make_generator
from keju_synthetic.page_layout import Glyph, Layout

SPEC = {"family": "TW-Kai", "style": "Regular", "licence": "OGDL-Taiwan-1.0"}


@pytest.fixture(scope="module")
def kai():
    try:
        return find_font(*SPEC.values())
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def drawn(font, *, vary: float, chips: float = 0.0):
    """The same character twice, each in its half of the image."""
    glyphs = [Glyph("書", x, 60, 100, "h") for x in (60, 180)]
    layout = Layout(240, 120, glyphs, [], [], [], [])
    hand = HandSpec(**SPEC, sway=0.0, vary=vary)
    mask = draw_glyphs(layout, {"h": (hand, font)}, make_generator(1, "a"), chips=chips)
    return [mask["h"].crop(box) for box in ((0, 0, 240, 240), (240, 0, 480, 240))]


def test_two_alike_are_equal_only_without_variation(kai):
    one, other = drawn(kai, vary=0.0)
    assert ImageChops.difference(one, other).getbbox() is None
    one, other = drawn(kai, vary=0.03)
    unlike = np.asarray(ImageChops.difference(one, other)).astype(float).mean()
    assert unlike > 0.1 * np.asarray(one).mean()


def test_worn_wood_has_less_of_each_stroke(kai):
    whole, worn = (np.asarray(drawn(kai, vary=0.0, chips=chips)[0]).mean() for chips in (0, 12))
    assert 0.5 * whole < worn < whole
