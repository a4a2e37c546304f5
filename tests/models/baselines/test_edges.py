"""Curves of edges: fragments that were one fit best, whatever way they lie."""

from __future__ import annotations

import math
from itertools import product

import cv2
import numpy as np
import pytest

from keju.metrics.ranking import accuracy_at, auc, rank
from keju.models import ModelOptions, open_model
from keju.models.baselines.vision import EVEN, POINTS, SHARES, SLOPE, fit, length, outline
from tests.support.showing import Stored, of_pair, pair, stored, torn

BONES = 12


@pytest.fixture(scope="module")
def fragments() -> list[Stored]:
    """Twelve bones, each torn in two: the halves stand side by side."""
    draw = np.random.default_rng(20)
    return [stored(half) for _ in range(BONES) for half in torn(draw, wear=3)]


def test_halves_find_each_other_far_above_chance(fragments: list[Stored]):
    model = open_model("baseline:edges", ModelOptions())
    rankings = []
    for at, one in enumerate(fragments):
        others = [place for place in range(2 * BONES) if place != at]
        likely = [float(of_pair(model, one, fragments[other])) for other in others]
        rankings.append(rank(likely, [others.index(at ^ 1)]))
    # By chance .04 and .50.
    assert np.mean([accuracy_at(each, 1) for each in rankings]) > 0.6
    assert np.mean([auc(each) for each in rankings]) > 0.85


def test_the_threshold_parts_halves_from_strangers_better_than_chance(fragments: list[Stored]):
    model = open_model("baseline:edges", ModelOptions())
    halves = [of_pair(model, *fragments[at : at + 2], "yes-no") for at in range(0, 2 * BONES, 2)]
    strangers = [
        of_pair(model, fragments[at], fragments[(at + 3) % (2 * BONES)], "yes-no")
        for at in range(0, 2 * BONES, 2)
    ]
    assert halves.count("Yes") / BONES > strangers.count("Yes") / BONES + 0.3


def test_it_is_the_same_from_either_side(fragments: list[Stored]):
    for at in range(4):
        one, other = fragments[at], fragments[at + 5]
        models = [open_model("baseline:edges", ModelOptions()) for _ in range(2)]
        assert of_pair(models[0], one, other) == of_pair(models[1], other, one)


def naive(one: np.ndarray, other: np.ndarray, worn: float) -> float:
    """The best fit by laying every stretch on every other, turned as fits best."""
    best = 0.0
    for share in SHARES:
        size = int(share * min(len(one), len(other)))
        for a, b in product(range(len(one)), range(len(other))):
            left = one[(a + np.arange(size)) % len(one)]
            right = other[(b + np.arange(size)) % len(other)]
            left, right = left - left.mean(), right - right.mean()
            turn = np.vdot(right, left)
            # Halfway to each: neither curve is the true one.
            misfit = (np.abs(left - right * turn / abs(turn)) ** 2).mean() / 2
            narrow = [np.linalg.svd([z.real, z.imag], compute_uv=False)[1] for z in (left, right)]
            bend = (narrow[0] ** 2 + narrow[1] ** 2) / size / 2
            best = max(best, size / POINTS * np.log((bend + worn) / (misfit + worn)))
    return best


def even(curve: np.ndarray, step: float) -> np.ndarray:
    """Points of a closed curve that are a step apart along it."""
    way = np.concatenate([[0], np.abs(np.diff(curve, append=curve[0])).cumsum()])
    places = np.arange(round(way[-1] / step)) * step
    return np.interp(places, way, np.append(curve, curve[0]))


def evidence(one: np.ndarray, other: np.ndarray) -> float:
    """What the probability of a fit is made of."""
    return EVEN - SLOPE * math.log(1 / fit(one, other) - 1)


def test_it_is_the_evidence_that_trying_everything_gives():
    draw = np.random.default_rng(5)
    one, other = (
        np.exp(2j * np.pi * np.arange(count) / count) * (6 + draw.normal(0, 0.5, count))
        for count in (61, 48)
    )
    step = max(length(one), length(other)) / POINTS
    expected = naive(even(one, step), even(other, step)[::-1], (step / 4) ** 2)
    assert evidence(one, other) == pytest.approx(expected, rel=1e-9)


def block(edge: np.ndarray, *, above: bool) -> np.ndarray:
    """The outline of a block of 120 by 120 on one side of an edge that runs from left to right."""
    variant = np.linspace(0, 120, 121)[:-1]
    if above:
        rest = [120 + 1j * variant, 120 + 120j - variant, 120j - 1j * variant]
        return np.concatenate([edge, *rest])
    return np.concatenate([edge[::-1], -1j * variant, -120j + variant, 120 - 120j + 1j * variant])


def test_straight_edges_prove_nothing_and_one_crack_much():
    variant = np.linspace(0, 120, 120)
    crack = variant + 1j * np.random.default_rng(2).normal(0, 2, 120).cumsum()
    straight = [block(variant + 0j, above=above) for above in (True, False)]
    cracked = [block(crack, above=above) for above in (True, False)]
    assert evidence(*straight) < 0.15
    assert evidence(cracked[0], straight[1]) < 0.6
    assert evidence(cracked[0], cracked[1] * np.exp(0.7j)) > 0.9


def test_an_outline_is_as_long_whichever_way_the_thing_lies():
    bar = np.full((300, 300), 255, np.uint8)
    bar[100:180, 60:240] = 30
    turn = cv2.getRotationMatrix2D((150, 150), 37, 1)
    slanted = cv2.warpAffine(bar, turn, (300, 300), borderValue=255)
    lengths = [length(outline(each)) for each in (bar, slanted)]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.01)


@pytest.mark.parametrize("side", [1, 2, 40])
def test_a_picture_with_nothing_on_it_fits_nothing(side: int, fragments: list[Stored]):
    model = open_model("baseline:edges", ModelOptions())
    empty = stored(np.full((side, side), 255, np.uint8))
    assert of_pair(model, empty, fragments[0], "yes-no") == "No"


def test_characters_are_not_its_affair():
    blank = stored(np.zeros((4, 4), np.uint8))
    model = open_model("baseline:edges", ModelOptions())
    why = "baseline:edges compares pictures of rejoining"
    assert model.unsupported_reason(pair(blank, blank, task="retrieval")) == why
