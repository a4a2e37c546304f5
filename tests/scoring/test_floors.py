"""The permutation floor is what the same answers get against other pages' texts."""

import json
import random
from pathlib import Path

import pytest

from keju.items import Response
from keju.metrics import error_parts
from keju.scoring.pages import compared_text, wrong_page_errors
from keju.text import counted

PASSAGES = json.loads(Path(__file__).with_name("passages.json").read_text("utf-8"))


def answers(truths, texts, **fields):
    responses = [
        Response(key=str(n), item=str(n), model="m", benchmark="MCS-Bench", task="T1",
                 text=text, **{"status": "answered"} | fields)
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return list(zip(truths, map(compared_text, responses), strict=True))


def test_each_answer_is_compared_with_every_other_page():
    some = PASSAGES[:6]
    found = wrong_page_errors(answers(some, some))
    texts = [counted(text) for text in some]
    pairs = [error_parts(a, b) for a in texts for b in texts if a is not b]
    expected = sum(each.expected for each in pairs)
    assert found.pairs == len(texts) * (len(texts) - 1) == len(pairs)
    assert found.recognition_error == sum(each.recognition for each in pairs) / expected
    assert found.layout_error == sum(each.layout for each in pairs) / expected


def test_the_order_of_the_characters_read_changes_no_floor_of_recognition():
    draw = random.Random(1)
    shuffled = ["".join(draw.sample(text, len(text))) for text in PASSAGES]
    found = [wrong_page_errors(answers(PASSAGES, texts)) for texts in (PASSAGES, shuffled)]
    assert found[0].recognition_error == found[1].recognition_error


@pytest.mark.parametrize(("pages", "others"), [(32, 31), (50, 20), (74, 13), (250, 5)])
def test_of_many_pages_each_is_compared_with_some_others(pages, others):
    draw = random.Random(2)
    truths = ["".join(chr(0x4E00 + draw.randrange(900)) for _ in range(20)) for _ in range(pages)]
    assert wrong_page_errors(answers(truths, truths)).pairs == pages * others


def test_the_order_and_the_names_of_pages_change_no_floor():
    draw = random.Random(3)
    truths = ["".join(chr(0x4E00 + draw.randrange(400)) for _ in range(20)) for _ in range(74)]
    texts = ["".join(draw.choice([char, "之"]) for char in truth) for truth in truths]
    pages = list(zip(truths, texts, strict=True))
    floors = set()
    for _ in range(5):
        draw.shuffle(pages)
        floors.add(wrong_page_errors(answers(*zip(*pages, strict=True))))
    assert len(floors) == 1


def test_pages_with_one_text_have_no_floor():
    assert wrong_page_errors(answers(["天地"], ["天地"])) is None
    assert wrong_page_errors(answers(["天地"] * 3, ["天地"] * 3)) is None
    assert wrong_page_errors([]) is None


@pytest.mark.parametrize("fields", [{"status": "failed"}, {"status": "filtered"}])
def test_failures_count_as_empty(fields):
    found = wrong_page_errors(answers(["天地", "玄黄"], ["天地", "玄黄"], **fields))
    assert (found.recognition_error, found.layout_error) == (1.0, 0.0)
