"""Seals are laid out by convention and cut in red or in white."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest

from keju.errors import DataError
from keju_synthetic.noise import make_generator
from keju_synthetic.seals.carving import (
    ASPECT,
    SealDesign,
    carve_seal,
    count_columns,
    place_characters,
)
from keju_synthetic.seals.seal_script import load_seal_script


def cut(cut: SealDesign, height: int = 120) -> np.ndarray:
    return np.asarray(carve_seal(cut, height, make_generator(1, cut.legend)), dtype=float) / 255


@pytest.mark.parametrize(
    ("legend", "shape", "expected"),
    [
        ("長樂", "square", (2,)),
        ("宜子孫", "square", (2, 1)),
        ("六如居士", "square", (2, 2)),
        ("石渠寶笈", "tall", (4,)),
        ("三希堂精鑒璽", "tall", (3, 3)),
        ("毛氏圖史子孫永保之", "square", (3, 3, 3)),
    ],
)
def test_a_legend_divides_into_columns(legend: str, shape: str, expected: tuple[int, ...]):
    assert count_columns(SealDesign(legend=legend, shape=shape)) == expected


def test_columns_go_down_and_then_to_the_left():
    placed = place_characters(SealDesign(legend="毛氏圖史子孫永保之"), load_seal_script())
    assert "".join(cell.sign for cell in placed) == "毛氏圖史子孫永保之"
    for one, following in itertools.pairwise(placed):
        if one.column == following.column:
            assert following.place.y0 == pytest.approx(one.place.y1)
        else:
            assert following.place.x1 == pytest.approx(one.place.x0)
            assert following.place.y0 == 0


def test_a_turning_legend_goes_left_down_and_right():
    first, second, third, fourth = (
        cell.place
        for cell in place_characters(
            SealDesign(legend="李文林印", order="turning"), load_seal_script()
        )
    )
    assert first.x0 > second.x0
    assert second.y0 < third.y0
    assert fourth.x0 > third.x0
    assert (first.y0, fourth.y1) == (0, pytest.approx(1))


def test_a_character_of_many_strokes_gets_more_room():
    one, six = place_characters(SealDesign(legend="一寶"), load_seal_script())
    assert six.place.y1 - six.place.y0 > one.place.y1 - one.place.y0


def test_red_characters_stand_on_paper_and_white_ones_in_red():
    red = cut(SealDesign(legend="七品官耳", worn=0))
    white = cut(SealDesign(legend="七品官耳", style="baiwen", worn=0))
    assert red.mean() < 0.45
    assert white.mean() > 0.55
    for mask in (red, white):
        assert mask[:, 0].mean() > 0.85, "the border is there"


def test_the_first_column_of_a_mixed_seal_is_white():
    mask = cut(SealDesign(legend="子孫永寶", style="mixed", worn=0))
    assert mask[:, 70:].mean() > mask[:, :50].mean() + 0.2


@pytest.mark.parametrize("shape", sorted(ASPECT))
def test_every_outline_is_cut_within_its_picture(shape: str):
    mask = cut(SealDesign(legend="子京", shape=shape, worn=0))
    assert mask.shape == (120, round(120 * ASPECT[shape]))
    corner = mask[:4, :4].mean()
    if shape in {"round", "oval", "gourd"}:
        assert corner == 0
    elif shape in {"square", "tall"}:
        assert corner > 0.5


def test_wear_takes_paste_away():
    fresh = cut(SealDesign(legend="六如居士", style="baiwen", worn=0)).mean()
    assert cut(SealDesign(legend="六如居士", style="baiwen", worn=1)).mean() < fresh - 0.02


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"legend": ""}, "synthetic.legend-length"),
        ({"legend": "一" * 13}, "synthetic.legend-length"),
        ({"legend": "長樂", "columns": (3,)}, "synthetic.columns-of-legend"),
        ({"legend": "長樂", "order": "turning"}, "synthetic.turning-legend"),
        ({"legend": "龘樂"}, "synthetic.seal-script-missing"),
    ],
)
def test_what_cannot_be_cut_is_refused(values: dict[str, object], problem: str):
    with pytest.raises(DataError) as caught:
        cut(msgspec.convert(values, SealDesign))
    assert (caught.value.id, caught.value.item or "") == (problem, values["legend"])
