"""Lines read out of order, found by where they lie or by what they say."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.items import Line
from keju.layout import find_misplaced, order_of_lines, order_of_text

TEXTS = ["天地玄黃", "宇宙洪荒", "日月盈昃", "辰宿列張"]


def column(at: int, text: str = "", *, y0: float = 0, y1: float = 400) -> Line:
    """The column at a place from the right of a page of four."""
    x1 = 400 - 100 * at
    polygon = ((x1 - 80, y0), (x1, y0), (x1, y1), (x1 - 80, y1))
    return Line(id=f"c{at}", text=text or TEXTS[at], polygon=polygon)


TRUTH = [column(at) for at in range(4)]


def test_lines_in_their_order_stay():
    found = order_of_lines(TRUTH, TRUTH)
    assert [each.place for each in found] == [0, 1, 2, 3]
    assert not any(each.moved for each in found)
    assert found[0].bounds == (320, 0, 400, 400)


def test_the_fewest_characters_are_moved():
    found = order_of_lines(TRUTH, [TRUTH[0], TRUTH[2], TRUTH[3], TRUTH[1]])
    assert [(each.line, each.moved) for each in found] == [
        (0, False), (2, False), (3, False), (1, True),
    ]  # fmt: skip
    long = column(1, "宇宙洪荒" * 5)
    found = order_of_lines(TRUTH, [TRUTH[0], TRUTH[2], TRUTH[3], long])
    assert [each.moved for each in found] == [False, True, True, False]


def test_pieces_of_a_column_stand_from_top_to_bottom():
    upper, lower = column(0, "天地", y1=200), column(0, "玄黃", y0=200)
    assert not any(each.moved for each in order_of_lines(TRUTH, [upper, lower, TRUTH[1]]))
    turned = order_of_lines(TRUTH, [lower, upper, TRUTH[1]])
    assert [each.place for each in turned] == [1, 0, 2]
    assert sum(each.moved for each in turned) == 1


def test_what_lies_on_no_true_line_has_no_place():
    stray = Line(id="x", text="藏書", polygon=((0, 900), (50, 900), (50, 990), (0, 990)))
    bare = Line(id="y", text="無框")
    found = order_of_lines(TRUTH, [TRUTH[1], stray, bare, TRUTH[2]])
    assert [(each.place, each.moved) for each in found] == [(0, False), (None, False), (1, False)]


def test_a_line_across_columns_has_no_place_among_them():
    rows = [
        Line(id=f"r{n}", text="天宇日辰", polygon=((20, y), (400, y), (400, y + 90), (20, y + 90)))
        for n, y in enumerate((0, 100))
    ]
    found = order_of_lines(TRUTH, [*rows, TRUTH[3]])
    assert [(each.across, each.place, each.moved) for each in found] == [
        (True, None, False), (True, None, False), (False, 0, False),
    ]  # fmt: skip
    both = Line(id="two", text="天宇", polygon=((220, 0), (400, 0), (400, 400), (220, 400)))
    assert order_of_lines(TRUTH, [both])[0].across
    wide = Line(id="wide", text="天", polygon=((290, 0), (400, 0), (400, 400), (290, 400)))
    assert not order_of_lines(TRUTH, [wide])[0].across


def test_an_answer_without_outlines_is_placed_by_its_text():
    found = order_of_text(TRUTH, "日月盈昃\n天地玄黄\n宇亩洪荒\n辰宿列張")
    assert [each.line for each in found] == [2, 0, 1, 3]
    assert [each.moved for each in found] == [True, False, False, False]
    assert [each.line for each in order_of_text(TRUTH, "辰宿列張天地玄黃")] == [3, 0]
    assert order_of_text(TRUTH, "我看不清這張圖片") == []
    assert order_of_text(TRUTH, "") == []


def test_two_lines_of_one_text_are_two_stretches():
    twice = [column(0, "南無阿彌陀佛"), column(1, "南無阿彌陀佛"), column(2, "願生淨土中")]
    found = order_of_text(twice, "南無阿彌陀佛\n南無阿彌陀佛\n願生淨土中")
    assert sorted(each.line for each in found) == [0, 1, 2]
    assert found[2].line == 2


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 5)), max_size=8))
@settings(max_examples=80)
def test_what_stays_is_sorted_and_nothing_heavier_is(rows):
    places = [place for place, _ in rows]
    weights = [weight for _, weight in rows]
    moved = find_misplaced(places, weights)
    stays = [at for at, is_moved in enumerate(moved) if not is_moved]
    assert [places[at] for at in stays] == sorted(places[at] for at in stays)
    heaviest = max(
        sum(weights[at] for at in some)
        for size in range(len(rows) + 1)
        for some in combinations(range(len(rows)), size)
        if [places[at] for at in some] == sorted(places[at] for at in some)
    )
    assert sum(weights[at] for at in stays) == pytest.approx(heaviest)


def test_what_has_no_place_is_not_moved():
    assert find_misplaced([None, 1, None, 0], [1, 1, 1, 2]) == [False, True, False, False]
