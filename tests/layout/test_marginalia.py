"""Marginal lines are separated from the text, and text that resembles them is not."""

from __future__ import annotations

from keju.items import Line, LineKind
from keju.layout import MARGINAL_KINDS, order_lines
from tests.support.page_maker import ids


def box(name: str, x0: float, y0: float, x1: float, y1: float, kind: LineKind = "main") -> Line:
    return Line(id=name, polygon=((x0, y0), (x1, y0), (x1, y1), (x0, y1)), kind=kind)


def columns(count: int = 8) -> list[Line]:
    return [box(f"c{n}", 905 - 100 * n, 100, 995 - 100 * n, 900) for n in range(count)]


def marginalia(lines: list[Line]) -> dict[str, str]:
    order = order_lines(lines, width=1000, height=1000)
    return {line.id: line.kind for line in order.marginalia}


def test_a_small_running_title_and_page_number_beside_the_text_are_a_centre_column():
    extra = [box("title", 145, 150, 185, 350), box("page", 145, 700, 185, 740)]
    assert marginalia([*columns(), *extra]) == {"title": "centre", "page": "centre"}


def test_a_short_last_column_is_text():
    assert marginalia([*columns(), box("end", 105, 100, 195, 180)]) == {}


def test_an_indented_heading_at_the_edge_is_text():
    assert marginalia([*columns(), box("heading", 105, 250, 195, 500)]) == {}


def test_a_raised_column_is_text():
    lines = columns()
    lines[3] = box("raised", 605, 20, 695, 900)
    assert marginalia(lines) == {}


def test_notes_above_and_below_the_columns_are_margins():
    extra = [box("above", 640, 20, 680, 80), box("below", 340, 930, 380, 980)]
    assert marginalia([*columns(), *extra]) == {"above": "head", "below": "foot"}


def test_a_note_at_the_foot_of_a_short_page_is_text():
    lines = columns(6)
    lines[2] = box("main", 705, 100, 795, 800)
    extra = [box("right", 752, 810, 796, 900), box("left", 704, 810, 748, 900)]
    order = order_lines([*lines, *extra], width=1000, height=1000)
    assert ids(order.reading) == ["c0", "c1", "main", "right", "left", "c3", "c4", "c5"]


def test_a_source_that_names_its_centre_column_is_believed_to_name_it_all():
    named = box("named", 120, 110, 160, 300, kind="centre")
    small = box("small", 145, 400, 185, 500)
    assert marginalia([*columns(), named, small]) == {"named": "centre"}


def test_every_kind_of_marginalia_is_found_and_kept():
    lines = columns()
    kinds = sorted(MARGINAL_KINDS)
    lines += [box(kind, 20 + 5 * n, 100, 24 + 5 * n, 200, kind) for n, kind in enumerate(kinds)]
    assert marginalia(lines) == {kind: kind for kind in kinds}
