"""Each reading pattern is named from the texts alone, with reading errors and without."""

import random

import pytest

from keju.layout import find_reading_pattern

PAGE = (
    "天地玄黄宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律吕調陽雲騰致雨露結為霜金生麗水玉出崑岡劍號巨闕珠"
    "稱夜光果珍李柰菜重芥薑海鹹河淡鱗潛羽翔"
)
COLUMNS = [PAGE[start : start + 9] for start in range(0, 72, 9)]
TRUTH = "".join(COLUMNS)


def rows(columns, *, left_to_right=False):
    """The columns as an engine for lines across reads them."""
    order = columns[::-1] if left_to_right else columns
    deepest = max(map(len, columns))
    return "".join(col[row] for row in range(deepest) for col in order if row < len(col))


def merged(columns):
    """Two columns each as one line, their characters by turns."""
    pairs = zip(columns[::2], columns[1::2], strict=True)
    return "".join(rows(list(pair)) for pair in pairs)


def misread(text, share, seed=0):
    """A share of the characters replaced, dropped or doubled by others."""
    draw = random.Random(seed)
    said = []
    for char in text:
        wrong = chr(draw.randrange(0x6000, 0x7000))
        kind = draw.random() / share if share else 1
        said.append(char if kind >= 1 else ("", wrong, char + wrong)[int(kind * 3)])
    return "".join(said)


READINGS = {
    "rows across columns": rows(COLUMNS),
    "columns from left to right": "".join(COLUMNS[::-1]),
    "columns merged": merged(COLUMNS),
    "columns out of order": "".join(COLUMNS[4:] + COLUMNS[:4]),
}


@pytest.mark.parametrize("share", [0, 0.1, 0.25])
@pytest.mark.parametrize("name", READINGS)
def test_a_pattern_is_named_whatever_the_reading_errors(name, share):
    assert find_reading_pattern(TRUTH, misread(READINGS[name], share)) == name


@pytest.mark.parametrize("columns", [COLUMNS, [COLUMNS[0][:3], *COLUMNS[1:5], COLUMNS[5][:5]]])
def test_rows_are_named_in_both_directions_and_with_short_columns(columns):
    for left_to_right in (False, True):
        said = rows(columns, left_to_right=left_to_right)
        assert find_reading_pattern("".join(columns), said) == "rows across columns"


@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.6])
def test_a_page_in_order_has_no_pattern(share):
    for seed in range(20):
        assert find_reading_pattern(TRUTH, misread(TRUTH, share, seed)) is None


def test_characters_of_the_page_that_are_read_in_wrong_places_are_no_pattern():
    found = []
    for seed in range(40):
        draw = random.Random(seed)
        said = [draw.choice(PAGE) if draw.random() < 0.3 else char for char in TRUTH]
        found.append(find_reading_pattern(TRUTH, "".join(said)))
    assert found.count(None) >= 38


def test_characters_in_no_order_have_no_regular_one():
    draw = random.Random(3)
    found = {
        find_reading_pattern(TRUTH, "".join(draw.sample(TRUTH, len(TRUTH)))) for _ in range(50)
    }
    assert found == {"no regular order"}


def test_notes_are_named_where_they_are_known():
    notes = [*range(20, 26), *range(50, 57)]
    main = "".join(char for place, char in enumerate(TRUTH) if place not in notes)
    said = main + TRUTH[20:26] + TRUTH[50:57]
    assert find_reading_pattern(TRUTH, said, notes) == "notes misplaced"
    assert find_reading_pattern(TRUTH, said) == "columns out of order"
    across = TRUTH[:20] + rows([TRUTH[20:23], TRUTH[23:26]]) + TRUTH[26:50]
    across += rows([TRUTH[50:54], TRUTH[54:57]]) + TRUTH[57:]
    assert find_reading_pattern(TRUTH, across, notes) == "notes misplaced"


@pytest.mark.parametrize("name", READINGS)
def test_notes_do_not_take_the_place_of_another_pattern(name):
    notes = [place for place in range(72) if place % 9 in (4, 5)]
    assert find_reading_pattern(TRUTH, READINGS[name], notes) == name


def test_another_pages_text_has_no_pattern():
    assert find_reading_pattern(TRUTH, "學而時習之不亦說乎有朋自遠方") is None
    assert find_reading_pattern(TRUTH, "") is None
    assert find_reading_pattern("", TRUTH) is None
