"""Boxes are read in any notation, but only in the convention that was asked for."""

import pytest

from keju.scoring import extract_boxes
from keju.scoring.box_parsing import MOST, extract_any_boxes, extract_count_beside

ONE, TWO = (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)


@pytest.mark.parametrize(
    ("text", "rows", "rule"),
    [
        ("[[1, 2, 3, 4], [5, 6, 7, 8]]", (ONE, TWO), "JSON"),
        ("[1, 2, 3, 4]", (ONE,), "JSON"),
        ('{"boxes": [{"bbox_2d": [1,2,3,4], "label": "月"}]}', (ONE,), "JSON"),
        ('[{"xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4}]', (ONE,), "JSON"),
        ('{"x": 1, "y": 2, "width": 2, "height": 2}', (ONE,), "JSON"),
        ('["[1, 2, 3, 4]"]', (ONE,), "JSON"),
        ("[]", (), "JSON"),
        ('{"boxes": []}', (), "JSON"),
        ('Here [0,0,9,9] I look:\n```json\n[{"bbox": [1,2,3,4]}]\n```', (ONE,), "code fence"),
        ("```\n[1,2,3,4]\n```\nand\n```\n[5,6,7,8]\n```", (ONE, TWO), "code fence"),
        ("a <box>(1,2),(3,4)</box> b <box>[[5, 6, 7, 8]]</box>", (ONE, TWO), "box tags"),
        ("<|box_start|>(1,2),(3,4)<|box_end|>", (ONE,), "box tags"),
        ("I see [1, 2, 3, 4], [5, 6, 7, 8].", (ONE, TWO), "lists in the text"),
        ("- [1,2,3,4]\n- (5，6，7，8)", (ONE, TWO), "lists in the text"),
        ("<think>[9,9,9,9]</think>It is at [1, 2, 3, 4]", (ONE,), "lists in the text"),
        ("xmin=1, ymin=2, xmax=3, ymax=4", (ONE,), "named edges"),
        ("left: 1, right: 3, top: 2, bottom: 4", (ONE,), "named edges"),
        ("Character 1: 1, 2, 3, 4\n5 6 7 8", (ONE, TWO), "lines of four numbers"),
        ('["1,2,3,4", "5 6 7 8"]', (ONE, TWO), "JSON"),
        ("|x1|y1|x2|y2|\n|--|--|--|--|\n| 1 | 2 | 3 | 4 |\n|5|6|7|8|", (ONE, TWO), "table"),
        ("| 月 | 1 | 2 | 3 | 4 |", (ONE,), "table"),
        ("1. 1, 2, 3, 4\n2. 5, 6, 7, 8", (ONE, TWO), "lines of four numbers"),
    ],
)
def test_each_notation_is_read_and_named(text, rows, rule):
    found = extract_boxes(text, "xyxy")
    assert (found.rows, found.extracted.rule) == (rows, rule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<think>[1,2,3,4]",
        "There are no characters.",
        "I count 12, 34, 56, 78 of them",
        "[1, 2, 3, 4, 5, 6, 7, 8]",
        "[[1, 2], [3, 4]]",
        '{"bbox": [true, false, true, false]}',
        "x1=1, y1=2, x2=3",
        "| 1 | 2 | 3 | 4 | 5 | 6 |",
        '["1,2,3"]',
    ],
)
def test_what_is_no_box_is_not_made_one(text):
    assert extract_boxes(text, "xyxy").rows is None


def test_full_width_boxes_are_boxes():
    assert extract_boxes("［１０，　２０，３０，６０］", "xyxy").rows == ((10, 20, 30, 60),)


def test_an_answer_cut_off_keeps_the_boxes_that_are_whole():
    for text in (
        "[[1,2,3,4],[5,6,7,8],[9,1",
        '```json\n[{"bbox": [1,2,3,4]}, {"b": [5,6,7,8]}, {"',
    ):
        assert extract_boxes(text, "xyxy").rows == (ONE, TWO)


def test_bare_numbers_keep_the_declared_order_whatever_key_stands_before_them():
    assert extract_boxes('{"box_2d": [1,2,3,4]}', "yxyx").rows == (ONE,)
    assert extract_boxes("[1,2,3,4]", "cxcywh").rows == (ONE,)


@pytest.mark.parametrize(
    ("axes", "row"),
    [("xyxy", (10, 20, 30, 60)), ("yxyx", (20, 10, 60, 30)), ("xywh", (10, 20, 20, 40)),
     ("cxcywh", (20, 40, 20, 40))],
)  # fmt: skip
def test_edges_that_the_answer_names_are_put_into_the_declared_order(axes, row):
    assert extract_boxes('{"x1": 10, "y1": 20, "x2": 30, "y2": 60}', axes).rows == (row,)


def test_more_boxes_than_any_picture_has_are_no_answer():
    assert extract_boxes("[1,2,3,4]" * MOST, "xyxy").rows == (ONE,) * MOST
    assert extract_boxes("[1,2,3,4]" * (MOST + 1), "xyxy").rows is None


@pytest.mark.parametrize("text", ["[" * 10**5, "[1," * 10**5, f"[{'9' * 400}, 1, 2, 3]", "[\ud800"])
def test_hostile_text_does_no_harm(text):
    assert extract_boxes(text, "xyxy").rows in {None, ((float("inf"), 1, 2, 3),)}


@pytest.mark.parametrize(
    ("said", "count", "rule"),
    [
        ("There are 5 oracle bone characters.\n- [1, 2, 3, 4]\n- [5, 6, 7, 8]", "5", "stated"),
        ("5\n\n1. [1, 2, 3, 4]\n2. [5, 6, 7, 8]", "5", "stated"),
        ('I count 3.\n```json\n[{"box_2d": [1, 2, 3, 4], "label": "char 7"}]\n```', "3", "stated"),
        ("- [1, 2, 3, 4]\n- [5, 6, 7, 8]", "2", "listed"),
        ('```json\n[{"box_2d": [1, 2, 3, 4], "label": "char 7"}]\n```', "1", "listed"),
        ("Here are the characters:\n[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 12, 12]", "3", "listed"),
        ("[]", "0", "listed"),
        ("I cannot see any character.", None, ""),
        ("", None, ""),
    ],
)
def test_a_count_beside_boxes_is_stated_or_the_number_of_boxes(said, count, rule):
    found = extract_count_beside(said, "yxyx")
    assert found.answer == count
    assert (found.rule == "number of boxes listed") == (rule == "listed")


def test_boxes_of_a_first_guess_and_of_other_things_are_not_part_of_the_answer():
    boxes = "[10, 20, 110, 120]\n[200, 30, 260, 95]"
    guess = "At first I thought of [12, 25, 100, 110], which cut off a stroke."
    other = "The crack at [300, 300, 350, 360] is not a character."
    rows = extract_any_boxes(boxes, "xyxy").rows
    assert rows == extract_any_boxes(f"{guess}\n\n{boxes}\n\n{other}", "xyxy").rows
    assert extract_any_boxes(guess, "xyxy").rows
