"""Solids show the camera what solids would: outlines, normals, what hides what."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from keju_synthetic.relics.solids import (
    TILT,
    Surface,
    add_face,
    add_slab,
    add_tube,
    compute_angle,
    revolve,
    smooth,
)


def lengths(surface: Surface) -> np.ndarray:
    normals = surface.normal[surface.cover > 0]
    return np.sqrt((normals * normals).sum(axis=-1))


@given(st.floats(-1, 1))
def test_the_angle_is_the_arcsine_to_four_digits(u: float):
    value = float(compute_angle(np.array([u], np.float32))[0])
    assert value == pytest.approx(math.asin(u) / (math.pi / 2), abs=5e-4)


def test_a_cylinder_is_as_wide_and_high_as_it_should_be():
    surface = Surface(200, 200)
    revolve(surface, (100, 180), [(40, 0), (40, 120)], open_=False)
    rows, columns = np.nonzero(surface.cover)
    assert columns.min() == pytest.approx(60, abs=2)
    assert columns.max() == pytest.approx(140, abs=2)
    assert rows.min() == pytest.approx(180 - 120 - 40 * TILT, abs=2)
    assert rows.max() == pytest.approx(180 + 40 * TILT, abs=2)
    assert lengths(surface) == pytest.approx(1, abs=0.01)


def test_a_wall_faces_where_it_stands():
    surface = Surface(200, 200)
    revolve(surface, (100, 180), [(40, 0), (40, 120)], open_=False)
    left, middle, right = (surface.normal[130, x] for x in (64, 100, 136))
    assert left[0] < -0.8
    assert right[0] > 0.8
    assert middle[2] > 0.95
    assert middle[1] == pytest.approx(-TILT, abs=0.05), "the camera looks down on it"


def test_one_looks_into_an_open_vessel():
    surface = Surface(200, 200)
    revolve(surface, (100, 180), [(40, 0), (50, 120)])
    assert surface.inside[60, 100] == 1
    assert surface.inside[130, 100] == 0
    assert surface.light[60, 100] < surface.light[130, 100]
    closed = Surface(200, 200)
    revolve(closed, (100, 180), [(40, 0), (50, 120)], open_=False)
    assert closed.inside.max() == 0


def test_paint_runs_around_a_vessel_with_its_wall():
    stripe = Image.new("L", (100, 100), 0)
    stripe.paste(255, (45, 0, 55, 100))
    surface = Surface(200, 200)
    revolve(surface, (100, 180), [(60, 0), (60, 120)], pigment=stripe, open_=False)
    columns = np.nonzero(surface.pigment[120] > 0.5)[0]
    assert columns.min() == pytest.approx(100 - 60 * math.sin(0.05 * math.pi), abs=2)
    assert columns.max() == pytest.approx(100 + 60 * math.sin(0.05 * math.pi), abs=2)


def test_a_bar_is_round():
    surface = Surface(100, 100)
    add_tube(surface, [(10, 50), (90, 50)], [10, 10])
    rows, _ = np.nonzero(surface.cover[:, 40:60])
    assert (rows.min(), rows.max()) == (pytest.approx(40, abs=1), pytest.approx(60, abs=1))
    assert surface.normal[42, 50][1] > 0.7
    assert surface.normal[58, 50][1] < -0.7
    assert surface.normal[50, 50][2] > 0.99
    assert lengths(surface) == pytest.approx(1, abs=0.01)


def test_a_plate_is_flat_with_rounded_edges_and_holes():
    surface = Surface(120, 120)
    square = [(20, 20), (100, 20), (100, 100), (20, 100)]
    hole = [(50, 50), (70, 50), (70, 70), (50, 70)]
    add_slab(surface, [square], round_=8, holes=[hole])
    assert surface.cover[60, 60] == 0
    assert surface.normal[35, 60][2] > 0.95
    assert surface.normal[60, 22][0] < -0.5
    assert surface.normal[60, 98][0] > 0.5


def test_what_comes_later_hides_what_was_there():
    surface = Surface(100, 100)
    add_tube(surface, [(10, 50), (90, 50)], [20, 20])
    add_face(surface, ((40, 40), (60, 40), (40, 60)), (0, 0, 1), light=0.5)
    assert surface.light[50, 50] == 0.5
    assert surface.light[50, 30] == 1


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=8))
def test_smoothing_keeps_the_ends_and_stays_within(points: list[tuple[float, float]]):
    chain = smooth(points)
    assert (chain[0], chain[-1]) == (points[0], points[-1])
    for axis in (0, 1):
        low, high = min(p[axis] for p in points), max(p[axis] for p in points)
        assert all(low - 1e-9 <= p[axis] <= high + 1e-9 for p in chain)
