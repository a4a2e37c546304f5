from __future__ import annotations

from keju.items import Line
from keju.layout import group_columns, order_lines, page_text


def box(text: str, x0: float, y0: float, x1: float, y1: float) -> Line:
    return Line(id=text, text=text, polygon=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


PAGE = [
    box("天地玄黃", 910, 0, 990, 400),
    box("天玄", 952, 405, 996, 500),
    box("地黃", 904, 405, 948, 500),
    box("宇宙", 910, 505, 990, 700),
    box("日月盈昃", 810, 0, 890, 400),
    box("辰宿", 852, 405, 896, 500),
    box("列張", 804, 405, 848, 500),
    box("寒來暑往", 710, 0, 790, 400),
]


def test_the_text_has_a_row_for_each_column():
    order = order_lines(PAGE[::-1], width=1000, height=1000)
    assert page_text(order.reading) == "天地玄黃天玄地黃宇宙\n日月盈昃辰宿列張\n寒來暑往"


def test_lines_without_text_leave_no_trace_and_lines_without_outline_have_their_own_row():
    lines = [PAGE[0], Line(id="x", text="甲"), Line(id="y", text="乙"), Line(id="z"), PAGE[3]]
    assert page_text(lines) == "天地玄黃\n甲\n乙\n宇宙"
    assert page_text([]) == ""


def test_columns_come_right_to_left_each_from_head_to_foot():
    columns = group_columns([*PAGE[::-1], Line(id="without outline")])
    assert [[line.text for line in column] for column in columns] == [
        ["天地玄黃", "天玄", "地黃", "宇宙"],
        ["日月盈昃", "辰宿", "列張"],
        ["寒來暑往"],
    ]
