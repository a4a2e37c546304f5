"""Pieces and their images: shapes, edges, black and white where they belong; and real crops."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter
from scipy import ndimage

from keju_synthetic.bones.crops import CropPlan, draw_sign_crop
from keju_synthetic.bones.pieces import (
    Piece,
    _find_circle_point,
    displace_midpoints,
    erode_mask,
    make_blank_piece,
    make_crack_lines,
    rotate_piece,
    trim_piece,
)
from keju_synthetic.bones.renderings import draw_hand_copy, draw_photo, draw_rubbing
from keju_synthetic.bones.signs import load_signs
from keju_synthetic.noise import make_generator

SIGNS = load_signs()


@pytest.mark.parametrize("kind", ["scapula", "plastron", "fragment"])
@pytest.mark.parametrize("seed", range(4))
def test_a_piece_is_one_region_inside_its_picture(kind, seed):
    piece = make_blank_piece((200, 260), kind, make_generator(seed, "p"))
    whole = piece.mask > 0.5
    assert ndimage.label(whole)[1] == 1
    assert 0.3 < whole.mean() < 0.9
    assert not any(edge.any() for edge in (whole[0], whole[-1], whole[:, 0], whole[:, -1]))
    assert (piece.lines[~whole] < 0.6).all()
    assert piece.lines.max() > 0.5
    assert piece.strokes.max() == 0


def test_a_plastron_has_seams_where_a_scapula_has_none():
    bare = {
        kind: make_blank_piece((300, 360), kind, make_generator(2, "p"), cracks=0).lines.sum()
        for kind in ("plastron", "scapula")
    }
    assert bare["plastron"] > 2 * bare["scapula"]


def test_the_circle_without_sine_is_round():
    turns = np.linspace(0, 1, 17)[:-1]
    points = np.array([_find_circle_point(float(turn)) for turn in turns])
    assert (points**2).sum(axis=1) == pytest.approx(np.ones(16))
    angles = np.sort(np.arctan2(points[:, 1], points[:, 0]))
    assert np.diff(angles) == pytest.approx(np.full(15, 2 * np.pi / 16), abs=0.03)


def test_a_frayed_line_keeps_its_points():
    line = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
    ragged = displace_midpoints(line, make_generator(1, "f"), rough=0.1, halvings=3)
    assert len(ragged) == 17
    assert [ragged[0], ragged[8], ragged[16]] == line
    assert displace_midpoints(line, make_generator(1, "f"), rough=0, halvings=1)[1] == (0.5, 0.0)


def test_a_crack_sign_is_an_upright_with_one_branch():
    upright, branch = make_crack_lines(1, make_generator(3, "c"))
    assert upright[0][0] == upright[-1][0]
    assert branch[0] in upright


def test_turning_keeps_the_area_and_trimming_loses_nothing():
    piece = make_blank_piece((180, 240), "fragment", make_generator(1, "p"))
    size = (piece.mask > 0.5).sum()
    assert (rotate_piece(piece, 37).mask > 0.5).sum() == pytest.approx(size, rel=0.02)
    cut = trim_piece(piece, 3)
    assert (cut.mask > 0.5).sum() == size
    assert not (cut.mask[:3] > 0.5).any()
    empty = Piece.make_blank(np.zeros((5, 5), np.float32))
    assert trim_piece(empty) is empty


def test_inner_keeps_off_the_edge():
    mask = np.zeros((80, 80), np.float32)
    mask[10:70, 10:70] = 1
    kept = erode_mask(mask, 10) > 0.5
    assert kept[40, 40]
    assert not kept[12:68, 12].any()


def marked(seed: int = 1) -> Piece:
    piece = make_blank_piece((220, 260), "fragment", make_generator(seed, "p"), cracks=0)
    strokes = np.zeros_like(piece.mask)
    strokes[90:170, 100:106] = 1
    return piece._replace(strokes=strokes)


@pytest.mark.parametrize("wear", [0.0, 0.5, 1.0])
def test_a_rubbing_is_white_beside_black_on_and_white_in_the_cuts(wear):
    piece = marked()
    grey = np.asarray(draw_rubbing(piece, make_generator(1, "r"), wear=wear, grain=0.7)).astype(
        float
    )
    outside = grey[ndimage.binary_erosion(piece.mask < 0.01, iterations=12)]
    near = np.s_[90:170, 70:135]
    ground = grey[near][(piece.strokes[near] == 0)]
    cut = grey[piece.strokes > 0.5]
    assert outside.mean() > 215
    assert ground.mean() < 130
    assert cut.mean() > ground.mean() + 50
    assert ground.std() > 12


def test_wear_breaks_the_strokes_of_a_rubbing():
    piece = marked()
    white = [
        np.asarray(draw_rubbing(piece, make_generator(1, "r"), wear=wear, grain=0.7))[
            piece.strokes > 0.5
        ]
        for wear in (0.0, 1.0)
    ]
    assert (white[0] > 170).mean() > (white[1] > 170).mean() + 0.1


def test_a_photograph_is_in_colour_with_dark_cuts_and_cinnabar_where_asked():
    piece = marked()
    plain, red = (
        np.asarray(
            draw_photo(piece, make_generator(1, "r"), wear=0.2, grain=0.7, filling=filling)
        ).astype(float)
        for filling in (0.0, 0.9)
    )
    cut = piece.strokes > 0.5
    body = np.s_[90:170, 70:95]
    assert plain[cut].mean() < plain[body].mean() * 0.72
    assert (plain[body][..., 0] > plain[body][..., 2] + 15).mean() > 0.9
    ratio = [picture[cut][:, 0].mean() / picture[cut][:, 1].mean() for picture in (plain, red)]
    assert ratio[1] > ratio[0] * 1.25


def test_a_hand_copy_is_black_on_white():
    strokes = marked().strokes
    grey = np.asarray(draw_hand_copy(strokes, make_generator(1, "h"), grain=1.0))
    assert grey[strokes > 0.5].mean() < 70
    assert grey[5:60, 5:60].min() > 245


@pytest.mark.parametrize("ground", ["hand", "rubbing", "photo", "small"])
def test_crops_differ_from_writer_to_writer_and_show_their_sign(ground):
    plan = CropPlan(ground, 90, 0.2)
    one, again, other = (
        draw_sign_crop(SIGNS["牛"], plan, make_generator(1, name), signs=SIGNS) for name in "aab"
    )
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != other.tobytes()
    assert np.asarray(one.convert("L")).std() > 18
    if ground == "small":
        assert one.size == (28, 28)


REAL = {0: "大", 1: "日", 2: "月", 3: "牛", 5: "田", 7: "矢", 8: "巳", 9: "木"}
"""Classes of Oracle-MNIST whose characters are certain."""


def feature(crop: Image.Image) -> np.ndarray:
    pixels = np.asarray(crop.filter(ImageFilter.GaussianBlur(1.2)), dtype=float).ravel()
    pixels -= pixels.mean()
    return pixels / np.sqrt((pixels * pixels).sum())


def test_drawn_crops_classify_real_crops_as_neighbours(shared: Path):
    """Five nearest neighbours by blurred pixels: chance is 1 in 8; real crops among themselves
    reach about one half."""
    folder = shared / "data/oracle-mnist"
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        crops = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 28, 28)
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read()[8:], np.uint8)
    ours, named = [], []
    for number, char in REAL.items():
        for each in range(40):
            plan = CropPlan("small", 90, each % 6 / 8)
            rng = make_generator(9, char, str(each))
            ours.append(feature(draw_sign_crop(SIGNS[char], plan, rng, signs=SIGNS)))
            named.append(number)
    asked = [n for number in REAL for n in np.flatnonzero(labels == number)[:60]]
    real = np.array([feature(Image.fromarray(crops[n])) for n in asked])
    nearest = np.argsort(-real @ np.array(ours).T, axis=1)[:, :5]
    found = [np.bincount(np.array(named)[row]).argmax() for row in nearest]
    assert np.mean(labels[asked] == found) > 0.30
