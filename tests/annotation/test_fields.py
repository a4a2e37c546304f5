"""What forms send becomes the text that a model would have written."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.annotation.fields import parse_answer
from keju.annotation.queue import normalize_name, parse_seconds, read_text
from keju.errors import UsageError
from keju.extraction import read
from keju.items import ImageRef, Request
from keju.metrics.boxes import box_convention, to_pixels

WIDTH, HEIGHT = 1200, 3400
CONVENTIONS = ["-".join(parts).rstrip("-") for parts in
               product(("xyxy", "yxyx", "xywh", "cxcywh"), ("", "unit", "1000"))]  # fmt: skip


def request(form: str, **more: object) -> Request:
    ref = ImageRef(path="images/a.png", sha256="a" * 64, width=WIDTH, height=HEIGHT, size=1)
    return Request(item="i", benchmark="OBI-Bench", task="recognition", form=form, prompt="?",
                   images=(ref,), **more)  # fmt: skip


edges = st.tuples(
    st.floats(0, WIDTH), st.floats(0, HEIGHT), st.floats(0, WIDTH), st.floats(0, HEIGHT)
).filter(lambda box: abs(box[0] - box[2]) > 1 and abs(box[1] - box[3]) > 1)


@given(rows=st.lists(edges, max_size=5), name=st.sampled_from(CONVENTIONS))
def test_drawn_boxes_are_parsed_equally_from_every_convention(rows, name):
    said = parse_answer(request("boxes", box_convention=name), {"boxes": json.dumps(rows)})
    convention = box_convention(name)
    reading = read("boxes", said.text, axes=convention.axes)
    assert reading.state == "read"
    back = to_pixels(json.loads(reading.value), convention, width=WIDTH, height=HEIGHT).tolist()
    drawn = [[min(a, c), min(b, d), max(a, c), max(b, d)] for a, b, c, d in rows]
    assert len(back) == len(drawn)
    for one, other in zip(back, drawn, strict=True):
        assert one == pytest.approx(other, abs=0.5)


@given(percent=st.floats(0, 100))
def test_percent_are_read_as_a_probability(percent):
    said = parse_answer(request("probability"), {"answer": str(percent)})
    reading = read("probability", said.text)
    assert reading.state == "read"
    assert float(reading.value) == pytest.approx(percent / 100, abs=1e-5)


def test_short_forms_are_read_by_the_rules_of_scoring():
    letters = parse_answer(request("letter", choices=("A", "B")), {"answer": "B"})
    assert read("letter", letters.text).value == "B"
    assert read("number", parse_answer(request("number"), {"answer": "21"}).text).value == "21"
    assert read("yes-no", parse_answer(request("yes-no"), {"answer": "No"}).text).value == "No"


def test_unknown_is_an_empty_answer_in_every_form():
    for form in ("letter", "text", "boxes", "probability", "number", "yes-no"):
        assert parse_answer(request(form), {"act": "unknown", "answer": "B"}).text == ""


@given(st.text())
def test_a_name_is_normalised_to_one_line_or_rejected(name):
    try:
        kept = normalize_name(name)
    except UsageError:
        return
    assert kept == kept.strip()
    assert kept.isprintable()
    assert 0 < len(kept) <= 60
    assert normalize_name(kept) == kept


@pytest.mark.parametrize(
    "name", ["", "  ", "a\u202eb", "x" * 61, "\u200b", "a\x00b", "\ue000", "\u3164"]
)
def test_names_with_invisible_characters_are_rejected(name):
    with pytest.raises(UsageError):
        normalize_name(name)


def test_two_spellings_of_one_name_are_one_person():
    assert normalize_name(" Le\u0301a   Wang ") == normalize_name("Léa Wang")


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("12.34", 12.3), ("0", 0), ("", 0), ("nan", 0), ("inf", 0), ("-5", 0), ("1e9", 0), ("x", 0)],
)
def test_an_invalid_time_is_zero(said, seconds):
    assert parse_seconds({"seconds": said}) == seconds


def test_line_ends_are_uniform_and_the_length_is_limited():
    assert read_text({"answer": " 天地\r\n玄黃\r"}, "answer") == "天地\n玄黃"
    with pytest.raises(UsageError, match="more than 300,000"):
        read_text({"answer": "x" * 300_001}, "answer")
    with pytest.raises(UsageError, match="half of a character"):
        read_text({"answer": "\ud800"}, "answer")
