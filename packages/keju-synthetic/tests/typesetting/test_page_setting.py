"""Lines set into outlines: what the page then says is what its lines say."""

from __future__ import annotations

import pytest

from keju.errors import PrerequisiteError
from keju.items import Line
from keju_synthetic.typesetting import (
    MARK,
    TypesetOptions,
    embolden_small_type,
    filter_settable,
    load_typeface,
    typeset_lines,
)

SIZE = (1000.0, 1400.0)


@pytest.fixture(scope="module")
def song():
    try:
        return load_typeface("song")
    except PrerequisiteError as error:
        pytest.skip(str(error))  # fonts are a system's, which no install of ours brings


def box(x0, y0, x1, y1):
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


LINES = (
    Line(id="1", text="天地玄黃", polygon=box(800, 200, 900, 600)),
    Line(id="2", text="宇宙洪荒日月", polygon=box(852, 610, 900, 1000), kind="note"),
    Line(id="3", text="盈昃辰宿列張", polygon=box(800, 610, 848, 1000), kind="note"),
    Line(id="4", text="寒來暑往秋收冬藏", polygon=box(660, 200, 770, 1000)),
    Line(id="5", text="千字文", polygon=box(400, 60, 700, 150), kind="title"),
)


def test_every_character_stands_once_inside_its_line(song):
    page = typeset_lines(LINES, SIZE, 700, TypesetOptions(song))
    assert not page.unset
    assert [line.text for line in page.layout.lines] == [line.text for line in LINES]
    signs = iter(page.layout.glyphs)
    for line, source in zip(page.layout.lines, LINES, strict=True):
        xs, ys = zip(*source.polygon, strict=True)
        assert min(xs) / 2 - 1 <= line.box.x0 < line.box.x1 <= max(xs) / 2 + 1
        assert min(ys) / 2 - 1 <= line.box.y0 < line.box.y1 <= max(ys) / 2 + 1
        for sign in line.text:
            glyph = next(signs)
            assert glyph.char == sign
            assert line.box.x0 <= glyph.x <= line.box.x1
            assert line.box.y0 <= glyph.y <= line.box.y1
    assert next(signs, None) is None


def test_a_level_line_runs_from_right_to_left(song):
    page = typeset_lines(LINES[4:], SIZE, 700, TypesetOptions(song))
    xs = [glyph.x for glyph in page.layout.glyphs]
    assert xs == sorted(xs, reverse=True)
    assert len({glyph.y for glyph in page.layout.glyphs}) == 1


def test_half_rows_of_a_note_stay_in_their_halves(song):
    page = typeset_lines(LINES, SIZE, 700, TypesetOptions(song))
    right, left = page.layout.lines[1].box, page.layout.lines[2].box
    assert left.x1 <= right.x0
    assert page.layout.glyphs[4].em < page.layout.glyphs[0].em


def test_rules_and_frame_cross_no_character(song):
    layout = typeset_lines(LINES, SIZE, 700, TypesetOptions(song)).layout
    assert layout.bars
    assert layout.rules
    for rule in [*layout.rules, *layout.bars]:
        for line in layout.lines:
            across = min(rule.x1, line.box.x1) - max(rule.x0, line.box.x0)
            down = min(rule.y1, line.box.y1) - max(rule.y0, line.box.y0)
            assert across <= 0.01 or down <= 0.01
    assert not typeset_lines(LINES, SIZE, 700, TypesetOptions(song, framed=False)).layout.bars


def test_characters_without_a_font_are_marked_or_dropped_and_listed(song):
    lines = (LINES[0], Line(id="4", text="寒\ue000暑", polygon=LINES[3].polygon))
    marked = typeset_lines(lines, SIZE, 700, TypesetOptions(song))
    assert [line.text for line in marked.layout.lines] == ["天地玄黃", f"寒{MARK}暑"]
    assert [(left.line, left.text, left.why) for left in marked.unset] == [
        ("4", "\ue000", "no font has it")
    ]
    left_out = typeset_lines(lines, SIZE, 700, TypesetOptions(song, marked=False))
    assert [line.text for line in left_out.layout.lines] == ["天地玄黃"]


def test_lines_without_place_text_or_room_are_listed(song):
    lines = (
        *LINES[:1],
        Line(id="no place", text="天"),
        Line(id="no text", text=" ", polygon=box(0, 0, 50, 50)),
        Line(id="no room", text="地玄", polygon=box(805, 210, 895, 590)),
    )
    page = typeset_lines(lines, SIZE, 700, TypesetOptions(song))
    whys = {left.line: left.why for left in page.unset if left.why != "no printed sign"}
    assert "no place" in whys
    assert whys["no text"] == "no text"
    assert {"1", "no room"} & set(whys)
    assert sum(why == "no room" for why in whys.values()) == 1


@pytest.mark.parametrize(
    ("text", "printed"),
    [("天，地？", "天地"), ("{1}天a", "天"), ("〇○□", "〇○□"), ("\u3000天\u3000地", "天\u3000地"),
     ("𠀋㫖⿰", "𠀋㫖"), ("のヒ", "のヒ"), ("", "")],
)  # fmt: skip
def test_editors_signs_are_not_printed(text, printed):
    assert filter_settable(text) == printed


def test_a_typeface_asks_one_font_after_the_other(song):
    hands = song.assign_hands("天𠀋\ue000")
    assert hands["天"] == "song"
    assert "\ue000" not in hands
    if "𠀋" in hands:
        assert hands["𠀋"] in song.fonts


def test_a_hand_with_forms_of_its_own_is_not_asked_for_them():
    try:
        brush = load_typeface("brush")
    except PrerequisiteError as error:
        pytest.skip(str(error))
    assert brush.assign_hands("黃天") == {"天": "brush"} | (
        {"黃": "kai"} if "kai" in brush.fonts else {}
    )


def test_small_type_is_bolder_and_large_type_as_it_is(song):
    large = typeset_lines(LINES[:1], (1000.0, 900.0), 900, TypesetOptions(song)).layout
    small = typeset_lines(LINES[:1], (1000.0, 9000.0), 900, TypesetOptions(song)).layout
    weight = song.fonts["song"][0].weight
    assert embolden_small_type(large, song.fonts)["song"][0].weight == weight
    assert weight < embolden_small_type(small, song.fonts)["song"][0].weight <= 0.4
