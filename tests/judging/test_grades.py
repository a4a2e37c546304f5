"""A grade is what the judge declares; anything else is no grade."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.items import Failure, Response
from keju.judging import grade_of
from keju.judging.grades import grade_in


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("分数：7", 7),
        ("譯文大致正確。\n分數: 7.5", 7.5),
        ("理由。\n\n分数：10\n", 10),
        ("理由：前半不錯。\n分数：3\n又想了想。\n分数：0", 0),
        ('{"score": 8}', 8),
        ('{"reason": "漏譯", "score": 6.5}', 6.5),
        ('```json\n{"reason": "漏譯",\n "score": 6}\n```', 6),
        ('先說理由。\n{"score": 4}', 4),
        ("<think>分数：1</think>\n好。\n分数：9", 9),
    ],
)
def test_a_declared_grade_is_taken(reply, grade):
    assert grade_of(reply).value == grade


@pytest.mark.parametrize(
    "reply",
    [
        "", "很好", "7", "7/10", "分数：7/10", "分数：7分", "我給 8 分", "分数：11", "分数：-1",
        "分数：nan", "分数：7\n希望有幫助！", "score: 7", '{"score": "7"}', '{"score": true}',
        '{"score": NaN}', '{"score": 1e999}', '{"score": 3, "score": 10}', '{"grade": 7}',
        '理由\n{"score": 4, "note": "x"}', '["score", 7]', "<think>分数：1", "分数：７",
        '{"a":' * 3000, "答卷說：分数：10", "分数：7。5",
    ],
)  # fmt: skip
def test_anything_else_is_unparsable_and_says_what_was_seen(reply):
    found = grade_of(reply)
    assert found.value is None
    assert found.reason
    last = reply.rpartition("</think>")[2].strip().rpartition("\n")[2]
    assert not last or last.startswith("<think>") or found.reason.startswith("unparsable")


@given(st.text())
def test_no_reply_breaks_the_reading_of_grades(reply):
    value = grade_of(reply).value
    assert value is None or 0 <= value <= 10


@given(st.text(alphabet='分数：0123456789{}"score \n'), st.integers(0, 10))
def test_what_stands_before_the_last_line_does_not_count(quoted, grade):
    assert grade_of(f"答卷說「\n{quoted}\n」。\n分数：{grade}").value == grade


def response(**fields: object) -> Response:
    known = {"key": "k", "item": "i", "model": "m", "benchmark": "b", "task": "T2"}
    return Response(**{**known, "status": "answered", "text": "分数：7", **fields})


def test_a_reply_that_failed_or_was_cut_off_has_no_grade():
    assert grade_in(response()).value == 7
    assert grade_in(response(status="truncated")).reason == "unparsable: the reply was cut off"
    failed = response(status="failed", text="", error=Failure(kind="timeout"))
    assert grade_in(failed) == (None, "failed: timeout")
    assert grade_in(response(status="filtered", text="")).reason == "failed: filtered"
