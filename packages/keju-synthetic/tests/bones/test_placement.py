"""Composition: every crop on the ground, none on another, boxes as tight as the ink."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from keju.errors import DataError
from keju_synthetic.bones.crops import CropPlan, draw_sign_crop
from keju_synthetic.bones.placement import extract_strokes, place_inscriptions
from keju_synthetic.bones.signs import load_signs
from keju_synthetic.noise import make_generator


def crop(wide: int, high: int) -> Image.Image:
    return Image.new("L", (wide, high), 255)


def disc(side: int) -> np.ndarray:
    y, x = np.mgrid[:side, :side] - side / 2
    return (x * x + y * y < (side * 0.47) ** 2).astype(np.float32)


passages = st.lists(
    st.lists(st.tuples(st.integers(6, 20), st.integers(6, 22)), min_size=1, max_size=7),
    min_size=1,
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(passages, st.integers(0, 99), st.booleans())
def test_boxes_are_apart_on_the_ground_and_as_large_as_their_crops(sizes, seed, leftwards):
    ground = disc(300)
    crops = [[crop(*size) for size in passage] for passage in sizes]
    made = place_inscriptions(crops, ground, make_generator(seed, "x"), leftwards=leftwards)
    assert made is not None
    flat = [size for passage in sizes for size in passage]
    assert [(b.x1 - b.x0, b.y1 - b.y0) for b in made.boxes] == flat
    painted = np.zeros_like(ground)
    for box in made.boxes:
        part = np.s_[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
        assert (ground[part] == 1).all()
        painted[part] += 1
    assert painted.max() == 1
    assert (painted == made.strokes).all()


@settings(max_examples=25, deadline=None)
@given(passages, st.integers(0, 99), st.booleans())
def test_columns_run_down_and_follow_in_the_direction_asked(sizes, seed, leftwards):
    crops = [[crop(*size) for size in passage] for passage in sizes]
    made = place_inscriptions(crops, np.ones((400, 400), np.float32), make_generator(seed, "x"),
                              leftwards=leftwards)  # fmt: skip
    assert made is not None
    assert [n for column in made.columns for n in column] == list(range(len(made.boxes)))
    starts = {0}
    for passage in sizes:
        starts.add(max(starts) + len(passage))
    for column in made.columns:
        tops = [made.boxes[n].y0 for n in column]
        assert tops == sorted(tops)
    for one, two in zip(made.columns, made.columns[1:], strict=False):
        if two[0] not in starts:
            step = made.boxes[two[0]].x0 - made.boxes[one[0]].x0
            assert step < 0 if leftwards else step > 0


def test_text_without_room_is_not_placed():
    crops = [[crop(40, 40)] * 9]
    assert place_inscriptions(crops, np.ones((90, 90), np.float32), make_generator(1, "x")) is None
    assert (
        place_inscriptions(crops, np.zeros((400, 400), np.float32), make_generator(1, "x")) is None
    )


def test_places_to_keep_off_stay_empty():
    ground = np.ones((200, 200), np.float32)
    seam = np.zeros_like(ground)
    seam[:, 95:105] = 1
    for seed in range(5):
        made = place_inscriptions(
            [[crop(20, 20)] * 5] * 3, ground, make_generator(seed, "x"), keep_off=seam
        )
        assert made is not None
        assert (made.strokes * seam).max() == 0


def test_nothing_to_write_is_an_empty_board():
    made = place_inscriptions([], np.ones((20, 20), np.float32), make_generator(1, "x"))
    assert made is not None
    assert made.boxes == ()
    assert made.strokes.max() == pytest.approx(0)


@pytest.mark.parametrize("ground", ["hand", "rubbing"])
def test_strokes_are_white_on_black_whatever_the_crop_is(ground):
    signs = load_signs()
    crop = draw_sign_crop(
        signs["木"], CropPlan(ground, 120, 0.0), make_generator(4, "x"), signs=signs
    )
    strokes = np.asarray(extract_strokes(crop))
    assert strokes.shape <= np.asarray(crop).shape
    assert 0.03 < (strokes > 127).mean() < 0.5
    middle = strokes.shape[1] // 2
    assert strokes[:, middle - 12 : middle + 12].max(axis=1).mean() > 160


def test_real_crops_can_be_set_on_a_ground(shared):
    with gzip.open(shared / "data/oracle-mnist/t10k-images-idx3-ubyte.gz") as file:
        crops = np.frombuffer(file.read()[16 : 16 + 30 * 784], np.uint8).reshape(-1, 28, 28)
    masks = [extract_strokes(Image.fromarray(crop)) for crop in crops]
    made = place_inscriptions([masks[:15], masks[15:]], disc(420), make_generator(1, "x"))
    assert made is not None
    assert len(made.boxes) == 30


def test_a_crop_of_one_tone_has_no_strokes():
    with pytest.raises(DataError) as caught:
        extract_strokes(Image.new("L", (20, 20), 90))
    assert caught.value.id == "synthetic.crop-without-strokes"
