"""The box of a line of type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju_synthetic.page_layout import Rect
from keju_synthetic.typesetting import LineBox, measure_box, separate_boxes


def test_a_box_is_its_own_bed():
    assert measure_box([(10, 20), (40, 20), (40, 220), (10, 220), (10, 20)]) == LineBox(
        Rect(10, 20, 40, 220), 0.0
    )


def test_a_leaning_column_keeps_its_width():
    bed = measure_box([(10, 0), (40, 0), (60, 400), (30, 400)])
    assert bed.lean == pytest.approx(0.05)
    assert bed.width == pytest.approx(30)


def test_a_swash_moves_nothing():
    bed = measure_box([(10, 0), (40, 0), (40, 190), (90, 200), (40, 210), (40, 400), (10, 400)])
    assert bed.box == Rect(10, 0, 40, 400)


@pytest.mark.parametrize("polygon", [(), [(0, 0), (9, 9)], [(0, 0), (0, 9), (0, 20)],
                                     [(0, 5), (9, 5), (20, 5)]])  # fmt: skip
def test_an_outline_without_area_has_no_box(polygon):
    assert measure_box(polygon) is None


def bed(*box: float) -> LineBox:
    return LineBox(Rect(*box), 0.0)


def test_neighbours_meet_in_the_middle_of_what_they_shared():
    right, left = separate_boxes([bed(90, 0, 190, 400), bed(0, 10, 100, 390)])
    assert (right.box, left.box) == (Rect(95, 0, 190, 400), Rect(0, 10, 95, 390))


def test_a_note_under_its_stem_is_parted_downwards():
    stem, note = separate_boxes([bed(0, 0, 100, 200), bed(50, 190, 98, 400)])
    assert (stem.box.y1, note.box.y0) == (195, 195)
    assert stem.box.x1 == 100


def test_a_line_upon_another_has_no_room():
    first, second, aside = separate_boxes(
        [bed(0, 0, 100, 400), bed(2, 20, 98, 380), bed(200, 0, 300, 400)]
    )
    assert (first is None) != (second is None)
    assert (first or second).height >= 360
    assert aside == bed(200, 0, 300, 400)


@given(st.lists(st.tuples(*[st.integers(0, 60)] * 2, *[st.integers(1, 40)] * 2), max_size=12))
def test_no_two_line_boxes_overlap(boxes):
    beds = [bed(x, y, x + w, y + h) for x, y, w, h in boxes]
    left = [each for each in separate_boxes(beds) if each is not None]
    for number, (a, _) in enumerate(left):
        for b, _ in left[number + 1 :]:
            assert min(a.x1, b.x1) <= max(a.x0, b.x0) or min(a.y1, b.y1) <= max(a.y0, b.y0)
    assert bool(left) == bool(boxes)
