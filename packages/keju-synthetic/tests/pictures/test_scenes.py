"""What a scene says that it shows is what it shows."""

from __future__ import annotations

from collections import Counter

import cv2
import numpy as np
import pytest

from keju_synthetic.noise import generator
from keju_synthetic.pictures import illustrations, paintings, studies, tales, things
from keju_synthetic.pictures.brush import Brush, Graver

SIZE = (340, 340)


def pen_for(family: str, name: str) -> Brush | Graver:
    rng = generator(3, name)
    return Brush(*SIZE, rng) if family == "paintings" else Graver(*SIZE, rng)


SCENES = {
    "paintings": paintings.SCENES,
    "illustrations": illustrations.SCENES,
}


MOTIFS = {
    "rivers": {"boat": "boats", "pavilion": "pavilions", "pine": "pines"},
    "blue-green": {"boat": "boats", "hut": "huts"},
    "snow-bridge": {"bare_tree": "trees", "donkey": "donkeys", "bridge": "bridges"},
    "cloud-peaks": {"person": "people", "pine": "pines", "spire": "peaks"},
    "peach-spring": {"leafy": "trees", "boat": "boats"},
    "reed-geese": {"goose": "geese"},
    "bamboo-rock": {"bamboo": "stalks", "rock": "rocks"},
    "ink-plum": {"blossom": "blossoms", "bud": "buds"},
    "staring-fish": {"fish": "fish"},
    "lotus-fan": {"lotus": "flowers", "lotus_leaf": "leaves"},
    "gate-cranes": {"crane": "flying", "standing_crane": "standing"},
    "ink-grapes": {"grapes": "bunches", "vine_leaf": "leaves"},
    "straw-boats": {"war_boat": "boats", "person": "people"},
    "tiger-fight": {"pine": "pines", "tiger": "tigers", "person": "people"},
    "winter-shoots": {"_shoot": "shoots", "bamboo": "stalks"},
    "maple-bridge": {"far_bird": "birds", "boat": "boats"},
    "plantain": {"_ribbed": "leaves"},
    "lotus-plant": {"lotus": "flowers", "lotus_leaf": "leaves"},
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
    pen = Brush(1060, 420, generator(5, "cranes"), crisp=0.95)
    counts = studies.gate_cranes(pen)
    red, green, blue = (pen.light[..., channel] for channel in range(3))
    crowns = ((red > 0.6) & (green < 0.3) & (blue < 0.3)).astype(np.uint8)
    found, _, stats, _ = cv2.connectedComponentsWithStats(crowns)
    assert sum(stats[1:found, cv2.CC_STAT_AREA] >= 6) == counts["cranes"] == 20


def test_a_zither_has_as_many_strings_as_are_counted():
    graver = Graver(400, 560, generator(1, "zither"))
    strings = things.zither(graver)["strings"]
    mask = np.asarray(graver.mask) > 128
    # A straight cut across the board, aslant as it lies: the strings lie between its two edges.
    middle, along = np.array([400.0, 582.0]), np.array([0.883, 0.469])
    cut = [middle + along * step / 2 for step in range(-340, 341)]
    ink = np.array([mask[round(y), round(x)] for x, y in cut])
    lines = int((ink[1:] & ~ink[:-1]).sum())
    assert lines in {strings + 2, strings + 3}


@pytest.mark.parametrize("module", [tales, things])
def test_a_scene_is_drawn_alike_from_the_same_chance(module):
    scene = tales.maple_bridge if module is tales else things.plantain
    one, two = (Graver(*SIZE, generator(9, "same")) for _ in range(2))
    scene(one)
    scene(two)
    assert one.mask.tobytes() == two.mask.tobytes()
