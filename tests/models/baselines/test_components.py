"""Joined ink as characters: real oracle-bone crops laid on boards, and odd boards."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.images import open_image
from keju.items import AnswerForm, Request
from keju.metrics.boxes import box_hits
from keju.models import ModelOptions, open_model
from keju.models.baselines.vision import ink_boxes
from tests.support.showing import Crops, Grey, laid_out, oracle_crops, said, stored

Box = tuple[int, int, int, int]


def request(board: Grey, form: AnswerForm = "boxes", convention: str = "xyxy") -> Request:
    return Request(
        item="b", benchmark="OBI-Bench", task="recognition", form=form, prompt="?",
        images=(stored(board).ref,), box_convention=convention if form == "boxes" else "",
    )  # fmt: skip


def found(board: Grey) -> list[Box]:
    model = open_model("baseline:components", ModelOptions())
    return [tuple(box) for box in json.loads(said(model, request(board), [stored(board).data]))]


def written(*boxes: Box, ink: int = 20, ground: int = 230, side: int = 200) -> Grey:
    board = np.full((side, side), ground, np.uint8)
    for x0, y0, x1, y1 in boxes:
        board[y0:y1, x0:x1] = ink
    return board


@pytest.mark.parametrize(("ink", "ground"), [(20, 230), (240, 10)])
def test_boxes_are_those_of_the_ink_from_top_to_bottom(ink: int, ground: int):
    boxes = [(20, 30, 50, 70), (120, 30, 150, 60), (60, 110, 90, 150)]
    assert found(written(*boxes[::-1], ink=ink, ground=ground)) == boxes


def test_strokes_of_one_character_are_one_box():
    two, other = [(20, 30, 50, 40), (20, 43, 50, 53)], (120, 100, 150, 140)
    assert found(written(*two, other)) == [(20, 30, 50, 53), other]


def test_dirt_is_no_character_and_a_crack_is_none():
    character, dirt, crack = (60, 60, 90, 95), (10, 10, 11, 12), (5, 150, 195, 152)
    assert found(written(character, dirt, crack)) == [character]


def test_only_what_is_written_on_the_bone_counts():
    board = np.full((400, 400), 255, np.uint8)
    cv2.ellipse(board, (200, 200), (180, 150), 0, 0, 360, 120, -1)
    board[150:190, 150:180] = 235
    board[5:25, 5:25] = 0
    assert found(board) == [(150, 150, 180, 190)]


@pytest.mark.parametrize("shape", [(1, 1), (2, 300), (4, 400), (50, 60)])
def test_no_picture_is_too_odd(shape: tuple[int, int]):
    draw = np.random.default_rng(1)
    for board in (draw.integers(0, 256, shape, np.uint8), np.eye(*shape, dtype=np.uint8) * 255):
        for x0, y0, x1, y1 in found(board):
            assert 0 <= x0 < x1 <= shape[1]
            assert 0 <= y0 < y1 <= shape[0]


@pytest.mark.parametrize("board", [np.full((50, 60), 7, np.uint8), np.zeros((1, 1), np.uint8)])
def test_a_blank_board_has_none(board: Grey):
    assert found(board) == []
    model = open_model("baseline:components", ModelOptions())
    assert said(model, request(board, "number"), [stored(board).data]) == "0"


def test_it_counts_what_it_finds():
    board = written((20, 30, 50, 70), (120, 30, 150, 60))
    model = open_model("baseline:components", ModelOptions())
    assert said(model, request(board, "number"), [stored(board).data]) == "2"


def test_boxes_come_in_the_convention_that_was_asked_for():
    board = written((20, 30, 50, 70))
    model = open_model("baseline:components", ModelOptions())
    for convention, expected in (
        ("xyxy", [20, 30, 50, 70]),
        ("yxyx-1000", [150, 100, 350, 250]),
        ("cxcywh-unit", [0.175, 0.25, 0.15, 0.2]),
    ):
        asked = request(board, convention=convention)
        assert json.loads(said(model, asked, [stored(board).data])) == [expected]


def test_it_declines_other_answers():
    model = open_model("baseline:components", ModelOptions())
    assert "only counts and gives boxes" in model.unsupported_reason(request(written(), "text"))


@pytest.fixture(scope="module")
def crops(shared: Path) -> Crops:
    return oracle_crops(shared)


def test_specks_by_the_hundred_and_a_dark_side_hide_no_character():
    draw = np.random.default_rng(6)
    boxes = [(60, 60, 100, 110), (200, 70, 235, 115), (130, 190, 170, 235)]
    board = written(*boxes, side=300).astype(np.float64)
    board -= np.linspace(0, 120, 300)
    board[draw.integers(0, 300, 400), draw.integers(0, 300, 400)] = 0
    assert found(np.clip(board, 0, 255).astype(np.uint8)) == boxes


def test_on_the_bundled_bones_half_of_the_characters_are_found():
    dataset = Dataset.open(mini.path())
    boards = [item for item in dataset.items() if item.query == "Where" and item.boxes]
    hits = truth = predicted = 0
    for item in boards:
        (ref,) = item.images
        board = open_image(dataset.image_bytes(ref), name=item.id).convert("L")
        true = [(box.x0, box.y0, box.x1, box.y1) for box in item.boxes]
        counted = box_hits(true, ink_boxes(np.asarray(board)))
        hits, truth = hits + counted.hits[0], truth + counted.truth
        predicted += counted.predicted
    assert 2 * hits / (truth + predicted) > 0.4


def test_real_characters_on_boards_are_found(crops: Crops):
    draw = np.random.default_rng(4)
    hits = truth = predicted = 0
    for number in range(4):
        board, boxes = laid_out(draw, crops)
        counted = box_hits(boxes, found(255 - board if number % 2 else board))
        hits, truth = hits + counted.hits[0], truth + counted.truth
        predicted += counted.predicted
    # F1 at an IoU of .5; the boards are easier than real ones, where characters touch.
    assert 2 * hits / (truth + predicted) > 0.85
