"""A scene draws exactly the things that it counts."""

from __future__ import annotations

from collections import Counter

import cv2
import numpy as np
import pytest

from keju_synthetic.noise import make_generator
from keju_synthetic.pictures import (
    illustrations,
    nature_scenes,
    object_scenes,
    paintings,
    story_scenes,
)
from keju_synthetic.pictures.pens import Brush, Graver

SIZE = (340, 340)


def pen_for(family: str, name: str) -> Brush | Graver:
    rng = make_generator(3, name)
    return Brush(*SIZE, rng) if family == "paintings" else Graver(*SIZE, rng)


SCENES = {
    "paintings": paintings.SCENES,
    "illustrations": illustrations.SCENES,
}


MOTIFS = {
    "rivers": {"draw_boat": "boats", "draw_pavilion": "pavilions", "draw_pine": "pines"},
    "blue-green": {"draw_boat": "boats", "draw_hut": "huts"},
    "snow-bridge": {"draw_bare_tree": "trees", "draw_donkey": "donkeys", "draw_bridge": "bridges"},
    "cloud-peaks": {"draw_person": "people", "draw_pine": "pines", "draw_spire": "peaks"},
    "peach-spring": {"draw_leafy_tree": "trees", "draw_boat": "boats"},
    "reed-geese": {"draw_goose": "geese"},
    "bamboo-rock": {"draw_bamboo": "stalks", "draw_rock": "rocks"},
    "ink-plum": {"draw_blossom": "blossoms", "draw_bud": "buds"},
    "staring-fish": {"draw_fish": "fish"},
    "lotus-fan": {"draw_lotus": "flowers", "draw_lotus_leaf": "leaves"},
    "gate-cranes": {"draw_crane": "flying", "draw_standing_crane": "standing"},
    "ink-grapes": {"draw_grapes": "bunches", "draw_vine_leaf": "leaves"},
    "straw-boats": {"draw_war_boat": "boats", "draw_person": "people"},
    "tiger-fight": {"draw_pine": "pines", "draw_tiger": "tigers", "draw_person": "people"},
    "winter-shoots": {"_draw_shoot": "shoots", "draw_bamboo": "stalks"},
    "maple-bridge": {"draw_far_bird": "birds", "draw_boat": "boats"},
    "plantain": {"_draw_ribbed_leaf": "leaves"},
    "lotus-plant": {"draw_lotus": "flowers", "draw_lotus_leaf": "leaves"},
}
"""Which motif a scene must draw as often as it counts what."""


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, scenes in SCENES.items() for name in scenes]
)
def test_a_scene_draws_as_many_as_it_counts(monkeypatch, family: str, name: str):
    scene = SCENES[family][name]
    calls: Counter[str] = Counter()
    for motif in MOTIFS.get(name, ()):
        monkeypatch.setitem(scene.__globals__, motif, noting(calls, scene.__globals__[motif]))
    pen = pen_for(family, name)
    counts = scene(pen)
    assert counts
    assert all(number > 0 for number in counts.values())
    for motif, counted in MOTIFS.get(name, {}).items():
        assert calls[motif] == counts[counted], motif
    dark = pen.light.min(axis=2) < 0.6 if isinstance(pen, Brush) else np.asarray(pen.mask) > 128
    assert 0.005 < dark.mean() < 0.7


def noting(calls: Counter[str], draw):
    def drawn(*args, **named):
        calls[draw.__name__] += 1
        return draw(*args, **named)

    return drawn


def test_every_crane_can_be_told_by_its_red_crown():
    pen = Brush(1060, 420, make_generator(5, "cranes"), crisp=0.95)
    counts = nature_scenes.draw_gate_cranes(pen)
    red, green, blue = (pen.light[..., channel] for channel in range(3))
    crowns = ((red > 0.6) & (green < 0.3) & (blue < 0.3)).astype(np.uint8)
    found, _, stats, _ = cv2.connectedComponentsWithStats(crowns)
    assert sum(stats[1:found, cv2.CC_STAT_AREA] >= 6) == counts["cranes"] == 20


def test_a_zither_has_as_many_strings_as_are_counted():
    graver = Graver(400, 560, make_generator(1, "zither"))
    strings = object_scenes.draw_zither(graver)["strings"]
    mask = np.asarray(graver.mask) > 128
    # A straight cut across the board, slanted like it: the strings are between its two edges.
    middle, along = np.array([400.0, 582.0]), np.array([0.883, 0.469])
    cut = [middle + along * step / 2 for step in range(-340, 341)]
    ink = np.array([mask[round(y), round(x)] for x, y in cut])
    lines = int((ink[1:] & ~ink[:-1]).sum())
    assert lines in {strings + 2, strings + 3}


@pytest.mark.parametrize(
    "scene",
    [story_scenes.draw_maple_bridge, object_scenes.draw_plantain],
    ids=lambda it: it.__name__,
)
def test_a_scene_is_drawn_alike_from_the_same_seed(scene):
    one, two = (Graver(*SIZE, make_generator(9, "same")) for _ in range(2))
    scene(one)
    scene(two)
    assert one.mask.tobytes() == two.mask.tobytes()
