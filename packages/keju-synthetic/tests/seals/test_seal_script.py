"""Seal-script models: each parses, fills its cell, and bad ones are named."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from keju.errors import DataError
from keju_synthetic.page_layout import Rect
from keju_synthetic.seals.seal_script import SealScript, load_seal_script
from keju_synthetic.seals.seal_section import load_owners

CELL = Rect(10, 20, 110, 220)
SCRIPT = load_seal_script()


def plain(sign: str) -> bool:
    """Whether a sign is more than a frame for others."""
    try:
        SCRIPT.build_figure(sign)
    except DataError as error:
        if error.id != "synthetic.model-is-frame":
            raise
        return False
    return True


def test_every_model_fills_its_cell_and_leaves_it_nowhere():
    signs = [sign for sign in SCRIPT.signs if plain(sign)]
    assert len(signs) > 150
    for sign in signs:
        points = [point for stroke in SCRIPT.build_figure(sign).fit(CELL) for point in stroke]
        assert points, sign
        for x, y in points:
            assert CELL.x0 - 1e-6 <= x <= CELL.x1 + 1e-6, sign
            assert CELL.y0 - 1e-6 <= y <= CELL.y1 + 1e-6, sign


def test_no_two_characters_look_alike_but_those_that_do():
    shapes: dict[object, str] = {}
    same = {frozenset("日曰"), frozenset("儿八")}
    for sign in SCRIPT.signs:
        if plain(sign):
            shape = SCRIPT.build_figure(sign)
            twin = shapes.setdefault(shape, sign)
            assert twin == sign or frozenset((twin, sign)) in same or sign == "𠔁", (twin, sign)


def test_a_composed_character_is_made_of_its_parts():
    wood, grove = SCRIPT.build_figure("木"), SCRIPT.build_figure("林")
    assert (grove.width, grove.height) == (2 * wood.width + 1, wood.height)
    assert len(grove.strokes) == 2 * len(wood.strokes)
    middle = wood.width + 0.5
    left = [stroke for stroke in grove.strokes if all(x < middle for x, _ in stroke)]
    assert tuple(left) == wood.strokes


def test_a_frame_stands_around_what_is_in_it():
    room = SCRIPT.build_figure("官")
    xs = [x for stroke in room.strokes for x, _ in stroke]
    assert min(xs) == 0
    assert max(xs) == room.width
    for inner in SCRIPT.build_figure("𠂤").strokes:
        assert len(inner) > 1
    assert len(room.strokes) == 2 + len(SCRIPT.build_figure("𠂤").strokes)


def test_every_owned_legend_can_be_cut():
    for legend in load_owners():
        assert SCRIPT.find_missing(legend) == ""


@pytest.mark.parametrize(
    ("models", "composed", "sign", "problem", "item"),
    [
        ("", '"甲" = "甲"', "甲", "synthetic.model-in-itself", "甲"),
        ("", '"甲" = "⿰乙"', "甲", "synthetic.model-missing", "乙"),
        ('"一" = "00-20"', '"甲" = "⿰一"', "甲", "synthetic.model-lacks-part", "甲"),
        ('"一" = "00-20"', '"甲" = "一一"', "甲", "synthetic.model-with-rest", "甲"),
        ('"一" = "00-20"', '"甲" = "⿴一一"', "甲", "synthetic.model-not-a-frame", "一"),
        ('"一" = "0?-20"', "", "一", "synthetic.model-not-points", "0?-20"),
    ],
)
def test_an_invalid_model_is_named(
    tmp_path: Path, models: str, composed: str, sign: str, problem: str, item: str
):
    path = tmp_path / "script.toml"
    path.write_text(f"[models]\n{models}\n[composed]\n{composed}\n", "utf-8")
    with pytest.raises(DataError) as caught:
        SealScript(path).build_figure(sign)
    assert (caught.value.id, caught.value.item) == (problem, item)


def test_strokes_that_should_meet_do_meet():
    """日 is a closed box: its chain ends where it began."""
    for sign in "日口囗田目":
        chains = SCRIPT.build_figure(sign).strokes
        points = list(itertools.chain.from_iterable(chains))
        assert len(points) > len(set(points)) or sign == "口"
