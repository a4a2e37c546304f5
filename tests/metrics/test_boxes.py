"""Boxes earn by overlap, one to one; what is no box earns nothing and still counts."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.errors import UsageError
from keju.metrics.base import UndefinedMetricError
from keju.metrics.boxes import (
    THRESHOLDS,
    BoxConvention,
    box_convention,
    box_hits,
    from_pixels,
    iou_matrix,
    mean_iou,
    to_pixels,
)

EDGE = st.integers(-2, 9)
BOX = st.tuples(EDGE, EDGE, EDGE, EDGE)
BOXES = st.lists(BOX, max_size=4)
SOME_BOXES = st.lists(BOX, min_size=1, max_size=4)


def pixels(boxes):
    """The pixels that boxes with whole edges cover."""
    return {(x, y) for x0, y0, x1, y1 in boxes for x in range(x0, x1) for y in range(y0, y1)}


def naive_iou(left, right):
    first, second = pixels([left]), pixels([right])
    return len(first & second) / len(first | second) if first & second else 0.0


def pairings(rows, columns):
    if rows > columns:
        yield from ([(i, j) for j, i in each] for each in pairings(columns, rows))
        return
    for chosen in itertools.permutations(range(columns), rows):
        yield list(enumerate(chosen))


@given(SOME_BOXES, SOME_BOXES)
def test_iou_is_the_share_of_pixels(truth, predicted):
    overlaps = iou_matrix(truth, predicted)
    for row, column in itertools.product(range(len(truth)), range(len(predicted))):
        expected = naive_iou(truth[row], predicted[column])
        assert overlaps[row, column] == pytest.approx(expected)


@given(SOME_BOXES, BOXES)
def test_matching_has_the_greatest_sum_of_all_pairings(truth, predicted):
    overlaps = iou_matrix(truth, predicted)
    best = max(
        sum(overlaps[pair] for pair in each) for each in pairings(len(truth), len(predicted))
    )
    mean = best / max(len(truth), len(predicted))
    assert mean_iou(truth, predicted) == pytest.approx(mean)


@given(SOME_BOXES, BOXES)
def test_hits_are_the_most_pairs_that_overlap_enough(truth, predicted):
    overlaps = iou_matrix(truth, predicted)
    hits = box_hits(truth, predicted)
    for threshold, found in zip(THRESHOLDS, hits.hits, strict=True):
        every = pairings(len(truth), len(predicted))
        assert found == max(sum(overlaps[pair] >= threshold for pair in each) for each in every)


def test_identity_is_one_by_every_measure():
    boxes = [[0, 0, 10, 10], [5, 5, 20, 30]]
    assert mean_iou(boxes, boxes) == 1
    assert box_hits(boxes, boxes).f1 == 1


def test_thresholds_are_those_of_coco_to_the_last_digit():
    assert THRESHOLDS == (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


def test_an_overlap_equal_to_the_threshold_is_a_hit():
    hits = box_hits([[0, 0, 10, 10]], [[0, 0, 10, 6]])
    assert hits.hits == (1, 1, 1, 0, 0, 0, 0, 0, 0, 0)
    assert hits.f1 == pytest.approx(0.3)


def test_a_grid_of_boxes_is_not_paid_for():
    truth = [[100, 100, 200, 200], [420, 450, 480, 560]]
    grid = [[x, y, x + 100, y + 100] for x in range(0, 1000, 100) for y in range(0, 1000, 100)]
    assert mean_iou(truth, grid) < 0.02
    assert mean_iou(truth, grid) * len(grid) / len(truth) > 0.5
    assert box_hits(truth, grid).f1 < 0.02


def test_extra_boxes_cost_as_much_as_missing_ones():
    box, other = [0, 0, 10, 10], [50, 50, 60, 60]
    assert mean_iou([box], [box, other]) == mean_iou([box, other], [box]) == 0.5
    assert mean_iou([box], [box, box]) == 0.5


DEGENERATE = [
    [10, 0, 0, 10],
    [0, 0, 0, 10],
    [math.nan, 0, 10, 10],
    [0, 0, math.inf, 10],
    [-1e300, -1e300, 1e300, 1e300],
]


@pytest.mark.parametrize("box", DEGENERATE)
def test_a_degenerate_box_overlaps_with_nothing_and_is_counted(box):
    sound = [0, 0, 10, 10]
    assert iou_matrix([sound, box], [box]).tolist() == [[0], [0]]
    assert mean_iou([sound], [sound, box]) == 0.5
    assert box_hits([sound], [sound, box]).f1 == pytest.approx(2 / 3)


def test_no_boxes_predicted_is_zero_and_no_truth_is_undefined():
    truth = [[0, 0, 10, 10]]
    assert mean_iou(truth, []) == 0
    assert box_hits(truth, []).f1 == 0
    for measure in (mean_iou, box_hits):
        with pytest.raises(UndefinedMetricError):
            measure([], truth)


def test_a_box_is_four_numbers():
    with pytest.raises(ValueError, match="four"):
        iou_matrix([[1, 2, 3]], [])


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("xyxy", [20, 30, 60, 90]),
        ("yxyx", [30, 20, 90, 60]),
        ("xywh", [20, 30, 40, 60]),
        ("cxcywh", [40, 60, 40, 60]),
        ("xyxy-unit", [0.1, 0.1, 0.3, 0.3]),
        ("cxcywh-unit", [0.2, 0.2, 0.2, 0.2]),
        ("xyxy-1000", [100, 100, 300, 300]),
        ("yxyx-1000", [100, 100, 300, 300]),
    ],
)
def test_every_convention_gives_the_same_pixels(name, row):
    boxes = to_pixels([row], box_convention(name), width=200, height=300)
    assert boxes.tolist() == [pytest.approx([20, 30, 60, 90])]


def test_the_convention_is_taken_at_its_word():
    small = to_pixels([[0, 0, 1, 1]], BoxConvention("xyxy", "pixels"), width=200, height=300)
    assert small.tolist() == [[0, 0, 1, 1]]
    assert to_pixels([], BoxConvention(), width=1, height=1).shape == (0, 4)


@pytest.mark.parametrize("name", ["", "xyyx", "xyxy-100", "xyxy-", "XYXY"])
def test_an_unknown_convention_is_named(name):
    if name == "xyxy-":
        assert box_convention(name) == BoxConvention()
        return
    with pytest.raises(UsageError, match="no box convention"):
        box_convention(name)


def test_three_thousand_boxes_are_matched():
    rng = np.random.default_rng(1)
    corners = rng.uniform(0, 900, size=(3000, 2))
    boxes = np.hstack([corners, corners + rng.uniform(10, 90, size=(3000, 2))])
    assert mean_iou(boxes[:20], boxes) == pytest.approx(20 / 3000)


def test_golden_boxes_are_equal(shared):
    cases = json.loads((shared / "golden/obi_public.json").read_text())["where"]
    for case in cases:
        mean, truth = mean_iou(case["gt"], case["pred"]), len(case["gt"])
        total = mean * max(truth, len(case["pred"]))
        assert total == pytest.approx(case["hungarian_sum"], abs=1e-12)
        assert mean == pytest.approx(case["miou_max"], abs=1e-12)
        assert total / truth == pytest.approx(case["miou_gt"], abs=1e-12)
    assert len(cases) == 60


@given(SOME_BOXES, st.sampled_from(["xyxy", "yxyx", "xywh", "cxcywh"]),
       st.sampled_from(["", "-unit", "-1000"]))  # fmt: skip
def test_what_a_convention_writes_it_reads_again(boxes, axes, scale):
    convention = box_convention(axes + scale)
    written = from_pixels(boxes, convention, width=7, height=11)
    assert np.allclose(to_pixels(written, convention, width=7, height=11), boxes)
