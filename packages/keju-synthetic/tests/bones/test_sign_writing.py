"""One writer's cuts: alike and never the same, and always the sign's own shape."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju_synthetic.bones.sign_writing import (
    Writer,
    draw_sign_mask,
    fit_curve,
    make_copyist,
    make_engraver,
    write_sign,
)
from keju_synthetic.bones.signs import expand_strokes, load_signs
from keju_synthetic.noise import make_generator

SIGNS = load_signs()

STILL = Writer(
    slant=0, wide=1, bend=0, shake=0, over=0, width=0.05, tip=1, facets=3, turn=0, leave_out=0
)
"""A writer without a hand of his own."""


def instance(char: str, writer: Writer, seed: int = 0, variant: int | None = None):
    return write_sign(SIGNS[char], writer, make_generator(seed, char), signs=SIGNS, variant=variant)


def test_a_still_hand_writes_the_model_itself_but_for_its_breadth():
    cuts = write_sign(SIGNS["田"], STILL, _Middle(), signs=SIGNS, variant=0)
    model = expand_strokes(SIGNS["田"], 0, SIGNS)
    for cut, stroke in zip(cuts, model, strict=True):
        expected = [*stroke.points, stroke.points[0]] if stroke.closed else stroke.points
        assert np.array(cut) == pytest.approx(np.array(expected))


class _Middle:
    """Chance that always draws the middle."""

    def random(self, size=None):
        return 0.5 if size is None else np.full(size, 0.5)

    def integers(self, low, high):
        return (low + high) // 2


def test_the_same_seed_gives_the_same_cuts_and_another_seed_others():
    hand = make_engraver(make_generator(1, "hand"))
    assert instance("鹿", hand, 1) == instance("鹿", hand, 1)
    assert instance("鹿", hand, 1) != instance("鹿", hand, 2)


def test_a_sign_that_must_not_turn_never_does():
    turning = STILL._replace(turn=1.0)
    for char, mirrored in (("又", False), ("犬", True)):
        cuts = write_sign(SIGNS[char], turning, _Middle(), signs=SIGNS, variant=0)
        model = expand_strokes(SIGNS[char], 0, SIGNS)
        x = model[0].points[0][0]
        assert cuts[0][0][0] == pytest.approx(1 - x if mirrored else x)


def test_left_out_is_a_short_cut_never_the_outline():
    forgetful = STILL._replace(leave_out=1.0)
    outline = expand_strokes(SIGNS["魚"], 0, SIGNS)[:2]
    kept = {len(instance("魚", forgetful, seed, variant=0)) for seed in range(12)}
    assert kept == {len(SIGNS["魚"].models[0]) - 1}
    for seed in range(12):
        cuts = instance("魚", forgetful, seed, variant=0)
        assert [len(cut) for cut in cuts[:2]] == [
            3 * (len(stroke.points) - 1) + 1 for stroke in outline
        ]
    assert len(instance("十", forgetful)) == 1


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=8),
    st.integers(1, 6),
)
def test_a_curve_goes_through_its_points(points, facets):
    line = fit_curve(points, facets, closed=False)
    assert len(line) == facets * (len(points) - 1) + 1
    for (x, y), (u, v) in zip(points, line[::facets], strict=True):
        assert (u, v) == pytest.approx((x, y), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(SIGNS)), st.integers(0, 1000), st.integers(24, 90))
def test_a_mask_is_as_large_as_its_ink(char, seed, height):
    hand = (make_engraver if seed % 2 else make_copyist)(make_generator(seed, "hand"))
    mask = np.asarray(draw_sign_mask(instance(char, hand, seed), height, hand))
    assert mask.max() > 100
    for edge in (mask[0], mask[-1], mask[:, 0], mask[:, -1]):
        assert edge.max() > 0


def test_broad_cuts_cover_more_and_end_in_points():
    thin, broad = (STILL._replace(width=width) for width in (0.03, 0.09))
    inked = [np.asarray(draw_sign_mask(instance("木", w, 3), 80, w)).sum() for w in (thin, broad)]
    assert inked[1] > 2 * inked[0]
    blunt, sharp = (STILL._replace(tip=tip) for tip in (1.0, 0.1))
    rows = []
    for writer in (blunt, sharp):
        mask = np.asarray(draw_sign_mask([((0.5, 0.1), (0.5, 0.9))], 200, writer)) > 127
        rows.append(mask.sum(axis=1))
    assert rows[0][2] > 2 * rows[1][2]
    assert rows[0][len(rows[0]) // 2] == pytest.approx(rows[1][len(rows[1]) // 2], abs=1)


def test_a_knife_cuts_curves_in_fewer_pieces_than_a_pen():
    cuts = [max(len(cut) for cut in instance("月", hand(make_generator(5, "h")), variant=0))
            for hand in (make_engraver, make_copyist)]  # fmt: skip
    assert cuts[0] < cuts[1]
    for one, two in pairwise(instance("月", make_engraver(make_generator(5, "h")), variant=0)[0]):
        assert one != two
