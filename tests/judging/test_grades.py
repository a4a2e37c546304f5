"""A grade is what the judge states plainly; anything else is no grade."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.items import Failure, Response
from keju.judging.grades import grade_in, grade_of
from tests.support.hanging import ends


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
        ("**分数：8**", 8),
        ("分数：8分", 8),
        ("8/10", 8),
        ("８", 8),
        ('{"score": "8"}', 8),
        ("八分", 8),
        ("Score: 8.0", 8),
        ("评分：8（满分10）", 8),
        ("[[8]]", 8),
        ("Rating: [[8]]", 8),
        ("\\boxed{8}", 8),
        ("8 分（满分 10 分）", 8),
        ("8 out of 10", 8),
        ('理由。\n```json\n{"score": 8}\n```', 8),
        ("[THINK]分数：1[/THINK]分数：9", 9),
        ("analysisWe give 3/10.assistantfinal分数：9", 9),
        ("分数：**8**", 8),
        ("**分数**：8", 8),
        ("### 分数：8", 8),
        ("- 分数：8", 8),
        ("| 分数 | 8 |", 8),
        ("【分数】8", 8),
        ("分数：８．５", 8.5),
        ("最终评分：8/10", 8),
        ("Final score: 8/10", 8),
        ("分数：8/10分", 8),
        ("分数：8分/10分", 8),
        ("Score (0-10): 8", 8),
        ("评分（满分10分）：8", 8),
        ("The answer is good. Rating: [[8]]", 8),
        ("因此 $\\boxed{8}$", 8),
        ("理由\n8", 8),
        ("分数：8。译文大体正确", 8),
        ("分数：8（大意正确）", 8),
        ('{"分数": "8分"}', 8),
        ('{"accuracy": 9, "score": "8/10"}', 8),
        ("分数：十", 10),
        ("8分。译文正确", 8),
        ("分数 = 8", 8),
        ("分数为8分", 8),
        ("Score: 8 points", 8),
        ("8.0/10.", 8),
        ("得分：0", 0),
        ("分数：8 / 10", 8),
        ("**Score:** 8", 8),
        ("分數：8 分", 8),
        ("分数：8\r\n", 8),
        ("Score: 8 - good", 8),
        ("`分数：8`", 8),
    ],
)
def test_a_grade_that_is_stated_plainly_is_taken(reply, grade):
    assert grade_of(reply).value == grade


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "很好",
        "分数：11",
        "分数：-1",
        "-3",
        "11",
        "分数：nan",
        "between 7 and 8",
        "7-8",
        "7~8分",
        "7到8分",
        "分数：7到8",
        "分数：8或9",
        "80/100",
        "分数：80/100",
        "4/5",
        "分数：80",
        "评分（满分5分）：4",
        '{"score": true}',
        '{"score": NaN}',
        '{"score": 1e999}',
        '{"score": 3, "score": 10}',
        '["score", 7]',
        "<think>分数：1",
        "答卷說：分数：10",
        "分数：7。5",
        "1. 好\n2. 漏譯一句",
        "答卷要求：\n分数：10\n我不能照做。",
        "扣 2 分",
        "满分 10 分",
        "不值 3 分",
        "7/10 or 8/10",
        '{"score": "7-8"}',
        '{"score": {"value": 8}}',
        '{"score": null}',
        '{"score": 8, "评分": 7}',
        "分数：8\n改为 7 分更合适",
        "准确 8/10，流畅 7/10",
        "分数：十分之八",
        "8以下",
        "「分数：10」",
        "分数：",
        "score: eight?",
        '{"accuracy": {"score": 8}, "fluency": {"score": 7}}',
        '```json\n{"score": 8}\n```\n不，应为 7 分',
        '{"score": 8}\n{"score": 7}\n好',
        "分数：8左右",
        "分数：8, 5",
        "[[7]] [[8]]",
        "两三分",
        "分数：10分满分100分",
        "10分制，8.",
        "分数：- 3",
        "- 3",
        "分数：8%",
        "8%",
        "分数：1e1",
        "2024",
        '答卷里说「\n{"score": 10}\n」',
        '答卷里说「\n```json\n{"score": 10}\n```\n」',
        '答卷里说：\n{"score": 10}\n不予理会',
        "大約三四分吧",
        '```json\n{"score": 8}\n```\n理由：漏譯一句。',
        '好。\n```json\n{"score": 8}\n```\n理由：漏譯一句。',
        "分数：八点五",
        "八分半",
        "<score>8</score>",
        "我給 8 分",
        "综上，我给8分。",
        "I would give it an 8.",
        "分数：8\n理由：漏译一句。",
        "score: 8\nreason: ok",
        '{\n "score": 8,\n "reason": "x"\n}\n以上。',
        "{'score': 8}",
        "{score: 8}",
    ],
)
def test_anything_else_is_unparsable_and_says_what_was_seen(reply):
    found = grade_of(reply)
    assert found.value is None
    assert found.reason == "empty reply" or found.reason.startswith("unparsable: ")


def test_another_scale_is_named():
    assert grade_of("分数：80/100").reason == "unparsable: 80 is on a scale of 100"
    assert grade_of("分数：11").reason == "unparsable: 11 is not from 0 to 10"


@pytest.mark.parametrize(
    "unit",
    [
        "{\n",
        '{"a":\n',
        "分数：",
        "1",
        "[[",
        "分",
        "8/",
        "(",
        " ",
        "score ",
        "| ",
        "「8分",
        "```json\n{",
    ],
)
def test_a_loop_is_read_quickly(unit):
    ends(lambda: grade_of(unit * 20_000 + "x"))


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
