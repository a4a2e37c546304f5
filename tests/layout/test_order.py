"""Reading order on pages made of boxes, whose true order is known."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.items import Line
from keju.layout import PageOrder, order_lines
from tests.support.hanging import ends
from tests.support.page_maker import PITCH, Maker, ids, scaled, turned

WIDTH, HEIGHT = 3000.0, 2400.0
seeds = st.integers(0, 10_000)
leans = st.floats(-4, 4)
# Whether boxes can be told apart at all depends on the page drawn, so the pages are fixed.
made = settings(max_examples=40, derandomize=True)


def ordered(lines: list[Line], seed: int = 0) -> PageOrder:
    shuffled = list(lines)
    random.Random(seed).shuffle(shuffled)
    return order_lines(shuffled, width=WIDTH, height=HEIGHT)


def box(name: str, x0: float, y0: float, x1: float, y1: float, **fields: object) -> Line:
    return Line(id=name, polygon=((x0, y0), (x1, y0), (x1, y1), (x0, y1)), **fields)


@made
@given(seeds, leans, st.integers(4, 14))
def test_notes_are_read_in_place_right_half_first(seed: int, lean: float, count: int):
    maker = Maker(seed)
    maker.columns(count, 2500)
    order = ordered(turned(maker.page.lines, lean), seed)
    assert ids(order.reading) == ids(maker.page.reading)
    assert order.marginalia == ()


@made
@given(seeds, leans, st.integers(4, 14))
def test_broken_columns_and_uneven_boxes_change_nothing(seed: int, lean: float, count: int):
    maker = Maker(seed, jitter=0.04, broken=0.3)
    maker.columns(count, 2500)
    order = ordered(turned(maker.page.lines, lean), seed)
    assert ids(order.reading) == ids(maker.page.reading)


@made
@given(seeds, st.floats(-2, 2), st.integers(4, 14))
def test_upright_boxes_around_leaning_writing_are_understood(seed: int, lean: float, count: int):
    maker = Maker(seed)
    maker.columns(count, 2500)
    order = ordered(turned(maker.page.lines, lean, upright=True), seed)
    assert ids(order.reading) == ids(maker.page.reading)


@made
@given(seeds, st.floats(-3, 3), st.integers(5, 11))
def test_a_spread_is_read_right_leaf_first_and_its_centre_column_set_aside(
    seed: int, lean: float, count: int
):
    maker = Maker(seed, jitter=0.03)
    maker.columns(count, WIDTH / 2 + count * PITCH + 40)
    maker.centre_column(WIDTH / 2)
    maker.columns(count, WIDTH / 2 - 40)
    order = ordered(turned(maker.page.lines, lean), seed)
    assert ids(order.reading) == ids(maker.page.reading)
    assert Counter(ids(order.marginalia)) == Counter(ids(maker.page.marginalia))
    assert {line.kind for line in order.marginalia} == {"centre"}


@made
@given(seeds, st.floats(-3, 3), st.integers(5, 12))
def test_head_notes_and_half_a_centre_column_at_the_edge_are_set_aside(
    seed: int, lean: float, count: int
):
    maker = Maker(seed, jitter=0.03)
    left = maker.columns(count, 2500)
    maker.centre_column(left - 0.3 * PITCH)
    maker.head_note(2200)
    order = ordered(turned(maker.page.lines, lean), seed)
    assert ids(order.reading) == ids(maker.page.reading)
    assert {line.id: line.kind for line in order.marginalia} == dict(
        zip(ids(maker.page.marginalia), ("centre", "centre", "head"), strict=True)
    )


@made
@given(seeds)
def test_halves_of_notes_are_called_notes_and_nothing_else_is(seed: int):
    maker = Maker(seed)
    maker.columns(9, 2500)
    order = ordered(maker.page.lines, seed)
    assert {line.id for line in order.reading if line.kind == "note"} == maker.page.notes


def rough_lines() -> st.SearchStrategy[list[Line]]:
    number = st.floats(-1e4, 1e4, allow_nan=False, width=32)
    point = st.tuples(number, number)
    line = st.builds(
        lambda polygon, kind: (tuple(polygon), kind),
        st.lists(point, max_size=6),
        st.sampled_from(["main", "note", "title", "number", "centre", "seal", "head", "other"]),
    )
    return st.lists(line, max_size=30).map(
        lambda found: [Line(id=str(n), polygon=p, kind=k) for n, (p, k) in enumerate(found)]
    )


@settings(max_examples=150)
@given(rough_lines())
def test_no_line_is_ever_lost_or_doubled(lines: list[Line]):
    order = order_lines(lines, width=WIDTH, height=HEIGHT)
    assert Counter(ids(order.reading + order.marginalia)) == Counter(ids(lines))


@settings(max_examples=30)
@given(seeds, seeds)
def test_the_order_of_the_input_does_not_matter(one: int, other: int):
    maker = Maker(one, jitter=0.05, broken=0.3)
    maker.columns(8, 2500)
    maker.head_note(2000)
    assert ordered(maker.page.lines, one) == ordered(maker.page.lines, other)


@settings(max_examples=30)
@given(seeds, st.sampled_from([0.125, 0.5, 2.0, 8.0]), st.integers(-9, 9))
def test_scale_and_place_do_not_matter(seed: int, factor: float, shift: int):
    maker = Maker(seed, jitter=0.03)
    maker.centre_column(maker.columns(8, 2500) - 0.3 * PITCH)
    moved = scaled(maker.page.lines, factor, 64.0 * shift, -32.0 * shift)
    here = order_lines(maker.page.lines, width=WIDTH, height=HEIGHT)
    there = order_lines(moved, width=WIDTH * factor, height=HEIGHT * factor)
    assert ids(there.reading) == ids(here.reading)
    assert ids(there.marginalia) == ids(here.marginalia)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [box("a", 0, 0, 10, 100)],
        [box("a", 5, 5, 5, 5)],
        [box(str(n), 5, 5, 5, 5) for n in range(4)],
        [box(str(n), 0, 0, 10, 100) for n in range(4)],
        [Line(id="a"), Line(id="b")],
        [Line(id="a", polygon=((float("nan"), 1.0),)), box("b", 0, 0, 10, 100)],
        [Line(id="a", polygon=((float("inf"), 1.0), (2.0, 3.0))), box("b", 0, 0, 10, 100)],
    ],
)
def test_degenerate_pages_come_back_whole(lines: list[Line]):
    order = order_lines(lines, width=0, height=0)
    assert sorted(ids(order.reading + order.marginalia)) == sorted(ids(lines))


def test_a_line_without_an_outline_follows_its_predecessor():
    columns = [box(name, 900 - 100 * n, 0, 980 - 100 * n, 900) for n, name in enumerate("abc")]
    number = box("number", 400, 700, 420, 720, kind="number")
    lines = [columns[0], Line(id="lost"), columns[1], columns[2], number, Line(id="more")]
    order = order_lines(lines, width=1000, height=1000)
    assert ids(order.reading) == ["a", "lost", "b", "c"]
    assert ids(order.marginalia) == ["number", "more"]


def test_lines_without_any_outline_keep_their_order():
    lines = [Line(id=name) for name in "cab"] + [Line(id="seal", kind="seal")]
    order = order_lines(lines, width=1000, height=1000)
    assert ids(order.reading) == ["c", "a", "b"]
    assert ids(order.marginalia) == ["seal"]


def test_the_source_s_word_for_a_marginal_line_is_used():
    lines = [box(str(n), 900 - 100 * n, 0, 980 - 100 * n, 900) for n in range(5)]
    lines.append(box("seal", 520, 100, 680, 260, kind="seal"))
    order = order_lines(lines, width=1000, height=1000)
    assert ids(order.reading) == ["0", "1", "2", "3", "4"]
    assert [(line.id, line.kind) for line in order.marginalia] == [("seal", "seal")]


def test_title_and_author_side_by_side_in_one_column_are_read_right_to_left():
    lines = [box(str(n), 900 - 100 * n, 0, 980 - 100 * n, 900) for n in range(4)]
    lines += [
        box("author", 505, 200, 545, 500, kind="author"),
        box("title", 550, 100, 590, 500, kind="title"),
    ]
    order = order_lines(lines, width=1000, height=1000)
    assert ids(order.reading) == ["0", "1", "2", "3", "title", "author"]
    assert [line.kind for line in order.reading[-2:]] == ["title", "author"]


def test_three_rows_of_a_note_are_read_one_after_the_other():
    lines = [box(str(n), 900 - 90 * n, 0, 980 - 90 * n, 900) for n in range(4)]
    lines.append(box("head", 540, 0, 620, 300))
    rows = [box(f"row{n}", 594 - 27 * n, 310, 618 - 27 * n, 600) for n in range(3)]
    order = order_lines([*reversed(rows), *lines], width=1000, height=1000)
    assert ids(order.reading) == ["0", "1", "2", "3", "head", "row0", "row1", "row2"]


def test_a_note_broken_at_one_height_is_still_read_half_by_half():
    lines = [box(str(n), 900 - 100 * n, 0, 980 - 100 * n, 900) for n in range(4)]
    halves = [("r", 545, 595), ("l", 500, 550)]
    pieces = [
        box(f"{side}{part}", x0, y0, x1, y1)
        for side, x0, x1 in halves
        for part, y0, y1 in ((1, 310, 495), (2, 505, 700))
    ]
    stem = box("stem", 505, 0, 595, 300)
    order = order_lines([*pieces, stem, *lines], width=1000, height=1000)
    assert ids(order.reading) == ["0", "1", "2", "3", "stem", "r1", "r2", "l1", "l2"]


def test_five_thousand_boxes_are_put_in_order():
    draw = random.Random(0)
    lines = []
    for n in range(5000):
        x, y = draw.uniform(0, 5000), draw.uniform(0, 5000)
        lines.append(box(str(n), x, y, x + draw.uniform(1, 100), y + draw.uniform(1, 500)))
    ends(lambda: order_lines(lines, width=5000, height=5000))
    order = order_lines(lines, width=5000, height=5000)
    assert len(order.reading) + len(order.marginalia) == 5000
