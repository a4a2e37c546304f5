"""Running text in columns: double-row notes are in place, and the reference is the placed text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keju_synthetic.page_layout import Setting
from keju_synthetic.text_flow import Grid, TextFlow
from keju_synthetic.texts import Run

GRID = Grid(middles=[90.0, 70.0, 50.0], column=20.0, top=100.0, rows=5, pitch=10.0)
MAIN = Setting(10.0, 9.0, "main")


def flow(note_pitch: float = 10.0, indent: int = 0) -> TextFlow:
    return TextFlow(GRID, MAIN, Setting(note_pitch, note_pitch * 0.5, "note"), indent=indent)


def placed(one: TextFlow) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in one.lines]


def test_a_note_is_two_lines_right_row_first_and_the_text_goes_on_below():
    one = flow()
    one.add_paragraph([Run("main", "子曰"), Run("note", "甲乙丙"), Run("main", "學")])
    assert placed(one) == [("main", "子曰"), ("note", "甲乙"), ("note", "丙"), ("main", "學")]
    right, left = one.lines[1].box, one.lines[2].box
    assert right.x0 > left.x1, "right row"
    assert right.y0 == left.y0 > one.lines[0].box.y1
    assert one.lines[3].box.y0 > right.y1
    assert {glyph.x for glyph in one.glyphs if glyph.hand == "main"} == {90.0}


def test_a_long_note_fills_the_column_in_two_rows_and_goes_on_in_the_next():
    one = flow()
    one.add_paragraph([Run("main", "子曰學"), Run("note", "甲乙丙丁戊己庚")])
    assert placed(one)[1:] == [("note", "甲乙"), ("note", "丙丁"), ("note", "戊己"), ("note", "庚")]
    assert one.lines[3].box.x1 < one.lines[2].box.x0, "the next column is to the left"


def test_smaller_notes_take_fewer_rows_and_the_text_resumes_on_the_grid():
    one = flow(note_pitch=5.0)
    one.add_paragraph([Run("note", "甲乙丙丁戊"), Run("main", "子")])
    assert placed(one) == [("note", "甲乙丙"), ("note", "丁戊"), ("main", "子")]
    assert one.glyphs[-1].y == 100 + 2 * 10 + 5


def test_paragraphs_begin_columns_and_later_columns_can_be_indented():
    one = flow(indent=1)
    one.add_paragraph([Run("main", "天地玄黃宇宙")])
    one.add_paragraph([Run("main", "日月")])
    assert placed(one) == [("main", "天地玄黃宇"), ("main", "宙"), ("main", "日月")]
    assert one.lines[1].box.y0 - one.lines[0].box.y0 == 10
    assert one.lines[2].box.y0 == one.lines[0].box.y0


def test_headings_have_columns_of_their_own_and_a_byline_stands_at_the_foot():
    one = flow()
    one.add_heading("論語", "title", lowered=0)
    one.add_heading("朱熹", "author", lowered=1, at_foot=True)
    one.add_paragraph([Run("main", "子")])
    assert placed(one) == [("title", "論語"), ("author", "朱熹"), ("main", "子")]
    assert one.glyphs[3].y == 100 + 40 - 5


def test_columns_before_the_visible_part_are_filled_and_not_drawn():
    one = TextFlow(GRID._replace(hidden=1), MAIN, MAIN)
    one.add_heading("論語", "title", lowered=0)
    one.add_paragraph([Run("main", "天地玄黃宇宙洪荒日月盈昃")])
    assert placed(one) == [("main", "天地玄黃宇"), ("main", "宙洪荒日月")]
    assert one.glyphs[0].x == 70


RUNS = st.lists(
    st.tuples(st.sampled_from(["main", "note"]), st.text("天地玄黃", min_size=1, max_size=13)),
    max_size=6,
)


@given(RUNS, st.sampled_from([5.0, 7.2, 10.0]), st.integers(0, 2))
def test_what_is_placed_is_a_beginning_of_the_text_and_stays_in_the_columns(runs, pitch, indent):
    one = flow(pitch, indent)
    one.add_paragraph([Run(kind, text) for kind, text in runs])
    whole = "".join(text for _, text in runs)
    drawn = "".join(line.text for line in one.lines)
    assert whole.startswith(drawn)
    assert drawn == "".join(glyph.char for glyph in one.glyphs)
    assert drawn == whole or one.is_full
    for line in one.lines:
        assert line.box.y0 >= 100
        assert line.box.y1 <= 100 + 5 * 10 + 1e-6
